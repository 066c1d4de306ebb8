package radclient_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/radpool/radpool/internal/simnet"
	"github.com/radpool/radpool/radclient"
)

// A burst gets as many sockets as it needs, at once.
func TestBurstOpensSockets(t *testing.T) {
	inWorld(t, simnet.Config{Capacity: 4096}, func(t *testing.T, w *world) {
		seen := 0
		w.serve(serverA, func(*incoming) [][]byte { seen++; return nil })
		c := w.client(radclient.Config{}, serverA)
		var wg sync.WaitGroup
		for range 2000 {
			wg.Go(func() { c.Do(context.Background(), access("alice")) })
		}
		w.sync()
		if st := c.Stats(); seen != 2000 || st.Sockets != 8 {
			t.Errorf("%d of 2000 requests are sent, over %d sockets", seen, st.Sockets)
		}
		c.Close()
		wg.Wait()
	})
}

// Where the system has no other socket to give, requests wait for Identifiers.
func TestNoOtherSocketToBeHad(t *testing.T) {
	inWorld(t, simnet.Config{}, func(t *testing.T, w *world) {
		w.serve(serverA, echo)
		opened := 0
		c, err := radclient.New(radclient.Config{
			Servers: []radclient.Server{{Addr: serverA, Secret: secretOf(serverA)}},
			Listen: func() (net.PacketConn, error) {
				if opened++; opened > 1 {
					return nil, errors.New("too many open files")
				}
				return w.net.Listen(netip.AddrPortFrom(nasHost, 0))
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() { ask(context.Background(), t, c, "alice") })
		}
		wg.Wait()
		synctest.Wait()
		c.Close()
		if st := check(t, c); st.Answered != 1000 || st.Sockets != 1 || st.Errors.Open == 0 || st.Errors.Open > 3 {
			t.Errorf("%+v", st)
		}
	})
}
