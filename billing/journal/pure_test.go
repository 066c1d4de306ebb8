package journal_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/journal"
	"github.com/radpool/radpool/radpool"
)

// ordered is the rule, as naively as can be: which two records must stay in order.
type rec struct {
	session, nas uint64
	restart      bool
}

func (a rec) ordered(b rec) bool {
	return a.session == b.session || a.nas == b.nas && (a.restart || b.restart)
}

func randomRecs(rng *rand.Rand) []rec {
	list := make([]rec, rng.IntN(40))
	for i := range list {
		nas := rng.Uint64N(3)
		list[i] = rec{session: nas*100 + rng.Uint64N(6), nas: nas, restart: rng.IntN(8) == 0}
		if list[i].restart {
			list[i].session = nas*100 + 50
		}
	}
	return list
}

func TestWavesAgainstReference(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		list := randomRecs(rng)
		all := make([]journal.Keys, len(list))
		want := make([]int, len(list))
		for i, r := range list {
			all[i] = journal.NewKeys(r.session, r.nas, r.restart)
			for k := range i {
				if list[k].ordered(r) {
					want[i] = max(want[i], want[k]+1)
				}
			}
		}
		got := journal.Waves(all)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%v: %v, want %v", list, got, want)
		}
	}
}

func TestWaitingAgainstReference(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		w := journal.NewWaiting()
		var there []rec
		key := func(r rec) journal.Keys { return journal.NewKeys(r.session, r.nas, r.restart) }
		for _, r := range append(randomRecs(rng), randomRecs(rng)...) {
			want := false
			for _, x := range there {
				want = want || x.ordered(r)
			}
			if got := w.Before(key(r)); got != want {
				t.Fatalf("%v before %v: %v, want %v", there, r, got, want)
			}
			if len(there) > 0 && rng.IntN(2) == 0 {
				i := rng.IntN(len(there))
				w.Remove(key(there[i]))
				there = append(there[:i], there[i+1:]...)
			} else {
				w.Add(key(r))
				there = append(there, r)
			}
		}
		for _, x := range there {
			w.Remove(key(x))
		}
		if !w.Empty() {
			t.Fatal("something is left")
		}
	}
}

func TestBreaker(t *testing.T) {
	const interval = 250 * time.Millisecond
	b := journal.NewBreaker(interval)
	now := time.Unix(1_700_000_000, 0)
	expect := func(what string, probe, ok bool) {
		t.Helper()
		if p, o := b.Allow(now); p != probe || o != ok {
			t.Fatalf("%s: probe %v, ok %v; want %v, %v", what, p, o, probe, ok)
		}
	}
	for range 10 { // failures with a success between them
		b.Failed(now, false, errDown)
		b.Failed(now, false, errDown)
		b.Unknown(now, false)
		b.Passed(now, false)
	}
	for i := range journal.OpensAfter {
		expect("while it is there", false, true)
		if changed := b.Failed(now, false, errDown); changed != (i == journal.OpensAfter-1) {
			t.Fatalf("failure %d: changed %v", i+1, changed)
		}
	}
	var away *journal.AwayError
	if !errors.As(b.Err(), &away) || !errors.Is(b.Err(), errDown) || !away.Since.Equal(now) {
		t.Errorf("the error is %v", b.Err())
	}
	expect("at once", false, false)
	now = now.Add(interval)
	for i := range journal.MaxProbes { // all of them hang
		expect(fmt.Sprint("probe ", i), true, true)
		expect("beside the probe", false, false)
		now = now.Add(interval)
	}
	expect("too many probes", false, false)
	if b.Failed(now, false, errDown) { // of a call that began before
		t.Error("a late failure changed something")
	}
	b.Failed(now, true, errDown)
	b.Unknown(now, true)
	expect("after a probe has ended", true, true)
	if !b.Passed(now, true) || b.Away() {
		t.Error("a probe passed, and it is away")
	}
	expect("back", false, true)
	for range journal.MaxProbes - 2 {
		b.Failed(now, true, errDown) // the others, late
	}
	if !b.Away() {
		t.Error("as many failures are not taken for an absence")
	}
}

func access(user string) *billing.AccessRequest {
	return &billing.AccessRequest{
		UserName: user, Method: billing.MethodPAP, NASAddr: nas1, CallingStationID: "02-00-00-00-00-01", NASPort: 7, NASPortID: "eth1",
	}
}

func TestLastGoodGrant(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	good := billing.Grant{Password: billing.Cleartext("pw")}
	ipoe := billing.Grant{NoPassword: true}
	reject := func(r billing.Reason) billing.Grant {
		return billing.Grant{Reason: r, Password: billing.Cleartext("pw")}
	}
	restricted := billing.Grant{Reason: billing.ReasonNoMoney, Restricted: radius.Attributes{}}
	change := func(f func(r *billing.AccessRequest)) *billing.AccessRequest {
		r := access("alice")
		f(r)
		return r
	}
	packet := func(attrs ...*radius.AVP) *billing.AccessRequest {
		return change(func(r *billing.AccessRequest) {
			r.Request = &radpool.Request{Packet: &radius.Packet{Attributes: attrs}}
		})
	}
	circuit1 := &radius.AVP{Type: 26, Attribute: []byte("circuit 1")}
	circuit2 := &radius.AVP{Type: 26, Attribute: []byte("circuit 2")}
	for what, c := range map[string]struct {
		grant billing.Grant
		first *billing.AccessRequest // nil: access("alice")
		again *billing.AccessRequest // who asks then
		after time.Duration
		then  []billing.Grant // what alice is answered meanwhile
		want  bool
	}{
		"the same again":               {grant: good, want: true},
		"in time":                      {grant: good, after: time.Hour, want: true},
		"too old":                      {grant: good, after: time.Hour + 1},
		"another port":                 {grant: good, again: change(func(r *billing.AccessRequest) { r.NASPort, r.NASPortID = 8, "eth2" }), want: true},
		"another port, no password":    {grant: ipoe, again: change(func(r *billing.AccessRequest) { r.NASPort = 8 })},
		"no password":                  {grant: ipoe, want: true},
		"no password, another circuit": {grant: ipoe, first: packet(circuit1), again: packet(circuit2)},
		"no password, the same circuit": {grant: ipoe, first: packet(circuit1, &radius.AVP{Type: 44, Attribute: []byte("s1")}),
			again: packet(circuit1, &radius.AVP{Type: 44, Attribute: []byte("s2")}), want: true},
		"another user":          {grant: good, again: access("bob")},
		"another spelling":      {grant: good, again: access("Alice")},
		"another station":       {grant: good, again: change(func(r *billing.AccessRequest) { r.CallingStationID = "x" })},
		"another NAS":           {grant: good, again: change(func(r *billing.AccessRequest) { r.NASAddr = netip.MustParseAddr("192.0.2.2") })},
		"another method":        {grant: good, again: change(func(r *billing.AccessRequest) { r.Method = billing.MethodNone })},
		"another service":       {grant: good, again: change(func(r *billing.AccessRequest) { r.ServiceType = 6 })},
		"unknown":               {grant: reject(billing.ReasonUnknownUser)},
		"blocked since":         {grant: good, then: []billing.Grant{reject(billing.ReasonBlocked)}},
		"out of money":          {grant: good, then: []billing.Grant{reject(billing.ReasonNoMoney)}},
		"restricted":            {grant: restricted, want: true},
		"blocked and unblocked": {grant: good, then: []billing.Grant{reject(billing.ReasonBlocked), good}, want: true},
	} {
		g := journal.NewGrants(10, time.Hour)
		first := c.first
		if first == nil {
			first = access("alice")
		}
		g.Answered(now, first, c.grant)
		for _, grant := range c.then {
			g.Answered(now, access("ALICE "), grant) // a spelling that some databases take for the same
			if grant.Reason == billing.ReasonNone {
				g.Answered(now, first, grant)
			}
		}
		again := c.again
		if again == nil {
			again = first
		}
		if _, got := g.Find(now.Add(c.after), again); got != c.want {
			t.Errorf("%s: %v, want %v", what, got, c.want)
		}
	}
}

func TestGrantsAreBounded(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	g := journal.NewGrants(3, time.Hour)
	good := billing.Grant{Password: billing.Cleartext("pw")}
	for i := range 10 {
		g.Answered(now, access(fmt.Sprint("user", i)), good)
		g.Answered(now, access("user0"), good) // asks again and again
	}
	for i, want := range []bool{true, false, false, false, false, false, false, false, true, true} {
		if _, got := g.Find(now, access(fmt.Sprint("user", i))); got != want {
			t.Errorf("user%d: %v, want %v", i, got, want)
		}
	}
	if g.Len() != 3 {
		t.Errorf("%d are remembered, want 3", g.Len())
	}
}

func TestPace(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	p := journal.NewPace(1000)
	for i, c := range []struct {
		after time.Duration
		n     int
		want  time.Duration
	}{
		{0, 500, 0}, {0, 500, 500 * time.Millisecond}, {time.Second, 100, 0}, {50 * time.Millisecond, 1, 50 * time.Millisecond}, {time.Hour, 1, 0},
	} {
		now = now.Add(c.after)
		if got := p.Wait(now, c.n); got != c.want {
			t.Errorf("step %d: %v, want %v", i, got, c.want)
		}
	}
}
