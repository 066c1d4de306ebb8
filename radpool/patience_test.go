package radpool_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/radpool/radpool/radpool"
)

func TestLearnPatience(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	for name, c := range map[string]struct{ patience, gap, want time.Duration }{
		"the same":                   {3 * s, 3 * s, 3 * s},
		"up, by a quarter":           {3 * s, 5 * s, 3500 * ms},
		"down, by a thirty-second":   {5 * s, 1800 * ms, 4900 * ms},
		"a copy of the network's":    {3 * s, 49 * ms, 3 * s},
		"two at once":                {3 * s, 0, 3 * s},
		"a clock that goes backward": {3 * s, -time.Hour, 3 * s},
		"absurd":                     {5 * s, time.Hour, 6 * s},
		"absurd, at the bound":       {9 * s, time.Hour, 9 * s},
	} {
		if got := radpool.LearnPatience(c.patience, c.gap, 9*s); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	// It comes to what the NAS does, from wherever, and stays within its bounds.
	for _, c := range []struct{ from, gap, want time.Duration }{
		{5 * s, 3 * s, 3 * s}, {5 * s, 100 * ms, 100 * ms}, {100 * ms, 3 * s, 3 * s}, {5 * s, 1000 * s, 9 * s}, {5 * s, 50 * ms, 50 * ms},
	} {
		p := c.from
		for range 500 {
			p = radpool.LearnPatience(p, c.gap, 9*s)
			if p < 50*ms || p > 9*s {
				t.Fatalf("%v: out of bounds", p)
			}
		}
		if p < c.want-5*ms || p > c.want+5*ms {
			t.Errorf("from %v by gaps of %v: %v, want %v", c.from, c.gap, p, c.want)
		}
	}
}

// What waits longer than its NAS does is not run, and what is sent again is, at its
// place.
func TestQueuedRequestsExpireWithTheirNAS(t *testing.T) {
	var ran []string
	s := &radpool.Server{
		Config:  radpool.Config{MaxServers: 1, MaxRequestTime: 30 * time.Second},
		Clients: clients(t, radpool.Client{Prefix: nasSubnet, Secret: []byte(testSecret), Patience: 2 * time.Second}),
		Handler: radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
			ran = append(ran, string(rune(req.Identifier)))
			time.Sleep(4 * time.Second)
			accept(ctx, req, resp)
		}),
	}
	inWorld(t, s, func(w *world) {
		n := w.nas(nasAddr)
		send := func(ids string) {
			for i := range len(ids) {
				n.send(access(ids[i], uint64(ids[i]), "ivan"))
			}
		}
		send("abcd")
		time.Sleep(2 * time.Second)
		send("bd")
		time.Sleep(1900 * time.Millisecond)
		send("d") // 3.9 s; b was last heard of 1.9 s ago, c 3.9 s
		time.Sleep(2 * time.Second)
		send("d") // 5.9 s: it has until 8.15 s
		time.Sleep(7 * time.Second)
		synctest.Wait()
		if got := strings.Join(ran, ""); got != "abd" {
			t.Errorf("ran %s, want abd", got)
		}
		st := s.Stats()
		if st.Expired != 1 || st.Duplicate != 4 || st.Pool.Expired != 1 {
			t.Errorf("%d expired, %d in the queue; %d duplicates", st.Expired, st.Pool.Expired, st.Duplicate)
		}
		time.Sleep(10 * time.Second)
	})
}

// MaxRequestTime counts from the first copy, however often it is sent again.
func TestRetransmissionsDoNotOutliveMaxRequestTime(t *testing.T) {
	var ran int
	s := &radpool.Server{
		Config: radpool.Config{MaxServers: 1, MaxRequestTime: 9 * time.Second},
		Handler: radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
			ran++
			time.Sleep(10 * time.Second)
			accept(ctx, req, resp)
		}),
	}
	inWorld(t, s, func(w *world) {
		n := w.nas(nasAddr)
		n.send(access(1, 1, "ivan"))
		for range 8 {
			n.send(access(2, 2, "ivan"))
			time.Sleep(time.Second)
		}
		time.Sleep(3 * time.Second)
		if st := s.Stats(); ran != 1 || st.Pool.Expired != 1 {
			t.Errorf("ran %d; %d expired in the queue", ran, st.Pool.Expired)
		}
	})
}

// A NAS that sends again after an hour, or at once, does not make the server wait
// for longer than it would for any, nor drop what others want.
func TestAbsurdPatternsTeachNothing(t *testing.T) {
	for name, gap := range map[string]time.Duration{"slow": 8900 * time.Millisecond, "hasty": time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			s := &radpool.Server{
				Config:  radpool.Config{MaxServers: 1, MaxRequestTime: 9 * time.Second, Patience: 8 * time.Second},
				Clients: clients(t, radpool.Client{Prefix: nasHost, Secret: []byte(testSecret)}),
				Handler: radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
					if req.Identifier == 0 {
						time.Sleep(8950 * time.Millisecond)
					}
					accept(ctx, req, resp)
				}),
			}
			inWorld(t, s, func(w *world) {
				n := w.nas(nasAddr)
				for i := range uint64(50) {
					n.send(access(0, i, "ivan"))
					n.send(access(1, i, "ivan"))
					time.Sleep(gap)
					n.send(access(1, i, "ivan"))
					time.Sleep(10*time.Second - gap)
				}
				st := s.Clients.States()[0]
				if name == "hasty" && st.Patience != 0 {
					t.Errorf("learned %v from copies %v apart", st.Patience, gap)
				}
				if st.Patience > 9*time.Second || name == "slow" && st.Patience < 8*time.Second {
					t.Errorf("learned %v from copies %v apart", st.Patience, gap)
				}
				if !s.Clients.Forget(nasHost) || s.Clients.States()[0].Patience != 0 {
					t.Error("it is not forgotten")
				}
			})
		})
	}
}

// What was learned and counted stays with a client that stays.
func TestReplaceKeepsWhatAClientHasShown(t *testing.T) {
	s := &radpool.Server{Handler: radpool.HandlerFunc(accept)}
	inWorld(t, s, func(w *world) {
		w.nas(nasAddr).ask(access(1, 1, "ivan"))
		before := s.Clients.States()[0]
		same := radpool.Client{Prefix: nasSubnet, Secret: []byte(testSecret), Patience: time.Second}
		other := radpool.Client{Prefix: nasSubnet, Secret: []byte("other")}
		if err := s.Clients.Replace([]radpool.Client{same}); err != nil {
			t.Fatal(err)
		}
		if st := s.Clients.States()[0]; st.Requests != 1 || before.Requests != 1 || st.Patience != time.Second {
			t.Errorf("%+v, before %+v", st, before)
		}
		if err := s.Clients.Replace([]radpool.Client{other}); err != nil {
			t.Fatal(err)
		}
		if st := s.Clients.States()[0]; st.Requests != 0 {
			t.Errorf("another client: %+v", st)
		}
	})
}

func TestPatienceOutOfBounds(t *testing.T) {
	for _, d := range []time.Duration{-1, time.Millisecond, 49 * time.Millisecond, 121 * time.Second} {
		_, err := radpool.NewClients(radpool.Client{Prefix: nasHost, Secret: []byte("s"), Patience: d})
		if err == nil || !strings.Contains(err.Error(), "Patience is "+d.String()+": must be 0 (learned) or from 50ms to 2m0s") {
			t.Errorf("Client.Patience %v: %v", d, err)
		}
	}
	for _, c := range []radpool.Config{
		{Patience: -1}, {Patience: 49 * time.Millisecond}, {Patience: 10 * time.Second}, {Patience: 2 * time.Second, MaxRequestTime: time.Second},
	} {
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "Patience is "+c.Patience.String()+": must be 50ms to ") {
			t.Errorf("Config.Patience %v, MaxRequestTime %v: %v", c.Patience, c.MaxRequestTime, err)
		}
	}
	for _, c := range []radpool.Config{{MaxRequestTime: 20 * time.Millisecond}, {Patience: 9 * time.Second}, {Patience: 50 * time.Millisecond}} {
		if err := c.Validate(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
