package ledger

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

//go:embed schema1.sql
var schema1 string

//go:embed schema2.sql
var schema2 string

// migrations are the steps of the schema, the first of which makes version 1. One
// that was published is never changed: what changes is a step of its own.
var migrations = []string{schema1, schema2}

// A flavour is what this schema wants to know of a kind of database beyond what its
// dialect says.
type flavour struct {
	integer, text, end string
	once               string // between CREATE INDEX and the name
	column             string // between ADD COLUMN and the name
	lock               string // begins the transaction that makes the schema
	existing           string // ends an INSERT that changes what is there, before the columns
	inserted           string // the value of a column that was to be inserted
}

var flavours = map[string]flavour{
	"sqlite": {
		integer: "INTEGER", text: "TEXT", end: ") STRICT", once: "IF NOT EXISTS",
		existing: " ON CONFLICT (%s) DO UPDATE SET ", inserted: "excluded.%s",
	},
	"mysql": {
		integer: "BIGINT", text: "VARCHAR($1)", end: ") ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
		existing: " ON DUPLICATE KEY UPDATE ", inserted: "VALUES(%s)",
	},
	"postgres": {
		integer: "bigint", text: "varchar($1)", end: ")", once: "IF NOT EXISTS", column: "IF NOT EXISTS",
		lock:     "SELECT pg_advisory_xact_lock(82658467)",
		existing: " ON CONFLICT (%s) DO UPDATE SET ", inserted: "excluded.%s",
	},
}

// flavourOf finds the flavour of a dialect.
func flavourOf(d *dialect.Dialect) (flavour, error) {
	for name, f := range flavours {
		if strings.HasPrefix(d.Name, name) || name == "mysql" && d.Name == "mariadb" {
			return f, nil
		}
	}
	return flavour{}, fmt.Errorf("radpool's own schema is not made for %s", d.Name)
}

// compared is an expression for the column own as it compares with another column: on MySQL
// two of different collations do not.
func (f *flavour) compared(expr string, own, with dialect.Column) string {
	if with.Charset == "" || own.Charset == with.Charset && own.Collation == with.Collation {
		return expr
	}
	return "CONVERT(" + expr + " USING " + with.Charset + ") COLLATE " + with.Collation
}

var textColumn = regexp.MustCompile(`@text\((\d+)\)`)

// statements are those of a migration.
func (f *flavour) statements(migration string) []string {
	s := textColumn.ReplaceAllString(migration, f.text)
	s = strings.NewReplacer("@int", f.integer, "@end", f.end, "@once", f.once, "@column", f.column).Replace(s)
	return dialect.Statements(s)
}

// upsert ends an INSERT. A column that is to be added to what is there has a + before
// its name, others are replaced.
func (f *flavour) upsert(table, key string, columns ...string) string {
	sets := make([]string, len(columns))
	for i, c := range columns {
		name, add := strings.CutPrefix(c, "+")
		sets[i] = name + " = " + fmt.Sprintf(f.inserted, name)
		if add {
			sets[i] = name + " = " + table + "." + name + " + " + fmt.Sprintf(f.inserted, name)
		}
	}
	existing := f.existing
	if strings.Contains(existing, "%s") {
		existing = fmt.Sprintf(existing, key)
	}
	return existing + strings.Join(sets, ", ")
}

// migrate brings the schema to its newest version, in one transaction where the
// database can do that. Each step can be run again: on MySQL one that was cut off
// is.
func (b *Backend) migrate(ctx context.Context) error {
	tables, err := b.d.Tables(ctx, b.db)
	if err != nil {
		return err
	}
	if tables["radpool_reload"] == nil {
		for _, s := range b.d.Reloads {
			if _, err := b.db.Write.ExecContext(ctx, s); err != nil {
				return fmt.Errorf("creating radpool_reload: %w", err)
			}
		}
	}
	version := 0
	if tables["radpool_schema"] != nil {
		if err := b.db.Write.GetContext(ctx, &version, "SELECT COALESCE(MAX(version), 0) FROM radpool_schema"); err != nil {
			return err
		}
	}
	switch {
	case version > len(migrations):
		return fmt.Errorf("radpool's own schema is of version %d, and this program knows %d", version, len(migrations))
	case version == 0 && b.opts.MustExist:
		return errors.New("radpool's own schema is not there")
	}
	for ; version < len(migrations); version++ {
		if err := b.step(ctx, version); err != nil {
			return fmt.Errorf("creating the schema: %w", err)
		}
	}
	return nil
}

// step is one migration.
func (b *Backend) step(ctx context.Context, version int) error {
	tx, err := b.db.Write.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if b.f.lock != "" {
		if _, err := tx.ExecContext(ctx, b.f.lock); err != nil {
			return err
		}
	}
	known := 0
	isKnown := func() error {
		return tx.GetContext(ctx, &known, tx.Rebind("SELECT COUNT(*) FROM radpool_schema WHERE version = ?"), version+1)
	}
	if version > 0 { // the table is there; another process may have been faster
		if err := isKnown(); err != nil || known > 0 {
			return err
		}
	}
	for _, s := range b.f.statements(migrations[version]) {
		// An attempt that was cut off, or another process, may have left an index or a
		// column: MySQL has no IF NOT EXISTS for them.
		if _, err := tx.ExecContext(ctx, s); err != nil && b.d.Classify(err) != dialect.Exists {
			return err
		}
	}
	if err := isKnown(); err != nil {
		return err
	}
	// Another process may have been faster, or may be at the same moment.
	if known == 0 {
		_, err := tx.ExecContext(ctx, tx.Rebind("INSERT INTO radpool_schema (version) VALUES (?)"), version+1)
		if err != nil && b.d.Classify(err) == dialect.Conflict {
			return nil
		} else if err != nil {
			return err
		}
	}
	return tx.Commit()
}
