// Package dialect is what sqlbilling asks of a kind of database. Each kind is one
// package below sqlbilling that registers itself when it is imported, as drivers
// of database/sql do, so that a program compiles only the drivers it uses.
package dialect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
)

// A Class says what to do about an error.
type Class uint8

// Classes of errors.
const (
	Broken   Class = iota // of the whole database: disk full, I/O
	Busy                  // passes by itself: locked, a deadlock, a serialization failure
	BadRow                // of this row alone: a constraint, a trigger, a value too long
	Lost                  // the connection went away; another one may do
	Conflict              // another writer inserted the same row meanwhile: read again
	Changed               // a table or a column is not what it was: read what there is
	Away                  // of no answer, for now: not reachable, starting, too many connections
	Exists                // an index or a column that was to be made is there
)

// ErrUnreadable is that a row of accounting which is stored already holds something that has
// no place in its column. It is the record that asked for the row which cannot be stored,
// and no other.
var ErrUnreadable = errors.New("a row that is stored cannot be read")

// A Dialect is one kind of database. What is not marked optional must be set.
type Dialect struct {
	// Name is the scheme of the DSN, "sqlite" in "sqlite:FILE".
	Name string

	// Open connects to what stands behind the scheme. An error names the
	// database and the reason.
	Open func(ctx context.Context, target string, o Options) (*DB, error)

	// Tables reads what tables and columns there are, names in lower case.
	Tables func(ctx context.Context, db *DB) (Tables, error)

	// Create creates the nine standard tables with their indexes in an empty
	// database. When another process was faster, that is no error.
	Create func(ctx context.Context, db *DB) error

	// Reloads creates the table radpool_reload when it is missing.
	Reloads []string

	// Pools creates the table radippool when it is missing. Leases makes ready what
	// leases its addresses, for so many seconds; names are compared as exactly as
	// how says. Now is an expression for the seconds since 1970.
	Pools  []string
	Leases func(ctx context.Context, db *DB, t Tables, seconds int64, how Comparison) (Leaser, error)
	Now    string

	// RowID, which is optional, names a row of any table. Empty: radippool's id does.
	RowID string

	// Prepare makes ready what answers Access-Requests on a database with these
	// tables.
	Prepare func(ctx context.Context, db *DB, t Tables, q Question) (Lookup, error)

	// Among ends "SELECT ... FROM " with the rows of a table whose column has one
	// of some values. List makes the parameters of it, for ListLength values at
	// most; 0: any number.
	Among      func(table string, c Column) string
	List       func(values []string) []any
	ListLength int

	// Seconds is an expression for a column of time as seconds since 1970, or
	// NULL. Moment turns an expression of such seconds, or NULL, into what the
	// column stores.
	Seconds func(c Column) string
	Moment  func(expr string, c Column) string

	// Text is an expression for a column as text, '' for NULL. Stored turns an
	// expression of text into what the column stores. Clean, which is optional,
	// is a text as the column can hold it. Holds, which is optional, reports whether
	// it has all the characters of a text.
	Text   func(c Column) string
	Stored func(expr string, c Column) string
	Clean  func(s string, c Column) string
	Holds  func(s string, c Column) bool

	// Number, which is optional, is an expression for a column of numbers, 0 for NULL,
	// as one of 64 bits: where a column holds what is none, or a greater one.
	Number func(c Column) string

	// Bulk, which is optional, writes many rows with one statement.
	Bulk *Bulk

	// Lacks reports whether a table has no index that begins with these columns.
	Lacks func(ctx context.Context, db *DB, table string, columns ...string) (bool, error)

	// Unique reports whether the database sees to it that no two rows of radacct
	// have the same acctuniqueid.
	Unique func(ctx context.Context, db *DB) (bool, error)

	// ForUpdate ends a SELECT that is to lock its rows. ShareReloads and
	// OwnReloads are statements that a transaction starts with: one that reads
	// restarts and writes sessions has to end before one that writes a restart
	// goes on, and the other way round. All are empty where a transaction locks
	// everything anyway.
	ForUpdate, ShareReloads, OwnReloads string

	// Classify says what to do about an error.
	Classify func(err error) Class
}

// A Column is one column of a table.
type Column struct {
	Name      string // in lower case
	Type      string // in the words of the database, in lower case
	Length    int    // characters that it can hold; 0: not limited, or not known
	Charset   string // where columns have one
	Collation string
}

// Tables are the tables of a database, with their columns.
type Tables map[string][]Column

// Column finds a column.
func (t Tables) Column(table, name string) (Column, bool) {
	for _, c := range t[table] {
		if c.Name == name {
			return c, true
		}
	}
	return Column{}, false
}

// A Kind is what a column of a Bulk carries.
type Kind uint8

// Kinds of columns.
const (
	KindText Kind = iota // string
	KindInt              // int64, or nil for NULL
)

// A Bulk writes many rows with one statement, whose text does not depend on how
// many they are.
type Bulk struct {
	// Source is what follows FROM: a table v with columns c0, c1, ... of these
	// kinds, made of the parameters that Pack makes of the values of all rows,
	// row after row.
	Source func(kinds []Kind) string
	Pack   func(kinds []Kind, values []any) []any

	// Update is a statement that sets columns of a table where its key = v.c0.
	Update func(table, key string, sets []string, source string) string
}

// A Question is what Access-Requests ask for beside the names.
type Question struct {
	Profile    string // the user whose groups everybody may fall through to, or empty
	Restricted string // the group of the restricted profile
	Names      Comparison
	Timeout    time.Duration // of a statement; 0: as long as somebody waits
}

// Limit is ctx for one statement. Connections that are opened for it have the whole of ctx:
// where that takes longer than a statement may, nobody would ever be answered again.
func (q *Question) Limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if q.Timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, q.Timeout)
}

// A Comparison is how names are compared.
type Comparison uint8

// Comparisons of names.
const (
	AsColumn   Comparison = iota // as the columns of the database compare
	Exact                        // octet by octet
	IgnoreCase                   // without regard to case
)

// Kinds of rows of a Lookup.
const (
	RowCheck      = iota + 1 // radcheck
	RowReply                 // radreply
	RowMember                // radusergroup
	RowGroupCheck            // radgroupcheck, of a group that the user is in
	RowGroupReply            // radgroupreply, likewise
	RowOpen                  // how many sessions are open, in ID
	RowRestricted            // radgroupreply of the restricted profile; of no user
	RowProfile               // a profile that radcheck names and that has no groups
)

// What a Lookup is asked for.
type What uint8

// Whats.
const (
	// Everything that is known of users: rows of all kinds.
	Everything What = iota
	// Groups of users: memberships, and what the groups say.
	Groups
	// Open is how many sessions users have open.
	Open
)

// A Row is one row of an answer. Its octets are valid until the next.
type Row struct {
	User             int // the user's place in the list; -1: of no user
	Kind             int
	Profile          []byte // the profile that a group comes through; empty: the user's own
	Priority, Member int64  // of the membership
	Group            []byte
	ID               int64
	Attribute        []byte
	Op, Value        []byte
	Open             int64 // how many sessions are open, in a row with Simultaneous-Use; -1: does not say
}

// A Lookup answers Access-Requests, each question with one statement. It is used
// by DB.Readers goroutines at once, at most.
type Lookup interface {
	// Find calls each for every row about names. A name that cannot be in the
	// database is no error, and has no rows.
	Find(ctx context.Context, what What, names []string, each func(*Row) error) error

	// Whole reports whether Everything always holds all that may be needed, the
	// groups of profiles that a row names among it. Else those of which it has
	// neither a group nor a RowProfile are asked for with Groups.
	Whole() bool

	Close() error
}

// Options are the parts of sqlbilling.Options that concern connections.
type Options struct {
	Readers int // connections for Access-Requests; 0: what is best
	Writers int // connections for the rest, at least; 0: what is best
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
	// statement.
	Local bool

	// Server says that it is one, at the other end of connections.
	Server bool

	Readers int // questions that a Lookup answers at once
	// SpareAfter is how long one has been running before another is asked beside
	// it; 0: at once.
	SpareAfter time.Duration
	Batch      int // names of one question, at most
	Writers    int // transactions that are worth running at once

	// Source is what a Lookup opens connections of its own with, where it does.
	Source any

	// Dialect, if not nil, is the one to use for this server instead of the one
	// that opened it.
	Dialect *Dialect

	// Failed, if not nil, is told of errors by Tell.
	Failed func(err error)
}

// Ping asks the database for a sign of life. who is the package that is asked to.
func (db *DB) Ping(ctx context.Context, who string) error {
	if err := db.Read.PingContext(ctx); err != nil {
		return fmt.Errorf("%s: %s: %w", who, db.Label, err)
	}
	return nil
}

// Tell says that a statement ended in err, so that connections that cannot be
// trusted after that are replaced.
func (db *DB) Tell(err error) {
	if db.Failed != nil && err != nil {
		db.Failed(err)
	}
}

// Named is an error of a statement with the name of the database, after Tell. who is the
// package that ran it.
func (db *DB) Named(who string, err error) error {
	db.Tell(err)
	return fmt.Errorf("%s: %s: %w", who, db.Label, err)
}

// EachRow calls do after each row of a query was read into dest. An error is do's, or
// Named.
func (db *DB) EachRow(ctx context.Context, who, query string, dest []any, do func() error) error {
	rows, err := db.Read.QueryContext(ctx, query)
	if err != nil {
		return db.Named(who, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return db.Named(who, err)
		}
		if err := do(); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return db.Named(who, err)
	}
	return nil
}

// Context is what a statement is to be given for ctx.
func (db *DB) Context(ctx context.Context) context.Context {
	if db.Local {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

// Close closes both pools. A server that has gone away meanwhile is no error: what was
// to be durable is, and the connections are closed, whether it hears of it or not.
func (db *DB) Close() error {
	err := db.Write.Close()
	if db.Read != db.Write {
		if e := db.Read.Close(); err == nil {
			err = e
		}
	}
	if db.Server {
		return nil
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

// Named finds a dialect by name.
func Named(name string) (*Dialect, error) {
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
