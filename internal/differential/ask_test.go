package differential_test

import (
	"context"
	"crypto/md5"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/internal/dict"
	"github.com/radpool/radpool/radpool"
)

// request makes a request of words: "METHOD PASSWORD; ATTRIBUTE = VALUE; ...". The
// method is pap, chap, mschap, mschapv2 or none; the user's name is name unless an
// attribute says another.
func request(t *testing.T, name, words string) billingtest.Request {
	t.Helper()
	method, attributes, _ := strings.Cut(words, "; ")
	method, password, _ := strings.Cut(method, " ")
	var more []*radius.AVP
	for attribute := range strings.SplitSeq(attributes, "; ") {
		if attribute == "" {
			continue
		}
		key, value, _ := strings.Cut(attribute, " = ")
		if key == "User-Name" {
			name = value
			continue
		}
		ref, err := dict.Lookup(key)
		if err != nil {
			t.Fatal(err)
		}
		octets, err := ref.Parse(value, nil)
		if err != nil {
			t.Fatal(err)
		}
		avp, err := ref.Encode(octets)
		if err != nil {
			t.Fatal(err)
		}
		more = append(more, avp)
	}
	var req billingtest.Request
	switch method {
	case "pap":
		req = billingtest.PAP(name, password)
	case "chap":
		req = billingtest.CHAP(name, password)
	case "mschap":
		req = billingtest.MSCHAP(name, password)
	case "mschapv2":
		req = billingtest.MSCHAPv2(name, password)
	case "none":
		req = billingtest.AccessRequest().User(name)
	default:
		t.Fatalf("%q is no method", method)
	}
	for _, avp := range more {
		req = req.Add(avp.Type, avp.Attribute)
	}
	return req.Secret(secret)
}

// A peer is a server at an address, as a handler: what it answers is what is
// answered. So billingtest's subscribers, who prove their passwords and check the
// server's proof, talk to it.
type peer struct{ addr string }

func (p peer) Handle(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
	client := radius.Client{Retry: 2 * time.Second}
	answer, err := client.Exchange(ctx, req.Packet, p.addr)
	if err != nil {
		resp.Fail(err)
		return
	}
	resp.Code = answer.Code
	for _, avp := range answer.Attributes {
		if avp.Type != messageAuthenticator {
			resp.Add(avp.Type, avp.Attribute)
		}
	}
}

const messageAuthenticator radius.Type = 80

// ask has the server answer req, as text: the code, and the attributes in order of
// their names, those of one name in the order in which they came. Of an
// Access-Reject it leaves out why, unless the message is wanted: radpool's
// Reply-Message says that, FreeRADIUS's is what an Access-Accept would have had.
func (p peer) ask(t *testing.T, req billingtest.Request, message bool) []string {
	t.Helper()
	var sent radius.Packet
	keep := radpool.HandlerFunc(func(ctx context.Context, r *radpool.Request, resp *radpool.Response) {
		sent.Authenticator = r.Authenticator
		p.Handle(ctx, r, resp)
	})
	reply, err := billingtest.Do(t.Context(), keep, req)
	switch {
	case err != nil:
		return []string{err.Error()} // an answer that the subscriber does not take
	case reply.Packet == nil:
		return []string{"no answer"}
	}
	var list []string
	for _, avp := range reply.Attributes {
		text := attribute(avp, sent.Authenticator)
		why := strings.HasPrefix(text, "Reply-Message = ") && !message || strings.HasPrefix(text, "MS-CHAP-Error = ")
		if avp.Type == messageAuthenticator || why && reply.Rejected() {
			continue
		}
		list = append(list, text)
	}
	slices.SortStableFunc(list, func(a, b string) int {
		a, _, _ = strings.Cut(a, " = ")
		b, _, _ = strings.Cut(b, " = ")
		return strings.Compare(a, b)
	})
	return append([]string{strings.TrimPrefix(reply.Code.String(), "Access-")}, list...)
}

// attribute is one attribute as text. One that is encrypted is decrypted; a string
// or a number is also in the form of the wire where that could differ.
func attribute(avp *radius.AVP, authenticator [16]byte) string {
	a, value := dict.Default().Find(avp)
	if a == nil {
		return fmt.Sprintf("Attr-%d = %s", avp.Type, octets(avp.Attribute))
	}
	tag := ""
	if a.Encrypt == 2 && a.Tagged && len(value) > 0 {
		tag, value = fmt.Sprintf(":%d", value[0]), value[1:]
	}
	switch a.Encrypt {
	case 1:
		if key, err := radius.UserPassword(value, []byte(secret), authenticator[:]); err == nil {
			return fmt.Sprintf("%s = %d, %x", a.Name, len(value), key)
		}
	case 2:
		if key, salt, err := radius.TunnelPassword(value, []byte(secret), authenticator[:]); err == nil && salt[0] >= 0x80 {
			return fmt.Sprintf("%s%s = %d, %x", a.Name, tag, len(value), key)
		}
	case 3:
		if len(value) == md5.Size {
			key := md5.Sum(append(authenticator[:], secret...))
			for i := range key {
				key[i] ^= value[i]
			}
			return fmt.Sprintf("%s = %x", a.Name, key)
		}
	}
	if a.Encrypt != 0 {
		return a.Name + " = nothing that decrypts"
	}
	return fmt.Sprintf("%s = %s", a.Name, octets(value))
}

// octets are shown as text where they are, else in hexadecimal.
func octets(b []byte) string {
	for _, c := range b {
		if c < ' ' || c > '~' {
			if len(b) == 4 {
				return fmt.Sprintf("%x (%s)", b, netip.AddrFrom4([4]byte(b)))
			}
			return fmt.Sprintf("%x", b)
		}
	}
	return fmt.Sprintf("%q", b)
}
