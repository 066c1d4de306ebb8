//go:build !race

package radclient_test

import (
	"context"
	"testing"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/radclient"
)

// What an exchange may allocate, server included, which allocates nothing.
func TestExchangeAllocatesNothing(t *testing.T) {
	pc := listenUDP(t)
	echoServer(t, pc)
	c, err := radclient.New(radclient.Config{Servers: []radclient.Server{{Addr: addrOf(pc), Secret: []byte("testing123")}}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p := radclient.NewRequest(radius.CodeAccessRequest)
	rfc2865.UserName_SetString(p, "alice")
	rfc2865.UserPassword_SetString(p, "wonderland")
	var r radclient.Reply
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	exchange := func() {
		if err := c.Exchange(ctx, p, &r); err != nil {
			t.Error(err)
		}
	}
	for range 500 { // each Identifier once, so that what grows has grown
		exchange()
	}
	if n := testing.AllocsPerRun(2000, exchange); n > 0 {
		t.Errorf("%v allocations an exchange, want 0", n)
	}
}
