package sqlbilling

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling/internal/acct"
	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
	"github.com/radpool/radpool/internal/dict"
)

// EvaluateRows is evaluate on the rows of whole tables, each as table, name,
// attribute, op and value; of radusergroup as table, user, group and priority. The
// id of a row is its place in the list, from 1 on. It looks rows up as the
// statement Authorize is meant to.
func EvaluateRows(req *billing.AccessRequest, rows [][5]string, loc *time.Location, profile, restrictedGroup string) (billing.Grant, error) {
	var sub subscriber
	var restricted []row
	candidates := map[string]bool{profile: profile != ""}
	each := func(table, name string, do func(id int64, r [5]string)) {
		for i, r := range rows {
			if r[0] == table && r[1] == name {
				do(int64(i+1), r)
			}
		}
	}
	add := func(kind int, table, name string, base dialect.Row) {
		each(table, name, func(id int64, r [5]string) {
			base.Kind, base.ID, base.Attribute, base.Op, base.Value, base.Open = kind, id, []byte(r[2]), []byte(r[3]), []byte(r[4]), -1
			if kind != dialect.RowGroupReply && kind != dialect.RowReply && strings.EqualFold(r[2], "User-Profile") {
				candidates[strings.Trim(r[4], `"'`)] = true
			}
			sub.add(&base)
		})
	}
	groups := func(user, profile string) {
		each("radusergroup", user, func(id int64, r [5]string) {
			n, err := strconv.ParseInt(r[3], 10, 64)
			if err != nil {
				panic(err)
			}
			m := dialect.Row{Profile: []byte(profile), Priority: n, Member: id, Group: []byte(r[2]), Kind: dialect.RowMember, Open: -1}
			sub.add(&m)
			add(dialect.RowGroupCheck, "radgroupcheck", r[2], m)
			add(dialect.RowGroupReply, "radgroupreply", r[2], m)
		})
	}
	add(dialect.RowCheck, "radcheck", req.UserName, dialect.Row{})
	add(dialect.RowReply, "radreply", req.UserName, dialect.Row{})
	groups(req.UserName, "")
	for name, is := range candidates {
		if is {
			groups(name, name)
		}
	}
	each("radgroupreply", restrictedGroup, func(id int64, r [5]string) {
		restricted = append(restricted, row{kind: dialect.RowRestricted, id: id, attribute: r[2], op: r[3], value: r[4]})
	})
	sub.sort()
	sub.counted = true // there are none
	e := evaluation{dict: dict.Default(), req: req, sub: &sub, now: req.Time, loc: loc, defaultProfile: profile}
	return e.evaluate(restricted)
}

// Hours is parseHours and at.
func Hours(s string, t time.Time) (in bool, until time.Time, err error) {
	h, err := parseHours(s)
	if err != nil {
		return false, time.Time{}, err
	}
	in, until = h.at(t)
	return in, until, nil
}

// WriteDB is the pool that writes, for tests that break it.
func (b *Backend) WriteDB() *sqlx.DB { return b.db.Write }

// Together is lookups with another way to ask, for tests of who asks when.
type Together struct{ l *lookups }

// NewTogether makes one that runs so many statements at once, of so many names.
func NewTogether(running, most int, ask func(ctx context.Context, names []string) error) *Together {
	return &Together{&lookups{running: running, most: most, ask: func(ctx context.Context, names []string, subs []subscriber) (common, error) {
		for i, name := range names {
			subs[i].check = []row{{value: name}}
		}
		return common{}, ask(ctx, names)
	}}}
}

// SpareAfter sets for how long a statement keeps others from the other connections.
func (t *Together) SpareAfter(d time.Duration) *Together {
	t.l.spareAfter = d
	return t
}

// Find asks for names, and returns those that were answered.
func (t *Together) Find(ctx context.Context, names ...string) (answered []string, err error) {
	q := &question{ctx: ctx, names: names}
	if err := t.l.find(q); err != nil {
		return nil, err
	}
	for i := range q.subs {
		answered = append(answered, q.subs[i].check[0].value)
	}
	return answered, nil
}

// Close closes it.
func (t *Together) Close() { t.l.close() }

// Look reads the tables again, as is done once a minute.
func (b *Backend) Look() { b.look(context.Background()) }

// LeaseAfter is when a lease ends after a record, and what is known of the session
// then, of which before was known.
func LeaseAfter(expiry, now, lasts int64, before, record acct.Session) (int64, acct.Session) {
	s := life{Session: record, before: before}
	s.Merge(&before)
	l := lease{expiry: expiry, now: now, lasts: lasts}
	return l.after(&s), s.Session
}
