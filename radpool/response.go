package radpool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"layeh.com/radius"

	"github.com/radpool/radpool/arena"
)

// A Response is the reply to one [Request], filled by a [Handler].
//
// The embedded packet is layeh.com/radius's: set Code, and add attributes with
// its helpers (rfc2865.ReplyMessage_SetString(resp.Packet, "hello")) or with
// the methods here, which allocate in the request's arena alone.
//
// Identifier, Response Authenticator, Message-Authenticator and Proxy-State are
// the Server's work: it takes them from the request as it was received, and
// ignores any that a Handler adds.
type Response struct {
	*radius.Packet

	arena   *arena.Arena
	err     error
	why     fmt.Stringer // see SetReason
	request radius.Code  // that it answers
}

// errFailed stands for a failure that was given without an error.
var errFailed = errors.New("radpool: the handler failed")

var avpSlab arena.Slab[radius.AVP]

// NewResponse returns an empty Response to req, as a [Server] would hand it to
// a Handler, for tests of handlers.
func NewResponse(req *Request) *Response {
	return &Response{
		Packet:  &radius.Packet{Identifier: req.Identifier, Authenticator: req.Authenticator, Secret: req.Secret},
		arena:   req.arena,
		request: req.Code,
	}
}

// Fail says that the request could not be answered, for example because the
// database is away. Nothing is sent, whatever Code is; the request is counted as
// failed, err is logged (at most one line a second for each cause), and a
// retransmission runs the Handler again. A nil err is a failure too.
func (r *Response) Fail(err error) {
	if err == nil {
		err = errFailed
	}
	r.err = err
}

// Err is what Fail was given, or nil.
func (r *Response) Err() error { return r.err }

// SetReason says why the answer is what it is, for those who look on (see package
// trace): "accepted: ...". It changes nothing in the reply, and is turned into text only if
// somebody asks, before the request's memory is released. The text must hold no password.
func (r *Response) SetReason(why fmt.Stringer) { r.why = why }

// Reason is what SetReason was given last, as text, or "".
func (r *Response) Reason() string {
	if r.why == nil {
		return ""
	}
	return r.why.String()
}

// Arena is the request's memory. See [Request.Arena].
func (r *Response) Arena() *arena.Arena { return r.arena }

// Add appends an attribute whose value is a copy of value, in the request's
// arena. A value longer than 253 octets makes the reply impossible to encode:
// the request fails, with an error that names the attribute.
func (r *Response) Add(t radius.Type, value []byte) {
	if r.arena == nil {
		r.Attributes.Add(t, append(radius.Attribute(nil), value...))
		return
	}
	r.addOwned(t, r.arena.Copy(value))
}

// AddString appends an attribute of type string or text.
func (r *Response) AddString(t radius.Type, value string) {
	if r.arena == nil {
		r.Attributes.Add(t, radius.Attribute(value))
		return
	}
	r.addOwned(t, r.arena.CopyString(value))
}

// AddUint32 appends an attribute of type integer, time or enum.
func (r *Response) AddUint32(t radius.Type, value uint32) {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], value)
	r.Add(t, b[:])
}

// AddAddr appends an attribute of type ipaddr or ipv6addr: 4 octets for an IPv4
// address, also when it is IPv4-mapped, and 16 for an IPv6 address. The zero
// Addr adds nothing.
func (r *Response) AddAddr(t radius.Type, addr netip.Addr) {
	switch addr = addr.Unmap(); {
	case addr.Is4():
		b := addr.As4()
		r.Add(t, b[:])
	case addr.Is6():
		b := addr.As16()
		r.Add(t, b[:])
	}
}

// AddShared appends attributes that are not copied: they are shared between
// many responses, such as those of a tariff, and must never be changed.
func (r *Response) AddShared(attrs radius.Attributes) {
	r.Attributes = append(r.Attributes, attrs...)
}

func (r *Response) addOwned(t radius.Type, value []byte) {
	avp := avpSlab.New(r.arena)
	avp.Type, avp.Attribute = t, value
	r.Attributes = append(r.Attributes, avp)
}
