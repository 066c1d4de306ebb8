package udp_test

import (
	"errors"
	"net"
	"runtime"
	"testing"

	"github.com/radpool/radpool/internal/udp"
)

func closeAll(conns []net.PacketConn) {
	for _, pc := range conns {
		_ = pc.Close()
	}
}

func TestListen(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0", "localhost:0", ":0", "0.0.0.0:0", "[::]:0"} {
		for _, n := range []int{1, 2, 5} {
			t.Run(address, func(t *testing.T) {
				conns, err := udp.Listen("udp", address, n)
				if n > 1 && runtime.GOOS != "linux" {
					if !errors.Is(err, errors.ErrUnsupported) {
						t.Errorf("%v", err)
					}
					return
				}
				if err != nil {
					t.Skipf("no socket there: %v", err)
				}
				defer closeAll(conns)
				if len(conns) != n {
					t.Fatalf("%d sockets, want %d", len(conns), n)
				}
				for _, pc := range conns {
					if pc.LocalAddr().String() != conns[0].LocalAddr().String() {
						t.Errorf("%v and %v", pc.LocalAddr(), conns[0].LocalAddr())
					}
					if device, shared := udp.Sharing(pc); shared != (n > 1) || device != 0 {
						t.Errorf("shared: %v, device %d", shared, device)
					}
				}
				// Another server must not find its way in unnoticed.
				for _, m := range []int{1, 2} {
					if others, err := udp.Listen("udp", conns[0].LocalAddr().String(), m); err == nil {
						closeAll(others)
						t.Errorf("%d more sockets of the same address", m)
					}
				}
			})
		}
	}
	for _, n := range []int{1, 2} {
		if conns, err := udp.Listen("udp", "nonsense", n); err == nil {
			closeAll(conns)
			t.Error("an address that is none")
		}
	}
	if _, shared := udp.Sharing(&script{}); shared {
		t.Error("a socket that is no UDP socket shares its address")
	}
}
