package ledger_test

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/internal/dict"
)

// speeds makes profiles for NASes of several vendors.
func (f *fixture) speeds() {
	f.t.Helper()
	for profile, mbit := range map[string]int{"fast": 100, "slow": 1, "night": 200} {
		for i, a := range [][3]string{
			{"", "Reply-Message", profile},
			{"mikrotik", "Mikrotik-Rate-Limit", fmt.Sprintf("%dM/%dM", mbit, mbit)},
			{"cisco", "Cisco-AVPair", fmt.Sprintf("ip:sub-qos-policy-out=%dM", mbit)},
			{"wispr", "WISPr-Bandwidth-Max-Down", fmt.Sprint(mbit * 1_000_000)},
		} {
			f.exec("INSERT INTO radpool_profile (profile, position, vendor, attribute, value) VALUES (?, ?, ?, ?, ?)", profile, i, a[0], a[1], a[2])
		}
	}
	f.exec("INSERT INTO radpool_profile (profile, position, attribute, value) VALUES ('poor', 1, 'Filter-Id', 'pay')")
	f.exec("INSERT INTO radpool_nas (address, vendor) VALUES ('192.0.2.1', 'MikroTik'), ('192.0.2.2', 'cisco'), ('2001:db8::1', 'wispr')")
}

func (f *fixture) ask(user, nas string, second int64) billing.Grant {
	f.t.Helper()
	g, err := f.Authorize(f.t.Context(), &billing.AccessRequest{UserName: user, Time: at(second), NASAddr: netip.MustParseAddr(nas)})
	if err != nil {
		f.t.Fatal(err)
	}
	return g
}

// replies writes attributes as text, in order.
func replies(t testing.TB, g billing.Grant) string {
	t.Helper()
	attrs := g.Reply
	if g.Reason == billing.ReasonNoMoney {
		attrs = g.Restricted
	}
	var all []string
	for _, name := range []string{"Reply-Message", "Filter-Id", "Framed-IP-Address", "Mikrotik-Rate-Limit", "Cisco-AVPair", "WISPr-Bandwidth-Max-Down"} {
		ref, err := dict.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for v := range ref.Values(attrs) {
			all = append(all, name+"="+ref.Format(v))
		}
	}
	return strings.Join(all, " ")
}

func TestSpeedsByVendor(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		f := e.open(t)
		f.speeds()
		f.priced("alice")
		f.exec("INSERT INTO radpool_profile (profile, position, attribute, value) VALUES ('own', 1, 'Framed-IP-Address', '10.0.0.9')")
		f.exec("UPDATE radpool_subscriber SET profile = 'own'")
		for nas, want := range map[string]string{
			"192.0.2.1":        "Reply-Message=fast Framed-IP-Address=10.0.0.9 Mikrotik-Rate-Limit=100M/100M",
			"::ffff:192.0.2.2": "Reply-Message=fast Framed-IP-Address=10.0.0.9 Cisco-AVPair=ip:sub-qos-policy-out=100M",
			"2001:db8::1":      "Reply-Message=fast Framed-IP-Address=10.0.0.9 WISPr-Bandwidth-Max-Down=100000000",
			"192.0.2.99":       "Reply-Message=fast Framed-IP-Address=10.0.0.9",
		} {
			if got := replies(t, f.ask("alice", nas, 0)); got != want {
				t.Errorf("%s: %s, want %s", nas, got, want)
			}
		}
	})
}

// What a session costs and how much it moves is seen by the next login: the interval
// and its end, the quota, the money.
func TestIntervalQuotaAndMoney(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		f := e.open(t)
		f.speeds()
		f.priced("alice")
		f.exec("UPDATE radpool_interval SET profile = 'night'")
		f.exec("UPDATE radpool_tariff SET quota_profile = 'slow', quota_octets = 100000000")
		const mikrotik = "192.0.2.1"
		g := f.ask("alice", mikrotik, 0)
		if got := replies(t, g); got != "Reply-Message=fast Mikrotik-Rate-Limit=100M/100M" || !g.Expires.Equal(at(1800)) {
			t.Errorf("in the evening: %s until %v", got, g.Expires)
		}
		g = f.ask("alice", mikrotik, 1800)
		if got := replies(t, g); got != "Reply-Message=night Mikrotik-Rate-Limit=200M/200M" || !g.Expires.Equal(at(1800+8*3600)) {
			t.Errorf("at night: %s until %v", got, g.Expires)
		}
		rec := record("s", "alice", billing.InterimUpdate, 1000)
		rec.InputOctets, rec.OutputOctets = 50_000_000, 50_000_000
		if err := f.Account(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		if got := replies(t, f.ask("alice", mikrotik, 1001)); got != "Reply-Message=slow Mikrotik-Rate-Limit=1M/1M" {
			t.Errorf("over the quota: %s", got)
		}
		if got := replies(t, f.ask("alice", mikrotik, 24*3600)); got != "Reply-Message=fast Mikrotik-Rate-Limit=100M/100M" {
			t.Errorf("in the next month: %s", got)
		}
		rec.OutputOctets = 100_000_000_000
		if err := f.Account(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		g = f.ask("alice", mikrotik, 1002)
		if got := replies(t, g); g.Reason != billing.ReasonNoMoney || got != "Filter-Id=pay" {
			t.Errorf("without money: %v, %s", g.Reason, got)
		}
		f.exec("UPDATE radpool_tariff SET restricted_profile = ''")
		if g = f.ask("alice", mikrotik, 1002); g.Reason != billing.ReasonNoMoney || g.Restricted != nil {
			t.Errorf("without money and profile: %v, %v", g.Reason, g.Restricted)
		}
	})
}

func TestSubscriberColumns(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		f := e.open(t)
		f.priced("alice")
		set := func(column string, value any) { f.exec("UPDATE radpool_subscriber SET "+column+" = ?", value) }
		if g := f.ask("Alice", "192.0.2.1", 0); g.Reason != billing.ReasonUnknownUser {
			t.Errorf("another case: %v", g.Reason)
		}
		set("simultaneous_use", 3)
		set("calling_station_id", "00-11-22-33-44-55")
		set("expires", epoch+60)
		for i := range 2 {
			if err := f.Account(t.Context(), record(fmt.Sprint(i), "alice", billing.Start, 0)); err != nil {
				t.Fatal(err)
			}
		}
		g := f.ask("alice", "192.0.2.1", 0)
		if g.SimultaneousUse != 3 || g.OpenSessions != 2 || g.CallingStationID != "00-11-22-33-44-55" || !g.Expires.Equal(at(60)) {
			t.Errorf("%+v", g)
		}
		if g.Password.VerifyPAP([]byte("secret-alice")) != billing.ReasonNone {
			t.Error("the password is another")
		}
		set("blocked", 1)
		if g := f.ask("alice", "192.0.2.1", 0); g.Reason != billing.ReasonBlocked {
			t.Errorf("blocked: %v", g.Reason)
		}
		set("blocked", 0)
		set("password_form", "none")
		if g := f.ask("alice", "192.0.2.1", 0); !g.NoPassword || !g.Password.IsZero() {
			t.Errorf("without a password: %+v", g)
		}
	})
}

// What cannot be understood is an error that names the place, and of that subscriber
// alone.
func TestBadRows(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		f := e.open(t)
		f.priced("alice")
		for name, c := range map[string]struct{ bad, good, want string }{
			"form": {"UPDATE radpool_subscriber SET password_form = 'LM-Password'", "UPDATE radpool_subscriber SET password_form = 'Cleartext-Password'", "password"},
			"zone": {"UPDATE radpool_tariff SET zone = '../etc'", "UPDATE radpool_tariff SET zone = 'UTC'", "radpool_tariff"},
			"interval": {"UPDATE radpool_interval SET from_minute = 1440", "UPDATE radpool_interval SET from_minute = 0",
				"radpool_tariff"},
			"gone": {"UPDATE radpool_subscriber SET tariff = 'gone'", "UPDATE radpool_subscriber SET tariff = 'full'", "radpool_tariff"},
			"attribute": {"INSERT INTO radpool_profile (profile, position, attribute, value) VALUES ('fast', 1, 'No-Such', 'secret')",
				"DELETE FROM radpool_profile", "radpool_profile, fast"},
			"value": {"INSERT INTO radpool_profile (profile, position, attribute, value) VALUES ('fast', 1, 'Session-Timeout', 'secret')",
				"DELETE FROM radpool_profile", "radpool_profile, fast"},
		} {
			f.exec(c.bad)
			req := &billing.AccessRequest{UserName: "alice", Time: at(0), NASAddr: nas}
			_, err := f.Authorize(t.Context(), req)
			if !errors.Is(err, billing.ErrSubscriber) || !strings.Contains(fmt.Sprint(err), c.want) || strings.Contains(fmt.Sprint(err), "secret") {
				t.Errorf("%s: %v", name, err)
			}
			f.exec(c.good)
			if g, err := f.Authorize(t.Context(), req); err != nil || g.Reason != billing.ReasonNone {
				t.Errorf("%s, put right: %v %v", name, g.Reason, err)
			}
		}
	})
}

// A batch is one statement, and each of it has its own answer.
func TestBatchIsOneStatement(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		f := e.open(t)
		f.speeds()
		f.priced("alice", "bob", "carol")
		f.exec("UPDATE radpool_subscriber SET password_form = 'nonsense' WHERE username = 'bob'")
		var reqs []*billing.AccessRequest
		for _, user := range []string{"alice", "bob", "carol", "nobody", "\xff", "alice"} {
			reqs = append(reqs, &billing.AccessRequest{UserName: user, Time: at(0), NASAddr: nas})
		}
		grants, errs := make([]billing.Grant, len(reqs)), make([]error, len(reqs))
		before := f.Stats().Queries
		f.AuthorizeBatch(t.Context(), reqs, grants, errs)
		if n := f.Stats().Queries - before; n != 1 {
			t.Errorf("%d statements", n)
		}
		for i, req := range reqs {
			switch req.UserName {
			case "bob":
				if !errors.Is(errs[i], billing.ErrSubscriber) {
					t.Errorf("bob: %v", errs[i])
				}
			case "alice", "carol":
				if errs[i] != nil || grants[i].Reply == nil || string(grants[i].Reply.Get(rfc2865.ReplyMessage_Type)) != "fast" {
					t.Errorf("%s: %+v %v", req.UserName, grants[i], errs[i])
				}
			default:
				if errs[i] != nil || grants[i].Reason != billing.ReasonUnknownUser {
					t.Errorf("%q: %v %v", req.UserName, grants[i].Reason, errs[i])
				}
			}
		}
	})
}

// The schema is made once, whoever comes first, and stands beside others.
func TestOpenTogether(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		dsn, _, _ := e.Create(t)
		done := make(chan struct{})
		for range 4 {
			go func() {
				defer func() { done <- struct{}{} }()
				openAgain(t, dsn)
			}()
		}
		for range 4 {
			<-done
		}
	})
}
