package radpool_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"

	"github.com/radpool/radpool/internal/simnet"
	"github.com/radpool/radpool/internal/wire"
	"github.com/radpool/radpool/radpool"
)

var acctAddr = netip.MustParseAddrPort("192.0.2.1:1813")

// promptly is how long a reply may wait when its handler has come back: not at all
// for workers, which leave it for another that is on its way already; in a reader until
// it has stopped running handlers, or another has taken over.
func promptly(mode radpool.Requirement) time.Duration {
	if mode == radpool.No {
		return 0
	}
	return holdUpLimit
}

// scene is a server under requests of which each says what its handler does: its User-Name is
// that, and the number of the request.
type scene struct {
	seed  uint64
	batch bool
	s     *radpool.Server

	mu       sync.Mutex
	answered map[string]time.Time // when the handler came back
	received map[string]time.Time // when the reply had come
	asked    map[string][]byte
}

func (c *scene) Handle(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
	name := rfc2865.UserName_GetString(req.Packet)
	switch what, _, _ := strings.Cut(name, " "); what {
	case "panic":
		panic(name)
	case "exit":
		runtime.Goexit()
	case "silent":
		return
	default:
		d, err := time.ParseDuration(what)
		if err != nil {
			panic(err)
		}
		time.Sleep(d)
	}
	accept(ctx, req, resp)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answered[name] = time.Now()
}

// HandleBatch makes all of a batch as late as the last of it.
func (c *scene) HandleBatch(xs []*radpool.Exchange) {
	for _, x := range xs {
		c.Handle(x.Ctx, x.Request, x.Response)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range xs {
		if name := rfc2865.UserName_GetString(x.Request.Packet); !c.answered[name].IsZero() {
			c.answered[name] = time.Now()
		}
	}
}

func (c *scene) BatchSize() int {
	if c.batch {
		return 0
	}
	return 1
}

// ask sends requests from one NAS until stop, and takes the replies.
func (c *scene) ask(t *testing.T, conn *simnet.Conn, rng *rand.Rand, nas int, stop <-chan struct{}, group *sync.WaitGroup) {
	what := []string{"0s", "0s", "0s", "0s", "10us", "1ms", "1ms", "20ms", "5s", "panic", "exit", "silent"}
	group.Go(func() {
		b := make([]byte, wire.MaxPacketLength)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(b)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return
			}
			if err != nil {
				t.Error(err)
				return
			}
			c.take(t, fmt.Sprint(nas, " ", from.Port(), " ", b[1]), b[:n])
		}
	})
	group.Go(func() {
		for i := range 250 { // an Identifier each, with which no request supersedes another
			name := fmt.Sprint(what[rng.IntN(len(what))], " ", nas, " ", i)
			to, b := authAddr, access(byte(i), uint64(nas<<16+i), name)
			if rng.IntN(2) == 0 {
				to = acctAddr
				b = accounting(byte(i), rfc2866.AcctStatusType(1+rng.IntN(3)), "s", avp(rfc2865.UserName_Type, name))
			}
			c.mu.Lock()
			c.asked[fmt.Sprint(nas, " ", to.Port(), " ", byte(i))] = append([]byte(name+"\x00"), b...)
			c.mu.Unlock()
			if _, err := conn.WriteToUDPAddrPort(b, to); err != nil {
				t.Error(err)
			}
			if rng.IntN(3) == 0 {
				time.Sleep(time.Duration(rng.IntN(1000)) * time.Microsecond)
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
}

func (c *scene) take(t *testing.T, key string, b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name, request, ok := strings.Cut(string(c.asked[key]), "\x00")
	if !ok {
		t.Errorf("seed %d: a reply to nothing: %s", c.seed, key)
		return
	}
	parseReply(t, b, []byte(request))
	if !c.received[name].IsZero() {
		t.Errorf("seed %d: %s has two replies", c.seed, name)
	}
	c.received[name] = time.Now()
}

// pulse is a policy that starts, retires and limits workers as it likes.
type pulse struct{ rng *rand.Rand }

func (p pulse) Decide(now time.Time, s radpool.Snapshot) radpool.Decision {
	d := radpool.Decision{Next: now.Add(time.Duration(1+p.rng.IntN(5000)) * time.Microsecond)}
	switch {
	case s.Workers < 1 || s.Workers < 64 && p.rng.IntN(3) == 0:
		d.Spawn = 1 + p.rng.IntN(8)
	case p.rng.IntN(3) == 0:
		d.Retire = p.rng.IntN(max(s.Workers, 1))
	}
	d.Limit = p.rng.IntN(6) // 0 is none
	return d
}

// Whatever handlers, workers and policies do, a reply leaves at once when its
// handler has come back, and is the only one.
func TestNoReplyIsLeftBehind(t *testing.T) {
	for i := range 24 {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(seed), func(t *testing.T) { playScene(t, seed, i) })
	}
}

func playScene(t *testing.T, seed uint64, i int) {
	rng := rand.New(rand.NewPCG(seed, 0))
	c := &scene{
		seed: seed, batch: i%4 == 3,
		answered: make(map[string]time.Time), received: make(map[string]time.Time), asked: make(map[string][]byte),
	}
	mode := []radpool.Requirement{radpool.No, radpool.No, radpool.Yes}[i%3]
	c.s = &radpool.Server{Handler: c, Config: radpool.Config{
		RunInReader: mode, MaxServers: 1 + rng.IntN(200), MaxRequestsPerServer: rng.IntN(3), MaxRequestTime: 100 * time.Second,
		Patience: 100 * time.Second,
	}}
	if i%2 == 1 {
		c.s.Policy = pulse{rand.New(rand.NewPCG(seed, 1))}
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, simnet.Config{}, c.s)
		w.serve(acctAddr, radpool.Acct)
		var group sync.WaitGroup
		stop := make(chan struct{})
		var conns []*simnet.Conn
		for n := range 6 {
			conn, err := w.net.Listen(netip.AddrPortFrom(nasAddr.Addr(), nasAddr.Port()+uint16(n)))
			if err != nil {
				t.Fatal(err)
			}
			conns = append(conns, conn)
			c.ask(t, conn, rand.New(rand.NewPCG(seed, uint64(2+n))), n, stop, &group)
		}
		time.Sleep(time.Duration(rng.IntN(200)) * time.Millisecond)
		if rng.IntN(2) == 0 {
			time.Sleep(30 * time.Second)
		}
		var err error
		switch rng.IntN(3) {
		case 0:
			err = c.s.Shutdown(context.Background())
		case 1:
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rng.IntN(6000))*time.Millisecond)
			if err = c.s.Shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
				err = nil
			}
			cancel()
		}
		if err != nil {
			t.Errorf("seed %d: Shutdown: %v", seed, err)
		}
		close(stop)
		synctest.Wait()
		if err := c.s.Close(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		for _, conn := range conns {
			if err := conn.SetReadDeadline(time.Now().Add(time.Nanosecond)); err != nil {
				t.Error(err)
			}
		}
		group.Wait()
		<-w.served
		w.close()
		c.judge(t, promptly(mode))
	})
}

func (c *scene) judge(t *testing.T, limit time.Duration) {
	st := c.s.Stats()
	if st.WriteErrors != 0 || int(st.Replied) != len(c.received) {
		t.Errorf("seed %d: %d were replied to, and %d replies came: %+v", c.seed, st.Replied, len(c.received), st)
	}
	for name, at := range c.received {
		if waited := at.Sub(c.answered[name]); waited < 0 || waited > limit {
			t.Errorf("seed %d: the reply to %q came %v after its handler had come back", c.seed, name, waited)
		}
	}
}
