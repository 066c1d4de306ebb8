package radpool_test

import (
	"context"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/radpool/radpool/internal/udp"
	"github.com/radpool/radpool/radpool"
)

// Reads of one socket, in turn. Times are in milliseconds; the wall clock is the
// monotonic clock, and what somebody has set it ahead by.
func TestArrivals(t *testing.T) {
	type read struct {
		at, step int
		full     bool // the buffer may hold more
		arrived  int
		age      int // -1: not asked
	}
	for name, reads := range map[string][]read{
		"nothing is known before the first": {{0, 0, false, -500, 500}},
		"for ever":                          {{0, 0, false, -500_000, 125_000}},
		"a reader that keeps up":            {{0, 0, false, 0, 0}, {1, 0, false, 0, -1}, {5, 0, false, 4, -1}},
		"after a rest":                      {{0, 0, false, 0, 0}, {1000, 0, false, 999, 1}},
		"a reader that was held up":         {{0, 0, false, 0, 0}, {1000, 0, false, 250, 750}},
		"one that never catches up":         {{0, 0, true, 0, 0}, {1, 0, true, 0, 1}, {500, 0, true, 200, 300}, {501, 0, false, 200, 301}, {502, 0, false, 400, -1}},
		"full, and soon empty":              {{0, 0, false, 0, 0}, {2, 0, true, 1, -1}, {4, 0, true, 1, -1}, {9, 0, false, 1, 8}, {13, 0, false, 9, -1}},
		"the clock was set ahead":           {{0, 0, false, 0, 0}, {10, 3_600_000, false, 5, 10}, {20, 3_600_000, false, 3_600_019, 1}},
		"the clock was set back":            {{0, 0, false, 0, 0}, {10, -3_600_000, false, 5, 0}, {20, -3_600_000, false, -3_599_981, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			var a radpool.Arrivals
			start := time.Now()
			for i, r := range reads {
				arrived := start.UnixNano() + int64(r.arrived)*1e6
				age, asked := a.Age(start.Add(time.Duration(r.at)*time.Millisecond), time.Duration(r.step)*time.Millisecond, !r.full, arrived)
				if want := time.Duration(max(r.age, 0)) * time.Millisecond; age != want || asked != (r.age >= 0) {
					t.Errorf("read %d: age %v (asked: %v), want %v", i, age, asked, want)
				}
			}
		})
	}
}

// A request is as old as its arrival says, not as its read.
func TestAgeCountsFromTheArrival(t *testing.T) {
	for name, c := range map[string]struct {
		tells  bool
		waited time.Duration
		age    time.Duration // -1: it is not run any more
	}{
		"told":              {true, 3 * time.Second, 3 * time.Second},
		"not told":          {false, 3 * time.Second, 0},
		"not wanted":        {true, 9 * time.Second, -1},
		"wanted":            {true, 9*time.Second - 1, 9*time.Second - 1},
		"from the future":   {true, -time.Hour, 0},
		"a clock was set":   {true, time.Hour, -1},
		"almost no time":    {true, 1, 1},
		"a century ago":     {true, 876_000 * time.Hour, -1},
		"not for long":      {true, time.Millisecond, time.Millisecond},
		"the oldest wanted": {true, 8 * time.Second, 8 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			type seen struct{ read, received, deadline time.Time }
			runs := make(map[string]seen)
			s := &radpool.Server{Config: radpool.Config{RunInReader: radpool.No, Patience: 9 * time.Second}}
			s.Handler = radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
				deadline, _ := ctx.Deadline()
				runs["it"] = seen{time.Now(), req.Received, deadline}
				accept(ctx, req, resp)
			})
			inBatches(t, s, func(t *testing.T, b *batches) {
				b.tells = c.tells
				b.arrived.Store(time.Now().UnixNano())
				b.send(1, "ivan")
				synctest.Wait()
				time.Sleep(time.Minute)
				clear(runs)
				b.arrived.Store(time.Now().Add(-c.waited).UnixNano())
				b.send(2, "ivan")
				synctest.Wait()
				st := s.Stats()
				if c.age < 0 {
					if len(runs) != 0 || st.Expired != 1 {
						t.Errorf("it was run (%v), or not counted: %d expired", runs, st.Expired)
					}
					return
				}
				got, ok := runs["it"]
				if want := got.read.Add(-c.age); !ok || !got.received.Equal(want) || !got.deadline.Equal(want.Add(9*time.Second)) || st.Expired != 0 {
					t.Errorf("read at %v, received at %v, until %v; want an age of %v", got.read, got.received, got.deadline, c.age)
				}
			})
		})
	}
}

// What is there when the end begins is answered, unless the end is hurried.
func TestShutdownDrainsTheSocket(t *testing.T) {
	for name, c := range map[string]struct {
		end      func(*radpool.Server) error
		requests int
		answered int
	}{
		"Shutdown":           {func(s *radpool.Server) error { return s.Shutdown(context.Background()) }, 250, 250},
		"Close":              {(*radpool.Server).Close, 250, 0},
		"what comes forever": {func(s *radpool.Server) error { return s.Shutdown(context.Background()) }, 1 << 20, 4 << 20 / 256},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &radpool.Server{
					Handler: radpool.HandlerFunc(accept),
					Clients: clients(t, radpool.Client{Prefix: netip.MustParsePrefix("192.0.2.0/24"), Secret: []byte(testSecret)}),
				}
				b := &backlog{batches: newBatches(t, authAddr.Port()), left: c.requests}
				b.deaf = true
				served := make(chan error, 1)
				go func() { served <- s.ServeConn(packetConn{b.batches}, b, radpool.Auth) }()
				synctest.Wait()
				if err := c.end(s); err != nil {
					t.Error(err)
				}
				<-served
				st := s.Stats()
				if checkIdentity(t, st); st.Replied != uint64(c.answered) || st.Received != st.Replied {
					t.Errorf("%d read, %d answered; want %d", st.Received, st.Replied, c.answered)
				}
			})
		})
	}
}

// backlog is a socket in whose buffer so many requests wait.
type backlog struct {
	*batches
	left int
	seed uint64
}

func (b *backlog) ReadReady(ms []udp.Message) (n int, err error) {
	n = min(len(ms), b.left)
	for i := range ms[:n] {
		b.seed++
		ms[i].N = copy(ms[i].Buf, access(byte(b.seed), b.seed, "ivan"))
		ms[i].Addr = netip.AddrPortFrom(nasAddr.Addr(), uint16(1024+b.seed/256))
	}
	b.left -= n
	return n, nil
}
