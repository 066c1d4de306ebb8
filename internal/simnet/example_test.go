package simnet_test

import (
	"fmt"
	"net/netip"

	"github.com/radpool/radpool/internal/simnet"
)

// A network that loses three datagrams of ten on average, and with one seed always the same ones.
func Example() {
	network, err := simnet.New(simnet.Config{Seed: 1, Loss: 0.3})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer network.Close()
	nas, err := network.Listen(netip.MustParseAddrPort("192.0.2.1:0"))
	if err != nil {
		fmt.Println(err)
		return
	}
	server, err := network.Listen(netip.MustParseAddrPort("192.0.2.2:1812"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 6 {
		if _, err := nas.WriteToUDPAddrPort(fmt.Append(nil, "request ", i), server.LocalAddrPort()); err != nil {
			fmt.Println(err)
			return
		}
	}
	var buf [64]byte
	for range network.Stats().Delivered {
		n, from, err := server.ReadFromUDPAddrPort(buf[:])
		fmt.Println(string(buf[:n]), from, err)
	}
	fmt.Println(network.Stats().Lost, "lost")
	// Output:
	// request 1 192.0.2.1:49152 <nil>
	// request 4 192.0.2.1:49152 <nil>
	// request 5 192.0.2.1:49152 <nil>
	// 3 lost
}
