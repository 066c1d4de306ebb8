package mysql

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// A leaser leases on a connection of its own that takes several statements in one
// text: so all that a group of leases needs is one round trip.
type leaser struct {
	*dialect.Conns[driver.Conn]
	tables       dialect.Tables
	seconds      int64
	names        dialect.Comparison
	clock, until string   // now, and the end of a lease of now, as expiry_time holds them
	sets         *setText // nil: the server lacks what it takes
}

func prepareLeases(
	ctx context.Context, db *dialect.DB, t dialect.Tables, seconds int64, how dialect.Comparison, json bool,
) (dialect.Leaser, error) {
	source, ok := db.Source.(*connector)
	if !ok {
		return nil, errors.New("the database was not opened by this package")
	}
	l := &leaser{tables: t, seconds: seconds, names: how, clock: "NOW()"}
	if expiry, _ := t.Column("radippool", "expiry_time"); integer(expiry) {
		l.clock = "UNIX_TIMESTAMP()"
	}
	l.until = l.clock + " + " + strconv.FormatInt(seconds, 10)
	if l.clock == "NOW()" {
		l.until = "NOW() + INTERVAL " + strconv.FormatInt(seconds, 10) + " SECOND"
	}
	open := func(ctx context.Context) (driver.Conn, error) { return source.connect(ctx, source.multi) }
	if json {
		scans, err := lacks(ctx, db, "radippool", "pool_name", "username")
		if err != nil {
			return nil, err
		}
		l.sets = l.newSetText(scans)
		if scans {
			open = source.connectHashing
		}
	}
	l.Conns = &dialect.Conns[driver.Conn]{
		Open:  open,
		Close: func(c driver.Conn) { _ = c.Close() },
		Gone:  func(driver.Conn, error) bool { return true }, // with its transaction and its lock
		Lost:  lost,
	}
	// The first one is opened now: so what is wrong with a statement is known now.
	return l, l.Lease(ctx, nil)
}

func (l *leaser) Close() error {
	l.Shut()
	return nil
}

// errTurn is that another server kept its turn for longer than one is waited for. It
// passes by itself.
var errTurn = &mysql.MySQLError{Number: 1205, Message: "the lock of those who lease addresses is not free"}

// Lease answers asks. Those that one statement can answer together get their rows that
// way; what is left is asked for one by one, in a second text: what several asks of one
// user want, and what somebody else was faster with.
func (l *leaser) Lease(ctx context.Context, asks []*dialect.Ask) error {
	if l.sets == nil || len(asks) == 0 {
		return l.leaseEach(ctx, asks)
	}
	rest, err := l.leaseSet(ctx, asks)
	if err != nil || len(rest) == 0 {
		return err
	}
	return l.leaseEach(ctx, rest)
}

// leaseEach answers asks one by one, in one text.
func (l *leaser) leaseEach(ctx context.Context, asks []*dialect.Ask) error {
	return l.ask(ctx, l.text(asks), len(asks), func(found []driver.Value) error {
		for i, a := range asks {
			addr, _ := found[i].([]byte)
			a.Addr = string(addr)
		}
		return nil
	})
}

// ask runs a text whose answer is one row: whether it had its turn, and what it found.
func (l *leaser) ask(ctx context.Context, text string, columns int, read func(found []driver.Value) error) error {
	return l.Do(ctx, func(c driver.Conn) (err error) {
		q, ok := c.(driver.QueryerContext)
		if !ok {
			return fmt.Errorf("the driver's %T lacks methods with a context", c)
		}
		rows, err := q.QueryContext(ctx, text, nil)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, rows.Close()) }()
		dest := make([]driver.Value, 1+columns)
		if err := rows.Next(dest); err != nil {
			if errors.Is(err, io.EOF) {
				return errors.New("a lease has no answer")
			}
			return err
		}
		if !isOne(dest[0]) {
			return errTurn
		}
		return read(dest[1:])
	})
}

// isOne reports whether a value is the number 1, which the driver gives as either.
func isOne(v driver.Value) bool {
	text, _ := v.([]byte)
	return v == int64(1) || string(text) == "1"
}

// turn is the name of the lock that those who lease hold in turn: so one user who
// asks twice at once, of two servers, does not get two addresses.
const turn = "CONCAT('radpool.lease.', LEFT(DATABASE(), 40))"

// same compares a user's name with that of the row, username, or that of a table r.
func (l *leaser) same(username, name string) string {
	s := username + " = " + name
	switch c, _ := l.tables.Column("radippool", "username"); {
	case l.names == dialect.Exact && c.Charset != "":
		s += " AND CAST(CONVERT(" + username + " USING utf8mb4) AS BINARY) = CAST(" + name + " AS BINARY)"
	case l.names == dialect.IgnoreCase && (strings.HasSuffix(c.Collation, "_bin") || strings.HasSuffix(c.Collation, "_cs")):
		s = "LOWER(" + username + ") = LOWER(" + name + ")"
	}
	return s
}

// literal is text in a statement: nothing of it can end the literal.
func literal(s string) string {
	if s == "" {
		return "''"
	}
	return "_utf8mb4 X'" + hex.EncodeToString([]byte(s)) + "'"
}
