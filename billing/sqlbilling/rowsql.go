package sqlbilling

import (
	"context"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/billing/sqlbilling/internal/acct"
	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// A rowWriter writes rows of radacct: all at once where the dialect knows how,
// one by one otherwise.
type rowWriter struct {
	d    *dialect.Dialect
	bulk bool

	insert, update, hot rowStatement
}

// A rowStatement is one way to write rows, with the columns that it takes.
type rowStatement struct {
	stmt    *sqlx.Stmt
	columns []*column
	kinds   []dialect.Kind // with the id in front, for an update in bulk
	id      bool
	values  []any // of the rows that wait to be written; bulk only
}

// prepare prepares the three statements. hot sets what an Interim-Update changes
// and no other column: one that is not named costs no work on its indexes.
func (w *rowWriter) prepare(ctx context.Context, db *sqlx.DB, d *dialect.Dialect, l *layout) error {
	w.d, w.bulk = d, d.Bulk != nil
	for i := range l.columns {
		c := &l.columns[i]
		w.insert.columns = append(w.insert.columns, c)
		w.update.columns = append(w.update.columns, c)
		if c.hot {
			w.hot.columns = append(w.hot.columns, c)
		}
	}
	w.update.id, w.hot.id = true, true
	for s, text := range map[*rowStatement]string{
		&w.insert: w.insertSQL(&w.insert), &w.update: w.updateSQL(&w.update), &w.hot: w.updateSQL(&w.hot),
	} {
		if text == "" {
			continue
		}
		var err error
		if s.stmt, err = db.PreparexContext(ctx, db.Rebind(text)); err != nil {
			return err
		}
	}
	return nil
}

// bulkColumns are the expressions that store the columns v.c0 ... of a bulk.
func (w *rowWriter) bulkColumns(s *rowStatement) (exprs []string) {
	n := 0
	if s.id {
		s.kinds, n = append(s.kinds, dialect.KindInt), 1
	}
	for i, c := range s.columns {
		s.kinds = append(s.kinds, c.kind())
		exprs = append(exprs, c.store(w.d, "v.c"+strconv.Itoa(i+n)))
	}
	return exprs
}

func (w *rowWriter) insertSQL(s *rowStatement) string {
	names := make([]string, len(s.columns))
	params := make([]string, len(s.columns))
	for i, c := range s.columns {
		names[i], params[i] = c.name, c.store(w.d, "?")
	}
	into := "INSERT INTO radacct (" + strings.Join(names, ", ") + ") "
	if w.bulk {
		exprs := w.bulkColumns(s)
		return into + "SELECT " + strings.Join(exprs, ", ") + " FROM " + w.d.Bulk.Source(s.kinds)
	}
	return into + "VALUES (" + strings.Join(params, ", ") + ")"
}

func (w *rowWriter) updateSQL(s *rowStatement) string {
	if len(s.columns) == 0 {
		return ""
	}
	if w.bulk {
		sets := w.bulkColumns(s)
		for i, c := range s.columns {
			sets[i] = c.name + " = " + sets[i]
		}
		return w.d.Bulk.Update("radacct", "radacctid", sets, w.d.Bulk.Source(s.kinds))
	}
	var sets []string
	for _, c := range s.columns {
		sets = append(sets, c.name+" = "+c.store(w.d, "?"))
	}
	return "UPDATE radacct SET " + strings.Join(sets, ", ") + " WHERE radacctid = ?"
}

// write writes a row with one of the statements, or keeps it for flush.
func (w *rowWriter) write(ctx context.Context, tx *sqlx.Tx, st *rowStatement, row *acct.Session) error {
	if w.bulk {
		if st.id {
			st.values = append(st.values, row.ID)
		}
		for _, c := range st.columns {
			st.values = append(st.values, c.value(row))
		}
		return nil
	}
	args := make([]any, 0, len(st.columns)+1)
	for _, c := range st.columns {
		args = append(args, c.value(row))
	}
	if st.id {
		args = append(args, row.ID)
	}
	_, err := tx.Stmtx(st.stmt).ExecContext(ctx, args...)
	return err
}

// forget drops what waits for flush.
func (w *rowWriter) forget() {
	for _, st := range []*rowStatement{&w.insert, &w.update, &w.hot} {
		clear(st.values)
		st.values = st.values[:0]
	}
}

// flush writes what waits.
func (w *rowWriter) flush(ctx context.Context, tx *sqlx.Tx) error {
	for _, st := range []*rowStatement{&w.insert, &w.update, &w.hot} {
		if len(st.values) == 0 {
			continue
		}
		if _, err := tx.Stmtx(st.stmt).ExecContext(ctx, w.d.Bulk.Pack(st.kinds, st.values)...); err != nil {
			return err
		}
	}
	return nil
}

func (w *rowWriter) statements() []*sqlx.Stmt {
	return []*sqlx.Stmt{w.insert.stmt, w.update.stmt, w.hot.stmt}
}
