package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
)

// remoteAt is a remote with the defaults and some flags.
func remoteAt(t *testing.T, url string, args ...string) *remote {
	t.Helper()
	o, err := parseFlags(append([]string{"-url", url, "-auth", "127.0.0.1:0", "-acct", "127.0.0.1:0"}, args...), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	r := newRemote(o)
	t.Cleanup(r.close)
	return r
}

// says is a remote that always answers this.
func says(t *testing.T, status int, body string, headers ...string) *remote {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return remoteAt(t, s.URL)
}

func alice() *billing.AccessRequest { return &billing.AccessRequest{UserName: "alice"} }

// The messages of docs/http-backend.md, octet by octet.
func TestMessages(t *testing.T) {
	var got []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, r.Method+" "+r.URL.Path+" "+r.Header.Get("Content-Type")+" "+string(body))
		if r.Header.Get("Idempotency-Key") == "" {
			t.Error("no Idempotency-Key")
		}
		if r.URL.Path == "/billing/account" {
			_, _ = io.WriteString(w, `{"results":[{"ok":true}]}`)
			return
		}
		_, _ = io.WriteString(w, `{"answers":[{"cleartext":"wonderland","reply":[["Session-Timeout",3600],["Framed-IP-Address","10.0.0.1"]]}]}`)
	}))
	defer s.Close()
	p := &billing.Processor{Handler: remoteAt(t, s.URL+"/billing/")}
	r := billingtest.Run(t, p, billingtest.CHAP("alice", "wonderland").NAS("192.0.2.1").CallingStation("02-00-5E-10-00-00"))
	if !r.Accepted() || rfc2865.SessionTimeout_Get(r.Packet) != 3600 || rfc2865.FramedIPAddress_Get(r.Packet).String() != "10.0.0.1" {
		t.Errorf("%v", r)
	}
	stop := billingtest.Stop("alice", "s1").NAS("192.0.2.1").Octets(1<<63, 7).SessionTime(time.Minute).EventTime(time.Unix(1_800_000_000, 0))
	for range 2 { // the same record again has the same key
		if !billingtest.Run(t, p, stop).Acknowledged() {
			t.Error("no Accounting-Response")
		}
	}
	want := []string{
		`POST /billing/authorize application/json {"requests":[{"user_name":"alice","method":"CHAP","calling_station":"02-00-5E-10-00-00","nas":"192.0.2.1"}]}`,
		`POST /billing/account application/json {"records":[{"key":"KEY","status":"Stop","unique_id":"ID","session_id":"s1","user_name":"alice",` +
			`"time":1800000000,"session_time":60,"input_octets":"9223372036854775808","output_octets":"7","input_packets":"0","output_packets":"0","nas":"192.0.2.1"}]}`,
	}
	for i, w := range append(want, want[1]) {
		if i >= len(got) || withoutIDs(got[i]) != w {
			t.Errorf("message %d:\n%s\nwant\n%s", i, withoutIDs(got[i]), w)
		}
	}
	if got[1] != got[2] {
		t.Errorf("a record that comes again differs:\n%s\n%s", got[1], got[2])
	}
}

func withoutIDs(s string) string {
	for name, to := range map[string]string{`"key":"`: "KEY", `"unique_id":"`: "ID"} {
		if at := strings.Index(s, name); at >= 0 {
			at += len(name)
			s = s[:at] + to + s[at+32:]
		}
	}
	return s
}

// Whatever is wrong with a response, nobody is let in for it, and no record is taken
// for stored.
func TestWrongResponses(t *testing.T) {
	for body, tell := range map[string]string{
		``:                              "EOF",
		`[]`:                            "cannot unmarshal",
		`{"answers":[]}`:                "0 answers to 1",
		`{"answers":[{},{}]}`:           "2 answers to 1",
		`{"answers":[{"expire":"x"}]}`:  `"expire"`,
		`{"answers":[{}]} {}`:           "behind the JSON",
		`{"answers":[{"error":"db"}]}`:  `"db"`,
		`{"answers":[{"reject":"no"}]}`: "reject",
		`{"answers":[{"cleartext":"hunter2","hash":"{SSHA}hunter2"}]}`:                 "only one of",
		`{"answers":[{"hash":"hunter2"}]}`:                                             "braces",
		`{"answers":[{"hash":"{hunter2}x"}]}`:                                          "braces",
		`{"answers":[{"verified":true}]}`:                                              "no password was sent",
		`{"answers":[{"cleartext":"x","expires":"hunter2"}]}`:                          "expires",
		`{"answers":[{"cleartext":"x","simultaneous_use":-1}]}`:                        "simultaneous_use",
		`{"answers":[{"cleartext":"x","reply":[["No-Such","hunter2"]]}]}`:              "No-Such",
		`{"answers":[{"cleartext":"x","reply":[["Framed-IP-Address","hunter2"]]}]}`:    "Framed-IP-Address",
		`{"answers":[{"cleartext":"x","restricted":[["Session-Timeout","hunter2"]]}]}`: "restricted",
		`{"answers":[{"cleartext":"x","reply":[["Session-Timeout",null]]}]}`:           "string or a number",
		`{"answers":[{"cleartext":"x","reply":[["Session-Timeout"]]}]}`:                "list of two",
		`{"answers":[{"cleartext":"x","reply":[[7,"hunter2"]]}]}`:                      "name of an attribute",
		`{"answers":[{"cleartext":` + strings.Repeat(" ", maxAnswer) + `"x"}]}`:        "more than",
	} {
		g, err := says(t, 200, body).Authorize(t.Context(), alice())
		if err == nil || !strings.Contains(err.Error(), tell) || strings.Contains(err.Error(), "hunter2") || !g.Password.IsZero() {
			t.Errorf("%.80s: %v, %v; want %s told", body, g, err, tell)
		}
	}
	for body, refused := range map[string]bool{
		``: false, `{}`: false, `{"results":[]}`: false, `{"results":[{}]}`: false, `{"results":[{"ok":false}]}`: false, `{"results":[{"ok":true},{"ok":true}]}`: false,
		`{"results":[{"ok":true,"error":"disk"}]}`: false, `{"results":[{"refuse":"no such session"}]}`: true, `{"results":[{"ok":"yes"}]}`: false,
	} {
		err := says(t, 200, body).Account(t.Context(), &billing.AccountingRecord{})
		if err == nil || errors.Is(err, billing.ErrRecord) != refused {
			t.Errorf("%s: %v", body, err)
		}
	}
	for _, status := range []int{201, 204, 302, 400, 401, 404, 500, 502} {
		if _, err := says(t, status, `{"answers":[{"cleartext":"x"}]}`, "Location", "/authorize").Authorize(t.Context(), alice()); err == nil || !strings.Contains(err.Error(), fmt.Sprint(status)) {
			t.Errorf("%d: %v", status, err)
		}
	}
}

// What a response has of any length is no longer in an error: those go into the log.
func TestErrorsAreBounded(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	answers := make(chan string, 1)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if req, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				_, _ = io.Copy(io.Discard, req.Body)
				_, _ = io.WriteString(c, <-answers)
			}
			_ = c.Close()
		}
	}()
	r := remoteAt(t, "http://"+l.Addr().String())
	for what, answer := range map[string]string{
		"field":      `{"` + long + `":1}`,
		"error":      `{"answers":[{"error":"` + long + `"}]}`,
		"attribute":  `{"answers":[{"cleartext":"x","reply":[["` + long + `","1"]]}]}`,
		"status":     "HTTP/1.1 500 " + long[:60<<10] + "\r\n\r\n",
		"no HTTP":    long[:60<<10] + "\r\n\r\n",
		"header":     "HTTP/1.1 200 OK\r\nX: " + long + "\r\n\r\n",
		"short body": "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}",
	} {
		if strings.HasPrefix(answer, "{") {
			answer = fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(answer), answer)
		}
		answers <- answer
		g, err := r.Authorize(t.Context(), alice())
		if err == nil || len(err.Error()) > 1000 || !g.Password.IsZero() {
			t.Errorf("%s: %+v, %.1100v", what, g, err)
		}
	}
}

func TestGrant(t *testing.T) {
	g, err := says(t, 200, `{"answers":[{"reject":"no-money","message":"pay","hash":"{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=","calling_station":"02-00-5E-10-00-00",
		"expires":"2030-01-02T03:04:05Z","simultaneous_use":2,"open_sessions":1,"no_password":true,"reply":[["Framed-Route","10.1.0.0/16"],["Framed-Route","10.2.0.0/16"],["Tunnel-Password","x"]],"restricted":[]}]}`).Authorize(t.Context(), alice())
	if err != nil {
		t.Fatal(err)
	}
	if g.Reason != billing.ReasonNoMoney || g.Message != "pay" || g.Password.VerifyPAP([]byte("password")) != billing.ReasonNone || g.CallingStationID == "" ||
		g.Expires.Unix() != 1893553445 || g.SimultaneousUse != 2 || g.OpenSessions != 1 || !g.NoPassword || len(g.Reply) != 2 || len(g.Hidden) != 1 || g.Restricted == nil {
		t.Errorf("%+v", g)
	}
}

// With -send-passwords the remote may verify PAP, and nothing else.
func TestVerified(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), `"password":"wonderland"`) {
			_, _ = io.WriteString(w, `{"answers":[{"verified":true}]}`)
			return
		}
		_, _ = io.WriteString(w, `{"answers":[{"reject":"wrong-password"}]}`)
	}))
	defer s.Close()
	sends, keeps := &billing.Processor{Handler: remoteAt(t, s.URL, "-send-passwords")}, &billing.Processor{Handler: remoteAt(t, s.URL)}
	for _, c := range []struct {
		p      *billing.Processor
		r      billingtest.Request
		accept bool
	}{
		{sends, billingtest.PAP("alice", "wonderland"), true}, {sends, billingtest.PAP("alice", "x"), false},
		{sends, billingtest.CHAP("alice", "wonderland"), false}, {keeps, billingtest.PAP("alice", "wonderland"), false},
	} {
		if r := billingtest.Run(t, c.p, c.r); r.Accepted() != c.accept || r.Rejected() == c.accept {
			t.Errorf("%v: %v", c.r, r)
		}
	}
}

// roundTrip is a remote in memory.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Who is asked for a pause makes it, for as long as it was asked, within bounds.
func TestBackpressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		status, retryAfter := 503, ""
		r := remoteAt(t, "http://127.0.0.1:1")
		r.client.Transport = roundTrip(func(*http.Request) (*http.Response, error) {
			asked++
			return &http.Response{
				StatusCode: status, Status: http.StatusText(status), Header: http.Header{"Retry-After": {retryAfter}},
				Body: io.NopCloser(strings.NewReader(`{"answers":[{"cleartext":"x"}]}`)),
			}, nil
		})
		for _, c := range []struct {
			status int
			after  string
			wait   time.Duration
		}{
			{503, "", time.Second}, {429, "5", 5 * time.Second}, {503, "soon", time.Second}, {429, "100000", maxWait},
			{503, time.Now().Add(100 * time.Second).UTC().Format(http.TimeFormat), 0}, {429, "-1", time.Second},
		} {
			before := asked
			status, retryAfter = c.status, c.after
			start := time.Now()
			if _, err := r.Authorize(t.Context(), alice()); err == nil || errors.Is(err, errBusy) {
				t.Errorf("%+v: %v", c, err)
			}
			status = 200
			if err := r.Account(t.Context(), &billing.AccountingRecord{}); !errors.Is(err, errBusy) || asked != before+1 {
				t.Errorf("%+v: in the pause: %v, asked %d times", c, err, asked-before)
			}
			for {
				if _, err := r.Authorize(t.Context(), alice()); !errors.Is(err, errBusy) {
					if err != nil {
						t.Errorf("%+v: after the pause: %v", c, err)
					}
					break
				}
				time.Sleep(time.Second)
			}
			if waited := time.Since(start); c.wait != 0 && waited != c.wait || waited > maxWait {
				t.Errorf("%+v: the pause was %v", c, waited)
			}
		}
	})
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := remoteAt(t, "http://127.0.0.1:1", "-timeout", "2s")
		r.client.Transport = roundTrip(func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		})
		start := time.Now()
		if _, err := r.Authorize(t.Context(), alice()); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// A batch is one POST, up to a bound.
func TestBatches(t *testing.T) {
	var sizes []int
	r := remoteAt(t, "http://127.0.0.1:1")
	r.client.Transport = roundTrip(func(req *http.Request) (*http.Response, error) {
		body, _ := io.ReadAll(req.Body)
		n := strings.Count(string(body), `"user_name"`)
		sizes = append(sizes, n)
		return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(
			`{"answers":[` + strings.TrimSuffix(strings.Repeat(`{"cleartext":"x"},`, n), ",") + `]}`))}, nil
	})
	reqs := make([]*billing.AccessRequest, 600)
	for i := range reqs {
		reqs[i] = alice()
	}
	reqs[3] = &billing.AccessRequest{UserName: "\xff"} // not asked about
	grants, errs := make([]billing.Grant, len(reqs)), make([]error, len(reqs))
	r.AuthorizeBatch(t.Context(), reqs, grants, errs)
	if fmt.Sprint(sizes) != "[256 256 87]" {
		t.Errorf("POSTs of %v", sizes)
	}
	for i, g := range grants {
		if errs[i] != nil || (g.Reason == billing.ReasonUnknownUser) != (i == 3) {
			t.Errorf("%d: %v, %v", i, g.Reason, errs[i])
		}
	}
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{"alice": "alice", "имя": "имя", "a\x00b": "a\x00b", "a\xffb": `a\xFFb`, `a\xFFb`: `a\\xFFb`, `a\b`: `a\b`, "\xed\xa0\x80": `\xED\xA0\x80`} {
		if got := text(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"answers":[{"cleartext":"x","reply":[["Session-Timeout",3600]],"expires":"2030-01-02T03:04:05Z"}]}`))
	f.Add([]byte(`{"answers":[{"reject":"no-money","restricted":[["Framed-Pool","poor"]]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var in authorizeResponse
		if decode(body, &in) != nil {
			return
		}
		for _, a := range in.Answers {
			g, err := a.grant(nil)
			if err != nil && (!g.Password.IsZero() || g.NoPassword || len(g.Reply) > 0) {
				t.Errorf("%s: an error with a grant: %+v", body, g)
			}
		}
	})
}
