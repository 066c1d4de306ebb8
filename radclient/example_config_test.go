package radclient_test

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/radpool/radpool/radclient"
)

// An old server that signs nothing, over a network of one's own; and what is wrong in a
// configuration, by its field.
func ExampleNew() {
	old := radclient.Server{
		Addr: netip.MustParseAddrPort("192.0.2.1:1812"), Secret: []byte("testing123"),
		Protection: radclient.AllowUnprotected, NoStatusServer: true,
	}
	c, err := radclient.New(radclient.Config{Servers: []radclient.Server{old}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Stats().Servers[0].State, c.Close())

	old.Secret = nil
	_, err = radclient.New(radclient.Config{Servers: []radclient.Server{old}})
	if wrong, ok := errors.AsType[*radclient.ConfigError](err); ok {
		fmt.Println(wrong.Field, "must be", wrong.Bound)
	}
	// Output:
	// alive <nil>
	// Servers[0].Secret must be at least one octet
}
