package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/internal/loadgen"
	"github.com/radpool/radpool/radpool"
)

// asServer is set where the test's program is the server of a sweep.
const asServer = "RADPERF_TEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" && len(os.Args) == 4 {
		os.Exit(serveUntilInterrupt(os.Args[1], os.Args[2], os.Args[3]))
	}
	goleak.VerifyTestMain(m)
}

// backend lets user0/pass0 and so on in.
type backend struct{}

func (backend) Authorize(_ context.Context, req *billing.AccessRequest) (billing.Grant, error) {
	return billing.Grant{Password: billing.Cleartext("pass" + strings.TrimPrefix(req.UserName, "user"))}, nil
}

func (backend) Account(context.Context, *billing.AccountingRecord) error { return nil }

func newServer() (*radpool.Server, error) {
	clients, err := radpool.NewClients(radpool.Client{Prefix: netip.MustParsePrefix("127.0.0.0/8"), Secret: []byte("testing123")})
	return &radpool.Server{Handler: &billing.Processor{Handler: backend{}, ReservationTime: -1}, Clients: clients}, err
}

// serveUntilInterrupt writes its number of workers into the directory, so that the test sees what it was started with.
func serveUntilInterrupt(auth, acct, workers string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	server, err := newServer()
	if err != nil {
		return 3
	}
	server.AuthAddr, server.AcctAddr = auth, acct
	fmt.Println("serving with", workers)
	context.AfterFunc(ctx, func() { _ = server.Shutdown(context.Background()) })
	if err := server.ListenAndServe(); err != radpool.ErrServerClosed { //nolint:errorlint // it is documented to be this value
		fmt.Println(err)
		return 4
	}
	return 0
}

// serve runs a server in this process. end ends it, and returns what it has counted.
func serve(t *testing.T) (flags []string, end func() radpool.Stats) {
	t.Helper()
	server, err := newServer()
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 2)
	for name, services := range map[string]radpool.Services{"-auth": radpool.Auth, "-acct": radpool.Acct} {
		conn, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		flags = append(flags, name, conn.LocalAddr().String())
		go func() { served <- server.ServeServices(conn, services) }()
	}
	ended := false
	end = func() radpool.Stats {
		if !ended {
			ended = true
			if err := server.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
			<-served
			<-served
		}
		return server.Stats()
	}
	t.Cleanup(func() { end() })
	return flags, end
}

// radperf runs the program, and returns what it printed.
func radperf(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, diag strings.Builder
	if got := run(t.Context(), args, &out, &diag); got != want {
		t.Fatalf("radperf %s: exit status %d, want %d\n%s%s", strings.Join(args, " "), got, want, out.String(), diag.String())
	}
	return out.String(), diag.String()
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What is printed, in CSV, in JSON and on the page, is what the server has counted.
func TestEveryFigureIsTheServers(t *testing.T) {
	flags, end := serve(t)
	dir := t.TempDir()
	csvFile, jsonFile, page := filepath.Join(dir, "run.csv"), filepath.Join(dir, "run.json"), filepath.Join(dir, "run.html")
	// Timers so long that none ends however slow the machine is.
	flags = append(flags, "-n", "3000", "-workers", "48", "-sockets", "3", "-source", "127.0.0.1,127.0.0.2", "-users", "50",
		"-mix", "session=2,chap,mschapv2,acct", "-duplicates", "0.1", "-every", "20ms", "-timeout", "1m", "-expect", "accept", "-require-ma",
		"-csv", csvFile, "-json", jsonFile, "-plot", page)
	stdout, stderr := radperf(t, statusOK, flags...)
	st := end()
	var r report
	if err := json.Unmarshal([]byte(read(t, jsonFile)), &r); err != nil {
		t.Fatal(err)
	}
	requests := st.AccessRequests + st.AccountingRequests
	for name, f := range map[string]struct {
		json, server uint64
		id           string
	}{
		"sent":       {r.Result.Sent, st.Received, "sent"},
		"requests":   {r.Result.Requests, requests, "requests"},
		"answered":   {r.Result.Answered, st.Replied, "answered"},
		"accepts":    {r.Result.Accepts, st.AccessAccepts, "accepts"},
		"accounting": {r.Result.AccountingResponses, st.AccountingResponses, "accounting"},
		"duplicated": {r.Result.Duplicated, st.Duplicate + st.Replayed, "duplicated"},
	} {
		if f.json != f.server || f.server == 0 {
			t.Errorf("%s: %d here, %d there", name, f.json, f.server)
		}
		if !strings.Contains(stdout, " "+count(f.server)+"  ") {
			t.Errorf("%s: no %s in\n%s", name, count(f.server), stdout)
		}
		if cell := fmt.Sprintf(`<dd id="%s">%s</dd>`, f.id, count(f.server)); !strings.Contains(read(t, page), cell) {
			t.Errorf("no %s on the page", cell)
		}
	}
	if !strings.Contains(stderr, "/s  p50 ") {
		t.Errorf("no lines on the way: %q", stderr)
	}
	checkCSV(t, read(t, csvFile), requests)
}

func checkCSV(t *testing.T, text string, requests uint64) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatalf("%v in %q", err, text)
	}
	column, sum := 0, uint64(0)
	for rows[0][column] != "answered" {
		column++
	}
	for _, row := range rows[1:] {
		var n uint64
		if _, err := fmt.Sscan(row[column], &n); err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	if sum != requests {
		t.Errorf("the CSV adds up to %d, the server to %d", sum, requests)
	}
}

var island = regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`)

func TestPage(t *testing.T) {
	flags, _ := serve(t)
	page := filepath.Join(t.TempDir(), "run.html")
	radperf(t, statusOK, append(flags, "-rate", "200:400", "-duration", "300ms", "-every", "50ms", "-quiet", "-plot", page)...)
	text := read(t, page)
	for _, id := range []string{"pps", "elapsed", "p50", "p99", "max", "lost", "wrong", "plot-rate", "plot-latency", "plot-losses", "table", "numbers", "figures"} {
		if n := strings.Count(text, `id="`+id+`"`); n != 1 {
			t.Errorf("%d elements have the id %s", n, id)
		}
	}
	if n := strings.Count(text, "<svg"); n != 3 {
		t.Errorf("%d plots", n)
	}
	for _, bad := range []string{"<script>", "src=", "testing123", "ZgotmplZ", "http-equiv=\"refresh\""} {
		if strings.Contains(text, bad) {
			t.Errorf("%s is on the page", bad)
		}
	}
	var r report
	if err := json.Unmarshal([]byte(island.FindStringSubmatch(text)[1]), &r); err != nil || r.Result.Answered == 0 {
		t.Errorf("the data are %+v, %v", r, err)
	}
}

func TestWrongReplies(t *testing.T) {
	flags, _ := serve(t)
	_, stderr := radperf(t, statusWrong, append(flags, "-n", "20", "-password", "wrong%d", "-expect", "accept", "-quiet")...)
	if !strings.Contains(stderr, "radperf: 20 of the replies were wrong") {
		t.Error(stderr)
	}
	stdout, _ := radperf(t, statusOK, append(flags, "-n", "20", "-password", "wrong%d", "-expect", "reject", "-quiet")...)
	if !strings.Contains(stdout, "20  Access-Reject") {
		t.Error(stdout)
	}
}

func TestNobodyThere(t *testing.T) {
	_, stderr := radperf(t, statusWrong, "-auth", "127.0.0.1:9", "-n", "2", "-timeout", "10ms", "-retries", "0", "-quiet")
	if !strings.Contains(stderr, "no answer at all") {
		t.Error(stderr)
	}
}

func TestTogether(t *testing.T) {
	var samples []loadgen.Sample
	var sum uint64
	for i := range 1234 {
		s := loadgen.Sample{At: 1, Span: 1, Counters: loadgen.Counters{Answered: uint64(i)}}
		s.Latency.Max = 1000 - 1
		samples, sum = append(samples, s), sum+uint64(i)
	}
	rows := together(samples, 600)
	for _, r := range rows {
		sum -= r.Answered
	}
	if len(rows) > 600 || len(rows) < 300 || sum != 0 {
		t.Errorf("%d rows, %d answers missing", len(rows), sum)
	}
}
