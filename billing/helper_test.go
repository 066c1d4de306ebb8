package billing_test

import (
	"context"
	"crypto/md5"
	"encoding/binary"
	"sync"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/radpool"
)

const secret = "xyzzy5461"

// fake is a back end that answers what it is told, and remembers what it was asked.
type fake struct {
	grant     func(*billing.AccessRequest) (billing.Grant, error)
	account   func(*billing.AccountingRecord) error
	mu        sync.Mutex
	asked     int
	lastAsk   billing.AccessRequest
	records   []billing.AccountingRecord
	results   []billing.AuthResult
	passwords []string
}

func (f *fake) Authorize(_ context.Context, req *billing.AccessRequest) (billing.Grant, error) {
	f.mu.Lock()
	f.asked++
	f.lastAsk = *req
	f.mu.Unlock()
	return f.grant(req)
}

func (f *fake) Account(_ context.Context, rec *billing.AccountingRecord) error {
	f.mu.Lock()
	f.records = append(f.records, *rec)
	f.mu.Unlock()
	if f.account == nil {
		return nil
	}
	return f.account(rec)
}

func (f *fake) PostAuth(res *billing.AuthResult) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.results = append(f.results, *res)
	f.passwords = append(f.passwords, string(res.Password))
}

// last is the result of the last authentication.
func (f *fake) last(t *testing.T) billing.AuthResult {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.results) == 0 {
		t.Fatal("PostAuth was not called")
	}
	return f.results[len(f.results)-1]
}

// granting is a back end that answers g to everybody.
func granting(g billing.Grant) *fake {
	return &fake{grant: func(*billing.AccessRequest) (billing.Grant, error) { return g, nil }}
}

// request makes an Access-Request of a user without credentials.
func request(user string) *radius.Packet {
	p := radius.New(radius.CodeAccessRequest, []byte(secret))
	if user != "" {
		p.Add(rfc2865.UserName_Type, radius.Attribute(user))
	}
	return p
}

// hide is RFC 2865 section 5.2, written down naively.
func hide(password []byte, p *radius.Packet) []byte {
	padded := append([]byte(nil), password...)
	for len(padded) == 0 || len(padded)%16 != 0 {
		padded = append(padded, 0)
	}
	last := p.Authenticator[:]
	for i := 0; i < len(padded); i += 16 {
		h := md5.New()
		h.Write(p.Secret)
		h.Write(last)
		for j, c := range h.Sum(nil) {
			padded[i+j] ^= c
		}
		last = padded[i : i+16]
	}
	return padded
}

func withPAP(p *radius.Packet, password string) *radius.Packet {
	p.Add(rfc2865.UserPassword_Type, hide([]byte(password), p))
	return p
}

func withCHAP(p *radius.Packet, password string, challenge []byte) *radius.Packet {
	const ident = 0x16
	over := challenge
	if challenge == nil {
		over = p.Authenticator[:]
	} else {
		p.Add(rfc2865.CHAPChallenge_Type, challenge)
	}
	h := md5.New()
	h.Write([]byte{ident})
	h.Write([]byte(password))
	h.Write(over)
	p.Add(rfc2865.CHAPPassword_Type, append([]byte{ident}, h.Sum(nil)...))
	return p
}

// vsa makes a Vendor-Specific attribute of Microsoft.
func vsa(typ byte, value []byte) radius.Attribute {
	b := binary.BigEndian.AppendUint32(nil, 311)
	b = append(b, typ, byte(len(value)+2))
	return append(b, value...)
}

// ms returns the sub-attributes of Microsoft with type typ.
func ms(p *radius.Packet, typ byte) (values [][]byte) {
	for _, avp := range p.Attributes {
		if avp.Type == rfc2865.VendorSpecific_Type && len(avp.Attribute) > 6 &&
			binary.BigEndian.Uint32(avp.Attribute) == 311 && avp.Attribute[4] == typ {
			values = append(values, avp.Attribute[6:])
		}
	}
	return values
}

var (
	challenge8  = []byte{0x10, 0x2D, 0xB5, 0xDF, 0x08, 0x5D, 0x30, 0x41}
	challenge16 = []byte{0x5B, 0x5D, 0x7C, 0x7D, 0x7B, 0x3F, 0x2F, 0x3E, 0x3C, 0x2C, 0x60, 0x21, 0x32, 0x26, 0x26, 0x28}
	peer16      = []byte{0x21, 0x40, 0x23, 0x24, 0x25, 0x5E, 0x26, 0x2A, 0x28, 0x29, 0x5F, 0x2B, 0x3A, 0x33, 0x7C, 0x7E}
)

func withMSCHAP(p *radius.Packet, password string) *radius.Packet {
	hash, _ := billing.NTHashOf(password)
	response := billing.NTResponse([8]byte(challenge8), hash)
	p.Add(rfc2865.VendorSpecific_Type, vsa(11, challenge8))
	p.Add(rfc2865.VendorSpecific_Type, vsa(1, append(append([]byte{0x2a, 1}, make([]byte, 24)...), response[:]...)))
	return p
}

func withMSCHAPv2(p *radius.Packet, user, password string) *radius.Packet {
	hash, _ := billing.NTHashOf(password)
	response := billing.NTResponse(billing.ChallengeHash(peer16, challenge16, user), hash)
	value := append([]byte{0x2a, 0}, peer16...)
	value = append(value, make([]byte, 8)...)
	p.Add(rfc2865.VendorSpecific_Type, vsa(11, challenge16))
	p.Add(rfc2865.VendorSpecific_Type, vsa(25, append(value, response[:]...)))
	return p
}

// handle runs the packet through p.
func handle(p *billing.Processor, packet *radius.Packet) *radpool.Response {
	req := radpool.NewRequest(packet, nil)
	resp := radpool.NewResponse(req)
	p.Handle(context.Background(), req, resp)
	return resp
}

// uint32Attr returns the values of an attribute of type integer.
func uint32Attr(p *radius.Packet, t radius.Type) (values []uint32) {
	for _, avp := range p.Attributes {
		if avp.Type == t {
			values = append(values, binary.BigEndian.Uint32(avp.Attribute))
		}
	}
	return values
}

func attr(t radius.Type, v string) *radius.AVP {
	return &radius.AVP{Type: t, Attribute: radius.Attribute(v)}
}

func intAttr(t radius.Type, v uint32) *radius.AVP {
	return &radius.AVP{Type: t, Attribute: radius.NewInteger(v)}
}

// someTime is a moment without a fraction of a second.
func someTime() time.Time { return time.Unix(1_700_000_000, 0) }
