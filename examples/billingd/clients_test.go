package main

import (
	"context"
	"errors"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/radpool/radpool/radpool"
)

// The clients of the table are served beside the local ones, from the minute on in
// which they come to stand there; while the table cannot be read nothing changes.
func TestClientsFollowTheTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var list atomic.Pointer[[]radpool.Client]
		list.Store(&[]radpool.Client{{Prefix: netip.MustParsePrefix("127.0.0.0/8"), Secret: []byte("mine")}})
		b := &backend{nas: func(context.Context) ([]radpool.Client, error) {
			if l := list.Load(); l != nil {
				return *l, nil
			}
			return nil, errors.New("away")
		}}
		o := &options{secret: "local", readClients: true}
		clients := new(radpool.Clients)
		if err := readClients(t.Context(), clients, o, b); err != nil {
			t.Fatal(err)
		}
		secret := func(addr string) string {
			c, ok := clients.Lookup(netip.MustParseAddr(addr))
			if !ok {
				return ""
			}
			return string(c.Secret)
		}
		if secret("127.0.0.1") != "mine" || secret("::1") != "local" || secret("192.0.2.1") != "" {
			t.Errorf("%q %q %q", secret("127.0.0.1"), secret("::1"), secret("192.0.2.1"))
		}
		end := followClients(t.Context(), []func(context.Context) error{
			func(ctx context.Context) error { return readClients(ctx, clients, o, b) },
		}, nil, zap.NewNop())
		defer end()
		list.Store(&[]radpool.Client{{Prefix: netip.MustParsePrefix("192.0.2.0/24"), Secret: []byte("new")}})
		time.Sleep(readAgain + time.Second)
		synctest.Wait()
		if secret("192.0.2.1") != "new" || secret("127.0.0.1") != "local" {
			t.Errorf("%q %q", secret("192.0.2.1"), secret("127.0.0.1"))
		}
		list.Store(nil)
		time.Sleep(readAgain)
		synctest.Wait()
		if secret("192.0.2.1") != "new" {
			t.Error("a table that cannot be read took the clients away")
		}
	})
}
