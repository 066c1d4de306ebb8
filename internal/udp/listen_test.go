package udp_test

import (
	"errors"
	"net"
	"os"
	"runtime"
	"strings"
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

// TestFilePacketConn: sockets that a service manager has opened come as files.
func TestFilePacketConn(t *testing.T) {
	for _, family := range families {
		t.Run(family.name, func(t *testing.T) {
			if runtime.GOOS == "windows" {
				t.Skip("net.FilePacketConn is not for Windows")
			}
			original := listenUDP(t, family.bind)
			file, err := original.File()
			if err != nil {
				t.Fatal(err)
			}
			pc, err := net.FilePacketConn(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(file.Close(), original.Close()); err != nil {
				t.Fatal(err)
			}
			server := newConn(t, udp.New, pc)
			client := newConn(t, udp.New, listenUDP(t, family.bind))
			testExchange(t, family.at, client, server)
			testReadReady(t, family.at, client, server)
			if _, err := udp.SetReadBuffer(pc, 65536); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("not UDP", func(t *testing.T) {
		pc, err := net.ListenPacket("unixgram", t.TempDir()+"/s")
		if err != nil {
			t.Skip(err)
		}
		defer pc.Close()
		file, err := pc.(interface{ File() (*os.File, error) }).File()
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		given, err := net.FilePacketConn(file)
		if err != nil {
			t.Fatal(err)
		}
		defer given.Close()
		if _, err := udp.New(given); err == nil || !strings.Contains(err.Error(), "is not an IP address and port") {
			t.Errorf("%v", err)
		}
	})
}
