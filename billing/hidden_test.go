package billing_test

import (
	"bytes"
	"crypto/md5"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2868"

	"github.com/radpool/radpool/billing"
)

func hidden(t *testing.T, how billing.Hiding, vendor uint32, typ uint8, value string) billing.Hidden {
	t.Helper()
	h, err := billing.NewHidden(how, vendor, typ, []byte(value))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Each is decrypted with the secret and the request's authenticator as a library
// does that was written elsewhere.
func TestHidden(t *testing.T) {
	long := strings.Repeat("k", 239)
	g := billing.Grant{Password: billing.Cleartext("pw"), Hidden: []billing.Hidden{
		hidden(t, billing.HideTunnelPassword, 0, 69, "swordfish").WithTag(5),
		hidden(t, billing.HideTunnelPassword, 0, 69, long).WithTag(0),
		hidden(t, billing.HideTunnelPassword, 311, 16, "sixteen octets.."),
		hidden(t, billing.HideTunnelPassword, 4874, 58, ""),
		hidden(t, billing.HideUserPassword, 0, 2, strings.Repeat("u", 128)),
		hidden(t, billing.HideAscendSecret, 529, 214, "shared"),
	}}
	g.Reply.Add(rfc2865.ReplyMessage_Type, radius.Attribute("hello"))
	back := &fake{grant: func(*billing.AccessRequest) (billing.Grant, error) { return g, nil }}
	req := withPAP(request("alice"), "pw")
	resp := handle(&billing.Processor{Handler: back}, req)
	if resp.Code != radius.CodeAccessAccept || resp.Err() != nil || len(resp.Attributes) != 7 {
		t.Fatalf("%v, %v, %d attributes", resp.Code, resp.Err(), len(resp.Attributes))
	}
	auth := req.Authenticator[:]
	attrs := resp.Attributes[1:]
	salts := make(map[string]bool)
	tunnel := func(i int, prefix string, want string) {
		t.Helper()
		b, ok := bytes.CutPrefix(attrs[i].Attribute, []byte(prefix))
		if !ok {
			t.Fatalf("attribute %d is %x, does not begin with %x", i, attrs[i].Attribute, prefix)
		}
		got, salt, err := radius.TunnelPassword(b, req.Secret, auth)
		if err != nil || string(got) != want || salt[0] < 0x80 || salts[string(salt)] {
			t.Errorf("attribute %d: %q, salt %x, %v", i, got, salt, err)
		}
		salts[string(salt)] = true
	}
	tunnel(0, "\x05", "swordfish")
	tunnel(1, "\x00", long)
	tunnel(2, "\x00\x00\x01\x37\x10\x24", "sixteen octets..")
	tunnel(3, "\x00\x00\x13\x0a\x3a\x14", "")
	if attrs[0].Type != rfc2868.TunnelPassword_Type || attrs[3].Type != rfc2865.VendorSpecific_Type {
		t.Errorf("types %d, %d", attrs[0].Type, attrs[3].Type)
	}
	if got, err := radius.UserPassword(attrs[4].Attribute, req.Secret, auth); err != nil || string(got) != strings.Repeat("u", 128) {
		t.Errorf("as User-Password: %q, %v", got, err)
	}
	key := md5.Sum(append(bytes.Clone(auth), req.Secret...))
	for i, c := range attrs[5].Attribute[6:] {
		key[i] ^= c
	}
	if string(bytes.TrimRight(key[:], "\x00")) != "shared" {
		t.Errorf("as Ascend-Send-Secret: %q", key)
	}
}

// The keys of MS-CHAPv2 have salts of their own beside those of the Grant, and the
// restricted profile has its own attributes.
func TestHiddenSaltsAreUnique(t *testing.T) {
	var list []billing.Hidden
	for range 20 {
		list = append(list, hidden(t, billing.HideTunnelPassword, 9, 99, "x"))
	}
	back := &fake{grant: func(*billing.AccessRequest) (billing.Grant, error) {
		return billing.Grant{
			Password: billing.Cleartext("pw"), Reason: billing.ReasonNoMoney, Restricted: radius.Attributes{}, RestrictedHidden: list,
			Hidden: []billing.Hidden{{}}, // not sent, and so no error
		}, nil
	}}
	r := withMSCHAPv2(request("alice"), "alice", "pw")
	resp := handle(&billing.Processor{Handler: back}, r)
	salts := make(map[string]int)
	for _, avp := range resp.Attributes {
		if v := avp.Attribute; avp.Type == 26 && (v[3] == 9 || v[4] == 16 || v[4] == 17) {
			salts[string(v[6:8])]++
		}
	}
	if len(salts) != 22 {
		t.Errorf("%d salts for 22 attributes, %v", len(salts), resp.Code)
	}
}

func TestHiddenErrors(t *testing.T) {
	for _, c := range []struct {
		how  billing.Hiding
		most int
	}{{billing.HideUserPassword, 128}, {billing.HideTunnelPassword, 239}, {billing.HideAscendSecret, 16}} {
		if _, err := billing.NewHidden(c.how, 0, 1, make([]byte, c.most)); err != nil {
			t.Errorf("%d: %v", c.how, err)
		}
		if _, err := billing.NewHidden(c.how, 0, 1, make([]byte, c.most+1)); err == nil || !strings.Contains(err.Error(), fmt.Sprint(c.most)) {
			t.Errorf("%d: %v", c.how, err)
		}
	}
	for how, typ := range map[billing.Hiding]uint8{0: 1, 4: 1, billing.HideUserPassword: 0} {
		if _, err := billing.NewHidden(how, 0, typ, nil); err == nil {
			t.Errorf("Hiding %d of attribute %d is no error", how, typ)
		}
	}
	back := &fake{grant: func(*billing.AccessRequest) (billing.Grant, error) {
		return billing.Grant{Password: billing.Cleartext("pw"), Hidden: []billing.Hidden{{}}}, nil
	}}
	if resp := handle(&billing.Processor{Handler: back}, withPAP(request("alice"), "pw")); resp.Err() == nil {
		t.Error("the zero Hidden is answered")
	}
}

// A Grant can be printed without telling what is hidden.
func TestHiddenIsNotPrinted(t *testing.T) {
	const secret = "swordfish"
	g := billing.Grant{Hidden: []billing.Hidden{hidden(t, billing.HideTunnelPassword, 311, 16, secret)}}
	text, err := json.Marshal(g.Hidden)
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d", "%q"} {
		text = fmt.Appendf(text, " "+verb+" "+verb, g, &g.Hidden[0])
	}
	for _, s := range []string{secret, fmt.Sprintf("%x", secret), strings.Trim(fmt.Sprint([]byte(secret)), "[]")} {
		if bytes.Contains(text, []byte(s)) {
			t.Errorf("%q is in %s", s, text)
		}
	}
	if !bytes.Contains(text, []byte("Hidden(311.16)")) {
		t.Errorf("which attribute it is is not in %s", text)
	}
}

// RejectReply is what the back end wants everybody to read.
func TestRejectReply(t *testing.T) {
	var said radius.Attributes
	said.Add(rfc2865.ReplyMessage_Type, radius.Attribute("Pay your bill"))
	said.Add(rfc2865.ReplyMessage_Type, radius.Attribute("at the desk"))
	grant := billing.Grant{Password: billing.Cleartext("pw"), Reason: billing.ReasonRejected, Message: "no", RejectReply: said}
	back := &fake{grant: func(*billing.AccessRequest) (billing.Grant, error) { return grant, nil }}
	p := &billing.Processor{Handler: back}
	for _, password := range []string{"pw", "wrong"} {
		resp := handle(p, withPAP(request("alice"), password))
		if resp.Code != radius.CodeAccessReject || len(resp.Attributes) != 2 || string(resp.Attributes[1].Attribute) != "at the desk" {
			t.Errorf("%s: %v, %v", password, resp.Code, resp.Attributes)
		}
	}
	grant.Reason = billing.ReasonNone
	if resp := handle(p, withPAP(request("alice"), "wrong")); message(resp.Packet) != "Invalid user name or password" {
		t.Errorf("without a Reason: %q", message(resp.Packet))
	}
}
