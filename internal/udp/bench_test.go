package udp_test

import (
	"fmt"
	"testing"

	"github.com/radpool/radpool/internal/udp"
)

// BenchmarkDatagrams writes a batch to the loopback and reads it; ns/op are those of one datagram.
func BenchmarkDatagrams(b *testing.B) {
	for _, impl := range constructors {
		for _, bind := range []string{"127.0.0.1", "0.0.0.0", "::"} {
			for _, batch := range []int{1, 8, 64} {
				b.Run(fmt.Sprintf("%s/%s/batch %d", impl.name, bind, batch), func(b *testing.B) {
					c := newConn(b, impl.make, listenUDP(b, bind))
					out := make([]udp.Message, batch)
					for i := range out {
						out[i] = udp.Message{Buf: make([]byte, 200), N: 200, Addr: at("127.0.0.1", c)}
					}
					in := room(batch)
					b.ReportAllocs()
					left := 0
					for b.Loop() {
						if left > 0 {
							left--
							continue
						}
						if n, err := c.WriteBatch(out); n != batch || err != nil {
							b.Fatal(n, err)
						}
						for got := 0; got < batch; {
							n, err := c.ReadBatch(in[got:])
							if err != nil {
								b.Fatal(err)
							}
							got += n
						}
						left = batch - 1
					}
				})
			}
		}
	}
}
