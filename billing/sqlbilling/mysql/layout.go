package mysql

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// Whoever creates the schema, or looks what there is, holds this lock: CREATE TABLE
// is no part of a transaction here.
const schemaLock = "radpool.schema"

// locked runs f on a connection that holds the lock.
func locked(ctx context.Context, db *dialect.DB, f func(*sqlx.Conn) error) (err error) {
	c, err := db.Write.Connx(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	var got sql.NullInt64
	if err := c.GetContext(ctx, &got, "SELECT GET_LOCK(CONCAT(?, '.', LEFT(DATABASE(), 40)), 10)", schemaLock); err != nil {
		return err
	}
	if got.Int64 != 1 {
		return errors.New("another process is creating the schema, and does not finish")
	}
	err = f(c)
	_, e := c.ExecContext(ctx, "DO RELEASE_LOCK(CONCAT(?, '.', LEFT(DATABASE(), 40)))", schemaLock)
	return errors.Join(err, e)
}

func tables(ctx context.Context, db *dialect.DB) (t dialect.Tables, err error) {
	err = locked(ctx, db, func(c *sqlx.Conn) error {
		t, err = columns(ctx, c)
		return err
	})
	return t, err
}

func columns(ctx context.Context, c *sqlx.Conn) (dialect.Tables, error) {
	var list []struct {
		Table     string         `db:"t"`
		Name      string         `db:"c"`
		Type      string         `db:"dt"`
		Length    sql.NullInt64  `db:"len"`
		Charset   sql.NullString `db:"cs"`
		Collation sql.NullString `db:"co"`
	}
	if err := c.SelectContext(ctx, &list, `SELECT LOWER(table_name) AS t, LOWER(column_name) AS c, LOWER(data_type) AS dt,
		character_maximum_length AS len, character_set_name AS cs, collation_name AS co
		FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position`); err != nil {
		return nil, err
	}
	t := make(dialect.Tables)
	for _, r := range list {
		t[r.Table] = append(t[r.Table], dialect.Column{
			Name: r.Name, Type: r.Type, Length: int(min(r.Length.Int64, 1<<30)), Charset: r.Charset.String, Collation: r.Collation.String,
		})
	}
	return t, nil
}

func create(ctx context.Context, db *dialect.DB) error {
	return locked(ctx, db, func(c *sqlx.Conn) error {
		if t, err := columns(ctx, c); err != nil || len(t) > 0 {
			return err // another process was faster
		}
		for _, s := range dialect.Statements(schema) {
			if _, err := c.ExecContext(ctx, s); err != nil {
				return err
			}
		}
		return nil
	})
}

func lacks(ctx context.Context, db *dialect.DB, table string, columns ...string) (bool, error) {
	var indexes []string
	if err := db.Write.SelectContext(ctx, &indexes, `SELECT GROUP_CONCAT(LOWER(column_name) ORDER BY seq_in_index)
		FROM information_schema.statistics WHERE table_schema = DATABASE() AND LOWER(table_name) = ?
		GROUP BY index_name`, table); err != nil {
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

func unique(ctx context.Context, db *dialect.DB) (bool, error) {
	var n int
	err := db.Write.GetContext(ctx, &n, `SELECT COUNT(*) FROM (SELECT index_name FROM information_schema.statistics
		WHERE table_schema = DATABASE() AND LOWER(table_name) = 'radacct' AND non_unique = 0
		GROUP BY index_name HAVING COUNT(*) = 1 AND MAX(LOWER(column_name)) = 'acctuniqueid') i`)
	return n > 0, err
}

// integer reports whether a column of time holds seconds since 1970.
func integer(c dialect.Column) bool { return strings.HasSuffix(c.Type, "int") }

// number keeps what a column without a sign holds within 64 bits with one.
func number(c dialect.Column) string {
	if c.Type == "bigint" {
		return "LEAST(COALESCE(" + c.Name + ", 0), 9223372036854775807)"
	}
	return "COALESCE(" + c.Name + ", 0)"
}

func seconds(c dialect.Column) string {
	if integer(c) {
		return c.Name
	}
	return "CAST(UNIX_TIMESTAMP(" + c.Name + ") AS SIGNED)"
}

// latest is the last second that every server knows, in 2038: a record with a later
// one, from a NAS with a wrong clock, would be refused, or its time lost.
const latest = "2147483647"

func moment(expr string, c dialect.Column) string {
	if integer(c) {
		return expr
	}
	return "FROM_UNIXTIME(LEAST(" + expr + ", " + latest + "))"
}

// unicode reports whether a column can hold any text.
func unicode(c dialect.Column) bool { return c.Charset == "utf8mb4" }

func clean(s string, c dialect.Column) string {
	if c.Charset == "" && c.Length > 0 { // octets
		return s[:min(len(s), c.Length)]
	}
	return dialect.Plain(s, c.Length)
}
