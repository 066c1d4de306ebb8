package radclient

import (
	"crypto/rand"
	"fmt"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/internal/wire"
)

// NewRequest returns a request to fill with the helpers of layeh.com/radius: rfc2865.UserName_SetString(p, "alice"). Its
// Secret is a random one that hides a User-Password until the [Client] hides it anew under the server's. A
// packet that radius.New made, under any secret, will do as well.
func NewRequest(code radius.Code) *radius.Packet {
	secret := make([]byte, 16)
	_, _ = rand.Read(secret) // never fails: crypto/rand
	return radius.New(code, secret)
}

// prepare notes what is to be sent of p, and takes out what depends on the Request Authenticator and the secret, which are
// another's for each server. p is not changed.
func (f *flight) prepare(p *radius.Packet) error {
	f.attributes = f.attributes[:0]
	f.hides = false
	challenged := false
	for _, a := range p.Attributes {
		if a == nil {
			return wire.ErrNilAttribute
		}
		switch {
		case a.Type == rfc2865.UserPassword_Type && !f.hides:
			var err error
			if f.password, err = wire.RevealPasswordKey(f.password[:0], a.Attribute, p.Authenticator, p.Secret); err != nil {
				return fmt.Errorf("radclient: User-Password cannot be read under the packet's Secret and Authenticator: %w", err)
			}
			f.hides = true
			f.hidden.Type = rfc2865.UserPassword_Type
			a = &f.hidden
		case a.Type == rfc2865.CHAPPassword_Type:
			challenged = true
		}
		f.attributes = append(f.attributes, a)
	}
	if _, ok := p.Lookup(rfc2865.CHAPChallenge_Type); challenged && !ok {
		// The challenge was the Authenticator (RFC 2865 section 5.3), which will be another.
		f.challenge = radius.AVP{Type: rfc2865.CHAPChallenge_Type, Attribute: append(f.challenge.Attribute[:0], p.Authenticator[:]...)}
		f.attributes = append(f.attributes, &f.challenge)
	}
	f.request = radius.Packet{Code: p.Code, Attributes: f.attributes}
	return nil
}

// seal makes the datagram, for the Identifier that f holds, with a new Request Authenticator.
func (f *flight) seal(secret *wire.Secret) error {
	f.request.Identifier = f.id.octet()
	_, _ = rand.Read(f.request.Authenticator[:]) // never fails: crypto/rand
	if f.hides {
		var err error
		f.hidden.Attribute, err = wire.HidePassword(f.hidden.Attribute[:0], f.password, f.request.Authenticator, secret)
		if err != nil {
			return err
		}
	}
	var err error
	f.datagram, err = wire.EncodeRequest(f.datagram[:0], &f.request, secret)
	return err
}

// judge says whether a datagram is the reply to the request with this code and Request Authenticator.
func judge(b []byte, s *wire.Shape, code radius.Code, authenticator [16]byte, p *remote) discard {
	if !wire.Answers(code, s.Code) {
		return wrongCode
	}
	if code == radius.CodeAccessRequest || code == radius.CodeStatusServer {
		switch {
		case p.protection == RequireMessageAuthenticator && s.MessageAuthenticator == 0,
			p.protection == RequireMessageAuthenticatorFirst && s.MessageAuthenticator != wire.HeaderLength:
			return unprotected
		}
	}
	if !wire.VerifyResponse(b, s, authenticator, p.secret) {
		return unauthentic
	}
	return believed
}
