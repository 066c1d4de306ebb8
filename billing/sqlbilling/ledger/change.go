package ledger

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/billing/rating"
	"github.com/radpool/radpool/billing/sqlbilling/internal/acct"
)

// A change is what one transaction does to sessions, the ledger, balances and
// usage.
type change struct {
	*store
	tx *sqlx.Tx

	tariffs map[string]*tariff

	inserted, updated []any // rows of radpool_session
	entries           []any // rows of radpool_ledger
	sums              map[string]rating.Money
	usage             map[monthOf]int64
	days              map[dayOf]debt
}

type monthOf struct {
	account string
	month   int64
}

type dayOf struct {
	account, reference string
}

// A debt is what is to be charged, and the time to write beside it.
type debt struct {
	amount rating.Money
	at     int64
}

func newChange(s *store, tx *sqlx.Tx) *change {
	return &change{store: s, tx: tx, sums: make(map[string]rating.Money), usage: make(map[monthOf]int64), days: make(map[dayOf]debt)}
}

// apply merges sessions, which are distinct and sorted, into what is stored, and
// charges what is owed then and was not charged yet. records are what the sessions
// were made of.
func (c *change) apply(ctx context.Context, sessions []acct.Session, records []*acct.Record) (rows int, err error) {
	history, err := c.history(ctx, c.tx, sessions)
	if err != nil {
		return 0, err
	}
	stored, err := c.read(ctx, sessions)
	if err != nil {
		return 0, err
	}
	if c.tariffs, err = c.readTariffs(ctx); err != nil {
		return 0, err
	}
	who, err := c.subscribersOf(ctx, sessions, stored)
	if err != nil {
		return 0, err
	}
	merged := make(map[string]*row, len(sessions))
	for i := range sessions {
		r := &row{Session: sessions[i]}
		old, exists := stored[r.UniqueID]
		r.account, r.tariff, r.charged, r.entries, r.month, r.counted = old.account, old.tariff, old.charged, old.entries, old.month, old.counted
		if r.account == "" {
			if tariff, known := who[r.UserName]; known {
				r.account, r.tariff = r.UserName, tariff
			}
		}
		fit(&r.Session)
		r.Merge(&old.Session)
		r.Interval = 0 // radpool_session has no such column
		r.Reboot(history[r.NASAddr])
		fit(&r.Session)
		merged[r.UniqueID] = r
		c.charge(r)
		switch {
		case !exists:
			c.inserted = append(c.inserted, r.values()...)
		case *r == old:
			continue // a duplicate, or older than what is known
		default:
			c.updated = append(c.updated, r.values()...)
		}
		rows++
	}
	c.noteDays(records, merged)
	if err := c.chargeDays(ctx); err != nil {
		return 0, err
	}
	return rows, c.write(ctx)
}

// charge adds what the session owes and was not charged, and moves its octets to the
// month in which it began.
func (c *change) charge(r *row) {
	t := c.usable(r)
	if t == nil {
		return
	}
	if owed := int64(t.Price(r.usage())); owed != r.charged {
		r.entries++
		c.book(r.account, "session:"+r.UniqueID+":"+strconv.FormatInt(r.entries, 10), debt{rating.Money(owed - r.charged), r.Update})
		r.charged = owed
	}
	if r.counted != 0 {
		c.usage[monthOf{r.account, r.month}] -= r.counted
	}
	r.month, r.counted = int64(t.Month(r.Start)), r.octets()
	c.usage[monthOf{r.account, r.month}] += r.counted
}

// usable is the tariff of a session, or nil where there is none.
func (c *change) usable(r *row) *tariff {
	if r.account == "" {
		return nil
	}
	t := c.tariffs[r.tariff]
	switch {
	case t == nil:
		c.complain(fmt.Errorf("there is no tariff %q in radpool_tariff", r.tariff))
		return nil
	case t.err != nil:
		c.complain(t.err)
		return nil
	}
	return t
}

// book makes an entry in the ledger.
func (c *change) book(account, reference string, d debt) {
	c.entries = append(c.entries, account, reference, d.at, -int64(d.amount))
	c.sums[account] = rating.Add(c.sums[account], -d.amount)
}

// noteDays collects the days that records tell of, where the tariff has a price for
// them.
func (c *change) noteDays(records []*acct.Record, merged map[string]*row) {
	for _, rec := range records {
		r := merged[rec.Session.UniqueID]
		if rec.Reload.NAS != "" || r == nil {
			continue
		}
		t := c.usable(r)
		if t == nil || t.Day == 0 {
			continue
		}
		for _, day := range t.Days(rec.Session.Update, rec.Session.Seconds) {
			k := dayOf{r.account, "day:" + strconv.Itoa(day)}
			c.days[k] = debt{max(c.days[k].amount, t.Day), max(c.days[k].at, rec.Session.Update)}
		}
	}
}

// chargeDays makes an entry for each day that has none.
func (c *change) chargeDays(ctx context.Context) error {
	if len(c.days) == 0 {
		return nil
	}
	var accounts, references []string
	for k := range c.days {
		accounts, references = append(accounts, k.account), append(references, k.reference)
	}
	slices.Sort(accounts)
	var known dayOf
	if err := acct.Each(ctx, c.tx, c.d, c.store.days, slices.Compact(accounts), []any{&known.account, &known.reference},
		func() { delete(c.days, known) }, slices.Min(references), slices.Max(references)); err != nil {
		return fmt.Errorf("radpool_ledger: %w", err)
	}
	for _, k := range slices.SortedFunc(maps.Keys(c.days), func(a, b dayOf) int {
		return cmp.Or(cmp.Compare(a.account, b.account), cmp.Compare(a.reference, b.reference))
	}) {
		c.book(k.account, k.reference, c.days[k])
	}
	return nil
}

// write writes what was collected, each table in the order in which everybody locks
// its rows.
func (c *change) write(ctx context.Context) error {
	var balances, usage []any
	for _, account := range slices.Sorted(maps.Keys(c.sums)) {
		balances = append(balances, account, int64(c.sums[account]))
	}
	for _, k := range slices.SortedFunc(maps.Keys(c.usage), func(a, b monthOf) int {
		return cmp.Or(cmp.Compare(a.account, b.account), cmp.Compare(a.month, b.month))
	}) {
		if c.usage[k] != 0 {
			usage = append(usage, k.account, k.month, c.usage[k])
		}
	}
	for _, w := range [...]struct {
		in     *insert
		values []any
		table  string
	}{
		{c.newSession, c.inserted, "radpool_session"}, {c.oldSession, c.updated, "radpool_session"},
		{c.entry, c.entries, "radpool_ledger"}, {c.balance, balances, "radpool_balance"}, {c.used, usage, "radpool_usage"},
	} {
		if err := w.in.write(ctx, c.tx, w.values); err != nil {
			return fmt.Errorf("%s: %w", w.table, err)
		}
	}
	return nil
}

// read returns the rows of these sessions, locked.
func (c *change) read(ctx context.Context, sessions []acct.Session) (map[string]row, error) {
	ids := make([]string, len(sessions))
	for i := range sessions {
		ids[i] = sessions[i].UniqueID
	}
	stored := make(map[string]row, len(sessions))
	var r row
	if err := acct.Each(ctx, c.tx, c.d, c.sessions, ids, r.fields(), func() { stored[r.UniqueID] = r }); err != nil {
		return nil, fmt.Errorf("radpool_session: %w", err)
	}
	return stored, nil
}

// subscribersOf finds the tariffs of those who pay for sessions that nobody pays for
// yet.
func (c *change) subscribersOf(ctx context.Context, sessions []acct.Session, stored map[string]row) (map[string]string, error) {
	var names []string
	for i := range sessions {
		if s := &sessions[i]; stored[s.UniqueID].account == "" && possible(s.UserName) {
			names = append(names, s.UserName)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	slices.Sort(names)
	tariffs := make(map[string]string, len(names))
	var name, tariff string
	if err := acct.Each(ctx, c.tx, c.d, c.subscribers, slices.Compact(names), []any{&name, &tariff}, func() { tariffs[name] = tariff }); err != nil {
		return nil, fmt.Errorf("radpool_subscriber: %w", err)
	}
	return tariffs, nil
}
