package postgres

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// A lookup answers Access-Requests on connections of its own, below database/sql:
// for rows that are looked at once its conversions are half of the work.
type lookup struct {
	*dialect.Conns[*pgx.Conn]
	tables   dialect.Tables
	question dialect.Question
	profiles dialect.Recent // a User-Profile in radcheck
}

func prepare(ctx context.Context, db *dialect.DB, t dialect.Tables, q dialect.Question) (dialect.Lookup, error) {
	for _, table := range []string{"radcheck", "radreply", "radgroupcheck", "radgroupreply"} {
		if _, ok := t.Column(table, "id"); !ok {
			return nil, fmt.Errorf("is not a FreeRADIUS database: there is no column %s.id", table)
		}
	}
	l := &lookup{tables: t, question: q}
	var all []prepared
	for what, name := range statements {
		all = append(all, prepared{name, l.text(dialect.What(what))})
	}
	var err error
	l.Conns, err = openConns(ctx, db, all)
	return l, err
}

// withProfiles is Everything with the groups of profiles that radcheck names.
const withProfiles = dialect.Open + 1

// statements are the names of what is prepared.
var statements = [...]string{
	dialect.Everything: "radpool_everything", dialect.Groups: "radpool_groups", dialect.Open: "radpool_open", withProfiles: "radpool_profiles",
}

func (l *lookup) Whole() bool { return false }

func (l *lookup) Close() error {
	l.Shut()
	return nil
}

// Find asks with one statement. A User-Profile that is found when nobody had one for a
// long time is left to who asks.
func (l *lookup) Find(ctx context.Context, what dialect.What, names []string, each func(*dialect.Row) error) error {
	some := false
	err := l.find(ctx, what, names, func(r *dialect.Row) error {
		some = true
		return each(r)
	})
	if err == nil || some || !lacksCharacter(err) {
		return err
	}
	// Nobody has that name.
	if len(names) == 1 {
		return nil
	}
	half := len(names) / 2
	if err := l.Find(ctx, what, names[:half], each); err != nil {
		return err
	}
	return l.Find(ctx, what, names[half:], func(r *dialect.Row) error {
		if r.User >= 0 {
			r.User += half
		}
		return each(r)
	})
}

func (l *lookup) find(ctx context.Context, what dialect.What, names []string, each func(*dialect.Row) error) error {
	list := make([]*string, len(names))
	for i := range names {
		if utf8.ValidString(names[i]) && strings.IndexByte(names[i], 0) < 0 {
			list[i] = &names[i]
		} // else NULL, which equals nothing
	}
	args, statement := []any{list}, what
	if what == dialect.Everything {
		if l.profiles.Lately(len(names)) {
			statement = withProfiles
		}
		if args = append(args, l.question.Restricted); l.question.Profile != "" {
			args = append(args, l.question.Profile)
		}
	}
	return l.Do(ctx, func(c *pgx.Conn) error {
		ctx, cancel := l.question.Limit(ctx)
		defer cancel()
		rows, err := c.Query(ctx, statements[statement], args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		var r dialect.Row
		for rows.Next() {
			if err := parse(rows.RawValues(), &r); err != nil {
				return err
			}
			if r.Kind == dialect.RowCheck && r.Is("User-Profile") {
				l.profiles.Met(dialect.ProfilesFor)
			}
			if err := each(&r); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// parse reads a row of an answer: see text.
func parse(v [][]byte, r *dialect.Row) error {
	var n [6]int64
	for i, column := range [6]int{0, 1, 3, 4, 6, 10} {
		switch b := v[column]; len(b) {
		case 8:
			n[i] = int64(binary.BigEndian.Uint64(b))
		case 0: // as a priority may be
		default:
			return fmt.Errorf("column %d of the answer is not a bigint", column+1)
		}
	}
	*r = dialect.Row{
		User: int(n[0]) - 1, Kind: int(n[1]), Profile: v[2], Priority: n[2], Member: n[3], Group: v[5],
		ID: n[4], Attribute: v[7], Op: v[8], Value: v[9], Open: n[5],
	}
	if r.Kind == dialect.RowMember && len(r.Profile) > 0 && v[4] == nil {
		r.Kind = dialect.RowProfile
	}
	return nil
}
