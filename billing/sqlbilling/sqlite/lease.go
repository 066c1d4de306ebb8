package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// A leaser leases on the connection that writes: nobody else writes meanwhile.
type leaser struct {
	db      *dialect.DB
	stmt    *sqlx.Stmt
	seconds int64
}

// The last condition on the time of a free row is exact for every type, the one
// before it is for an index. Rows go by rowid, since an id may be missing.
const lease = `UPDATE radippool SET SETS, expiry_time = datetime('now', ?7) WHERE rowid = COALESCE(
  (SELECT rowid FROM radippool WHERE pool_name = ?1 AND username = ?2NAMES
   AND (DEVICE OR username <> '' AND SECONDS < NOW) ORDER BY DEVICE DESC, expiry_time DESC LIMIT 1),
  (SELECT rowid FROM radippool WHERE pool_name = ?1 AND expiry_time < datetime('now') AND SECONDS < NOW ORDER BY expiry_time LIMIT 1))
RETURNING framedipaddress`

func prepareLeases(ctx context.Context, db *dialect.DB, t dialect.Tables, lasts int64, how dialect.Comparison) (dialect.Leaser, error) {
	q := dialect.LeaseSQL{
		Value:  func(i int) string { return "?" + strconv.Itoa(i+1) },
		Stored: func(expr string, _ dialect.Column) string { return expr },
		Text:   func(expr string, _ dialect.Column) string { return expr },
	}
	names := ""
	switch how {
	case dialect.Exact:
		names = " AND CAST(username AS BLOB) = CAST(?2 AS BLOB)"
	case dialect.IgnoreCase:
		names = " COLLATE NOCASE"
	}
	text := strings.NewReplacer("SETS", q.Sets(t), "DEVICE", q.Device(t), "NAMES", names,
		"SECONDS", seconds(dialect.Column{Name: "expiry_time"}), "NOW", now).Replace(lease)
	stmt, err := db.Write.PreparexContext(ctx, text)
	return &leaser{db: db, stmt: stmt, seconds: lasts}, err
}

func (l *leaser) Close() error { return l.stmt.Close() }

func (l *leaser) Lease(ctx context.Context, asks []*dialect.Ask) error {
	tx, err := l.db.Write.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	stmt := tx.StmtxContext(ctx, l.stmt)
	lasts := "+" + strconv.FormatInt(l.seconds, 10) + " seconds"
	for _, a := range asks {
		args := make([]any, 0, 7)
		for _, v := range a.Values() {
			args = append(args, v)
		}
		switch err := stmt.GetContext(ctx, &a.Addr, append(args, lasts)...); {
		case errors.Is(err, sql.ErrNoRows):
			a.Addr = ""
		case err != nil:
			return err
		}
	}
	return tx.Commit()
}
