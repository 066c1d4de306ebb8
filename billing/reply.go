package billing

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/internal/wire"
	"github.com/radpool/radpool/radpool"
)

// maxMessage is how much of a message is sent, in octets: four Reply-Messages.
const (
	maxValue   = 253
	maxMessage = 4 * maxValue
)

// accept writes the Access-Accept.
func (p *Processor) accept(a *access, g *Grant, d decision, now time.Time, resp *radpool.Response) error {
	attrs, hidden := g.Reply, g.Hidden
	if d.restricted {
		attrs, hidden = g.Restricted, g.RestrictedHidden
	}
	resp.Code = radius.CodeAccessAccept
	if a.eap.is {
		attrs = withoutReplyMessage(attrs)
	}
	if g.Expires.IsZero() {
		resp.AddShared(attrs)
	} else {
		addUntil(resp, attrs, g.Expires.Sub(now))
	}
	var s salts
	if err := a.addHidden(resp, hidden, &s); err != nil {
		return err
	}
	if a.eap.is {
		return a.addEAPSuccess(resp, attrs, p.MPPE, &s)
	}
	if a.Method != MethodMSCHAP && a.Method != MethodMSCHAPv2 {
		return nil
	}
	if err := a.addMSCHAP(resp, a.provenPassword(g), attrs, p.MPPE, &s); err != nil {
		return fmt.Errorf("billing: MS-CHAP keys: %w", err)
	}
	return nil
}

// provenPassword is the password that the response was right for.
func (a *access) provenPassword(g *Grant) Password {
	if a.respond(g.Password) == ReasonNone {
		return g.Password
	}
	return Cleartext(a.UserName) // see macIsPassword
}

// addUntil adds attrs to resp, and sees to it that Session-Timeout ends the
// session when left has passed: at least 1 second, since 0 is no limit to some
// NASes, and rounded down else. attrs are shared and stay as they are.
func addUntil(resp *radpool.Response, attrs radius.Attributes, left time.Duration) {
	seconds := uint32(min(max(left/time.Second, 1), math.MaxInt32))
	from := 0
	for i, avp := range attrs {
		if avp.Type != rfc2865.SessionTimeout_Type {
			continue
		}
		resp.AddShared(attrs[from:i])
		from = i + 1
		if v, ok := uint32Of(avp.Attribute); ok && v > 0 {
			seconds = min(seconds, v)
		}
	}
	resp.AddShared(attrs[from:])
	resp.AddUint32(rfc2865.SessionTimeout_Type, seconds)
}

// writeReject writes the Access-Reject. Only the first 1012 octets of a message
// are sent.
func (a *access) writeReject(message string, resp *radpool.Response) {
	resp.Code = radius.CodeAccessReject
	message = message[:min(len(message), maxMessage)]
	for len(message) > 0 {
		n := min(len(message), maxValue)
		for n < len(message) && n > maxValue-utf8.UTFMax && !utf8.RuneStart(message[n]) {
			n-- // not within a character
		}
		resp.AddString(rfc2865.ReplyMessage_Type, message[:n])
		message = message[n:]
	}
	switch {
	case a.eap.is:
		a.addEAPFailure(resp)
	case a.cred.response != nil && (a.Method == MethodMSCHAP || a.Method == MethodMSCHAPv2):
		a.addMSCHAPError(resp)
	}
}

// addMSCHAPError adds MS-CHAP-Error (RFC 2548 section 2.1.5, RFC 2759 section 6):
// authentication failure, no retry, and a challenge that nobody will use.
func (a *access) addMSCHAPError(resp *radpool.Response) {
	var challenge [16]byte
	fresh := challenge[:]
	if a.Method == MethodMSCHAP {
		fresh = challenge[:8]
	}
	_, _ = rand.Read(fresh) // never fails: see its documentation
	var buf [64]byte
	b := append(buf[:0], a.cred.ident)
	b = append(b, "E=691 R=0 C="...)
	b = appendUpperHex(b, fresh)
	b = append(b, " V=3"...)
	addMicrosoft(resp, msCHAPError, b)
}

// addMSCHAP adds what follows a right response: the proof that the server knows
// the password too, and the keys for MPPE.
func (a *access) addMSCHAP(resp *radpool.Response, pw Password, attrs radius.Attributes, policy MPPEPolicy, s *salts) error {
	hash, reason := pw.ntHash()
	if reason != ReasonNone {
		return fmt.Errorf("no NT hash: %s", reason)
	}
	c := &a.cred
	if a.Method == MethodMSCHAPv2 {
		var buf [64]byte
		b := append(buf[:0], c.ident)
		challenge := challengeHash(c.peerChallenge, c.challenge, withoutDomain(a.UserName))
		addMicrosoft(resp, msCHAP2Success, authenticatorResponse(b, hash, c.response, challenge))
	}
	if policy == MPPEOff {
		return nil
	}
	var err error
	if a.Method == MethodMSCHAPv2 {
		send, recv := mppeKeys(hash, c.response)
		err = a.addKeys(resp, send[:], recv[:], s)
	} else {
		err = a.addKeysV1(resp, hash)
	}
	if err != nil {
		return err
	}
	addMPPEPolicy(resp, attrs, policy)
	return nil
}

// addMPPEPolicy says what the keys are for.
func addMPPEPolicy(resp *radpool.Response, attrs radius.Attributes, policy MPPEPolicy) {
	encryption, types := uint32(1), uint32(6) // allowed; 40 and 128 bits (RFC 2548 sections 2.4.4 and 2.4.5)
	if policy != MPPEAllow {
		encryption = 2
	}
	if policy == MPPERequireStrong {
		types = 4
	}
	addMicrosoftUint32(resp, attrs, msMPPEEncryptionPolicy, encryption)
	addMicrosoftUint32(resp, attrs, msMPPEEncryptionTypes, types)
}

// addKeysV1 adds MS-CHAP-MPPE-Keys (RFC 2548 section 2.4.1): 8 octets for the LM
// key, which nobody uses any more, and the NT key. That is the hash of the NT
// hash: the RFC's text says the NT hash, but its peers, who follow RFC 3079, do
// not.
func (a *access) addKeysV1(resp *radpool.Response, hash [16]byte) error {
	var keys [24]byte
	hh := hashHash(hash)
	copy(keys[8:], hh[:])
	hidden, err := radius.NewUserPassword(keys[:], a.Request.Secret, a.Request.Authenticator[:])
	if err != nil {
		return err
	}
	addMicrosoft(resp, msCHAPMPPEKeys, hidden)
	return nil
}

// addKeys adds MS-MPPE-Send-Key and MS-MPPE-Recv-Key (RFC 2548 sections 2.4.2
// and 2.4.3).
func (a *access) addKeys(resp *radpool.Response, send, recv []byte, s *salts) error {
	for _, k := range []struct {
		typ byte
		key []byte
	}{{msMPPESendKey, send}, {msMPPERecvKey, recv}} {
		salt := s.take()
		hidden, err := radius.NewTunnelPassword(k.key, salt[:], a.Request.Secret, a.Request.Authenticator[:])
		if err != nil {
			return err
		}
		addMicrosoft(resp, k.typ, hidden)
	}
	return nil
}

// addMicrosoft adds one of Microsoft's attributes. layeh's setters are not used:
// they panic when a vendor's attribute is there already.
func addMicrosoft(resp *radpool.Response, typ byte, value []byte) {
	var buf [maxValue]byte
	b := binary.BigEndian.AppendUint32(buf[:0], vendorMicrosoft)
	b = append(b, typ, byte(2+len(value)))
	resp.Add(rfc2865.VendorSpecific_Type, append(b, value...))
}

// addMicrosoftUint32 adds an integer, unless the back end has it among attrs.
func addMicrosoftUint32(resp *radpool.Response, attrs radius.Attributes, typ byte, value uint32) {
	for _, avp := range attrs {
		if avp.Type != rfc2865.VendorSpecific_Type {
			continue
		}
		for t := range wire.VendorAttributes(avp.Attribute, vendorMicrosoft) {
			if t == typ {
				return
			}
		}
	}
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], value)
	addMicrosoft(resp, typ, b[:])
}
