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
	tables  dialect.Tables
	seconds int64
	names   dialect.Comparison
}

func prepareLeases(ctx context.Context, db *dialect.DB, t dialect.Tables, seconds int64, how dialect.Comparison) (dialect.Leaser, error) {
	source, ok := db.Source.(*connector)
	if !ok {
		return nil, errors.New("the database was not opened by this package")
	}
	l := &leaser{tables: t, seconds: seconds, names: how}
	l.Conns = &dialect.Conns[driver.Conn]{
		Open:  func(ctx context.Context) (driver.Conn, error) { return source.connect(ctx, source.multi) },
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

func (l *leaser) Lease(ctx context.Context, asks []*dialect.Ask) error {
	text := l.text(asks)
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
		dest := make([]driver.Value, 1+len(asks))
		if err := rows.Next(dest); err != nil {
			if errors.Is(err, io.EOF) {
				return errors.New("a lease has no answer")
			}
			return err
		}
		if turn := fmt.Sprintf("%s", dest[0]); turn != "1" && dest[0] != int64(1) {
			return errTurn
		}
		for i, a := range asks {
			addr, _ := dest[1+i].([]byte)
			a.Addr = string(addr)
		}
		return nil
	})
}

// turn is the name of the lock that those who lease hold in turn: so one user who
// asks twice at once, of two servers, does not get two addresses.
const turn = "CONCAT('radpool.lease.', LEFT(DATABASE(), 40))"

// text are the statements that lease: for each ask one for the row that the user
// had, one for the row that expired first, which does nothing after the other has
// found one; and at the end what was found. All do nothing without the lock.
func (l *leaser) text(asks []*dialect.Ask) string {
	expiry, _ := l.tables.Column("radippool", "expiry_time")
	clock, until := "NOW()", "NOW() + INTERVAL "+strconv.FormatInt(l.seconds, 10)+" SECOND"
	if integer(expiry) {
		clock, until = "UNIX_TIMESTAMP()", "UNIX_TIMESTAMP() + "+strconv.FormatInt(l.seconds, 10)
	}
	var b strings.Builder
	b.WriteString("SET @radpool_turn = GET_LOCK(" + turn + ", " + lockWait + "); START TRANSACTION;\n")
	found := []string{"@radpool_turn"}
	for i, a := range asks {
		values := a.Values()
		q := dialect.LeaseSQL{
			Value:  func(i int) string { return literal(values[i]) },
			Stored: func(expr string, _ dialect.Column) string { return expr },
			Text:   func(_ string, c dialect.Column) string { return c.Name },
		}
		own, free := "@radpool_own"+strconv.Itoa(i), "@radpool_free"+strconv.Itoa(i)
		device, pool, name := q.Device(l.tables), q.Value(0), q.Value(1)
		update := func(into, where string) {
			b.WriteString("UPDATE radippool SET " + q.Sets(l.tables) + ", expiry_time = IF((" + into + " := framedipaddress) IS NULL, " + until + ", " + until +
				") WHERE @radpool_turn = 1 AND pool_name = " + pool + " AND " + where + " LIMIT 1;\n")
		}
		b.WriteString("SET " + own + " = NULL, " + free + " = NULL;\n")
		update(own, l.same(name)+" AND ("+device+" OR username <> '' AND expiry_time < "+clock+") ORDER BY "+device+" DESC, expiry_time DESC")
		update(free, own+" IS NULL AND expiry_time < "+clock+" ORDER BY expiry_time")
		found = append(found, "COALESCE("+own+", "+free+")")
	}
	b.WriteString("COMMIT; DO RELEASE_LOCK(" + turn + "); SELECT " + strings.Join(found, ", "))
	return b.String()
}

// same compares the user's name with that of the row.
func (l *leaser) same(name string) string {
	s := "username = " + name
	switch c, _ := l.tables.Column("radippool", "username"); {
	case l.names == dialect.Exact && c.Charset != "":
		s += " AND CAST(CONVERT(username USING utf8mb4) AS BINARY) = CAST(" + name + " AS BINARY)"
	case l.names == dialect.IgnoreCase && (strings.HasSuffix(c.Collation, "_bin") || strings.HasSuffix(c.Collation, "_cs")):
		s = "LOWER(username) = LOWER(" + name + ")"
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
