package billingtest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/internal/wire"
)

// A Reply is what came of a request: the packet that the NAS gets, or why there is
// none. It owns its memory.
type Reply struct {
	// Packet is the reply; nil when there is none.
	*radius.Packet

	// Request is the request as it was sent. Helpers for attributes that are
	// hidden with the Request Authenticator need it.
	Request *radius.Packet

	// Err is what the handler gave to Response.Fail, or why its reply could not
	// be encoded. The NAS gets nothing, and its retransmission is handled anew.
	// Of a [Client], it is [ErrNoReply]: from outside one cannot tell more.
	Err error

	// Tries is how many times the [Client] sent the request; 0 without one.
	Tries int
}

// Accepted reports whether the reply is an Access-Accept.
func (r *Reply) Accepted() bool { return r.is(radius.CodeAccessAccept) }

// Rejected reports whether the reply is an Access-Reject.
func (r *Reply) Rejected() bool { return r.is(radius.CodeAccessReject) }

// Challenged reports whether the reply is an Access-Challenge.
func (r *Reply) Challenged() bool { return r.is(radius.CodeAccessChallenge) }

// Acknowledged reports whether the reply is an Accounting-Response.
func (r *Reply) Acknowledged() bool { return r.is(radius.CodeAccountingResponse) }

// Silent reports whether the handler chose to send no reply.
func (r *Reply) Silent() bool { return r.Packet == nil && r.Err == nil }

// Failed reports whether the handler failed, see [Reply.Err].
func (r *Reply) Failed() bool { return r.Err != nil }

func (r *Reply) is(c radius.Code) bool { return r.Packet != nil && r.Code == c }

// Outcome is the reply in a word, for the column of a table: "Access-Accept",
// "Access-Reject", "Accounting-Response", "silence", "failed"; "no reply" of a
// [Client], which cannot tell the last two apart.
func (r *Reply) Outcome() string {
	switch {
	case errors.Is(r.Err, ErrNoReply):
		return "no reply"
	case r.Err != nil:
		return "failed"
	case r.Packet == nil:
		return "silence"
	}
	return r.Code.String()
}

// Format describes the reply for a failed test's message, whatever the verb: what
// came of the request, and the attributes by number.
func (r *Reply) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, r.Outcome())
	if r.Err != nil && !errors.Is(r.Err, ErrNoReply) {
		_, _ = fmt.Fprintf(f, ": %v", r.Err)
	}
	if r.Packet == nil {
		return
	}
	for _, a := range r.Attributes {
		_, _ = fmt.Fprintf(f, " %d=%q", int(a.Type), []byte(a.Attribute))
	}
}

// Has reports whether the reply has an attribute of type t.
func (r *Reply) Has(t radius.Type) bool {
	return r.Packet != nil && slices.ContainsFunc(r.Attributes, func(a *radius.AVP) bool { return a.Type == t })
}

// Bytes is the value of the first attribute of type t; nil when there is none.
func (r *Reply) Bytes(t radius.Type) []byte {
	if r.Packet == nil {
		return nil
	}
	return r.Get(t)
}

// String is the value of the first attribute of type t, of type string or text;
// empty when there is none.
func (r *Reply) String(t radius.Type) string { return string(r.Bytes(t)) }

// Strings are the values of all attributes of type t in their order.
func (r *Reply) Strings(t radius.Type) []string {
	if r.Packet == nil {
		return nil
	}
	var all []string
	for _, a := range r.Attributes {
		if a.Type == t {
			all = append(all, string(a.Attribute))
		}
	}
	return all
}

// Uint32 is the value of the first attribute of type t, of type integer, time or
// enum; 0 when there is none or it is not of 4 octets.
func (r *Reply) Uint32(t radius.Type) uint32 {
	b := r.Bytes(t)
	if len(b) != 4 {
		return 0
	}
	return binary.BigEndian.Uint32(b)
}

// Addr is the value of the first attribute of type t, of type ipaddr or ipv6addr;
// the zero Addr when there is none or it is neither of 4 octets nor of 16.
func (r *Reply) Addr(t radius.Type) netip.Addr {
	addr, _ := netip.AddrFromSlice(r.Bytes(t))
	return addr
}

// Message is the Reply-Message, what the subscriber reads; empty when there is
// none.
func (r *Reply) Message() string { return r.String(rfc2865.ReplyMessage_Type) }

// Vendor is the value of the first attribute t of a vendor (RFC 2865 section
// 5.26); nil when there is none.
func (r *Reply) Vendor(vendor uint32, t byte) []byte {
	if r.Packet == nil {
		return nil
	}
	return vendorValue(r.Attributes, vendor, t)
}

func vendorValue(attributes radius.Attributes, vendor uint32, t byte) []byte {
	for _, a := range attributes {
		if a.Type != rfc2865.VendorSpecific_Type {
			continue
		}
		for kind, value := range wire.VendorAttributes(a.Attribute, vendor) {
			if kind == t {
				return value
			}
		}
	}
	return nil
}

// receive takes a datagram as the NAS does that sent s.
func receive(b []byte, s *sent) (*Reply, error) {
	if err := authentic(b, s); err != nil {
		return nil, err
	}
	return readReply(b, s)
}

// authentic says whether b is the server's reply to s, and else why not.
func authentic(b []byte, s *sent) error {
	shape, fault := wire.Parse(b, 0)
	switch {
	case fault != wire.WellFormed:
		return fmt.Errorf("billingtest: the reply is malformed: %s", shape.Explain(fault))
	case shape.Identifier != s.packet.Identifier:
		return errors.New("billingtest: the reply has not the Identifier of the request")
	case !wire.VerifyResponse(b, &shape, s.packet.Authenticator, s.secret):
		return errors.New("billingtest: the reply's Response Authenticator or Message-Authenticator is wrong")
	case s.packet.Code == radius.CodeAccessRequest && shape.MessageAuthenticator != wire.HeaderLength:
		return errors.New("billingtest: the reply's first attribute is not its Message-Authenticator (CVE-2024-3596)")
	}
	return nil
}

// readReply takes an authentic reply as the NAS does, and the subscriber behind it.
func readReply(b []byte, s *sent) (*Reply, error) {
	shape, _ := wire.Parse(b, 0) // well-formed: it is authentic
	p := &radius.Packet{Secret: s.packet.Secret}
	wire.Decode(nil, b, &shape, p)
	reply := &Reply{Packet: p, Request: s.packet}
	if s.success != nil && reply.Accepted() {
		switch success := reply.Vendor(vendorMicrosoft, msCHAP2Success); {
		case success == nil:
			return nil, errors.New("billingtest: an Access-Accept to MS-CHAPv2 without MS-CHAP2-Success: the subscriber hangs up")
		case !bytes.Equal(success, s.success):
			return nil, errors.New("billingtest: MS-CHAP2-Success is wrong: the subscriber hangs up")
		}
	}
	return reply, nil
}
