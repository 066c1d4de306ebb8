package coa_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/radpool/radpool/billing/coa"
	"github.com/radpool/radpool/internal/simnet"
)

// counted counts the sockets that are open.
type counted struct {
	net.PacketConn
	open *atomic.Int64
}

func (c counted) Close() error {
	c.open.Add(-1)
	return c.PacketConn.Close()
}

// A NAS that becomes known costs as much as those before it, however many they are, and
// few sockets; a secret that is changed, too.
func TestManyNASes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, err := simnet.New(simnet.Config{})
		if err != nil {
			t.Fatal(err)
		}
		var open atomic.Int64
		secret := "testing123"
		c, err := coa.NewClient(coa.ClientConfig{
			Find: func(s *coa.Session) (coa.Target, bool) {
				return coa.Target{Addr: netip.AddrPortFrom(s.NASAddr, 3799), Secret: []byte(secret)}, true
			},
			Listen: func() (net.PacketConn, error) {
				open.Add(1)
				pc, err := network.Listen(netip.AddrPortFrom(netip.MustParseAddr("192.0.2.100"), 0))
				return counted{pc, &open}, err
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		over, cancel := context.WithCancel(t.Context())
		cancel() // so that nothing is sent
		octets := func(from, to int) uint64 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for i := from; i < to; i++ {
				nas := netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})
				if err := c.Disconnect(over, &coa.Session{SessionID: "s", NASAddr: nas}); !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				synctest.Wait()
			}
			runtime.ReadMemStats(&after)
			return (after.TotalAlloc - before.TotalAlloc) / uint64(to-from)
		}
		first := octets(0, 500)
		octets(500, 2000)
		last, again := octets(2000, 2500), octets(2000, 2500)
		secret = "another"
		changed := octets(0, 500)
		t.Logf("%d octets for each of the first, %d of the last, %d again, %d with another secret; %d sockets", first, last, again, changed, open.Load())
		if last > 2*first || again > first/10 || changed > 2*first {
			t.Errorf("%d octets for each of the first, %d of the last, %d again, %d with another secret", first, last, again, changed)
		}
		if open.Load() > 20 {
			t.Errorf("%d sockets are open", open.Load())
		}
		if err := c.Close(); err != nil || open.Load() != 0 {
			t.Errorf("%v, %d sockets are open after Close", err, open.Load())
		}
		network.Close()
	})
}
