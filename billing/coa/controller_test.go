package coa_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing/coa"
)

var restricted = coa.Want{
	Mode: coa.Restricted, Fallback: true,
	Attributes: radius.Attributes{{Type: rfc2865.FilterID_Type, Attribute: radius.Attribute("pay")}},
}

// with runs a test with a Controller, in virtual time.
func with(t *testing.T, config coa.Config, test func(t *testing.T, c *coa.Controller, s *store, n *fakeNAS)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, n := newStore(), &fakeNAS{}
		config.Store, config.NAS = s, n
		c, err := coa.Start(config)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the first sweep
		test(t, c, s, n)
		c.Close()
	})
}

func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func expect(t *testing.T, n *fakeNAS, when string, want ...string) {
	t.Helper()
	if got := n.all(); !reflect.DeepEqual(got, want) {
		t.Errorf("%s: the NAS was asked for %q, want %q", when, got, want)
	}
}

func TestRestrictedAndBack(t *testing.T) {
	with(t, coa.Config{}, func(t *testing.T, c *coa.Controller, s *store, n *fakeNAS) {
		s.add("s", "alice")
		s.want(restricted)
		c.Wake("alice")
		pass(999 * time.Millisecond)
		expect(t, n, "before Linger has passed")
		pass(time.Millisecond)
		expect(t, n, "money has ended", "change s 1")
		if st := s.state("s"); st.Applied != coa.Restricted || st.Phase != coa.Idle {
			t.Errorf("%+v", st)
		}
		c.Wake("alice")
		pass(10 * time.Minute)
		expect(t, n, "once more")
		s.want(coa.Want{Mode: coa.Full}) // a payment that nobody told of
		pass(time.Minute)
		expect(t, n, "paid", "change s 0")
		if st := c.Stats(); st.Changes != 2 || st.Disconnects+st.Refused+st.Silence+st.Failed+st.Late != 0 {
			t.Errorf("%+v", st)
		}
	})
}

func TestDisconnectIsConfirmedByTheStop(t *testing.T) {
	with(t, coa.Config{}, func(t *testing.T, c *coa.Controller, s *store, n *fakeNAS) {
		s.add("s", "alice")
		s.want(coa.Want{Mode: coa.Ended})
		c.Wake("alice")
		pass(4 * time.Minute)
		expect(t, n, "expired", "disconnect s")
		pass(2 * time.Minute)
		expect(t, n, "no Stop in 5 minutes", "disconnect s")
		s.stop("s")
		pass(time.Hour)
		expect(t, n, "its Stop came")
		if st := c.Stats(); st.Disconnects != 2 {
			t.Errorf("%+v", st)
		}
	})
}

func TestRefusedIsEnded(t *testing.T) {
	with(t, coa.Config{}, func(t *testing.T, c *coa.Controller, s *store, n *fakeNAS) {
		n.answers(fmt.Errorf("wrapped: %w", coa.ErrRefused), false)
		s.add("s", "alice")
		s.want(restricted)
		c.Wake("alice")
		pass(2 * time.Second)
		expect(t, n, "refused", "change s 1", "disconnect s")
		pass(20 * time.Second)
		expect(t, n, "refused again", "disconnect s")
		pass(24 * time.Hour)
		if got := len(n.all()); got < 40 || got > 60 {
			t.Errorf("asked %d times a day", got)
		}
	})
}

func TestGone(t *testing.T) {
	with(t, coa.Config{}, func(t *testing.T, c *coa.Controller, s *store, n *fakeNAS) {
		n.answers(coa.ErrNotFound, false)
		s.add("s", "alice")
		s.want(restricted)
		pass(time.Minute)
		expect(t, n, "gone", "change s 1")
		pass(24 * time.Hour)
		expect(t, n, "still gone")
		n.answers(nil, false)
		s.mu.Lock()
		s.items["s"].Session.Seen = time.Now()
		s.mu.Unlock()
		pass(time.Minute)
		expect(t, n, "it sends accounting", "change s 1")
		if st := c.Stats(); st.NotFound != 1 || st.Changes != 1 {
			t.Errorf("%+v", st)
		}
	})
}

// A NAS that is silent is asked for one session at a time, and less and less often.
func TestSilentNASHoldsNobodyUp(t *testing.T) {
	with(t, coa.Config{MaxInFlight: 1, Sweep: 24 * time.Hour}, func(t *testing.T, c *coa.Controller, s *store, n *fakeNAS) {
		n.answers(nil, true)
		for i := range 50 {
			s.add(fmt.Sprintf("s%02d", i), fmt.Sprint("user", i))
		}
		s.want(restricted)
		for i := range 50 {
			c.Wake(fmt.Sprint("user", i))
		}
		pass(30 * time.Second)
		if got := n.all(); len(got) > 3 {
			t.Errorf("a silent NAS was asked %d times in half a minute", len(got))
		}
		n.answers(nil, false)
		pass(time.Minute)
		seen := make(map[string]bool)
		for _, what := range n.all() {
			seen[what] = true
		}
		if st := c.Stats(); len(seen) != 50 || st.Changes != 50 || st.Silence == 0 || st.Deferred == 0 {
			t.Errorf("%d sessions changed: %+v", len(seen), st)
		}
	})
}

// Two servers on one Store do not both ask, and another goes on where one has died.
func TestServersShareAStore(t *testing.T) {
	with(t, coa.Config{}, func(t *testing.T, c *coa.Controller, s *store, n *fakeNAS) {
		second, err := coa.Start(coa.Config{Store: s, NAS: n})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 30 {
			s.add(fmt.Sprintf("s%02d", i), fmt.Sprint("user", i%3))
		}
		s.want(restricted)
		pass(time.Minute)
		if got := n.all(); len(got) != 30 {
			t.Errorf("30 sessions were changed by %d requests", len(got))
		}
		n.answers(nil, true)
		s.want(coa.Want{Mode: coa.Ended})
		c.Wake("user0")
		pass(2 * time.Second) // c has asked, and waits
		c.Close()
		c.Close()
		n.all()
		n.answers(nil, false)
		claimed := s.state("s00")
		pass(57 * time.Second)
		if claimed.Phase != coa.Asking || s.state("s00") != claimed {
			t.Errorf("%+v has become %+v while the first server may be asking", claimed, s.state("s00"))
		}
		pass(2 * time.Minute)
		if st := s.state("s00"); st.Phase != coa.Confirmed || st.Tries != 2 {
			t.Errorf("what the first server had begun is not done: %+v", st)
		}
		second.Close()
	})
}

func TestBounds(t *testing.T) {
	with(t, coa.Config{MaxWoken: 2}, func(t *testing.T, c *coa.Controller, s *store, n *fakeNAS) {
		s.mu.Lock()
		s.err = errors.New("the database is away")
		s.mu.Unlock()
		for i := range 5 {
			c.Wake(fmt.Sprint(i))
			c.Wake(fmt.Sprint(i))
		}
		if st := c.Stats(); st.Waiting != 2 || st.Overflowed != 6 {
			t.Errorf("%+v", st)
		}
		pass(time.Second)
		if st := c.Stats(); st.Failed != 1 || st.Waiting != 2 {
			t.Errorf("%+v", st)
		}
		expect(t, n, "without a database")
	})
	s, n := newStore(), &fakeNAS{}
	for want, config := range map[string]coa.Config{
		"Store":           {NAS: n},
		"NAS":             {Store: s},
		"Sweep":           {Store: s, NAS: n, Sweep: time.Millisecond},
		"Linger":          {Store: s, NAS: n, Linger: -1},
		"AskTime":         {Store: s, NAS: n, AskTime: time.Minute},
		"MaxInFlight":     {Store: s, NAS: n, MaxInFlight: 4097},
		"MaxWoken":        {Store: s, NAS: n, MaxWoken: -1},
		"Timing.Lease":    {Store: s, NAS: n, Timing: coa.Timing{Lease: 2 * time.Hour}},
		"Timing.StopWait": {Store: s, NAS: n, Timing: coa.Timing{StopWait: 1}},
	} {
		if c, err := coa.Start(config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
			if c != nil {
				c.Close()
			}
		}
	}
}
