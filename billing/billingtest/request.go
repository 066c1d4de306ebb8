package billingtest

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/internal/wire"
)

// Secret is the shared secret of a Request that was given no other.
const Secret = "billingtest"

// nasPort is the UDP port that requests come from.
const nasPort = 49152

// DefaultNAS is the address that a Request comes from when it was given no
// other: 192.0.2.1 (RFC 5737).
var DefaultNAS = netip.AddrFrom4([4]byte{192, 0, 2, 1})

// A Request is a request as a NAS sends it. It is a value: a method that changes
// something returns a changed copy and leaves the Request alone, so that the rows
// of a table may start from a common one. A Request is made by [PAP], [CHAP],
// [MSCHAP], [MSCHAPv2], [MAC], [AccessRequest], [Accounting] and their kin; the
// zero Request is none, and an error when it is run. It may be used by several
// goroutines at once.
//
// The packet depends on nothing but what was asked for: Request Authenticator,
// challenges and Identifier are computed from the contents and the [Request.Seed],
// so every run of a test sends the same octets. (They are therefore worthless as
// random numbers.)
//
// The methods that set an attribute put it in place of those of the same type;
// [Request.Add] puts it beside them.
type Request struct {
	code        radius.Code
	credentials credentials
	nas         netip.Addr
	secret      string
	seed        uint64
	identifier  byte
	hasID       bool
	attributes  radius.Attributes // never changed in place: copies share it
	edits       []func(*radius.Packet) error
}

// AccessRequest is an Access-Request with these attributes and no credentials, as
// a NAS sends that knows the subscriber by the port. The attributes are kept, not
// copied.
func AccessRequest(attributes ...*radius.AVP) Request {
	return Request{code: radius.CodeAccessRequest, attributes: slices.Clip(attributes)}
}

// Code is the packet code: Access-Request or Accounting-Request.
func (r Request) Code() radius.Code { return r.code }

// Format describes the request for a failed test's message, whatever the verb: its
// code, User-Name and method, never the password or the secret.
func (r Request) Format(f fmt.State, _ rune) {
	if r.code == 0 {
		_, _ = io.WriteString(f, "zero Request")
		return
	}
	_, _ = fmt.Fprintf(f, "%v of user %q", r.code, r.userName())
	if r.credentials.method != billing.MethodNone {
		_, _ = fmt.Fprintf(f, " with %v", r.credentials.method)
	}
}

// User sets User-Name.
func (r Request) User(name string) Request { return r.String(rfc2865.UserName_Type, name) }

// CallingStation sets Calling-Station-Id: mostly the subscriber's MAC address.
func (r Request) CallingStation(id string) Request {
	return r.String(rfc2865.CallingStationID_Type, id)
}

// CalledStation sets Called-Station-Id.
func (r Request) CalledStation(id string) Request {
	return r.String(rfc2865.CalledStationID_Type, id)
}

// NAS sets the address that the request comes from. A NAS-IP-Address or
// NAS-IPv6-Address of the same value goes with it unless the Request has one of
// its own. It panics when addr is not an IP address.
func (r Request) NAS(addr string) Request {
	a, err := netip.ParseAddr(addr)
	if err != nil {
		panic("billingtest: Request.NAS: " + err.Error())
	}
	r.nas = a.Unmap()
	return r
}

// NASIdentifier sets NAS-Identifier.
func (r Request) NASIdentifier(id string) Request {
	return r.String(rfc2865.NASIdentifier_Type, id)
}

// Port sets NAS-Port.
func (r Request) Port(n uint32) Request { return r.Uint32(rfc2865.NASPort_Type, n) }

// String sets an attribute of type string or text.
func (r Request) String(t radius.Type, value string) Request { return r.Bytes(t, []byte(value)) }

// Uint32 sets an attribute of type integer, time or enum.
func (r Request) Uint32(t radius.Type, value uint32) Request {
	return r.Bytes(t, binary.BigEndian.AppendUint32(nil, value))
}

// Addr sets an attribute of type ipaddr or ipv6addr: 4 octets or 16.
func (r Request) Addr(t radius.Type, value netip.Addr) Request {
	return r.Bytes(t, value.Unmap().AsSlice())
}

// Bytes sets an attribute to a copy of value.
func (r Request) Bytes(t radius.Type, value []byte) Request { return r.Without(t).Add(t, value) }

// Add appends an attribute with a copy of value, also where there is one of its
// type.
func (r Request) Add(t radius.Type, value []byte) Request {
	r.attributes = append(slices.Clip(r.attributes), &radius.AVP{Type: t, Attribute: slices.Clone(value)})
	return r
}

// Vendor appends a Vendor-Specific attribute that carries one attribute of the
// vendor's (RFC 2865 section 5.26).
func (r Request) Vendor(vendor uint32, t byte, value []byte) Request {
	return r.Add(rfc2865.VendorSpecific_Type, vendorSpecific(vendor, t, value))
}

// Without takes out the attributes of a type.
func (r Request) Without(t radius.Type) Request {
	r.attributes = slices.DeleteFunc(slices.Clone(r.attributes), func(a *radius.AVP) bool { return a.Type == t })
	return r
}

// With has edit change the packet before it is signed, with the helpers of
// layeh.com/radius:
//
//	req.With(func(p *radius.Packet) error { return rfc2869.ConnectInfo_SetString(p, "54000") })
//
// The packet has its secret, its Request Authenticator and all other attributes by
// then. An error is an error of the run.
func (r Request) With(edit func(*radius.Packet) error) Request {
	r.edits = append(slices.Clip(r.edits), edit)
	return r
}

// Secret sets the secret that the NAS shares with the server. [Do] and its kin
// know it by that; a [Service] knows one secret alone, so that a Request with
// another comes from a NAS that is set up wrongly. Since [Run] and [Do] verify
// with the secret that the request was made with, a wrong one is tested with [Serve].
func (r Request) Secret(secret string) Request {
	r.secret = secret
	return r
}

// Seed sets what Identifier, Request Authenticator and challenges are computed
// from, besides the contents. Requests that are otherwise alike but differ in it
// are different requests.
func (r Request) Seed(seed uint64) Request {
	r.seed = seed
	return r
}

// Identifier sets the Identifier. A [Client] chooses its own.
func (r Request) Identifier(id byte) Request {
	r.identifier, r.hasID = id, true
	return r
}

// userName is the first User-Name.
func (r Request) userName() string { return string(r.attributes.Get(rfc2865.UserName_Type)) }

func (r Request) sharedSecret() []byte {
	if r.secret == "" {
		return []byte(Secret)
	}
	return []byte(r.secret)
}

func (r Request) source() netip.AddrPort {
	nas := r.nas
	if !nas.IsValid() {
		nas = DefaultNAS
	}
	return netip.AddrPortFrom(nas, nasPort)
}

// octets is a deterministic stand-in for random numbers, n of them at most 32:
// the same for the same Request and purpose, and different for all others.
func (r Request) octets(purpose string, n int) []byte {
	h := sha256.New()
	put := func(b []byte) {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(b))))
		h.Write(b)
	}
	put([]byte(purpose))
	put(binary.BigEndian.AppendUint64([]byte{byte(r.code), byte(r.credentials.method), r.identifier}, r.seed))
	put([]byte(r.credentials.password))
	for _, a := range r.attributes {
		put([]byte{byte(a.Type)})
		put(a.Attribute)
	}
	return h.Sum(nil)[:n]
}

// A sent is a request as it went out.
type sent struct {
	datagram []byte
	packet   *radius.Packet // a copy on the heap, decoded from the datagram
	secret   *wire.Secret
	success  []byte // of MS-CHAPv2: what MS-CHAP2-Success must be
}

// encode makes the datagram.
func (r Request) encode() (*sent, error) {
	if r.code == 0 {
		return nil, errors.New("billingtest: the zero Request cannot be sent")
	}
	id := r.identifier
	if !r.hasID {
		id = byte(r.seed)
	}
	p := &radius.Packet{
		Code: r.code, Identifier: id, Secret: r.sharedSecret(),
		Authenticator: [16]byte(r.octets("Request Authenticator", 16)),
		Attributes:    make(radius.Attributes, 0, len(r.attributes)+4),
	}
	secret := wire.NewSecret(p.Secret)
	for _, a := range r.attributes {
		p.Attributes = append(p.Attributes, &radius.AVP{Type: a.Type, Attribute: slices.Clone(a.Attribute)})
	}
	r.addNAS(p)
	out := &sent{secret: secret}
	if err := r.addCredentials(p, secret, out); err != nil {
		return nil, err
	}
	for _, edit := range r.edits {
		if err := edit(p); err != nil {
			return nil, fmt.Errorf("billingtest: Request.With: %w", err)
		}
	}
	var err error
	if out.datagram, err = wire.EncodeRequest(nil, p, secret); err != nil {
		return nil, fmt.Errorf("billingtest: the request cannot be encoded: %w", err)
	}
	shape, fault := wire.Parse(out.datagram, 0)
	if fault != wire.WellFormed {
		return nil, fmt.Errorf("billingtest: the request is malformed: %s", shape.Explain(fault))
	}
	out.packet = &radius.Packet{Secret: p.Secret}
	wire.Decode(nil, slices.Clone(out.datagram), &shape, out.packet)
	return out, nil
}

// addNAS adds the NAS's own address where the Request names none.
func (r Request) addNAS(p *radius.Packet) {
	addr := r.source().Addr()
	t := rfc2865.NASIPAddress_Type
	if addr.Is6() {
		t = nasIPv6Address
	}
	for _, a := range p.Attributes {
		if a.Type == rfc2865.NASIPAddress_Type || a.Type == nasIPv6Address {
			return
		}
	}
	p.Attributes.Add(t, addr.AsSlice())
}

// nasIPv6Address is NAS-IPv6-Address (RFC 3162 section 2.1).
const nasIPv6Address radius.Type = 95

func vendorSpecific(vendor uint32, t byte, value []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, vendor)
	return append(append(b, t, byte(2+len(value))), value...)
}
