package radclient_test

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/radpool/radpool/internal/need"
	"github.com/radpool/radpool/radclient"
)

// Exchanges with a server of this module on the same machine, which takes its part of it: beside radclient, which sends
// the same requests, so many at once (-p).
func BenchmarkExchange(b *testing.B) {
	for _, atOnce := range []int{1, 64, 256, 4096} {
		b.Run(fmt.Sprintf("impl=radpool/atOnce=%d", atOnce), func(b *testing.B) {
			pc := listenUDP(b)
			echoServer(b, pc)
			c, err := radclient.New(radclient.Config{MaxSockets: 256, Servers: []radclient.Server{{Addr: addrOf(pc), Secret: []byte("testing123")}}})
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			exchangeMany(b, c, 1000, atOnce)
			b.ReportAllocs()
			b.ResetTimer()
			exchangeMany(b, c, b.N, atOnce)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "exchanges/s")
		})
	}
	for _, atOnce := range []int{1, 64, 256} {
		b.Run(fmt.Sprintf("impl=freeradius-radclient/atOnce=%d", atOnce), func(b *testing.B) {
			program := need.Command(b, "radclient", "apt-get install freeradius-utils")
			pc := listenUDP(b)
			server := echoServer(b, pc)
			// One file of requests, and -c for how often: reading them is not what is measured.
			const distinct = 1000
			var requests strings.Builder
			for i := range distinct {
				fmt.Fprintf(&requests, "User-Name=user%d,Message-Authenticator=0x00\n\n", i)
			}
			file := filepath.Join(b.TempDir(), "requests")
			if err := os.WriteFile(file, []byte(requests.String()), 0o600); err != nil {
				b.Fatal(err)
			}
			times := max(1, (b.N+distinct-1)/distinct)
			b.ResetTimer()
			cmd := exec.Command(program, "-q", "-c", fmt.Sprint(times), "-p", fmt.Sprint(atOnce), "-f", file, addrOf(pc).String(), "auth", "testing123")
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
			n := times * distinct
			if got := server.Stats().AccessAccepts; got < uint64(n) {
				b.Errorf("%d of %d were answered", got, n)
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "exchanges/s")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/op")
		})
	}
}

// The same over a network that loses a tenth of the datagrams each way, and repeats as many: what counts is answered
// exchanges. Both wait 2 s for a reply before they send again.
func BenchmarkExchangeWithLoss(b *testing.B) {
	b.Run("impl=radpool/atOnce=4096", func(b *testing.B) {
		addr := serveWithLoss(b)
		c, err := radclient.New(radclient.Config{Servers: []radclient.Server{{Addr: addr, Secret: []byte("testing123")}},
			Retransmission: radclient.Retransmission{MRT: 2 * time.Second, MRC: radclient.Unlimited, MRD: radclient.Unlimited}})
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		b.ResetTimer()
		exchangeMany(b, c, b.N, 4096)
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "exchanges/s")
	})
	b.Run("impl=freeradius-radclient/atOnce=256", func(b *testing.B) {
		program := need.Command(b, "radclient", "apt-get install freeradius-utils")
		addr := serveWithLoss(b)
		file := filepath.Join(b.TempDir(), "requests")
		if err := os.WriteFile(file, []byte(strings.Repeat("User-Name=user,Message-Authenticator=0x00\n\n", b.N)), 0o600); err != nil {
			b.Fatal(err)
		}
		b.ResetTimer()
		// Who is not answered after 20 copies makes radclient fail.
		cmd := exec.Command(program, "-q", "-t", "2", "-r", "20", "-p", "256", "-f", file, addr.String(), "auth", "testing123")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "exchanges/s")
	})
}

// serveWithLoss runs a server whose socket loses of the replies as many as a network would of requests and replies.
func serveWithLoss(b *testing.B) netip.AddrPort {
	b.Helper()
	socket := &lossy{PacketConn: listenUDP(b), loss: 0.19, duplicate: 0.1} // 1 - 0.9 * 0.9
	echoServer(b, socket)
	return addrOf(socket)
}
