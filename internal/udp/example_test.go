package udp_test

import (
	"errors"
	"fmt"
	"net"

	"github.com/radpool/radpool/internal/udp"
)

// A server that answers whatever it is asked, a batch at a time.
func Example() {
	loopback := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}
	pc, err := net.ListenUDP("udp4", loopback)
	if err != nil {
		fmt.Println(err)
		return
	}
	server, err := udp.New(pc)
	if err != nil {
		fmt.Println(err)
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		ms := make([]udp.Message, udp.MaxBatch)
		for i := range ms {
			ms[i].Buf = make([]byte, 4097)
		}
		for {
			n, err := server.ReadBatch(ms)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			for i := range ms[:n] { // Addr and Local stay: the reply goes back the way the request came
				ms[i].N = copy(ms[i].Buf, "reply")
			}
			if _, err := server.WriteBatch(ms[:n]); err != nil {
				fmt.Println(err)
			}
		}
	}()

	client, err := net.DialUDP("udp4", nil, pc.LocalAddr().(*net.UDPAddr))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	if _, err := client.Write([]byte("request")); err != nil {
		fmt.Println(err)
		return
	}
	var buf [16]byte
	n, err := client.Read(buf[:])
	fmt.Println(string(buf[:n]), err)
	fmt.Println(server.Close())
	<-done
	// Output:
	// reply <nil>
	// <nil>
}
