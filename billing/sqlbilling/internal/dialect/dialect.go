// Package dialect is what sqlbilling asks of a kind of database. Each kind is one
// package below sqlbilling that registers itself when it is imported, as drivers
// of database/sql do, so that a program compiles only the drivers it uses.
package dialect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/jmoiron/sqlx"
)

// A Class says what to do about an error.
type Class uint8

// Classes of errors.
const (
	Broken Class = iota // of the whole database: disk full, I/O, connection lost
	Busy                // passes by itself: locked, a deadlock, a serialization failure
	Row                 // of this row alone: a constraint, a trigger, a value too long
)

// A Dialect is one kind of database. All fields must be set.
type Dialect struct {
	// Name is the scheme of the DSN, "sqlite" in "sqlite:FILE".
	Name string

	// Open connects to what stands behind the scheme. An error names the
	// database and the reason.
	Open func(ctx context.Context, target string, o Options) (*DB, error)

	// Tables reads the names of the tables, and of their columns, in lower case.
	Tables func(ctx context.Context, db *DB) (map[string][]string, error)

	// Schema are the statements that create the nine standard tables with their
	// indexes.
	Schema string

	// Reloads creates the table radpool_reload when it is missing.
	Reloads string

	// Authorize is the one statement of an Access-Request. Its parameters are
	// Names(user names), the default profile and the group of the restricted
	// profile. See the package of a dialect for its columns.
	Authorize string

	// AuthorizeOne is the same for one user, whose name is the first parameter,
	// where that is faster. Empty: Authorize serves. Rows may come twice.
	AuthorizeOne string

	// Names packs any number of user names into one parameter of Authorize.
	Names func(names []string) any

	// In is a condition on a column, "column IN (...)", with one parameter that
	// List makes.
	In   func(column string) string
	List func(values []string) any

	// Seconds is an expression for a column of time as seconds since 1970, or
	// NULL; Time is such seconds as a parameter.
	Seconds func(column string) string
	Time    func(sec int64) any

	// Scans reports whether a query would read all of a table.
	Scans func(ctx context.Context, db *DB, query string, args ...any) (bool, error)

	// ForUpdate ends a SELECT that is to lock its rows, or is empty where the
	// transaction locks everything anyway.
	ForUpdate string

	// Classify says what to do about an error.
	Classify func(err error) Class
}

// Options are the parts of sqlbilling.Options that concern connections.
type Options struct {
	Readers int // connections for Access-Requests
	// MustExist refuses to create a database that is missing.
	MustExist bool
}

// A DB is an open database. Write has one connection or more that may write;
// Read are those for Access-Requests, and may be the same.
type DB struct {
	Write, Read *sqlx.DB
	Label       string // names the database in errors; never holds a password

	// Local says that statements run in this process and wait for nothing but a
	// lock, and that not for long. Then a context is looked at before and after
	// a statement and not while it runs, since that costs more than the
	// statement. Access-Requests wait for one of Readers in sqlbilling then, and
	// not in database/sql.
	Local   bool
	Readers int

	// Failed, if not nil, is told of errors by Tell.
	Failed func(err error)
}

// Tell says that a statement ended in err, so that connections that cannot be
// trusted after that are replaced.
func (db *DB) Tell(err error) {
	if db.Failed != nil && err != nil {
		db.Failed(err)
	}
}

// Context is what a statement is to be given for ctx.
func (db *DB) Context(ctx context.Context) context.Context {
	if db.Local {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

// Close closes both pools.
func (db *DB) Close() error {
	err := db.Write.Close()
	if db.Read != db.Write {
		if e := db.Read.Close(); err == nil {
			err = e
		}
	}
	return err
}

var (
	mu         sync.Mutex
	registered = make(map[string]*Dialect) // guarded by mu
)

// Register makes a dialect known. It panics when the name is taken.
func Register(d *Dialect) {
	mu.Lock()
	defer mu.Unlock()
	if registered[d.Name] != nil {
		panic("sqlbilling: dialect " + d.Name + " registered twice")
	}
	registered[d.Name] = d
}

// Lookup finds a dialect by name.
func Lookup(name string) (*Dialect, error) {
	mu.Lock()
	defer mu.Unlock()
	if d := registered[name]; d != nil {
		return d, nil
	}
	names := make([]string, 0, len(registered))
	for n := range registered {
		names = append(names, n)
	}
	slices.Sort(names)
	return nil, fmt.Errorf("no database named %.32q is compiled in (there are: %s); import its package below "+
		"billing/sqlbilling, as billing/sqlbilling/sqlite", name, strings.Join(names, ", "))
}
