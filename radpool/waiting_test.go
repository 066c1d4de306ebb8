//go:build !race && !radpooldebug

package radpool_test

import (
	"context"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/radpool/radpool/radpool"
)

// manyPorts is a pipe at whose other end each datagram comes from another port.
type manyPorts struct {
	*pipe
	n int
}

func (m *manyPorts) ReadFromUDPAddrPort(b []byte) (int, netip.AddrPort, error) {
	size, _, err := m.pipe.ReadFromUDPAddrPort(b)
	m.n++
	return size, netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(m.n >> 15)}), uint16(1024+m.n&0x7fff)), err
}

// A request that waits costs a few hundred octets, with its places in the queue
// and in the cache: not an arena, nor what a handler sees of it.
func TestWaitingRequestsAreSmall(t *testing.T) {
	const n, most = 100_000, 512
	p := &manyPorts{pipe: newPipe()}
	release := make(chan struct{})
	s := &radpool.Server{
		Clients: clients(t, radpool.Client{Prefix: nasSubnet, Secret: []byte(testSecret)}),
		Config:  radpool.Config{MaxServers: 1, MaxRequestTime: time.Minute, RunInReader: radpool.No},
		Handler: radpool.HandlerFunc(func(context.Context, *radpool.Request, *radpool.Response) { <-release }),
	}
	served := make(chan error)
	go func() { served <- s.Serve(p) }()
	before := heap()
	request := access(1, 1, "a-subscriber-of-ours@isp.example")
	for range n {
		p.in <- request
	}
	for s.Stats().Pool.Queued < n-1 {
		runtime.Gosched()
	}
	each := int64(heap()-before) / n
	t.Logf("%d octets each", each)
	if each > most {
		t.Errorf("%d octets for each request that waits, want at most %d", each, most)
	}
	close(release)
	_ = s.Close()
	<-served
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
