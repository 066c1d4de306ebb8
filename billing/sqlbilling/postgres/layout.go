package postgres

import (
	"context"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// tables reads those that a statement finds by their names, without what belongs
// to an extension.
func tables(ctx context.Context, db *dialect.DB) (dialect.Tables, error) {
	return columns(ctx, db.Write)
}

func columns(ctx context.Context, q sqlx.QueryerContext) (dialect.Tables, error) {
	var list []struct {
		Table  string `db:"t"`
		Name   string `db:"c"`
		Type   string `db:"dt"`
		Length int    `db:"len"`
	}
	if err := sqlx.SelectContext(ctx, q, &list, `SELECT c.relname::text AS t, a.attname::text AS c, t.typname::text AS dt,
		CASE WHEN t.typname IN ('varchar', 'bpchar') AND a.atttypmod > 4 THEN a.atttypmod - 4 ELSE 0 END AS len
		FROM pg_class c
		JOIN pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		JOIN pg_type t ON t.oid = a.atttypid
		WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND pg_table_is_visible(c.oid)
		AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\_t%'
		AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
		ORDER BY c.relname, a.attnum`); err != nil {
		return nil, err
	}
	t := make(dialect.Tables)
	for _, r := range list {
		t[r.Table] = append(t[r.Table], dialect.Column{Name: r.Name, Type: r.Type, Length: r.Length})
	}
	return t, nil
}

// create makes the tables, in one transaction.
func create(ctx context.Context, db *dialect.DB) error {
	tx, err := db.Write.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, schemaLock); err != nil {
		return err
	}
	if t, err := columns(ctx, tx); err != nil || len(t) > 0 {
		return err // another process was faster
	}
	for _, s := range dialect.Statements(schema) {
		if _, err := tx.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// lacks looks for an index that begins with columns. One of open sessions alone
// does for acctstoptime.
func lacks(ctx context.Context, db *dialect.DB, table string, columns ...string) (bool, error) {
	var indexes []string
	if err := db.Write.SelectContext(ctx, &indexes, `SELECT string_agg(COALESCE(a.attname::text, '()'), ',' ORDER BY k.n)
		|| CASE WHEN i.indpred IS NULL THEN '' WHEN pg_get_expr(i.indpred, i.indrelid) = '(acctstoptime IS NULL)' THEN ',acctstoptime' ELSE ',()' END
		FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY k(attnum, n)
		LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
		WHERE i.indrelid = $1::text::regclass GROUP BY i.indexrelid, i.indpred, i.indrelid`, table); err != nil {
		return false, err
	}
	want := strings.Join(columns, ",") + ","
	for _, index := range indexes {
		if strings.HasPrefix(index+",", want) {
			return false, nil
		}
	}
	return true, nil
}

func unique(ctx context.Context, db *dialect.DB) (yes bool, err error) {
	err = db.Write.GetContext(ctx, &yes, `SELECT EXISTS (SELECT 1 FROM pg_index i
		JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
		WHERE i.indrelid = 'radacct'::regclass AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indnkeyatts = 1 AND a.attname = 'acctuniqueid')`)
	return yes, err
}

// integer reports whether a column of time holds seconds since 1970.
func integer(c dialect.Column) bool { return strings.HasPrefix(c.Type, "int") && len(c.Type) == 4 }

// address reports whether a column holds addresses.
func address(c dialect.Column) bool { return c.Type == "inet" || c.Type == "cidr" }

func seconds(c dialect.Column) string {
	if integer(c) {
		return c.Name
	}
	// A timestamp without a time zone is of that of the session. One that is infinite is no
	// number: it is the last second of the year 9999, or no time.
	t := c.Name + "::timestamptz"
	return "CASE WHEN isfinite(" + t + ") THEN floor(EXTRACT(EPOCH FROM " + t + "))::bigint WHEN " + t + " > now() THEN 253402300799 WHEN " + t + " < now() THEN 0 END"
}

func moment(expr string, c dialect.Column) string {
	if integer(c) {
		return "(" + expr + ")::bigint"
	}
	return "to_timestamp((" + expr + ")::bigint)"
}

// text is an expression for a column as text, or NULL.
func text(c dialect.Column) string {
	switch {
	case address(c) && strings.HasSuffix(c.Name, "prefix"):
		return "text(" + c.Name + ")" // with its length, even of a single address
	case address(c):
		return "host(" + c.Name + ")"
	case c.Type == "text":
		return c.Name
	}
	return c.Name + "::text"
}

func stored(expr string, c dialect.Column) string {
	if address(c) {
		return "NULLIF(" + expr + ", '')::" + c.Type
	}
	return expr
}

// source is the table of a bulk: an array for each column. One unnest of all of them in
// FROM would cost memory for each column and statement, which takes longer than what it
// is for where rows are few.
func source(kinds []dialect.Kind) string {
	columns := make([]string, len(kinds))
	for i, k := range kinds {
		array := "?::text[]"
		if k == dialect.KindInt {
			array = "?::bigint[]"
		}
		columns[i] = "unnest(" + array + ") AS c" + strconv.Itoa(i)
	}
	return "(SELECT " + strings.Join(columns, ", ") + ") AS v"
}

func pack(kinds []dialect.Kind, values []any) []any {
	rows := len(values) / len(kinds)
	args := make([]any, len(kinds))
	for i, k := range kinds {
		if k == dialect.KindText {
			list := make([]string, rows)
			for r := range list {
				list[r], _ = values[r*len(kinds)+i].(string)
			}
			args[i] = list
			continue
		}
		list := make([]pgtype.Int8, rows)
		for r := range list {
			list[r].Int64, list[r].Valid = values[r*len(kinds)+i].(int64)
		}
		args[i] = list
	}
	return args
}

func update(table, key string, sets []string, source string) string {
	return "UPDATE " + table + " SET " + strings.Join(sets, ", ") + " FROM " + source + " WHERE " + table + "." + key + " = v.c0"
}
