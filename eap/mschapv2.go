package eap

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// MSCHAPv2 is EAP-MSCHAPv2 (draft-kamath-pppext-eap-mschapv2-02). It needs the
// password in cleartext or as an NT hash, proves the server to the peer as well, and
// gives keys. Whoever hears the conversation can find the NT hash from it with one
// pass over the keys of DES: outside a tunnel it is for wires, not for the air.
//
// A peer is not given a second try within a conversation, and passwords cannot be
// changed.
type MSCHAPv2 struct {
	// Name is what the server calls itself in the challenge, at most MaxIdentity
	// octets. Empty: "radpool". Peers show it, and take no part of it into account.
	Name string
}

// Type is TypeMSCHAPv2.
func (MSCHAPv2) Type() Type { return TypeMSCHAPv2 }

// Begin begins an exchange.
func (m MSCHAPv2) Begin(peer Peer) Exchange {
	name := m.Name
	if name == "" {
		name = "radpool"
	}
	return &mschapv2{server: name[:min(len(name), MaxIdentity)], identity: peer.Identity}
}

// OpCodes (section 2 of the draft).
const (
	opChallenge      = 1
	opResponse       = 2
	opSuccess        = 3
	opFailure        = 4
	opChangePassword = 7
)

// mschapv2Header is OpCode, MS-CHAPv2-ID and MS-Length.
const mschapv2Header = 4

// responseLength is Peer-Challenge, 8 octets reserved, NT-Response and Flags.
const responseLength = 49

// Errors of MSCHAPv2.
var (
	ErrMSCHAPv2       = errors.New("an EAP-MSCHAPv2 packet is malformed")
	ErrMSCHAPv2Name   = errors.New("the name in the EAP-MSCHAPv2 response is not the identity")
	ErrChangePassword = errors.New("the peer wants to change its password, which is not offered")
)

type mschapv2State uint8

const (
	challenged mschapv2State = iota // a response must come
	proven                          // a Success response must come
	refused                         // a Failure response must come
)

type mschapv2 struct {
	server, identity string

	state      mschapv2State
	id         uint8 // MS-CHAPv2-ID
	challenge  [challengeLength]byte
	peer       [16]byte
	ntResponse [24]byte
	name       string
	msk        [32]byte
}

// Start sends the challenge: Value-Size, Challenge, Name.
func (x *mschapv2) Start(identifier uint8) ([]byte, error) {
	x.id = identifier
	_, _ = rand.Read(x.challenge[:]) // never fails: see its documentation
	return x.packet(opChallenge, "\x10"+string(x.challenge[:])+x.server), nil
}

// packet is a request of this OpCode.
func (x *mschapv2) packet(op byte, rest string) []byte {
	b := make([]byte, 0, mschapv2Header+len(rest))
	b = append(b, op, x.id)
	b = binary.BigEndian.AppendUint16(b, uint16(mschapv2Header+len(rest)))
	return append(b, rest...)
}

// Respond takes what the state allows. The acknowledgements of Success and Failure
// are the OpCode alone.
func (x *mschapv2) Respond(_ uint8, data []byte) Step {
	if len(data) == 0 {
		return Fail(ErrMSCHAPv2)
	}
	switch op := data[0]; {
	case op == opResponse && x.state == challenged:
		return x.response(data)
	case op == opSuccess && x.state == proven:
		return Succeed(x.msk[:])
	case op == opFailure && x.state == proven:
		return Fail(errors.New("the peer does not believe that the server knows the password"))
	case op == opFailure && x.state == refused:
		return Fail(ErrCredentials)
	case op == opChangePassword:
		return Fail(ErrChangePassword)
	default:
		return Fail(fmt.Errorf("%w: OpCode %d is not what follows", ErrMSCHAPv2, op))
	}
}

// response reads the peer's response to the challenge.
func (x *mschapv2) response(data []byte) Step {
	const least = mschapv2Header + 1 + responseLength
	if len(data) < least {
		return Fail(ErrMSCHAPv2)
	}
	length := int(binary.BigEndian.Uint16(data[2:]))
	if length < least || length > len(data) || data[4] != responseLength || data[1] != x.id {
		return Fail(ErrMSCHAPv2)
	}
	value := data[mschapv2Header+1:]
	copy(x.peer[:], value)
	copy(x.ntResponse[:], value[24:])
	name := string(data[least:length])
	if len(name) > MaxIdentity || withoutDomain(name) != withoutDomain(x.identity) {
		return Fail(ErrMSCHAPv2Name)
	}
	x.name = name
	return Ask()
}

// Verify sends the server's own proof, or says that the response was wrong.
func (x *mschapv2) Verify(c Credentials) Step {
	proof, ok := c.MSCHAPv2(x.challenge[:], x.peer[:], x.name, x.ntResponse[:])
	if !ok {
		x.state = refused
		var fresh [challengeLength]byte // for another try, of which there is none
		_, _ = rand.Read(fresh[:])
		c := strings.ToUpper(hex.EncodeToString(fresh[:]))
		return Continue(x.packet(opFailure, "E=691 R=0 C="+c+" V=3 M=Authentication failed"))
	}
	x.state = proven
	// The server's MS-MPPE-Recv-Key comes first.
	copy(x.msk[:], proof.RecvKey[:])
	copy(x.msk[16:], proof.SendKey[:])
	return Continue(x.packet(opSuccess, proof.Response+" M=OK"))
}

func (*mschapv2) Close() {}

// withoutDomain cuts a Windows domain off a name: "DOMAIN\name".
func withoutDomain(name string) string { return name[strings.IndexByte(name, '\\')+1:] }
