package sqlbilling

import (
	"cmp"
	"context"
	"errors"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
	"github.com/radpool/radpool/billing/sqlbilling/internal/group"
)

// A postAuthRow is a row of radpostauth.
type postAuthRow struct {
	user, pass, reply, reason string
	at                        int64
}

// newPostAuth starts to write radpostauth in the background.
func newPostAuth(b *Backend) *group.Background[postAuthRow] {
	return group.StartBackground(group.BackgroundConfig{
		Table: "radpostauth", DB: b.db, Dialect: b.d, Buffer: b.opts.PostAuthBuffer, Timeout: b.opts.WriteTimeout, Log: b.opts.Logger,
	}, b.writePostAuth)
}

// PostAuth queues a row for radpostauth and returns at once. When the buffer is
// full, or the Backend closed, the row is dropped and counted.
func (b *Backend) PostAuth(res *billing.AuthResult) {
	if b.post == nil || b.now().post == nil {
		return
	}
	r := postAuthRow{user: b.nameInDB(res.Access.UserName), reply: "Access-Reject", at: res.Time.Unix()}
	if res.Accepted {
		r.reply = "Access-Accept"
	}
	if res.Reason != billing.ReasonNone {
		r.reason = res.Reason.String()
	}
	if len(res.Password) > 0 {
		r.pass = "***"
		if b.opts.StorePasswords {
			r.pass = string(res.Password)
		}
	}
	b.post.Offer(r)
}

// writePostAuth writes rows, on another connection when one has gone away, and on other
// columns when they have changed.
func (b *Backend) writePostAuth(ctx context.Context, rows []postAuthRow) (err error) {
	f := b.now()
	for range group.Attempts {
		if f.post == nil { // the table is gone
			return cmp.Or(err, errNoPostAuth)
		}
		if err = b.insertPostAuth(ctx, f.post, rows); err == nil {
			return nil
		}
		if next, again := b.renew(ctx, f, err); again {
			f = next
		} else if b.d.Classify(err) != dialect.Lost {
			break
		}
	}
	return err
}

// errNoPostAuth is why rows are dropped that were taken while there was a table.
var errNoPostAuth = errors.New("there is no table radpostauth any more")

func (b *Backend) insertPostAuth(ctx context.Context, q *postAuthSQL, rows []postAuthRow) error {
	each := func(i int) []any { return q.values(&rows[i]) }
	return group.Insert(ctx, b.db, b.d, q.text, q.kinds, len(rows), each)
}
