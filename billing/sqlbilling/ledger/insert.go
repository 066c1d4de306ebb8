package ledger

import (
	"context"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"
)

// An inserter inserts rows one by one, until one fails.
type inserter struct {
	ctx context.Context
	tx  *sqlx.Tx
	err error
}

func (w *inserter) insert(table, columns string, values ...any) {
	if w.err != nil {
		return
	}
	query := "INSERT INTO " + table + " (" + columns + ") VALUES (" + strings.Repeat("?, ", len(values)-1) + "?)"
	if _, err := w.tx.ExecContext(w.ctx, w.tx.Rebind(query), values...); err != nil {
		w.err = fmt.Errorf("%s: %w", table, err)
	}
}

// anySubscriber reports whether there is a subscriber.
func anySubscriber(ctx context.Context, tx *sqlx.Tx) (bool, error) {
	var n int
	err := tx.GetContext(ctx, &n, `SELECT COUNT(*) FROM (SELECT username FROM radpool_subscriber LIMIT 1) one`)
	return n > 0, err
}
