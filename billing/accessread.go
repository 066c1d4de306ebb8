package billing

import (
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"
	"layeh.com/radius/rfc3162"

	"github.com/radpool/radpool/arena"
	"github.com/radpool/radpool/internal/wire"
	"github.com/radpool/radpool/radpool"
)

// Attributes that layeh's packages have under other names.
const (
	nasPortIDType = rfc2869.NASPortID_Type
	eapType       = rfc2869.EAPMessage_Type
)

// An access is one Access-Request on its way through the Processor.
type access struct {
	AccessRequest
	result AuthResult
	why    why
	began  time.Time // when Authorize was asked

	problem string // the attribute that makes it a bad request; empty: none
	hasPort bool   // NAS-Port was sent
	hasName bool   // User-Name was sent

	eap eapRound // of a request with EAP-Message

	cred     credentials
	password [MaxPasswordLength]byte // memory of cred.given
}

// credentials are what the subscriber proves the password with. The slices lie in
// the request's memory.
type credentials struct {
	given         []byte // PAP: the password
	ident         byte   // CHAP and MS-CHAP: the identifier
	challenge     []byte // CHAP, MS-CHAP, and of MS-CHAPv2 the authenticator's
	peerChallenge []byte // MS-CHAPv2
	response      []byte // CHAP: 16 octets; MS-CHAP: the NT response, 24 octets
	lmOnly        bool   // MS-CHAP with the LM response alone

	pap, chap, chapChallenge, ms1, ms2, msChallenge found
}

// found is an attribute as it was found in the packet.
type found struct {
	value []byte
	count int
}

func (f *found) add(value []byte) {
	if f.count == 0 {
		f.value = value
	}
	f.count++
}

var accessSlab arena.Slab[access]

// readAccess reads an Access-Request. What is wrong with it is told by problem.
// Of an attribute that may stand only once and stands more often, the first
// counts, but for the name and the credentials: two of these contradict each
// other.
func readAccess(req *radpool.Request, now time.Time) *access {
	a := accessSlab.New(req.Arena())
	a.Request = req
	a.Time = req.Received
	if a.Time.IsZero() {
		a.Time = now
	}
	var (
		strings joiner
		name    found
		f       [256]bool // types of which the first was seen
	)
	for _, avp := range req.Attributes {
		if avp == nil || avp.Type < 0 || avp.Type > 255 {
			continue
		}
		v := []byte(avp.Attribute)
		switch avp.Type {
		case rfc2865.UserName_Type:
			name.add(v)
		case rfc2865.UserPassword_Type:
			a.cred.pap.add(v)
		case rfc2865.CHAPPassword_Type:
			a.cred.chap.add(v)
		case rfc2865.CHAPChallenge_Type:
			a.cred.chapChallenge.add(v)
		case rfc2865.VendorSpecific_Type:
			a.cred.readMicrosoft(avp.Attribute)
		case eapType:
			a.eap.add(v)
		default:
			if !f[avp.Type] {
				f[avp.Type] = true
				a.readAttribute(&strings, avp.Type, v)
			}
		}
	}
	if a.hasName = name.count > 0; name.count > 1 {
		a.bad("User-Name")
	}
	strings.add(&a.UserName, name.value)
	strings.join()
	if !a.NASAddr.IsValid() {
		a.NASAddr = req.RemoteAddr.Addr()
	}
	if a.problem == "" {
		a.readCredentials()
	}
	return a
}

// bad says which attribute makes the request a bad one; the first is told.
func (a *access) bad(attribute string) {
	if a.problem == "" {
		a.problem = attribute
	}
}

// readAttribute reads one of the attributes that may be anything but credentials.
// Only what tells the NAS must be well formed; the rest is as good as absent if it
// is not.
func (a *access) readAttribute(strings *joiner, t radius.Type, v []byte) {
	switch t {
	case rfc2865.CallingStationID_Type:
		strings.add(&a.CallingStationID, v)
	case rfc2865.CalledStationID_Type:
		strings.add(&a.CalledStationID, v)
	case rfc2865.NASIdentifier_Type:
		strings.add(&a.NASIdentifier, v)
	case nasPortIDType:
		strings.add(&a.NASPortID, v)
	case rfc2866.AcctSessionID_Type:
		strings.add(&a.SessionID, v)
	case rfc2865.NASIPAddress_Type:
		addr, ok := addrOf(v, 4)
		if !ok {
			a.bad("NAS-IP-Address")
			return
		}
		a.NASAddr = addr // goes before NAS-IPv6-Address
	case rfc3162.NASIPv6Address_Type:
		addr, ok := addrOf(v, 16)
		if !ok {
			a.bad("NAS-IPv6-Address")
		} else if !a.NASAddr.Is4() {
			a.NASAddr = addr
		}
	case rfc2865.NASPort_Type:
		if a.NASPort, a.hasPort = uint32Of(v); !a.hasPort {
			a.bad("NAS-Port")
		}
	case rfc2865.NASPortType_Type:
		a.NASPortType, _ = uint32Of(v)
	case rfc2865.ServiceType_Type:
		a.ServiceType, _ = uint32Of(v)
	case rfc2865.FramedIPAddress_Type:
		a.FramedAddr, _ = addrOf(v, 4)
	case rfc2865.State_Type:
		a.eap.state = v
	case rfc2865.FramedMTU_Type:
		a.eap.mtu, _ = uint32Of(v)
	}
}

// readMicrosoft finds the credentials among Microsoft's attributes.
func (c *credentials) readMicrosoft(attr radius.Attribute) {
	for typ, value := range wire.VendorAttributes(attr, vendorMicrosoft) {
		switch typ {
		case msCHAPResponse:
			c.ms1.add(value)
		case msCHAP2Response:
			c.ms2.add(value)
		case msCHAPChallenge:
			c.msChallenge.add(value)
		}
	}
}

// readCredentials finds the method, and takes its attributes apart.
func (a *access) readCredentials() {
	c := &a.cred
	switch n := c.pap.count + c.chap.count + c.ms1.count + c.ms2.count; {
	case a.eap.is && n > 0:
		a.bad("EAP-Message beside another password")
	case a.eap.is:
		a.Method = MethodEAP
	case n == 0:
		return // MethodNone
	case n > 1:
		a.bad("more than one of User-Password, CHAP-Password, MS-CHAP-Response and MS-CHAP2-Response")
	case c.pap.count > 0:
		a.Method = MethodPAP
		var err error
		if c.given, err = a.Request.UserPassword(a.password[:0]); err != nil {
			a.bad("User-Password")
		}
	case c.chap.count > 0:
		a.readCHAP()
	case c.ms1.count > 0:
		a.readMSCHAP()
	default:
		a.readMSCHAPv2()
	}
}

// readCHAP takes CHAP-Password apart. Without CHAP-Challenge the Request
// Authenticator is the challenge (RFC 2865 section 5.40).
func (a *access) readCHAP() {
	a.Method = MethodCHAP
	c := &a.cred
	if len(c.chap.value) != 17 {
		a.bad("CHAP-Password")
		return
	}
	c.ident, c.response = c.chap.value[0], c.chap.value[1:]
	switch {
	case c.chapChallenge.count == 0:
		c.challenge = a.Request.Authenticator[:]
	case c.chapChallenge.count > 1 || len(c.chapChallenge.value) == 0:
		a.bad("CHAP-Challenge")
	default:
		c.challenge = c.chapChallenge.value
	}
}

// readMSCHAP takes MS-CHAP-Response apart: Ident, Flags, LM-Response, NT-Response
// (RFC 2548 section 2.1.3).
func (a *access) readMSCHAP() {
	a.Method = MethodMSCHAP
	c := &a.cred
	if len(c.ms1.value) != 50 {
		a.bad("MS-CHAP-Response")
		return
	}
	c.ident, c.response = c.ms1.value[0], c.ms1.value[26:]
	c.lmOnly = c.ms1.value[1]&1 == 0
	if c.challenge = c.msChallenge.value; c.msChallenge.count != 1 || len(c.challenge) != 8 {
		a.bad("MS-CHAP-Challenge")
	}
}

// readMSCHAPv2 takes MS-CHAP2-Response apart: Ident, Flags, Peer-Challenge, 8
// octets reserved, Response (RFC 2548 section 2.3.2).
func (a *access) readMSCHAPv2() {
	a.Method = MethodMSCHAPv2
	c := &a.cred
	if len(c.ms2.value) != 50 {
		a.bad("MS-CHAP2-Response")
		return
	}
	c.ident, c.peerChallenge, c.response = c.ms2.value[0], c.ms2.value[2:18], c.ms2.value[26:]
	if c.challenge = c.msChallenge.value; c.msChallenge.count != 1 || len(c.challenge) != 16 {
		a.bad("MS-CHAP-Challenge")
	}
}
