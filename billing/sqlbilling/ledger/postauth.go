package ledger

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling/internal/acct"
	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
	"github.com/radpool/radpool/billing/sqlbilling/internal/group"
)

var _ billing.PostAuther = (*Backend)(nil)

// startPostAuth starts to write radpool_postauth in the background.
func (b *Backend) startPostAuth() {
	query, kinds := b.insertSQL("radpool_postauth",
		[]string{"$id", "$username", "$reply", "$reason", "at", "$nas_address", "$calling_station_id"})
	query = b.db.Write.Rebind(query)
	b.post = group.StartBackground(group.BackgroundConfig{
		Table: "radpool_postauth", DB: b.db, Dialect: b.d, Buffer: b.opts.PostAuthBuffer, Timeout: b.opts.WriteTimeout, Log: b.opts.Logger,
	}, func(ctx context.Context, rows [][]any) error {
		return group.Again(b.d, func() error {
			return group.Insert(ctx, b.db, b.d, query, kinds, len(rows), func(i int) []any { return rows[i] })
		}, dialect.Lost)
	})
}

// PostAuth queues a row for radpool_postauth, which never holds a password, and returns at
// once. When the buffer is full, or the Backend closed, the row is dropped and counted.
func (b *Backend) PostAuth(res *billing.AuthResult) {
	if b.post == nil {
		return
	}
	reply, reason := "Access-Reject", ""
	if res.Accepted {
		reply = "Access-Accept"
	}
	if res.Reason != billing.ReasonNone {
		reason = res.Reason.String()
	}
	// In the order of time, so that rows are added at the end of the table.
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	id := fmt.Sprintf("%016x", uint64(res.Time.UnixNano())) + hex.EncodeToString(random[:])
	b.post.Offer([]any{
		id, dialect.Plain(res.Access.UserName, 253), reply, reason, res.Time.Unix(),
		acct.AddrText(res.Access.NASAddr), dialect.Plain(res.Access.CallingStationID, 253),
	})
}
