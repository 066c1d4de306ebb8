package ledger

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/radpool/radpool/internal/dict"
)

// Kinds of rows of an answer to findSQL.
const (
	rowSubscriber = 1 // with tariff and balance
	rowInterval   = 2
	rowAttribute  = 3 // of a profile
	rowUsage      = 4 // of a month
	rowNAS        = 5
)

// columns of an answer: the kind, the name of the subscriber or the address of the
// NAS, texts and numbers.
const texts, numbers = 9, 12

// findSQL reads all about some subscribers, and what kind of devices the NASes are
// that they come from. It has five lists as parameters, four of the names and one of
// addresses.
func (b *Backend) findSQL() string {
	from := " FROM (SELECT radpool_subscriber.* FROM " + b.among("radpool_subscriber", "username") + ") s"
	tariff := from + " JOIN radpool_tariff t ON t.name = s.tariff"
	attributes := selection(rowAttribute, "s.username", []string{"a.profile", "a.attribute", "a.value", "a.vendor"}, []string{"a.position"})
	return strings.Join([]string{
		selection(rowSubscriber, "s.username",
			[]string{"s.password", "s.password_form", "s.calling_station_id", "s.profile", "t.zone", "t.profile", "t.quota_profile", "t.restricted_profile", "s.tariff"},
			[]string{
				"s.credit", "s.blocked", "s.expires", "s.simultaneous_use", "COALESCE(b.balance, 0)",
				"CASE WHEN s.simultaneous_use = 0 THEN 0 ELSE (SELECT COUNT(*) FROM radpool_session o WHERE o.account = s.username AND o.stop_time = 0) END",
				"t.price_input_mb", "t.price_output_mb", "t.price_hour", "t.price_day", "t.mb_octets", "t.quota_octets",
			}) + from + " LEFT JOIN radpool_tariff t ON t.name = s.tariff LEFT JOIN radpool_balance b ON b.username = s.username",
		selection(rowInterval, "s.username", []string{"i.profile"},
			[]string{"i.position", "i.days", "i.from_minute", "i.to_minute", "i.price_input_mb", "i.price_output_mb", "i.price_hour"}) +
			tariff + " JOIN radpool_interval i ON i.tariff = t.name",
		// Each profile's rows, of the subscriber, of the tariff and of its intervals.
		attributes + " FROM (SELECT DISTINCT s.username, p.profile" + from + " JOIN radpool_tariff t ON t.name = s.tariff" +
			" LEFT JOIN radpool_interval i ON i.tariff = t.name" +
			" JOIN radpool_profile p ON p.profile IN (s.profile, t.profile, t.quota_profile, t.restricted_profile, COALESCE(i.profile, ''))) s" +
			" JOIN radpool_profile a ON a.profile = s.profile",
		selection(rowUsage, "s.username", nil, []string{"u.month", "u.octets"}) + from +
			" JOIN radpool_usage u ON u.username = s.username AND u.month >= ?",
		selection(rowNAS, "radpool_nas.address", []string{"radpool_nas.vendor"}, nil) + " FROM " + b.among("radpool_nas", "address"),
	}, " UNION ALL ") + " ORDER BY 1, 2, 12"
}

// selection is a SELECT with all columns of an answer. The twelfth, by which rows of
// a kind are sorted, is the first number.
func selection(kind int, name string, text, number []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "SELECT %d, %s", kind, name)
	for i := range texts {
		if i < len(text) {
			fmt.Fprintf(&b, ", COALESCE(%s, '')", text[i])
		} else {
			b.WriteString(", ''")
		}
	}
	for i := range numbers {
		switch {
		case i < len(number) && strings.Contains(number[i], "("):
			b.WriteString(", " + number[i])
		case i < len(number):
			fmt.Fprintf(&b, ", COALESCE(%s, 0)", number[i])
		default:
			b.WriteString(", 0")
		}
	}
	return b.String()
}

// A subscriber is what an answer says of one.
type subscriber struct {
	password, form, station, profile, tariffName    string
	credit, blocked, expires, simultaneous, balance int64
	open                                            int64

	tariff tariff
	used   map[int]int64 // octets by month
}

// An attribute is a row of radpool_profile.
type attribute struct {
	profile, name, value, vendor string
	position                     int64
}

// An answer is what is known of the subscribers that were asked for.
type answer struct {
	subscribers map[string]*subscriber
	profiles    map[string][]attribute
	vendors     map[string]string // of NASes
	dict        *dict.Dictionary
}

// readingPlace waits for a place among the statements that read.
func (b *Backend) readingPlace(ctx context.Context) (end func(), err error) {
	select {
	case b.reading <- struct{}{}:
		return func() { <-b.reading }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ask asks for some subscribers, and the NASes that they come from.
func (b *Backend) ask(ctx context.Context, names, nases []string, now time.Time) (*answer, error) {
	end, err := b.readingPlace(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	// Months by the calendars of all time zones: they are a day apart at most.
	yesterday := now.UTC().AddDate(0, 0, -1)
	var args []any
	for i := range 5 {
		list := names
		if i == 4 {
			list = nases
			args = append(args, int64(yesterday.Year()*100+int(yesterday.Month())))
		}
		args = append(args, b.d.List(list)...)
	}
	rows, err := b.find.QueryxContext(b.db.Context(ctx), args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	a := &answer{subscribers: make(map[string]*subscriber), profiles: make(map[string][]attribute), vendors: make(map[string]string), dict: b.dict}
	var kind int
	var name string
	var t [texts]string
	var n [numbers]int64
	dest := []any{&kind, &name}
	for i := range t {
		dest = append(dest, &t[i])
	}
	for i := range n {
		dest = append(dest, &n[i])
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return nil, err
		}
		a.add(kind, name, &t, &n)
	}
	for _, s := range a.subscribers {
		s.tariff.check()
	}
	return a, rows.Err()
}

// add takes one row. Rows come by kind, so that a subscriber is there before what
// belongs to it.
func (a *answer) add(kind int, name string, t *[texts]string, n *[numbers]int64) {
	if kind == rowNAS {
		a.vendors[name] = t[0]
		return
	}
	if kind == rowSubscriber {
		a.subscribers[name] = &subscriber{
			password: t[0], form: t[1], station: t[2], profile: t[3], tariffName: t[8],
			credit: n[0], blocked: n[1], expires: n[2], simultaneous: n[3], balance: n[4], open: n[5],
			tariff: *newTariff(&tariffRow{
				zone: t[4], profile: t[5], quota: t[6], restricted: t[7],
				input: n[6], output: n[7], hour: n[8], day: n[9], mb: n[10], octets: n[11],
			}),
			used: make(map[int]int64),
		}
		return
	}
	s := a.subscribers[name]
	if s == nil { // inserted between two parts of the statement, where those do not see one moment
		return
	}
	switch kind {
	case rowInterval:
		s.tariff.add(&tariffRow{profile: t[0], days: n[1], from: n[2], to: n[3], input: n[4], output: n[5], hour: n[6]})
	case rowAttribute:
		list := a.profiles[t[0]]
		if len(list) == 0 || list[len(list)-1].position < n[0] { // each once, whoever has it
			a.profiles[t[0]] = append(list, attribute{t[0], t[1], t[2], t[3], n[0]})
		}
	case rowUsage:
		s.used[int(n[0])] += n[1]
	}
}
