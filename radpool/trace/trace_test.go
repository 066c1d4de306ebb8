package trace_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/vendors/microsoft"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/radpool"
	"github.com/radpool/radpool/radpool/trace"
)

var testSecret = []byte("hunter2-shared")

// pages collects what is written, a Write an entry.
type pages struct {
	mu   sync.Mutex
	list []string
}

func (p *pages) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, string(b))
	return len(b), nil
}

func (p *pages) all() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.list, "")
}

// tracer returns a Tracer at ten o'clock, whose clock goes on by 1 ms each time it is read.
func tracer(t *testing.T) (*trace.Tracer, *pages) {
	t.Helper()
	p := new(pages)
	now := time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)
	var mu sync.Mutex
	tr, err := trace.New(p, trace.Options{Now: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Millisecond)
		return now
	}})
	if err != nil {
		t.Fatal(err)
	}
	return tr, p
}

func request(code radius.Code, fill func(p *radius.Packet)) *radpool.Request {
	p := &radius.Packet{Code: code, Identifier: 12, Secret: testSecret}
	for i := range p.Authenticator {
		p.Authenticator[i] = byte(i)
	}
	if fill != nil {
		fill(p)
	}
	req := radpool.NewRequest(p, nil)
	req.RemoteAddr = netip.MustParseAddrPort("192.0.2.1:40000")
	req.LocalAddr = netip.MustParseAddrPort("192.0.2.2:1812")
	req.Client = &radpool.Client{Name: "nas1", Secret: testSecret}
	return req
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// backend has one subscriber, ivan, and a database that is away for anna.
type backend struct{ *billing.Memory }

func newBackend() backend {
	m := billing.NewMemory(0)
	var reply radius.Attributes
	reply.Add(rfc2865.FramedIPAddress_Type, []byte{10, 0, 0, 7})
	m.Put("ivan", billing.Grant{Password: billing.Cleartext("hunter2"), Reply: reply})
	return backend{m}
}

var errAway = errors.New("the database\nis away")

func (b backend) Authorize(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
	if req.UserName == "anna" {
		return billing.Grant{}, errAway
	}
	return b.Memory.Authorize(ctx, req)
}

// What is printed of a request: by name, the decision, the reply, and no password.
func TestPages(t *testing.T) {
	login := func(user, password string) func(*radius.Packet) {
		return func(p *radius.Packet) {
			must(rfc2865.UserName_SetString(p, user))
			must(rfc2865.UserPassword_SetString(p, password))
			must(rfc2865.NASPortType_Set(p, rfc2865.NASPortType_Value_Ethernet))
		}
	}
	processor := &billing.Processor{Handler: newBackend()}
	const head = "(0) 2026-08-01T10:00:00.001Z Access-Request Id 12 from 192.0.2.1:40000 to 192.0.2.2:1812 (nas1)\n"
	for name, tc := range map[string]struct {
		req     *radpool.Request
		handler radpool.Handler
		want    string
	}{
		"accepted": {request(radius.CodeAccessRequest, login("ivan", "hunter2")), processor, head + `(0)   User-Name = "ivan"
(0)   User-Password = <<< secret >>>
(0)   NAS-Port-Type = Ethernet
(0) accepted (PAP; Cleartext-Password)
(0) Access-Accept Id 12 to 192.0.2.1:40000 after 1ms
(0)   Framed-IP-Address = 10.0.0.7
`},
		"wrong password": {request(radius.CodeAccessRequest, login("ivan", "hunter3")), processor, head + `(0)   User-Name = "ivan"
(0)   User-Password = <<< secret >>>
(0)   NAS-Port-Type = Ethernet
(0) rejected: wrong-password (PAP; Cleartext-Password)
(0) Access-Reject Id 12 to 192.0.2.1:40000 after 1ms
(0)   Reply-Message = "Invalid user name or password"
`},
		"unknown, with a name that steers terminals": {request(radius.CodeAccessRequest, login("\x1b[2J\u202e\xff", "\xff\x00x")), processor, head +
			`(0)   User-Name = "\033[2J\u202e\377"
(0)   User-Password = <<< secret >>>
(0)   NAS-Port-Type = Ethernet
(0) the User-Password is no text: is the secret that of the client?
(0) rejected: unknown-user (PAP; no stored password)
(0) Access-Reject Id 12 to 192.0.2.1:40000 after 1ms
(0)   Reply-Message = "Invalid user name or password"
`},
		"away": {request(radius.CodeAccessRequest, login("anna", "hunter2")), processor, head + `(0)   User-Name = "anna"
(0)   User-Password = <<< secret >>>
(0)   NAS-Port-Type = Ethernet
(0) the back end could not answer: authorize: the database\nis away
(0) failed: billing: authorize: the database\nis away
(0) no answer after 1ms: the NAS may ask again
`},
		"twice a password": {request(radius.CodeAccessRequest, func(p *radius.Packet) {
			login("ivan", "hunter2")(p)
			p.Add(rfc2865.CHAPPassword_Type, make([]byte, 17))
		}), processor, head + `(0)   User-Name = "ivan"
(0)   User-Password = <<< secret >>>
(0)   NAS-Port-Type = Ethernet
(0)   CHAP-Password = <<< secret >>>
(0) rejected: bad-request, because of more than one of User-Password, CHAP-Password, MS-CHAP-Response and MS-CHAP2-Response
(0) Access-Reject Id 12 to 192.0.2.1:40000 after 1ms
(0)   Reply-Message = "Bad request"
`},
		"tags, vendors and what is unknown": {request(radius.CodeAccessRequest, func(p *radius.Packet) {
			p.Add(64, []byte{1, 0, 0, 13})
			p.Add(81, []byte{1, '4', '2'})
			p.Add(241, []byte("abc"))
			p.Add(26, []byte{0, 0, 0, 9, 1, 24, 'p', 'p', 'p', ':', 'p', 'a', 's', 's', 'w', 'o', 'r', 'd', '=', 'h', 'u', 'n', 't', 'e', 'r', '2', '!', '!'})
			p.Add(26, []byte{0, 0, 0, 9, 200, 4, 1, 2, 201, 3, 7})
			p.Add(26, append([]byte{0, 0, 1, 55, 25, 40}, "hunter2"...))
			p.Add(26, []byte{0, 1})
			must(microsoft.MSCHAPDomain_SetString(p, "isp"))
			p.Add(26, append([]byte{0, 0, 1, 55, 77, 9}, "hunter2"...))
		}), radpool.HandlerFunc(func(context.Context, *radpool.Request, *radpool.Response) {}), head + `(0)   Tunnel-Type:1 = VLAN
(0)   Tunnel-Private-Group-Id:1 = "42"
(0)   Attr-241 = 0x616263
(0)   Cisco-AVPair = "ppp:password=<<< secret >>>"
(0)   Attr-26.9.200 = 0x0102
(0)   Attr-26.9.201 = 0x07
(0)   Vendor-Specific = <<< 9 octets that cannot be read >>>
(0)   Vendor-Specific = <<< 2 octets that cannot be read >>>
(0)   MS-CHAP-Domain = "isp"
(0)   Attr-26.311.77 = <<< secret >>>
(0) no answer after 1ms
`},
	} {
		t.Run(name, func(t *testing.T) {
			tr, out := tracer(t)
			resp := radpool.NewResponse(tc.req)
			tr.Middleware(tc.handler).Handle(t.Context(), tc.req, resp)
			if got := out.all(); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

// Records say what became of them.
func TestAccounting(t *testing.T) {
	record := func(status rfc2866.AcctStatusType, session string) *radpool.Request {
		return request(radius.CodeAccountingRequest, func(p *radius.Packet) {
			must(rfc2866.AcctStatusType_Set(p, status))
			if session != "" {
				must(rfc2866.AcctSessionID_SetString(p, session))
			}
		})
	}
	for want, req := range map[string]*radpool.Request{
		`\(0\) stored: Start of session [0-9a-f]{32}\n\(0\) Accounting-Response Id 12 to 192.0.2.1:40000 after `: record(rfc2866.AcctStatusType_Value_Start, "s1"),
		`\(0\) discarded, because of Acct-Session-Id\n\(0\) no answer after `:                                    record(rfc2866.AcctStatusType_Value_Start, ""),
	} {
		tr, out := tracer(t)
		tr.Middleware(&billing.Processor{Handler: newBackend()}).Handle(t.Context(), req, radpool.NewResponse(req))
		if got := out.all(); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("got\n%s\nwant %s", got, want)
		}
	}
}

// A handler that panics is printed with its request, and the panic goes on.
func TestPanic(t *testing.T) {
	tr, out := tracer(t)
	req := request(radius.CodeAccessRequest, nil)
	func() {
		defer func() {
			if v := recover(); v != "lost" {
				t.Errorf("got %v", v)
			}
		}()
		tr.Middleware(radpool.HandlerFunc(func(_ context.Context, _ *radpool.Request, resp *radpool.Response) {
			resp.Code = radius.CodeAccessAccept
			panic("lost")
		})).Handle(t.Context(), req, radpool.NewResponse(req))
	}()
	if got := out.all(); !strings.HasSuffix(got, "(0) the Handler panicked\n(0) no answer after 1ms: the NAS may ask again\n") {
		t.Errorf("got\n%s", got)
	}
}

// One who changes the request is printed as it came.
func TestRequestAsItCame(t *testing.T) {
	tr, out := tracer(t)
	req := request(radius.CodeAccessRequest, func(p *radius.Packet) { must(rfc2865.UserName_SetString(p, "ivan")) })
	tr.Middleware(radpool.HandlerFunc(func(_ context.Context, req *radpool.Request, _ *radpool.Response) {
		copy(req.Attributes[0].Attribute, "anna")
	})).Handle(t.Context(), req, radpool.NewResponse(req))
	if got := out.all(); !strings.Contains(got, `"ivan"`) || strings.Contains(got, "anna") {
		t.Errorf("got\n%s", got)
	}
}

// batchHandler accepts a batch at once.
type batchHandler struct {
	radpool.HandlerFunc
	batches int
}

func (h *batchHandler) HandleBatch(batch []*radpool.Exchange) {
	h.batches++
	for _, x := range batch {
		h.Handle(x.Ctx, x.Request, x.Response)
	}
}
func (h *batchHandler) BatchSize() int { return 17 }

// Batches stay batches, and each of their requests is a page of its own.
func TestBatches(t *testing.T) {
	tr, out := tracer(t)
	h := &batchHandler{HandlerFunc: func(_ context.Context, _ *radpool.Request, resp *radpool.Response) {
		resp.Code = radius.CodeAccessAccept
	}}
	wrapped, ok := tr.Middleware(h).(radpool.BatchHandler)
	if !ok || wrapped.BatchSize() != 17 {
		t.Fatalf("%T", wrapped)
	}
	var batch []*radpool.Exchange
	for i := range 3 {
		req := request(radius.CodeAccessRequest, func(p *radius.Packet) { must(rfc2865.UserName_SetString(p, fmt.Sprint("user", i))) })
		batch = append(batch, &radpool.Exchange{Ctx: t.Context(), Request: req, Response: radpool.NewResponse(req)})
	}
	wrapped.HandleBatch(batch)
	if h.batches != 1 || len(out.list) != 3 {
		t.Fatalf("%d batches, %d pages", h.batches, len(out.list))
	}
	for i, page := range out.list {
		for line := range strings.Lines(page) {
			if !strings.HasPrefix(line, fmt.Sprintf("(%d) ", i)) {
				t.Errorf("page %d has %q", i, line)
			}
		}
		if !strings.Contains(page, fmt.Sprintf("User-Name = \"user%d\"", i)) || !strings.Contains(page, ") answered in a batch of 3\n") {
			t.Errorf("page %d is\n%s", i, page)
		}
	}
}

// From however many workers, no page has a line of another request.
func TestPagesAreWhole(t *testing.T) {
	tr, out := tracer(t)
	h := tr.Middleware(radpool.HandlerFunc(func(context.Context, *radpool.Request, *radpool.Response) {}))
	var wg sync.WaitGroup
	const workers, each = 16, 50
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				req := request(radius.CodeAccessRequest, func(p *radius.Packet) { must(rfc2865.UserName_SetString(p, fmt.Sprint(w, "-", i))) })
				h.Handle(t.Context(), req, radpool.NewResponse(req))
			}
		})
	}
	wg.Wait()
	seen := make(map[string]bool)
	for _, page := range out.list {
		prefix, _, _ := strings.Cut(page, " ")
		if seen[prefix] {
			t.Errorf("%s twice", prefix)
		}
		seen[prefix] = true
		if n := strings.Count(page, "\n"); n != 3 || strings.Count(page, prefix+" ") != n {
			t.Errorf("got\n%s", page)
		}
	}
	if len(seen) != workers*each {
		t.Errorf("%d pages", len(seen))
	}
}

func TestWrongDictionary(t *testing.T) {
	if _, err := trace.New(new(pages), trace.Options{Dictionary: noFiles{}, DictionaryFile: "none"}); err == nil {
		t.Error("no error")
	}
}
