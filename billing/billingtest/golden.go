package billingtest

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"layeh.com/radius"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/internal/golden"
	"github.com/radpool/radpool/radpool"
)

// UpdateGolden is the environment variable that has [Golden] write what came into its
// files instead of comparing: BILLINGTEST_UPDATE=1 go test ./...
const UpdateGolden = "BILLINGTEST_UPDATE"

// Golden runs the golden packets in the files that match pattern, as filepath.Glob has it:
// each file is a subtest. A file is a txtar archive of requests and the replies that are
// expected, in radclient's syntax:
//
//	Alice may log in; this is a comment.
//	-- alice.request --
//	User-Name = "alice"
//	User-Password = "wonderland"
//	NAS-Port = 7, NAS-Port-Type = Ethernet
//	-- alice.reply --
//	Access-Accept
//	Session-Timeout = *
//	Framed-IP-Address = 10.0.0.7
//	-- her session.request --
//	Acct-Status-Type = Start
//	User-Name = "alice", Acct-Session-Id = "s1"
//	-- her session.reply --
//	Accounting-Response
//
// Cases run in their order, through [Do]. A request is an Access-Request, or an
// Accounting-Request if it has an Acct-Status-Type, unless its first line says so.
// User-Password, CHAP-Password, MS-CHAP-Password and MS-CHAP2-Password are the password in
// cleartext, from which the credentials of the method are made; Packet-Src-IP-Address is the
// address of the NAS. Vendors' attributes go by name as any other.
//
// The first line of a reply is its [Reply.Outcome]: Access-Accept, Access-Reject,
// Access-Challenge, Accounting-Response, silence, or failed. Then come all attributes
// but Message-Authenticator: those of one name in their order, those of different names in
// any. An unquoted * is any value; of what is encrypted on the wire, such as MS-MPPE-Send-Key,
// it is the only one.
//
// What is different is an error with file and line. With the environment variable
// [UpdateGolden] the replies that differ are written into the files; a * stays one.
func Golden(t *testing.T, h radpool.Handler, pattern string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatalf("billingtest: Golden: %v", err)
	}
	if len(files) == 0 {
		t.Fatalf("billingtest: Golden: no file matches %q", pattern)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			updated, err := CheckGolden(t.Context(), h, name, text)
			if os.Getenv(UpdateGolden) != "" && updated != nil {
				if err := os.WriteFile(name, updated, 0o644); err != nil { //nolint:gosec // as the test data beside it
					t.Fatal(err)
				}
				return
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// CheckGolden is [Golden] of one file that was read, without package testing and its
// subtests: it works inside a bubble of testing/synctest, where time is virtual. The name is
// for errors, which are joined, one for each difference. updated is the text with the
// replies that came, or nil if the file cannot be read or a request not be sent.
func CheckGolden(ctx context.Context, h radpool.Handler, name string, text []byte) (updated []byte, err error) {
	f, err := golden.Parse(name, text)
	if err != nil {
		return nil, err
	}
	var errs []error
	sent := true
	for i := range f.Cases {
		c := &f.Cases[i]
		fail := func(err error) { errs = append(errs, fmt.Errorf("%s: %w", c.Name, err)) }
		req, err := goldenRequest(f, &c.Request, uint64(i))
		if err != nil {
			fail(err)
			sent = false
			continue
		}
		reply, err := Do(ctx, h, req)
		if err != nil {
			fail(&golden.Error{File: name, Line: c.Line, Err: err})
			sent = false
			continue
		}
		var attrs radius.Attributes
		if reply.Packet != nil {
			attrs = reply.Attributes
		}
		diff := f.Diff(&c.Reply, reply.Outcome(), attrs)
		for _, err := range diff {
			fail(err)
		}
		if reply.Err != nil && len(diff) > 0 {
			fail(&golden.Error{File: name, Line: c.Line, Err: reply.Err})
		}
		if len(diff) > 0 {
			f.Update(c, reply.Outcome(), attrs)
		}
	}
	if !sent {
		return nil, errors.Join(errs...)
	}
	return f.Text(), errors.Join(errs...)
}

// goldenCodes are the codes that a request may have, by name.
var goldenCodes = map[string]radius.Code{
	"Access-Request": radius.CodeAccessRequest, "Accounting-Request": radius.CodeAccountingRequest,
}

// goldenMethods are the methods whose password a name is.
var goldenMethods = map[string]billing.Method{
	golden.UserPassword: billing.MethodPAP, golden.CHAPPassword: billing.MethodCHAP,
	golden.MSCHAPPassword: billing.MethodMSCHAP, golden.MSCHAP2Password: billing.MethodMSCHAPv2,
}

// goldenRequest makes the request of a case.
func goldenRequest(f *golden.File, p *golden.Packet, seed uint64) (Request, error) {
	r := Request{code: radius.CodeAccessRequest, seed: seed}
	fail := func(line int, format string, args ...any) (Request, error) {
		return Request{}, &golden.Error{File: f.Name, Line: line, Err: fmt.Errorf(format, args...)}
	}
	for _, a := range p.Pairs {
		method, credentials := goldenMethods[a.Name]
		switch {
		case a.Any:
			return fail(a.Line, "%s: * stands for a value in a reply, and cannot be sent", a.Name)
		case credentials && r.credentials.method != billing.MethodNone:
			return fail(a.Line, "%s: there is another password before it", a.Name)
		case credentials:
			r.credentials.method, r.credentials.password = method, a.Text
		case a.Name == golden.Source:
			addr, err := netip.ParseAddr(a.Text)
			if err != nil {
				return fail(a.Line, "%s: %w", a.Name, err)
			}
			r.nas = addr.Unmap()
		default:
			if a.Name == "Acct-Status-Type" {
				r.code = radius.CodeAccountingRequest
			}
			r = r.Add(a.AVP.Type, a.AVP.Attribute)
		}
	}
	if p.Head != "" {
		code, ok := goldenCodes[p.Head]
		if !ok {
			return fail(p.Line, "%q is neither Access-Request nor Accounting-Request", p.Head)
		}
		r.code = code
	}
	return r, nil
}
