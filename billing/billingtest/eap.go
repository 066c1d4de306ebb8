package billingtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2869"

	"github.com/radpool/radpool/eap"
	"github.com/radpool/radpool/radpool"
)

// maxEAPRounds is where an EAPPeer takes a conversation for one that never ends.
const maxEAPRounds = 100

// An EAPPeer is the subscriber's side of an EAP conversation (a supplicant), and of
// the NAS that carries it. Each [EAPPeer.Next] is one Access-Request of it, so that
// conversations can be interleaved as one likes; [DoEAP] and [RunEAP] go through a
// whole one. Make one with [EAPMD5] or [EAPMSCHAPv2]. A conversation needs one of its
// own; it is used by one goroutine at a time.
type EAPPeer struct {
	// Request is what each Access-Request begins with: User-Name and what else the NAS
	// says.
	Request Request

	// Identity is what the peer says its name is; EAPMD5 and EAPMSCHAPv2 make it the
	// User-Name.
	Identity string

	method   eap.Type
	password string
	rounds   int
	id       uint8  // Identifier of the last response
	sent     []byte // the last response
	proof    string // of MSCHAPv2: what the server must prove itself with
	msk      []byte
	proven   bool
	refused  bool // by an MSCHAPv2 Failure
}

// EAPMD5 is a peer that authenticates by EAP-MD5-Challenge, and asks for that where
// it is offered something else.
func EAPMD5(user, password string) *EAPPeer { return newEAPPeer(user, password, eap.TypeMD5) }

// EAPMSCHAPv2 is a peer that authenticates by EAP-MSCHAPv2. The server must prove
// that it knows the password too, and keys that it sends must be right: else there is
// an error.
func EAPMSCHAPv2(user, password string) *EAPPeer {
	return newEAPPeer(user, password, eap.TypeMSCHAPv2)
}

func newEAPPeer(user, password string, method eap.Type) *EAPPeer {
	return &EAPPeer{Request: AccessRequest().User(user), Identity: user, method: method, password: password}
}

// Next is the Access-Request that follows last, the reply to the one before; nil
// begins the conversation. It is false if the conversation is over: last is an
// Access-Accept or an Access-Reject. An error says that the subscriber or the NAS
// would not go on with this reply.
func (p *EAPPeer) Next(last *Reply) (next Request, more bool, err error) {
	if last == nil {
		p.rounds, p.proof, p.msk, p.proven, p.refused = 0, "", nil, false, false
		return p.carry(eap.Packet{Code: eap.CodeResponse, Type: eap.TypeIdentity, Data: []byte(p.Identity)}, nil), true, nil
	}
	switch {
	case last.Accepted(), last.Rejected():
		return Request{}, false, p.end(last)
	case !last.Challenged():
		return Request{}, false, fmt.Errorf("billingtest: EAP: %v is no answer in a conversation", last)
	case p.rounds > maxEAPRounds:
		return Request{}, false, fmt.Errorf("billingtest: EAP: no end after %d rounds", p.rounds)
	case last.Has(rfc2865.ReplyMessage_Type):
		return Request{}, false, errEAPReplyMessage
	}
	state := last.Bytes(rfc2865.State_Type)
	in, err := eapOf(last)
	switch {
	case err != nil:
		return Request{}, false, err
	case in.Code != eap.CodeRequest:
		return Request{}, false, fmt.Errorf("billingtest: EAP: an Access-Challenge with an EAP-%v", in.Code)
	case in.Identifier == p.id && last.Has(errorCause):
		return p.wrap(p.sent, state), true, nil // ignored: the same again
	case in.Identifier == p.id:
		return Request{}, false, errors.New("billingtest: EAP: a request has the Identifier of the one before")
	}
	answer, err := p.answer(in)
	if err != nil {
		return Request{}, false, err
	}
	return p.carry(answer, state), true, nil
}

var errEAPReplyMessage = errors.New("billingtest: EAP: Reply-Message beside EAP-Message (RFC 3579 section 2.6.5)")

// errorCause is Error-Cause (RFC 5176 section 3.5).
const errorCause radius.Type = 101

// answer is the response to a request of the server.
func (p *EAPPeer) answer(in eap.Packet) (eap.Packet, error) {
	out := eap.Packet{Code: eap.CodeResponse, Identifier: in.Identifier, Type: in.Type}
	var err error
	switch in.Type {
	case eap.TypeIdentity:
		out.Data = []byte(p.Identity)
	case p.method:
		if p.method == eap.TypeMD5 {
			out.Data, err = p.answerMD5(in)
		} else {
			out.Data, err = p.answerMSCHAPv2(in.Data)
		}
	default:
		out.Type, out.Data = eap.TypeNAK, []byte{byte(p.method)}
	}
	return out, err
}

// carry is the Access-Request with this packet.
func (p *EAPPeer) carry(out eap.Packet, state []byte) Request {
	p.id, p.sent = out.Identifier, out.Append(nil)
	return p.wrap(p.sent, state)
}

func (p *EAPPeer) wrap(packet, state []byte) Request {
	r := p.Request.Seed(p.Request.seed<<8 + uint64(p.rounds))
	p.rounds++
	eap.Fragments(packet, func(v []byte) { r = r.Add(rfc2869.EAPMessage_Type, v) })
	if state != nil {
		r = r.Bytes(rfc2865.State_Type, state)
	}
	return r
}

// end checks what ends the conversation.
func (p *EAPPeer) end(last *Reply) error {
	in, err := eapOf(last)
	want := eap.CodeFailure
	if last.Accepted() {
		want = eap.CodeSuccess
	}
	switch {
	case err != nil:
		return err
	case in.Code != want:
		return fmt.Errorf("billingtest: EAP: %v with an EAP-%v", last.Code, in.Code)
	case in.Identifier != p.id:
		return fmt.Errorf("billingtest: EAP: EAP-%v has the Identifier %d, the last response %d", in.Code, in.Identifier, p.id)
	case last.Has(rfc2865.ReplyMessage_Type):
		return errEAPReplyMessage
	case last.Accepted() && p.method == eap.TypeMSCHAPv2 && !p.proven:
		return errors.New("billingtest: EAP: an Access-Accept of a server that did not prove to know the password")
	case last.Accepted():
		return p.checkKeys(last)
	}
	return nil
}

// checkKeys compares the keys that the NAS gets with the peer's own.
func (p *EAPPeer) checkKeys(last *Reply) error {
	var msk []byte
	for _, typ := range []byte{msMPPERecvKey, msMPPESendKey} {
		hidden := last.Vendor(vendorMicrosoft, typ)
		if hidden == nil {
			continue
		}
		key, _, err := radius.TunnelPassword(hidden, last.Request.Secret, last.Request.Authenticator[:])
		if err != nil {
			return fmt.Errorf("billingtest: EAP: a key cannot be read: %w", err)
		}
		msk = append(msk, key...)
	}
	if msk != nil && !bytes.Equal(msk, p.msk) {
		return errors.New("billingtest: EAP: the keys in the Access-Accept are not those of the peer")
	}
	return nil
}

// eapOf is the EAP packet in a reply.
func eapOf(r *Reply) (eap.Packet, error) {
	var b []byte
	for _, part := range r.Strings(rfc2869.EAPMessage_Type) {
		b = append(b, part...)
	}
	in, err := eap.Parse(b)
	if err != nil {
		return in, fmt.Errorf("billingtest: EAP: %v without an EAP packet: %w", r.Code, err)
	}
	return in, nil
}

// DoEAP runs a whole conversation through h, and returns the reply that ended it.
// The errors are those of [Do] and of [EAPPeer.Next]; a reply that failed or did not
// come ends it as well.
func DoEAP(ctx context.Context, h radpool.Handler, p *EAPPeer) (*Reply, error) {
	return p.converse(func(r Request) (*Reply, error) { return Do(ctx, h, r) })
}

// RunEAP is [DoEAP] for tests and benchmarks: an error is fatal.
func RunEAP(t testing.TB, h radpool.Handler, p *EAPPeer) *Reply {
	t.Helper()
	reply, err := DoEAP(t.Context(), h, p)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// DoEAP is the function of this name over the network of c.
func (c *Client) DoEAP(ctx context.Context, p *EAPPeer) (*Reply, error) {
	return p.converse(func(r Request) (*Reply, error) { return c.Do(ctx, r) })
}

func (p *EAPPeer) converse(do func(Request) (*Reply, error)) (*Reply, error) {
	var last *Reply
	for {
		if last != nil && last.Packet == nil {
			return last, nil
		}
		next, more, err := p.Next(last)
		if err != nil || !more {
			return last, err
		}
		if last, err = do(next); err != nil {
			return nil, err
		}
	}
}
