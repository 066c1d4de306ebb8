package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/rating"
	"github.com/radpool/radpool/internal/dict"
)

// maxSimultaneous is the most that the schema takes for simultaneous_use.
const maxSimultaneous = 1_000_000

// number is the value of a row that sets this attribute.
func number(r *standardRow, attribute string) (n int64, ok bool) {
	if !strings.EqualFold(r.Attribute, attribute) || r.Op != ":=" {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(r.Value), 10, 64)
	return n, err == nil
}

// fits reports whether a column of so many characters holds s.
func fits(s string, characters int) bool {
	return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 && utf8.RuneCountInString(s) <= characters
}

// isNo reports whether the value of a Fall-Through is No.
func isNo(value string) bool {
	value = strings.ToLower(strings.TrimSpace(value))
	return value == "no" || value == "0"
}

// check takes over one row of radcheck, or says why it cannot.
func (u *migrant) check(r *standardRow) (why string) {
	name := strings.ToLower(r.Attribute)
	form, isPassword := billing.ParseForm(r.Attribute)
	switch {
	case r.Op == ":=":
	case r.Op == "==" && (isPassword || name == "simultaneous-use" || strings.HasPrefix(name, "radpool-")):
		return "with this operator it is compared with the request, which never has it"
	case r.Op != "==":
		return "this operator has no place"
	}
	if isPassword {
		if u.password != "" {
			return "a subscriber has one password"
		}
		if _, err := billing.ParsePassword(form, r.Value); err != nil || !fits(r.Value, 253) {
			return "the password cannot be understood"
		}
		u.password, u.form = r.Value, form.String()
		return ""
	}
	switch name {
	case "simultaneous-use":
		n, ok := number(r, r.Attribute)
		if !ok || n < 1 || n > maxSimultaneous {
			return fmt.Sprintf("not a number of sessions, from 1 to %d", maxSimultaneous)
		}
		if u.simultaneous == 0 { // of several the first counts
			u.simultaneous = n
		}
	case "radpool-balance", "radpool-credit":
		n, ok := number(r, r.Attribute)
		if !ok || n > int64(rating.MaxMoney) || n < -int64(rating.MaxMoney) {
			return "not a sum of money that is possible"
		}
		return u.money(name, n)
	case "calling-station-id":
		if r.Value == "" || !fits(r.Value, 253) || u.station != "" && u.station != r.Value {
			return "a subscriber has one station, which is not empty"
		}
		u.station = r.Value
	case "expiration":
		return u.expire(r.Value)
	default:
		return "there is no such condition"
	}
	return ""
}

// money takes over a balance or a credit; of several the first counts.
func (u *migrant) money(name string, n int64) (why string) {
	switch {
	case name == "radpool-balance" && !u.balanced:
		u.balance, u.balanced = n, true
	case name == "radpool-credit" && n < 0:
		return "not a sum of money that is possible"
	case name == "radpool-credit" && u.credit == 0:
		u.credit = n
	}
	return ""
}

// expire takes over an Expiration; of several all hold, and so the earliest.
func (u *migrant) expire(date string) (why string) {
	ref, err := dict.Lookup("Expiration")
	if err != nil {
		return err.Error()
	}
	value, err := ref.Parse(date, time.Local)
	if err != nil || len(value) != 4 {
		return "not a date"
	}
	at := max(seconds(value), 1) // 0 would be never
	if u.expires == 0 || at < u.expires {
		u.expires = at
	}
	return ""
}

// write writes what was collected.
func (m *migration) write(w *inserter, now time.Time) {
	const restricted = "radpool-restricted"
	poor := ""
	if m.groups[restricted] != nil {
		poor = restricted
	}
	m.tariff(w, m.groupless(), "", poor)
	for _, name := range m.order {
		g := m.groups[name]
		if !fits(name, 64) {
			m.report.Left = append(m.report.Left, fmt.Sprintf("group %.64q: the name is too long; those in it are blocked", name))
			g.incomplete = true
			continue
		}
		profile := ""
		if m.profile(w, name, g.reply) {
			profile = name
		}
		if g.member {
			m.tariff(w, name, profile, poor)
		}
	}
	for _, name := range m.names {
		m.subscriber(w, name, now)
	}
	for _, n := range m.nases {
		w.insert("radpool_nas", "address, vendor", n[0], n[1])
		m.report.NASes++
	}
}

// groupless is the tariff of those who are in no group.
func (m *migration) groupless() string {
	name := "default"
	for m.groups[name] != nil {
		name += "_"
	}
	return name
}

func (m *migration) tariff(w *inserter, name, profile, restricted string) {
	w.insert("radpool_tariff", "name, profile, restricted_profile", name, profile, restricted)
	m.report.Tariffs++
}

// subscriber writes one who has a row in radcheck.
func (m *migration) subscriber(w *inserter, name string, now time.Time) {
	u := m.users[name]
	if !possible(name) || !u.known {
		m.report.Left = append(m.report.Left, fmt.Sprintf("%q: has no row in radcheck, or a name that is not possible", name))
		return
	}
	tariff := m.groupless()
	if len(u.groups) > 0 && fits(u.groups[0], 64) {
		tariff = u.groups[0]
	}
	for _, name := range u.groups { // those that apply
		g := m.groups[name]
		if u.simultaneous == 0 {
			u.simultaneous = g.simultaneous
		}
		if g.incomplete {
			u.blocked = 1
		}
		if !g.goesOn {
			break
		}
	}
	if u.form == "" {
		u.form = billing.FormCleartext.String()
	}
	profile := "user " + name
	if len(profile) > 64 || m.groups[profile] != nil {
		sum := sha256.Sum256([]byte(name))
		profile = "user " + hex.EncodeToString(sum[:16])
	}
	if !m.profile(w, profile, u.reply) {
		profile = ""
	}
	w.insert("radpool_subscriber", "username, password, password_form, tariff, profile, credit, blocked, expires, simultaneous_use, calling_station_id",
		name, u.password, u.form, tariff, profile, u.credit, u.blocked, u.expires, u.simultaneous, u.station)
	m.report.Subscribers++
	if u.balanced {
		w.insert("radpool_ledger", "username, reference, at, amount", name, "payment:migration", now.Unix(), u.balance)
		w.insert("radpool_balance", "username, balance", name, u.balance)
	}
}

// profile writes attributes of replies, and reports whether there are any.
func (m *migration) profile(w *inserter, name string, reply []standardRow) bool {
	n := 0
	for i := range reply {
		r := &reply[i]
		ref, err := m.backend.dict.Lookup(r.Attribute)
		switch {
		case err != nil:
			m.leave(r, "unknown attribute")
			continue
		case ref.Internal():
			m.leave(r, "not an attribute for the wire")
			continue
		case r.Op != ":=" && r.Op != "=" && r.Op != "+=":
			m.leave(r, "this operator has no place")
			continue
		}
		if _, err := ref.Parse(r.Value, time.UTC); err != nil || !fits(r.Value, 253) || !fits(r.Attribute, 64) {
			m.leave(r, "the value cannot be understood")
			continue
		}
		n++
		w.insert("radpool_profile", "profile, position, attribute, value", name, n, r.Attribute, r.Value)
	}
	m.report.Attributes += n
	return n > 0
}
