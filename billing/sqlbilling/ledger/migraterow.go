package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/rating"
	"github.com/radpool/radpool/internal/dict"
)

// number is the value of a row that sets this attribute.
func number(r *standardRow, attribute string) (n int64, ok bool) {
	if !strings.EqualFold(r.Attribute, attribute) || r.Op != ":=" && r.Op != "==" {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(r.Value), 10, 64)
	return n, err == nil
}

// check takes over one row of radcheck, or says why it cannot.
func (u *migrant) check(r *standardRow) (why string) {
	if r.Op != ":=" && r.Op != "==" {
		return "this operator has no place"
	}
	if form, ok := billing.ParseForm(r.Attribute); ok {
		if u.password != "" {
			return "a subscriber has one password"
		}
		if _, err := billing.ParsePassword(form, r.Value); err != nil {
			return "the password cannot be understood"
		}
		u.password, u.form = r.Value, form.String()
		return ""
	}
	var ok bool
	switch strings.ToLower(r.Attribute) {
	case "simultaneous-use":
		if u.simultaneous, ok = number(r, r.Attribute); !ok || u.simultaneous < 1 {
			return "not a number of sessions, from 1"
		}
	case "radpool-balance":
		if u.balance, ok = number(r, r.Attribute); !ok || u.balance > int64(rating.MaxMoney) || u.balance < -int64(rating.MaxMoney) {
			return "not a sum of money that is possible"
		}
		u.balanced = true
	case "radpool-credit":
		if u.credit, ok = number(r, r.Attribute); !ok || u.credit < 0 || u.credit > int64(rating.MaxMoney) {
			return "not a sum of money that is possible"
		}
	case "calling-station-id":
		u.station = r.Value
	case "expiration":
		ref, err := dict.Lookup("Expiration")
		if err != nil {
			return err.Error()
		}
		value, err := ref.Parse(r.Value, time.Local)
		if err != nil || len(value) != 4 {
			return "not a date"
		}
		u.expires = seconds(value)
	default:
		return "there is no such condition"
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
	m.tariff(w, "default", "", poor)
	for _, name := range m.order {
		g := m.groups[name]
		profile := ""
		if m.profile(w, name, g.reply) {
			profile = name
		}
		if g.member && name != "default" {
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
	tariff := u.group
	if tariff == "" {
		tariff = "default"
	}
	if g := m.groups[u.group]; g != nil {
		if u.simultaneous == 0 {
			u.simultaneous = g.simultaneous
		}
		if g.incomplete {
			u.blocked = 1
		}
	}
	if u.form == "" {
		u.form = billing.FormCleartext.String()
	}
	profile := "user " + name
	if len(profile) > 64 {
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
		ref, err := m.dict.Lookup(r.Attribute)
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
		if _, err := ref.Parse(r.Value, time.UTC); err != nil {
			m.leave(r, "the value cannot be understood")
			continue
		}
		n++
		w.insert("radpool_profile", "profile, position, attribute, value", name, n, r.Attribute, r.Value)
	}
	m.report.Attributes += n
	return n > 0
}
