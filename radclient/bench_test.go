package radclient_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

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
