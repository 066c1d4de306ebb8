package billingtest

import (
	"crypto/md5" //nolint:gosec // what CHAP is made of (RFC 1994 section 4.1)
	"fmt"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/internal/wire"
)

// Microsoft's vendor number, and its attributes (RFC 2548).
const (
	vendorMicrosoft = 311

	msCHAPResponse  = 1
	msCHAPChallenge = 11
	msCHAP2Response = 25
	msCHAP2Success  = 26
)

// credentials are what a subscriber proves themselves with. What goes into the
// packet is computed last, since it depends on the Request Authenticator.
type credentials struct {
	method    billing.Method
	password  string
	challenge []byte // CHAP-Challenge; nil: the Request Authenticator serves
}

// PAP is an Access-Request with a User-Password (RFC 2865 section 5.2). Over 128
// octets a password cannot be sent, and is an error of the run.
func PAP(user, password string) Request { return login(user, password, billing.MethodPAP) }

// CHAP is an Access-Request with a CHAP-Password whose challenge is the Request
// Authenticator (RFC 2865 section 5.3).
func CHAP(user, password string) Request { return login(user, password, billing.MethodCHAP) }

// CHAPChallenge is CHAP with a challenge of its own, in CHAP-Challenge (RFC 2865
// section 5.40).
func CHAPChallenge(user, password string, challenge []byte) Request {
	r := CHAP(user, password)
	r.credentials.challenge = append([]byte{}, challenge...)
	return r
}

// MSCHAP is an Access-Request with MS-CHAP-Challenge and an MS-CHAP-Response that
// has the NT response alone (RFC 2548 section 2.1).
func MSCHAP(user, password string) Request { return login(user, password, billing.MethodMSCHAP) }

// MSCHAPv2 is an Access-Request with MS-CHAP-Challenge and MS-CHAP2-Response (RFC
// 2548 section 2.3). A Windows domain in front of the user ("DOMAIN\name") takes
// no part in the response, as clients have it. An Access-Accept must carry the
// MS-CHAP2-Success that proves to the subscriber that the server knows the
// password too: without, the run is an error.
func MSCHAPv2(user, password string) Request { return login(user, password, billing.MethodMSCHAPv2) }

// MAC is an Access-Request of a NAS that authenticates devices by their MAC
// address: it is the User-Name, the User-Password and the Calling-Station-Id, and
// the Service-Type is Call-Check (RFC 2865 section 5.6).
func MAC(mac string) Request {
	return PAP(mac, mac).CallingStation(mac).
		Uint32(rfc2865.ServiceType_Type, uint32(rfc2865.ServiceType_Value_CallCheck))
}

func login(user, password string, m billing.Method) Request {
	r := AccessRequest().User(user)
	r.credentials = credentials{method: m, password: password}
	return r
}

// addCredentials adds the attributes of the credentials to p.
func (r Request) addCredentials(p *radius.Packet, secret *wire.Secret, out *sent) error {
	password := []byte(r.credentials.password)
	switch r.credentials.method {
	case billing.MethodNone:
	case billing.MethodPAP:
		hidden, err := wire.HidePassword(nil, password, p.Authenticator, secret)
		if err != nil {
			return fmt.Errorf("billingtest: the password cannot be sent: %w", err)
		}
		p.Attributes.Add(rfc2865.UserPassword_Type, hidden)
	case billing.MethodCHAP:
		challenge := p.Authenticator[:]
		if r.credentials.challenge != nil {
			challenge = r.credentials.challenge
			p.Attributes.Add(rfc2865.CHAPChallenge_Type, challenge)
		}
		ident := r.octets("CHAP Ident", 1)
		sum := md5.Sum([]byte(string(ident) + string(password) + string(challenge))) //nolint:gosec // as above
		p.Attributes.Add(rfc2865.CHAPPassword_Type, append(ident, sum[:]...))
	case billing.MethodMSCHAP:
		return r.addMSCHAP(p)
	case billing.MethodMSCHAPv2:
		return r.addMSCHAPv2(p, out)
	}
	return nil
}

func (r Request) addMSCHAP(p *radius.Packet) error {
	hash, err := ntHash(r.credentials.password)
	if err != nil {
		return err
	}
	challenge := r.octets("MS-CHAP-Challenge", 8)
	response := make([]byte, 50) // Ident, Flags, LM-Response, NT-Response
	response[0] = r.octets("MS-CHAP Ident", 1)[0]
	response[1] = 1 // the NT response is the one to use
	copy(response[26:], challengeResponse(challenge, hash))
	addMicrosoft(p, msCHAPChallenge, challenge)
	addMicrosoft(p, msCHAPResponse, response)
	return nil
}

func (r Request) addMSCHAPv2(p *radius.Packet, out *sent) error {
	hash, err := ntHash(r.credentials.password)
	if err != nil {
		return err
	}
	authenticator, peer := r.octets("MS-CHAP-Challenge", 16), r.octets("Peer-Challenge", 16)
	challenge := challengeHash(peer, authenticator, withoutDomain(r.userName()))
	nt := challengeResponse(challenge, hash)
	response := make([]byte, 50) // Ident, Flags, Peer-Challenge, Reserved, Response
	response[0] = r.octets("MS-CHAP Ident", 1)[0]
	copy(response[2:], peer)
	copy(response[26:], nt)
	addMicrosoft(p, msCHAPChallenge, authenticator)
	addMicrosoft(p, msCHAP2Response, response)
	out.success = append([]byte{response[0]}, authenticatorResponse(hash, nt, challenge)...)
	return nil
}

func addMicrosoft(p *radius.Packet, t byte, value []byte) {
	p.Attributes.Add(rfc2865.VendorSpecific_Type, vendorSpecific(vendorMicrosoft, t, value))
}
