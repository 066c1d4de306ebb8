package loadgen_test

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"go.uber.org/goleak"
	"layeh.com/radius"

	"github.com/radpool/radpool/internal/loadgen"
	"github.com/radpool/radpool/internal/simnet"
	"github.com/radpool/radpool/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	auth = netip.MustParseAddrPort("192.0.2.1:1812")
	acct = netip.MustParseAddrPort("192.0.2.1:1813")
	v6   = netip.MustParseAddrPort("[2001:db8::1]:1813")
	nas  = netip.MustParseAddr("198.51.100.7")
)

var secret = []byte("testing123")

// config is a run that works: one worker, ten logins.
func config(t testing.TB) loadgen.Config {
	t.Helper()
	users, err := loadgen.Pattern("user%d", "pass%d", 10)
	if err != nil {
		t.Fatal(err)
	}
	return loadgen.Config{
		Auth: auth, Acct: acct, Secret: secret, Users: users, Workers: 1, Requests: 10, Sources: []netip.Addr{nas}, Seed: 1,
	}
}

// network has cfg open its sockets on a network in memory.
func network(t testing.TB, cfg *loadgen.Config, how simnet.Config) *simnet.Network {
	t.Helper()
	n, err := simnet.New(how)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	cfg.Listen = func(a netip.Addr) (net.PacketConn, error) { return n.Listen(netip.AddrPortFrom(a, 0)) }
	return n
}

// request is one that a script has received.
type request struct {
	*radius.Packet
	octets []byte
	at     time.Time
	number int // from 0
}

// script is a server that answers as a test wants: serve reads its requests one after the other.
type script func(r request, answer func(reply []byte))

func (s script) serve(t testing.TB, n *simnet.Network, addr netip.AddrPort) {
	t.Helper()
	conn, err := n.Listen(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buf := make([]byte, 4096)
		for number := 0; ; number++ {
			size, from, err := conn.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			octets := append([]byte{}, buf[:size]...)
			p, err := radius.Parse(octets, secret)
			if err != nil {
				t.Error(err)
				return
			}
			s(request{p, octets, time.Now(), number}, func(reply []byte) {
				_, _ = conn.WriteToUDPAddrPort(reply, from)
			})
		}
	}()
}

// sign is a reply to r.
func sign(t testing.TB, r request, code radius.Code, attributes ...*radius.AVP) []byte {
	t.Helper()
	shape, fault := wire.Parse(r.octets, 0)
	if fault != wire.WellFormed || !wire.Verify(r.octets, &shape, wire.NewSecret(secret)) {
		t.Errorf("a request that is malformed (%v) or not verified", fault)
	}
	b, err := wire.Encode(nil, &radius.Packet{Code: code, Attributes: attributes}, r.octets, &shape, wire.NewSecret(secret))
	if err != nil {
		t.Error(err)
	}
	return b
}

// accept answers everything well.
func accept(t testing.TB, r request) []byte {
	t.Helper()
	if r.Code == radius.CodeAccountingRequest {
		return sign(t, r, radius.CodeAccountingResponse)
	}
	return sign(t, r, radius.CodeAccessAccept)
}

// run runs cfg and fails the test if that is not possible, or if the sums are wrong.
func run(t testing.TB, cfg loadgen.Config) *loadgen.Result {
	t.Helper()
	r, err := loadgen.Run(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Requests != r.Answered+r.Lost {
		t.Errorf("%d requests, but %d answered and %d lost", r.Requests, r.Answered, r.Lost)
	}
	if r.Sent+r.SendErrors != r.Requests+r.Retransmitted+r.Duplicated {
		t.Errorf("%d sent, of %d requests, %d retransmissions and %d duplicates", r.Sent, r.Requests, r.Retransmitted, r.Duplicated)
	}
	var sum loadgen.Sample
	for i := range r.Samples {
		sum.Join(&r.Samples[i])
	}
	if sum.Counters != r.Counters {
		t.Errorf("the samples add up to %+v, not %+v", sum.Counters, r.Counters)
	}
	return r
}
