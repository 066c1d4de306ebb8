package ledger

import (
	"context"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// An insert writes rows of one table: with one statement where the dialect can do
// that, else one after the other.
type insert struct {
	d     *dialect.Dialect
	stmt  *sqlx.Stmt
	kinds []dialect.Kind
}

// prepareInsert prepares an INSERT that ends in tail. A column of text has a $ before
// its name.
func (b *Backend) prepareInsert(ctx context.Context, table string, columns []string, tail string) (*insert, error) {
	i := &insert{d: b.d}
	var query string
	query, i.kinds = b.insertSQL(table, columns)
	var err error
	i.stmt, err = b.db.Write.PreparexContext(ctx, b.db.Write.Rebind(query+tail))
	return i, err
}

// insertSQL is an INSERT into columns, of which those of text have a $ before their names.
func (b *Backend) insertSQL(table string, columns []string) (query string, kinds []dialect.Kind) {
	names := make([]string, len(columns))
	from := make([]string, len(columns))
	for k, c := range columns {
		name, text := strings.CutPrefix(c, "$")
		kind := dialect.KindInt
		if text {
			kind = dialect.KindText
		}
		names[k], from[k] = name, "v.c"+strconv.Itoa(k)
		kinds = append(kinds, kind)
	}
	query = "INSERT INTO " + table + " (" + strings.Join(names, ", ") + ") "
	if b.d.Bulk == nil {
		return query + "VALUES (" + strings.Repeat("?, ", len(columns)-1) + "?)", kinds
	}
	// WHERE tells SQLite's and others' parsers an ON CONFLICT from a join.
	return query + "SELECT " + strings.Join(from, ", ") + " FROM " + b.d.Bulk.Source(kinds) + " WHERE 1 = 1", kinds
}

// write writes rows, whose values stand one after the other.
func (i *insert) write(ctx context.Context, tx *sqlx.Tx, values []any) error {
	if len(values) == 0 {
		return nil
	}
	stmt := tx.Stmtx(i.stmt)
	if i.d.Bulk != nil {
		_, err := stmt.ExecContext(ctx, i.d.Bulk.Pack(i.kinds, values)...)
		return err
	}
	for n := len(i.kinds); len(values) > 0; values = values[n:] {
		if _, err := stmt.ExecContext(ctx, values[:n]...); err != nil {
			return err
		}
	}
	return nil
}
