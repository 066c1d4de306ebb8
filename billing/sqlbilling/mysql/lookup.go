package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strconv"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// A lookup answers Access-Requests on connections of its own, below database/sql:
// for rows that are looked at once its conversions are half of the work.
type lookup struct {
	*dialect.Conns[*reader]
	source   driver.Connector
	json     bool
	tables   dialect.Tables
	question dialect.Question
	alike    bool           // see octets
	joins    bool           // see joinsProfiles
	limits   dialect.Recent // a Simultaneous-Use
	profiles dialect.Recent // a User-Profile in radcheck
}

func prepare(ctx context.Context, db *dialect.DB, t dialect.Tables, q dialect.Question, json bool) (dialect.Lookup, error) {
	for _, table := range []string{"radcheck", "radreply", "radgroupcheck", "radgroupreply"} {
		if _, ok := t.Column(table, "id"); !ok {
			return nil, fmt.Errorf("is not a FreeRADIUS database: there is no column %s.id", table)
		}
	}
	source, ok := db.Source.(driver.Connector)
	if !ok {
		return nil, errors.New("the database was not opened by this package")
	}
	l := &lookup{source: source, json: json, tables: t, question: q, alike: alike(t)}
	l.joins = l.joinsProfiles()
	l.Conns = &dialect.Conns[*reader]{
		Open:  l.openReader,
		Close: func(r *reader) { _ = r.conn.Close() },
		Gone:  func(r *reader, _ error) bool { return r.broken },
		Lost:  lost,
	}
	// The first one is opened now: so what is wrong with a statement is known now.
	return l, l.Do(ctx, func(*reader) error { return nil })
}

func (l *lookup) Whole() bool { return false }

func (l *lookup) Close() error {
	l.Shut()
	return nil
}

// size is the number of parameters of the statement for so many names.
func (l *lookup) size(names int) int {
	if l.json {
		return 0
	}
	return 1 << bits.Len(uint(names-1))
}

// countFor is for how many names open sessions are counted in the statement of
// Everything after somebody was found to have a Simultaneous-Use.
const countFor = 10_000

// Find asks with one statement. Where nobody had a Simultaneous-Use for a long
// time, and somebody has one now, it takes a second. So it does for a User-Profile:
// the first is left to who asks.
func (l *lookup) Find(ctx context.Context, what dialect.What, names []string, each func(*dialect.Row) error) error {
	k := key{what: what, size: l.size(len(names)), plain: l.json && plain(names)}
	if what != dialect.Everything {
		return l.find(ctx, k, names, each)
	}
	k.counts = l.limits.Lately(len(names))
	k.profiles = l.joins && l.profiles.Lately(len(names))
	var limited []int // places of names, each once or more
	err := l.find(ctx, k, names, func(r *dialect.Row) error {
		if (r.Kind == dialect.RowCheck || r.Kind == dialect.RowGroupCheck) && r.User >= 0 && r.Is("Simultaneous-Use") {
			limited = append(limited, r.User)
		}
		if r.Kind == dialect.RowCheck && r.Is("User-Profile") {
			l.profiles.Met(dialect.ProfilesFor)
		}
		return each(r)
	})
	if err != nil || limited == nil {
		return err
	}
	l.limits.Met(countFor)
	if k.counts {
		return nil
	}
	slices.Sort(limited)
	limited = slices.Compact(limited)
	who := make([]string, len(limited))
	for i, place := range limited {
		who[i] = names[place]
	}
	return l.find(ctx, key{what: dialect.Open, size: l.size(len(who)), plain: k.plain}, who, func(r *dialect.Row) error {
		if r.User >= 0 && r.User < len(limited) {
			r.User = limited[r.User]
		}
		return each(r)
	})
}

func (l *lookup) find(ctx context.Context, k key, names []string, each func(*dialect.Row) error) error {
	return l.Do(ctx, func(r *reader) error {
		stmt, err := l.statement(ctx, r, k)
		if err == nil {
			ctx, cancel := l.question.Limit(ctx)
			defer cancel()
			err = query(ctx, stmt, l.args(k, names, stmt.lists), each)
		}
		if err != nil {
			r.broken = true // to be sure
		}
		return err
	})
}

// args are the parameters of a statement: the names once for each table q, and
// after that those of the constant parts.
func (l *lookup) args(k key, names []string, lists int) []driver.NamedValue {
	var list []driver.Value
	if l.json {
		list = []driver.Value{jsonNames(names)}
	} else {
		list = make([]driver.Value, k.size) // nil: NULL, which equals nothing
		for i, n := range names {
			if askable(n) {
				list[i] = n
			}
		}
	}
	var args []driver.NamedValue
	add := func(v driver.Value) { args = append(args, driver.NamedValue{Ordinal: len(args) + 1, Value: v}) }
	for range lists {
		for _, v := range list {
			add(v)
		}
	}
	if k.what == dialect.Everything {
		add(l.question.Restricted)
		if p := l.question.Profile; p != "" {
			for range 2 * 2 { // see groups
				add(p)
			}
		}
	}
	return args
}

// query runs a statement and goes through its rows.
func query(ctx context.Context, stmt driver.StmtQueryContext, args []driver.NamedValue, each func(*dialect.Row) error) (err error) {
	rows, err := stmt.QueryContext(ctx, args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var dest [columnCount]driver.Value
	var r dialect.Row
	for {
		switch err := rows.Next(dest[:]); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := parse(&dest, &r); err != nil {
			return err
		}
		if err := each(&r); err != nil {
			return err
		}
	}
}

// columnCount is how many columns an answer has. See branches.
const columnCount = 11

// parse reads a row of an answer.
func parse(v *[columnCount]driver.Value, r *dialect.Row) error {
	var n [6]int64
	for i, column := range [6]int{0, 1, 3, 4, 6, 10} {
		var err error
		switch x := v[column].(type) {
		case int64:
			n[i] = x
		case []byte:
			n[i], err = strconv.ParseInt(string(x), 10, 64)
		case nil: // as a priority may be, and the id of a group without check items
			if column == 10 {
				n[i] = -1
			}
		default:
			err = strconv.ErrSyntax
		}
		if err != nil {
			return fmt.Errorf("column %d of the answer is not a number", column+1)
		}
	}
	text := func(column int) []byte { b, _ := v[column].([]byte); return b }
	*r = dialect.Row{
		User: int(n[0]) - 1, Kind: int(n[1]), Profile: text(2), Priority: n[2], Member: n[3], Group: text(5),
		ID: n[4], Attribute: text(7), Op: text(8), Value: text(9), Open: n[5],
	}
	if r.Kind == dialect.RowGroupCheck && v[6] == nil {
		r.Kind = dialect.RowMember
		if r.Profile != nil && v[4] == nil {
			r.Kind = dialect.RowProfile
		}
	}
	return nil
}
