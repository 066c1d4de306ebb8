package radpool_test

import (
	"context"
	"encoding/binary"
	"net/netip"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"

	"github.com/radpool/radpool/radpool"
)

// A storm is NASes that ask more than a server can answer, in virtual time. Each waits
// for stormTimeout, sends again, and gives up after stormTries.
const (
	stormTimeout = 3 * time.Second
	stormTries   = 3

	stormWorkers  = 32
	stormService  = 50 * time.Millisecond
	stormCapacity = stormWorkers * int(time.Second/stormService) // 640 a second
)

type stormKind int

const (
	stormAccess stormKind = iota
	stormStart
	stormInterim
	stormStop
	stormStep // an Access-Request with State
	numStormKinds
)

// stormSource is a NAS that sends so many requests of a kind a second, from begin
// to end.
type stormSource struct {
	addr       string
	kind       stormKind
	rate       int
	begin, end time.Duration
}

type stormRequest struct {
	source      int
	from        netip.AddrPort
	datagram    []byte
	first, last time.Duration
	sent        int
	answered    bool
	took        time.Duration // from the first copy to the reply
}

// storm is the NASes, and the socket between them and the server.
type storm struct {
	*pipe
	start    time.Time
	sources  []stormSource
	mu       sync.Mutex
	requests []*stormRequest
	by       map[netip.AddrPort][256]*stormRequest
	in       []*stormRequest // on the way to the server
	came     chan struct{}
	late     int // replies that nobody waited for
}

func (s *storm) ReadFromUDPAddrPort(b []byte) (int, netip.AddrPort, error) {
	for {
		s.mu.Lock()
		if len(s.in) > 0 {
			r := s.in[0]
			s.in = s.in[1:]
			s.mu.Unlock()
			return copy(b, r.datagram), r.from, nil
		}
		s.mu.Unlock()
		select {
		case <-s.came:
		case <-s.stop:
			return 0, netip.AddrPort{}, os.ErrDeadlineExceeded
		}
	}
}

func (s *storm) WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := time.Since(s.start)
	r := s.by[to][b[1]]
	if r.answered || at > r.last+stormTimeout {
		s.late++
		return len(b), nil
	}
	r.answered, r.took = true, at-r.first
	return len(b), nil
}

// send brings a copy to the server.
func (s *storm) send(r *stormRequest, at time.Duration) {
	r.last = at
	r.sent++
	s.in = append(s.in, r)
	select {
	case s.came <- struct{}{}:
	default:
	}
}

// ask makes the next request of a source.
func (s *storm) ask(source int, at time.Duration) {
	n := len(s.requests)
	src := &s.sources[source]
	from := netip.AddrPortFrom(netip.MustParseAddr(src.addr), uint16(1024+n/256))
	r := &stormRequest{source: source, from: from, first: at, datagram: stormDatagram(src.kind, n)}
	s.requests = append(s.requests, r)
	ids := s.by[from]
	ids[byte(n)] = r
	s.by[from] = ids
	s.send(r, at)
}

func stormDatagram(kind stormKind, n int) []byte {
	p := &radius.Packet{Code: radius.CodeAccessRequest, Identifier: byte(n), Secret: []byte(testSecret)}
	binary.BigEndian.PutUint64(p.Authenticator[:], uint64(n))
	p.Add(rfc2865.UserName_Type, radius.Attribute("ivan"))
	switch kind {
	case stormAccess:
		return unsigned(encode(p, testSecret))
	case stormStep:
		p.Add(rfc2865.State_Type, radius.Attribute("step"))
		return unsigned(encode(p, testSecret))
	}
	p.Code = radius.CodeAccountingRequest
	status := map[stormKind]uint32{stormStart: 1, stormStop: 2, stormInterim: 3}[kind]
	p.Add(rfc2866.AcctStatusType_Type, radius.NewInteger(status))
	p.Add(rfc2866.AcctSessionID_Type, radius.NewInteger(uint32(n)))
	return encode(p, testSecret)
}

// rage runs the storm until d from its start.
func (s *storm) rage(d time.Duration) {
	const tick = time.Millisecond
	again := 0 // the first of the requests that may be sent again at some time
	for at := time.Since(s.start); at < d; at = time.Since(s.start) {
		s.mu.Lock()
		for i, src := range s.sources {
			if at < src.begin || at >= src.end {
				continue
			}
			due := int(int64(src.rate) * int64(at+tick-src.begin) / int64(time.Second))
			for sent := int(int64(src.rate) * int64(at-src.begin) / int64(time.Second)); sent < due; sent++ {
				s.ask(i, at)
			}
		}
		for ; again < len(s.requests) && s.requests[again].over(at); again++ {
		}
		for _, r := range s.requests[again:] {
			if at < r.first+stormTimeout {
				break // the rest is younger
			}
			if !r.answered && r.sent < stormTries && at >= r.last+stormTimeout {
				s.send(r, at)
			}
		}
		s.mu.Unlock()
		time.Sleep(tick)
	}
}

func (r *stormRequest) over(at time.Duration) bool {
	return r.answered || at >= r.first+stormTries*stormTimeout
}

// figures are what became of the requests that a source first sent in a time.
type figures struct {
	offered, answered int
	p99               time.Duration
}

func (f figures) share() float64 { return float64(f.answered) / float64(f.offered) }

func (s *storm) figures(source int, begin, end time.Duration) (f figures) {
	var took []time.Duration
	for _, r := range s.requests {
		if r.source != source || r.first < begin || r.first >= end {
			continue
		}
		f.offered++
		if r.answered {
			f.answered++
			took = append(took, r.took)
		}
	}
	slices.Sort(took)
	if len(took) > 0 {
		f.p99 = took[len(took)*99/100]
	}
	return f
}

// answeredBy is how many replies were received, while they were wanted, in a time.
func (s *storm) answeredIn(begin, end time.Duration) (n int) {
	for _, r := range s.requests {
		if at := r.first + r.took; r.answered && at >= begin && at < end {
			n++
		}
	}
	return n
}

// inStorm runs a storm until d, and then f while what is left is still there.
func inStorm(t *testing.T, d time.Duration, cfg radpool.Config, sources []stormSource, f func(*testing.T, *storm, *radpool.Server)) {
	synctest.Test(t, func(t *testing.T) {
		s := &storm{
			pipe: newPipe(), start: time.Now(), sources: sources, by: make(map[netip.AddrPort][256]*stormRequest), came: make(chan struct{}, 1),
		}
		cfg.MaxServers, cfg.RunInReader = stormWorkers, radpool.No
		server := &radpool.Server{
			Config: cfg,
			Policy: radpool.Fixed(stormWorkers),
			Clients: clients(t, radpool.Client{
				Prefix: nasSubnet, Secret: []byte(testSecret), MessageAuthenticator: radpool.No,
			}),
			Handler: radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
				time.Sleep(stormService)
				accept(ctx, req, resp)
			}),
		}
		served := make(chan error)
		go func() { served <- server.Serve(s) }()
		s.rage(d)
		synctest.Wait() // nobody writes to what f reads
		f(t, s, server)
		if err := server.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		<-served
		checkIdentity(t, server.Stats())
	})
}
