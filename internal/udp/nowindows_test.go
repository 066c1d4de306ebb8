//go:build !windows

package udp_test

import (
	"errors"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/radpool/radpool/internal/udp"
)

// Winsock loses what does not fit.
func init() {
	behaviours = append(behaviours, behaviour{"truncation and empty datagrams", testTruncation})
}

func testTruncation(t *testing.T, addr string, a, b udp.Conn) {
	write(t, a, messages(at(addr, b), "more than fits", "", "fits", "none of it", "end")...)
	var got []string
	for _, size := range []int{4, 4, 4, 0, 4} {
		buf := []byte("........")
		ms := []udp.Message{{Buf: buf[:size]}}
		if n, err := b.ReadBatch(ms); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		got = append(got, string(buf[:ms[0].N]))
		if rest := string(buf[size:]); strings.Trim(rest, ".") != "" {
			t.Errorf("wrote past the buffer: %q", rest)
		}
	}
	equal(t, "read", got, []string{"more", "", "fits", "", "end"})
}

// TestFilePacketConn: sockets that a service manager has opened come as files, but for Windows.
func TestFilePacketConn(t *testing.T) {
	for _, family := range families {
		t.Run(family.name, func(t *testing.T) {
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
			t.Fatal(err)
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
