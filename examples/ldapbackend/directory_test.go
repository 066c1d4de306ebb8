package main

import (
	"context"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-ldap/ldap/v3"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/examples/serving"
)

func TestMain(m *testing.M) {
	// The goroutine of a connection that was closed may still be on its way out.
	goleak.VerifyTestMain(m)
}

// ssha is a password as directories store it.
func ssha(password string) string {
	const salt = "salt"
	sum := sha1.Sum([]byte(password + salt))
	return "{SSHA}" + base64.StdEncoding.EncodeToString(append(sum[:], salt...))
}

// person is an entry in LDIF.
func person(cn, uid, password, more string) string {
	return fmt.Sprintf("dn: cn=%s,ou=people,%s\nobjectClass: inetOrgPerson\nobjectClass: radiusprofile\ncn: %[1]s\nsn: x\nuid: %[3]s\nuserPassword: %[4]s\n%[5]s\n",
		cn, suffix, uid, password, more)
}

// processor opens what o says.
func processor(t *testing.T, o *options) *billing.Processor {
	t.Helper()
	b, err := open(t.Context(), o, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.close(); err != nil {
			t.Error(err)
		}
	})
	return &billing.Processor{Handler: b.Handler}
}

func TestReply(t *testing.T) {
	s := startSlapd(t, person("a", "alice", "wonderland", "radiusFramedIPAddress: 10.0.0.7\nradiusSessionTimeout: 600\nradiusReplyAttribute: Mikrotik-Rate-Limit := 10M/10M\ndialupAccess: true\n")+
		person("b", "bob", "builder", "dialupAccess: FALSE\n")+
		person("c", "carol", "{X-UNKNOWN}abc", "dialupAccess: yes\n")+
		person("d", "dave", "x", "dialupAccess: yes\nradiusFramedIPAddress: nowhere\n")+
		person("e", "twin", "x", "dialupAccess: yes\n")+person("f", "twin", "y", "dialupAccess: yes\n"))
	p := processor(t, s.options(t, "-access-attr", "dialupAccess"))
	r := billingtest.Run(t, p, billingtest.CHAP("Alice", "wonderland")) // case is none in a directory
	if !r.Accepted() || rfc2865.FramedIPAddress_Get(r.Packet).String() != "10.0.0.7" || rfc2865.SessionTimeout_Get(r.Packet) != 600 {
		t.Errorf("alice: %v", r)
	}
	if vsa, ok := r.Packet.Lookup(rfc2865.VendorSpecific_Type); !ok || !strings.HasSuffix(string(vsa), "10M/10M") {
		t.Errorf("alice: Mikrotik-Rate-Limit is missing: %v", r)
	}
	for name, password := range map[string]string{"bob": "builder", "carol": "{X-UNKNOWN}abc", "dave": "x", "twin": "x", "al*": "wonderland", "*)(uid=*": "x"} {
		if r := billingtest.Run(t, p, billingtest.PAP(name, password)); !r.Rejected() {
			t.Errorf("%s: %v", name, r)
		}
	}
	for name, what := range map[string]string{"carol": "cn=c,", "dave": "Framed-IP-Address", "twin": "the same uid"} {
		_, err := p.Handler.Authorize(t.Context(), &billing.AccessRequest{UserName: name})
		if !errors.Is(err, billing.ErrSubscriber) || !strings.Contains(err.Error(), what) || strings.Contains(err.Error(), "abc") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Of several values of -access-attr, which have no order, one that forbids is enough.
func TestAccessOfSeveralValues(t *testing.T) {
	d := newDirectory(settings{accessAttr: "dialupAccess", Upstream: serving.Upstream{Conns: 1}})
	for reason, cases := range map[billing.Reason][][]string{
		billing.ReasonNone:    {{"yes"}, {"TRUE", "yes"}},
		billing.ReasonBlocked: {nil, {""}, {"False"}, {"yes", "false"}, {"FALSE", "yes"}, {"yes", ""}},
	} {
		for _, values := range cases {
			g, err := d.profile(ldap.NewEntry("cn=a", map[string][]string{"dialupaccess": values}))
			if err != nil || g.Reason != reason {
				t.Errorf("%q: %v, %v", values, g.Reason, err)
			}
		}
	}
}

// A bind without a name is one as nobody, and succeeds, with some servers whatever the
// password is: an entry without a name proves nobody.
func TestEntryWithoutName(t *testing.T) {
	s := settings{nameAttr: "uid", filter: "(uid=%u)", Upstream: serving.Upstream{Conns: 1, Timeout: time.Second}, idle: time.Minute}
	b := newBinder(s)
	conns := func(context.Context) (conn, error) { return &nameless{fakeConn{ended: make(chan struct{})}}, nil }
	b.dir.searches, b.binds = newPool(1, time.Minute, conns), newPool(1, time.Minute, conns)
	p := &billing.Processor{Handler: compose(b, nil)}
	if r := billingtest.Run(t, p, billingtest.PAP("alice", "wonderland")); !r.Rejected() {
		t.Errorf("%v", r)
	}
}

// nameless finds an entry without a name, and lets bind whoever comes.
type nameless struct{ fakeConn }

func (*nameless) Search(*ldap.SearchRequest) (*ldap.SearchResult, error) {
	return &ldap.SearchResult{Entries: []*ldap.Entry{ldap.NewEntry("", map[string][]string{"uid": {"alice"}})}}, nil
}

func TestBindIsForPAP(t *testing.T) {
	s := startSlapd(t, person("a", "alice", ssha("wonderland"), ""))
	p := processor(t, s.options(t, "-mode", "bind"))
	for _, c := range []struct {
		r      billingtest.Request
		accept bool
	}{
		{billingtest.PAP("alice", "wonderland"), true},
		{billingtest.PAP("alice", "looking-glass"), false},
		{billingtest.PAP("alice", ""), false}, // the bind would succeed, as nobody
		{billingtest.PAP("alice", "wonder\x00land"), false},
		{billingtest.CHAP("alice", "wonderland"), false},
		{billingtest.MSCHAPv2("alice", "wonderland"), false},
		{billingtest.PAP("nobody", "wonderland"), false},
	} {
		if got := billingtest.Run(t, p, c.r); got.Accepted() != c.accept || got.Rejected() == c.accept {
			t.Errorf("%v: %v", c.r, got)
		}
	}
}

// While the directory is away there is no answer; it is found again when it is back.
func TestAway(t *testing.T) {
	s := startSlapd(t, person("a", "alice", ssha("wonderland"), ""))
	for _, mode := range []string{modeHash, modeBind} {
		p := processor(t, s.options(t, "-mode", mode))
		ask := func() *billingtest.Reply { return billingtest.Run(t, p, billingtest.PAP("alice", "wonderland")) }
		if r := ask(); !r.Accepted() {
			t.Fatalf("%s: %v", mode, r)
		}
		s.stop(t)
		if r := ask(); r.Err == nil || r.Packet != nil {
			t.Errorf("%s, away: %v", mode, r)
		}
		// It is no reason not to start.
		late := processor(t, s.options(t, "-mode", mode))
		s.start(t, s.cmd.Path)
		for _, p := range []*billing.Processor{p, late} {
			if r := billingtest.Run(t, p, billingtest.PAP("alice", "wonderland")); !r.Accepted() {
				t.Errorf("%s, back: %v", mode, r)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	s := startSlapd(t, "")
	wrongPassword := s.options(t)
	wrongPassword.password = "hunter2"
	for name, c := range map[string]struct {
		o    *options
		tell string
	}{
		"password": {wrongPassword, readDN},
		"bind DN":  {s.options(t, "-bind-dn", "cn=nobody,"+suffix), "cn=nobody"},
		"base":     {s.options(t, "-base", "ou=nowhere,"+suffix), "ou=nowhere"},
	} {
		b, err := open(t.Context(), c.o, zap.NewNop())
		if err == nil {
			t.Errorf("%s: it is open", name)
			_ = b.close()
			continue
		}
		if !errors.Is(err, errRefused) || !strings.Contains(err.Error(), c.tell) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTLS(t *testing.T) {
	s := startSlapd(t, person("a", "alice", "wonderland", ""))
	for name, args := range map[string][]string{
		"ldaps": {"-url", s.ldaps, "-ca", s.ca}, "StartTLS": {"-start-tls", "-ca", s.ca},
	} {
		p := processor(t, s.options(t, args...))
		if r := billingtest.Run(t, p, billingtest.PAP("alice", "wonderland")); !r.Accepted() {
			t.Errorf("%s: %v", name, r)
		}
		// Nobody vouches for the certificate: nothing is said on such a connection.
		stranger := processor(t, s.options(t, args[:len(args)-2]...))
		if r := billingtest.Run(t, stranger, billingtest.PAP("alice", "wonderland")); r.Packet != nil || !strings.Contains(fmt.Sprint(r.Err), "certificate") {
			t.Errorf("%s without -ca: %v", name, r)
		}
	}
}

// Each of 10,000 people has an address of their own, whoever else is asked about.
func TestTenThousand(t *testing.T) {
	const people = 10_000
	var ldif strings.Builder
	for i := range people {
		ldif.WriteString(person(fmt.Sprint(i), fmt.Sprint("user", i), ssha(fmt.Sprint("pass", i)), fmt.Sprintf("radiusFramedIPAddress: 10.1.%d.%d\n", i>>8, i&255)))
	}
	s := startSlapd(t, ldif.String())
	p := processor(t, s.options(t))
	batches := p.Handler.(billing.BatchHandler)
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			const size = 100
			for first := worker * size; first < people; first += 4 * size {
				reqs := make([]*billing.AccessRequest, size)
				for i := range reqs {
					reqs[i] = &billing.AccessRequest{UserName: fmt.Sprint("user", first+i)}
				}
				grants, errs := make([]billing.Grant, size), make([]error, size)
				batches.AuthorizeBatch(context.Background(), reqs, grants, errs)
				for i, g := range grants {
					n := first + i
					want := radius.Attributes{{Type: rfc2865.FramedIPAddress_Type, Attribute: radius.Attribute{10, 1, byte(n >> 8), byte(n)}}}
					if errs[i] != nil || fmt.Sprint(g.Reply[0]) != fmt.Sprint(want[0]) || g.Password.VerifyPAP(fmt.Append(nil, "pass", n)) != billing.ReasonNone {
						t.Errorf("user%d: %v, %v", n, errs[i], g.Reply)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

func TestFlags(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for tell, args := range map[string][]string{
		"-base":             {},
		"-mode":             {"-base", "x", "-mode", "compare"},
		"-conns":            {"-base", "x", "-conns", "0"},
		"%u":                {"-base", "x", "-filter", "(uid=*)"},
		"-filter":           {"-base", "x", "-filter", "(uid=%u"},
		"-map":              {"-base", "x", "-map", "a=No-Such-Attribute"},
		"-bind-dn":          {"-base", "x", "-bind-dn", "cn=x"},
		"-url":              {"-base", "x", "-url", "http://x"},
		"-start-tls":        {"-base", "x", "-url", "ldaps://x", "-start-tls"},
		"-ca":               {"-base", "x", "-ca", empty},
		"-password-file":    {"-base", "x", "-password-file", empty},
		"unexpected":        {"-base", "x", "y"},
		"-timeout":          {"-base", "x", "-timeout", "0"},
		"ATTRIBUTE=NAME":    {"-base", "x", "-map", "radiusClass"},
		"-idle":             {"-base", "x", "-idle", "-1s"},
		"-name-attr":        {"-base", "x", "-name-attr", ""},
		"flag provided but": {"-no-such"},
	} {
		if _, err := parseFlags(args, t.Output()); err == nil || !strings.Contains(err.Error(), tell) {
			t.Errorf("%v: %v, want %s named", args, err, tell)
		}
	}
	for url, clear := range map[string]bool{"ldap://127.0.0.1": false, "ldap://[::1]:389": false, "ldap://localhost": false, "ldap://10.0.0.1": true, "ldap://ldap.example.org": true, "ldaps://ldap.example.org": false} {
		if inTheClear(url, false) != clear || inTheClear(url, true) {
			t.Errorf("%s: in the clear is not %v", url, clear)
		}
	}
}
