package billing_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"

	"github.com/radpool/radpool/billing"
)

// naiveReservations is a list that is searched in full.
type naiveReservations struct {
	ttl  time.Duration
	most int
	all  []naiveReservation
	full uint64
}

type naiveReservation struct {
	user, port       string
	until, startedAt time.Time
	started          bool
}

func (n *naiveReservations) expire(now time.Time) {
	var left []naiveReservation
	for _, r := range n.all {
		if now.Before(r.until) {
			left = append(left, r)
		}
	}
	n.all = left
}

func (n *naiveReservations) reserve(now, asOf time.Time, user, port string, open, limit int) bool {
	n.expire(now)
	taken, own := open, -1
	for i, r := range n.all {
		switch {
		case r.user != user:
		case r.started && !r.startedAt.Before(asOf):
			taken++
		case !r.started && r.port == port:
			own = i
		case !r.started:
			taken++
		}
	}
	if taken >= limit {
		return false
	}
	if own >= 0 {
		n.all[own].until = now.Add(n.ttl)
		return true
	}
	if len(n.all) >= n.most {
		n.full++
		return true
	}
	n.all = append(n.all, naiveReservation{user: user, port: port, until: now.Add(n.ttl)})
	return true
}

func (n *naiveReservations) end(now time.Time, user, port string) {
	n.expire(now)
	for i, r := range n.all {
		if r.user == user && r.port == port && !r.started {
			n.all[i].started, n.all[i].startedAt, n.all[i].until = true, now, now.Add(n.ttl)
		}
	}
}

func (n *naiveReservations) users() int {
	seen := map[string]bool{}
	for _, r := range n.all {
		seen[r.user] = true
	}
	return len(seen)
}

// TestReservationsReference runs random operations beside a naive list.
func TestReservationsReference(t *testing.T) {
	for range 40 {
		seed := rand.Uint64()
		rnd := rand.New(rand.NewPCG(seed, 0))
		ttl := time.Duration(1+rnd.IntN(20)) * time.Second
		most := 1 + rnd.IntN(12)
		fast, naive := billing.NewReservations(ttl, most), &naiveReservations{ttl: ttl, most: most}
		now := someTime()
		for step := range 1000 {
			now = now.Add(time.Duration(rnd.IntN(2000)) * time.Millisecond)
			asOf := now.Add(-time.Duration(rnd.IntN(3000)) * time.Millisecond)
			user, port := fmt.Sprint("u", rnd.IntN(4)), fmt.Sprint("p", rnd.IntN(3))
			if rnd.IntN(3) == 0 {
				fast.End(now, user, port)
				naive.end(now, user, port)
			} else {
				open, limit := rnd.IntN(3), 1+rnd.IntN(4)
				got, want := fast.Reserve(now, asOf, user, port, open, limit), naive.reserve(now, asOf, user, port, open, limit)
				if got != want {
					t.Fatalf("seed %d, step %d: %t, want %t", seed, step, got, want)
				}
			}
			all, users, full := fast.Count()
			if all != len(naive.all) || users != naive.users() || full != naive.full || all > most {
				t.Fatalf("seed %d, step %d: %d reservations of %d users, %d full, want %d, %d, %d",
					seed, step, all, users, full, len(naive.all), naive.users(), naive.full)
			}
		}
	}
}

func login(user, mac string) *radius.Packet {
	p := withPAP(request(user), "right")
	p.Add(rfc2865.CallingStationID_Type, radius.Attribute(mac))
	return p
}

func start(user, mac, session string, status uint32) *radius.Packet {
	return accounting(intAttr(rfc2866.AcctStatusType_Type, status), attr(rfc2866.AcctSessionID_Type, session),
		attr(rfc2865.UserName_Type, user), attr(rfc2865.CallingStationID_Type, mac))
}

// TestSimultaneousUse goes through the life of a reservation.
func TestSimultaneousUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const a, b, c = "02:00:00:00:00:0a", "02:00:00:00:00:0b", "02:00:00:00:00:0c"
		m := billing.NewMemory(0)
		m.Put("bob", billing.Grant{Password: billing.Cleartext("right"), SimultaneousUse: 1})
		p := &billing.Processor{Handler: m}
		try := func(step, mac string, want radius.Code) {
			t.Helper()
			if got := handle(p, login("bob", mac)).Code; got != want {
				t.Errorf("%s: %v, want %v", step, got, want)
			}
		}
		const accept, reject = radius.CodeAccessAccept, radius.CodeAccessReject
		try("the first", a, accept)
		try("another before the Start", b, reject)
		try("the same again", "02-00-00-00-00-0A", accept)
		time.Sleep(29 * time.Second)
		try("another, a second before the end", b, reject)
		time.Sleep(time.Second)
		try("another, when the reservation has ended", b, accept)
		try("the first, which is another now", a, reject)

		handle(p, start("bob", b, "1", 1))
		if s := p.Stats(); s.Reservations != 0 {
			t.Errorf("%d reservations after the Start", s.Reservations)
		}
		time.Sleep(time.Millisecond)
		try("while a session is open", c, reject)
		try("the same while its session is open", b, reject)
		handle(p, start("bob", b, "1", 2))
		time.Sleep(time.Millisecond)
		try("after the Stop", c, accept)

		// What the wrong password cannot do is hold a place.
		m.Put("eve", billing.Grant{Password: billing.Cleartext("other"), SimultaneousUse: 1})
		try("a wrong password", a, reject)
		handle(p, login("eve", a))
		m.Put("eve", billing.Grant{Password: billing.Cleartext("right"), SimultaneousUse: 1})
		if got := handle(p, login("eve", b)).Code; got != accept {
			t.Errorf("after a wrong password from elsewhere: %v", got)
		}
	})
}

// TestStartBetweenQuestionAndDecision lets the Start of one session become durable
// while another login waits for a database that has not seen it.
func TestStartBetweenQuestionAndDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stale := make(chan struct{})
		var asked atomic.Int32
		back := &fake{grant: func(*billing.AccessRequest) (billing.Grant, error) {
			if asked.Add(1) == 2 {
				<-stale // the database said 0 sessions a while ago
			}
			return billing.Grant{Password: billing.Cleartext("right"), SimultaneousUse: 1}, nil
		}}
		p := &billing.Processor{Handler: back}
		handle(p, login("bob", "02:00:00:00:00:0a"))
		var second radius.Code
		go func() { second = handle(p, login("bob", "02:00:00:00:00:0b")).Code }()
		synctest.Wait()
		time.Sleep(time.Second)
		handle(p, start("bob", "02:00:00:00:00:0a", "1", 1))
		close(stale)
		synctest.Wait()
		if second != radius.CodeAccessReject {
			t.Errorf("%v, although the first session is open", second)
		}
	})
}

// TestSimultaneousRace lets many logins at once compete for a few sessions.
func TestSimultaneousRace(t *testing.T) {
	const limit, logins = 3, 200
	for name, handler := range map[string]billing.Handler{
		"one by one": granting(billing.Grant{Password: billing.Cleartext("right"), SimultaneousUse: limit}),
		"Memory": func() billing.Handler {
			m := billing.NewMemory(0)
			m.Put("bob", billing.Grant{Password: billing.Cleartext("right"), SimultaneousUse: limit})
			return m
		}(),
	} {
		p := &billing.Processor{Handler: handler}
		var accepted atomic.Int32
		var wg sync.WaitGroup
		for i := range logins {
			wg.Go(func() {
				user := []string{"bob", "bob"}[i%2]
				mac := fmt.Sprintf("02:00:00:00:00:%02x", i)
				if handle(p, login(user, mac)).Code == radius.CodeAccessAccept {
					accepted.Add(1)
					if name == "Memory" {
						handle(p, start(user, mac, fmt.Sprint(i), 1))
					}
				}
			})
		}
		wg.Wait()
		if got := accepted.Load(); got != limit {
			t.Errorf("%s: %d accepted, want %d", name, got, limit)
		}
	}
}

// TestReservationDetails covers what the other tests do not: names that differ in
// case, ports instead of stations, a User-Name in the reply, and limits.
func TestReservationDetails(t *testing.T) {
	grant := billing.Grant{NoPassword: true, SimultaneousUse: 1}
	port := func(user string, n uint32) *radius.Packet {
		p := request(user)
		p.Attributes = append(p.Attributes, intAttr(rfc2865.NASPort_Type, n))
		return p
	}
	p := &billing.Processor{Handler: granting(grant)}
	for i, c := range []struct {
		packet *radius.Packet
		want   radius.Code
	}{
		{port("bob", 1), radius.CodeAccessAccept},
		{port("BOB ", 2), radius.CodeAccessReject},
		{port("Bob", 1), radius.CodeAccessAccept},
		{port("carol", 1), radius.CodeAccessAccept},
	} {
		if got := handle(p, c.packet).Code; got != c.want {
			t.Errorf("%d: %v, want %v", i, got, c.want)
		}
	}
	handle(p, accounting(intAttr(rfc2866.AcctStatusType_Type, 3), attr(rfc2866.AcctSessionID_Type, "s"),
		attr(rfc2865.UserName_Type, "bob"), intAttr(rfc2865.NASPort_Type, 1)))
	if got := p.Stats().Reservations; got != 1 {
		t.Errorf("%d reservations after an Interim-Update, want 1", got)
	}

	named := grant
	named.Reply = radius.Attributes{attr(rfc2865.UserName_Type, "account-7")}
	p = &billing.Processor{Handler: granting(named)}
	handle(p, login("bob", "02:00:00:00:00:0a"))
	handle(p, start("account-7", "02:00:00:00:00:0a", "1", 1))
	if got := p.Stats().Reservations; got != 0 {
		t.Errorf("%d reservations after the Start of the name in the reply", got)
	}

	p = &billing.Processor{Handler: granting(grant), MaxReservations: 1}
	for range 2 {
		handle(p, port("bob", 1))
		handle(p, port("carol", 1))
	}
	if s := p.Stats(); s.Accepted != 4 || s.Reservations != 1 || s.Unreserved != 2 {
		t.Errorf("full: %+v", s)
	}

	p = &billing.Processor{Handler: granting(grant), ReservationTime: -1}
	for i := range 3 {
		if got := handle(p, port("bob", uint32(i))).Code; got != radius.CodeAccessAccept {
			t.Errorf("without reservations: %v", got)
		}
	}
	handle(p, start("bob", "", "1", 1))
	open := grant
	open.OpenSessions = 1
	p = &billing.Processor{Handler: granting(open), ReservationTime: -1}
	if got := handle(p, port("bob", 1)).Code; got != radius.CodeAccessReject {
		t.Errorf("without reservations, one open: %v", got)
	}
}

// TestRestrictedCounts holds the limit against sessions of the restricted profile
// too.
func TestRestrictedCounts(t *testing.T) {
	p := &billing.Processor{Handler: granting(billing.Grant{
		NoPassword: true, SimultaneousUse: 1, Reason: billing.ReasonNoMoney, Restricted: radius.Attributes{},
	})}
	if got := handle(p, login("bob", "02:00:00:00:00:0a")).Code; got != radius.CodeAccessReject {
		t.Errorf("PAP without a password on file: %v", got) // NoPassword is not for those who send one
	}
	for i, want := range []radius.Code{radius.CodeAccessAccept, radius.CodeAccessReject} {
		packet := request("bob")
		packet.Add(rfc2865.CallingStationID_Type, radius.Attribute(fmt.Sprintf("02:00:00:00:00:%02x", i)))
		if got := handle(p, packet).Code; got != want {
			t.Errorf("%d: %v, want %v", i, got, want)
		}
	}
}

var _ billing.Handler = (*batchFake)(nil)

// batchFake answers batches by its own one by one.
type batchFake struct {
	billing.Handler
	access, account []int // sizes of the batches
	ctx             []context.Context
}

func (b *batchFake) AuthorizeBatch(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
	b.access, b.ctx = append(b.access, len(reqs)), append(b.ctx, ctx)
	billing.AuthorizeAll(ctx, b.Handler, reqs, grants, errs)
}

func (b *batchFake) AccountBatch(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
	b.account, b.ctx = append(b.account, len(recs)), append(b.ctx, ctx)
	billing.AccountAll(ctx, b.Handler, recs, errs)
}
