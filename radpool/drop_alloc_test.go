//go:build !race && !radpooldebug

package radpool_test

import (
	"context"
	"net/netip"
	"testing"
	"testing/synctest"

	"layeh.com/radius"

	"github.com/radpool/radpool/radpool"
)

// What is not answered by a handler costs no memory, however much of it comes: a
// flood must not become a flood of garbage.
func TestNoAllocationWithoutHandler(t *testing.T) {
	fresh := func() func(i int) []byte {
		all := make([][]byte, 1<<12)
		for i := range all {
			all[i] = access(byte(10+i%200), uint64(i), "flood") // under no Identifier that is in use
		}
		return func(i int) []byte { return all[i%len(all)] }
	}
	same := func(b []byte) func(int) []byte { return func(int) []byte { return b } }
	one := access(1, 1, "one")
	for name, c := range map[string]struct {
		config   radpool.Config
		clients  []radpool.Client
		first    [][]byte // to bring it about
		datagram func(i int) []byte
		want     radpool.Outcome
	}{
		"malformed":   {datagram: same(change(access(1, 1, "ivan"), func(b []byte) { b[21] = 1 })), want: radpool.Malformed},
		"short":       {datagram: same(one[:19]), want: radpool.Malformed},
		"unknown":     {clients: []radpool.Client{{Prefix: netip.MustParsePrefix("198.51.100.0/24"), Secret: []byte("s")}}, datagram: same(one), want: radpool.UnknownClient},
		"wrong code":  {datagram: same(encode(&radius.Packet{Code: 43}, testSecret)), want: radpool.WrongCode},
		"forged":      {datagram: same(change(access(1, 1, "ivan"), func(b []byte) { b[22] ^= 1 })), want: radpool.Unauthentic},
		"accounting":  {datagram: same(encode(&radius.Packet{Code: 4}, "other")), want: radpool.Unauthentic},
		"probe":       {datagram: same(encode(&radius.Packet{Code: 12}, testSecret)), want: radpool.StatusServer},
		"in progress": {first: [][]byte{one}, datagram: same(one), want: radpool.Duplicate},
		"replay":      {first: [][]byte{access(2, 2, "answer")}, datagram: same(access(2, 2, "answer")), want: radpool.Replayed},
		"silence":     {first: [][]byte{access(2, 2, "silence")}, datagram: same(access(2, 2, "silence")), want: radpool.Duplicate},
		"queue full": {
			config: radpool.Config{MaxServers: 1, MaxQueueSize: 2}, first: [][]byte{one, access(2, 2, "two"), access(3, 3, "three")},
			datagram: fresh(), want: radpool.QueueFull,
		},
		"table full": {
			config: radpool.Config{MaxServers: 1, MaxRequests: 2}, first: [][]byte{one, access(2, 2, "two")},
			datagram: fresh(), want: radpool.TableFull,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testDropAllocations(t, c.config, c.clients, c.first, c.datagram, c.want) })
		})
	}
}

func testDropAllocations(t *testing.T, config radpool.Config, list []radpool.Client, first [][]byte, datagram func(int) []byte, want radpool.Outcome) {
	if list == nil {
		list = []radpool.Client{{Prefix: nasSubnet, Secret: []byte(testSecret)}}
	}
	config.RunInReader = radpool.No // or the handler that waits would hold up the reader for a moment
	release := make(chan struct{})
	s := &radpool.Server{
		Clients: clients(t, list...), Config: config,
		Handler: radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
			switch user, _ := req.Lookup(1); string(user) {
			case "answer":
				accept(ctx, req, resp)
			case "silence":
			default:
				<-release
			}
		}),
	}
	p := newPipe()
	served := make(chan error)
	go func() { served <- s.Serve(p) }()
	defer func() {
		close(release)
		_ = s.Close()
		<-served
	}()
	send := func(b []byte) {
		p.in <- b
		synctest.Wait()
		select {
		case <-p.out:
		default:
		}
	}
	for _, b := range first {
		send(b)
	}
	next := 0
	again := func() {
		send(datagram(next))
		next++
	}
	for range 1 << 12 {
		again()
	}
	before := s.Stats()
	const runs = 3000
	if got := testing.AllocsPerRun(runs, again); got != 0 {
		t.Errorf("%v allocations a datagram, want none", got)
	}
	if st := s.Stats(); st.Outcome(want)-before.Outcome(want) != runs+1 {
		t.Errorf("%d datagrams were counted as %v, want %d: %+v", st.Outcome(want)-before.Outcome(want), want, runs+1, st)
	}
}
