package eap

import (
	"crypto/rand"
	"errors"
)

// MD5 is EAP-MD5-Challenge (RFC 3748 section 5.4): CHAP within EAP. It needs the
// password in cleartext, gives no keys, and does not prove the server to the peer.
// Whoever hears the conversation can try passwords against it at leisure: it is for
// wires, not for the air.
type MD5 struct{}

// Type is TypeMD5.
func (MD5) Type() Type { return TypeMD5 }

// Begin begins an exchange.
func (MD5) Begin(Peer) Exchange { return new(md5Exchange) }

const challengeLength = 16

// ErrMD5 is why a conversation fails whose response of EAP-MD5 has not 16 octets.
var ErrMD5 = errors.New("an EAP-MD5 response has a wrong length")

type md5Exchange struct {
	id        uint8
	challenge [challengeLength]byte
	response  [16]byte
}

// Start sends Value-Size and the challenge.
func (x *md5Exchange) Start(uint8) ([]byte, error) {
	_, _ = rand.Read(x.challenge[:]) // never fails: see its documentation
	return append([]byte{challengeLength}, x.challenge[:]...), nil
}

// Respond reads Value-Size and Value. A name may follow, which says nothing: the
// identity is who it is.
func (x *md5Exchange) Respond(identifier uint8, data []byte) Step {
	if len(data) < 1+len(x.response) || int(data[0]) != len(x.response) {
		return Fail(ErrMD5)
	}
	x.id = identifier
	copy(x.response[:], data[1:])
	return Ask()
}

func (x *md5Exchange) Verify(c Credentials) Step {
	if !c.MD5(x.id, x.challenge[:], x.response[:]) {
		return Fail(ErrCredentials)
	}
	return Succeed(nil)
}

func (*md5Exchange) Close() {}
