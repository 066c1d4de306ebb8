package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// A lookup answers Access-Requests with the statements of authorize.sql and
// authorizeone.sql.
type lookup struct {
	db       *dialect.DB
	many     *sqlx.Stmt
	one      *sqlx.Stmt
	question dialect.Question
}

func prepare(ctx context.Context, db *dialect.DB, _ dialect.Tables, q dialect.Question) (dialect.Lookup, error) {
	l := &lookup{db: db, question: q}
	var err error
	if l.many, err = db.Read.PreparexContext(ctx, compared(authorize, q.Names)); err != nil {
		return nil, err
	}
	if l.one, err = db.Read.PreparexContext(ctx, compared(authorizeOne, q.Names)); err != nil {
		return nil, errors.Join(err, l.many.Close())
	}
	return l, nil
}

// compared is a statement with another comparison of names. That of the column
// stays where it is, for its index.
func compared(statement string, how dialect.Comparison) string {
	for _, user := range []string{"q.u", "p.name", "?1"} {
		for _, column := range []string{"a.username", "r.username", "m.username", "username"} {
			same := " " + column + " = " + user
			switch how {
			case dialect.Exact:
				statement = strings.ReplaceAll(statement, same, same+" AND CAST("+column+" AS BLOB) = CAST("+user+" AS BLOB)")
			case dialect.IgnoreCase:
				statement = strings.ReplaceAll(statement, same, same+" COLLATE NOCASE")
			}
		}
	}
	return statement
}

func (l *lookup) Whole() bool { return true }

func (l *lookup) Close() error { return errors.Join(l.many.Close(), l.one.Close()) }

func (l *lookup) Find(ctx context.Context, _ dialect.What, users []string, each func(*dialect.Row) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := l.question.Limit(ctx)
	defer cancel()
	stmt, arg := l.one, any(users[0])
	if len(users) > 1 {
		stmt, arg = l.many, names(users)
	}
	rows, err := stmt.QueryContext(l.db.Context(ctx), arg, l.question.Profile, l.question.Restricted)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	var raw [10]sql.RawBytes
	dest := make([]any, len(raw))
	for i := range raw {
		dest[i] = &raw[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		r, err := parse(&raw)
		if err == nil {
			err = each(&r)
		}
		if err != nil {
			return err
		}
	}
	return rows.Err()
}

// parse reads a row of an answer.
func parse(raw *[10]sql.RawBytes) (r dialect.Row, err error) {
	var n [4]int64
	for i, column := range [4]int{0, 1, 4, 6} {
		if n[i], err = strconv.ParseInt(string(raw[column]), 10, 64); err != nil {
			return r, fmt.Errorf("column %d of the answer is not a number", column+1)
		}
	}
	return dialect.Row{
		User: int(n[0]), Kind: int(n[1]), Profile: raw[2], Priority: priority(raw[3]), Member: n[2], Group: raw[5],
		ID: n[3], Attribute: raw[7], Op: raw[8], Value: raw[9], Open: -1,
	}, nil
}

// priority is that of a membership, whatever stands there: a column of SQLite holds any
// type. None is 0, as with the others; a text comes after all numbers, as SQLite has it.
func priority(raw []byte) int64 {
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil || len(raw) == 0 {
		return n
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	switch {
	case err != nil || math.IsNaN(f) || f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	}
	return int64(math.Floor(f))
}
