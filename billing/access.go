package billing

import (
	"fmt"
	"io"
	"net/netip"
	"time"

	"github.com/radpool/radpool/radpool"
)

// An AccessRequest is an Access-Request as a billing system wants it: who asks,
// from where, and how. It belongs to the Processor, and is valid until Authorize
// returns; its strings are ordinary ones and may be kept.
type AccessRequest struct {
	// Request is the request itself, for attributes that have no field here.
	Request *radpool.Request

	// Time is when the request arrived.
	Time time.Time

	// Method is how the subscriber proves who they are.
	Method Method

	UserName         string // User-Name, as sent: not trimmed, case kept
	CallingStationID string // Calling-Station-Id: mostly a MAC address
	CalledStationID  string // Called-Station-Id

	NASAddr       netip.Addr // NAS-IP-Address or NAS-IPv6-Address, else the address the packet came from
	NASIdentifier string     // NAS-Identifier
	NASPort       uint32     // NAS-Port; 0 when there is none
	NASPortID     string     // NAS-Port-Id
	NASPortType   uint32     // NAS-Port-Type; 0 (Async) when there is none
	ServiceType   uint32     // Service-Type; 0 when there is none
	FramedAddr    netip.Addr // Framed-IP-Address that the NAS suggests; the zero Addr when there is none
	SessionID     string     // Acct-Session-Id, where the NAS sends it this early
}

// A Method is a way to authenticate. An empty User-Password is still MethodPAP.
type Method uint8

// Methods of authentication.
const (
	MethodNone     Method = iota // no credentials: the request is who it is by where it comes from
	MethodPAP                    // User-Password (RFC 2865 section 5.2)
	MethodCHAP                   // CHAP-Password (RFC 2865 section 5.3)
	MethodMSCHAP                 // MS-CHAP-Response (RFC 2548 section 2.1.3)
	MethodMSCHAPv2               // MS-CHAP2-Response (RFC 2548 section 2.3.2)

	MethodEAPMD5      // EAP-MD5-Challenge (RFC 3748 section 5.4)
	MethodEAPMSCHAPv2 // EAP-MSCHAPv2 (draft-kamath-pppext-eap-mschapv2)
	MethodEAP         // another method of EAP, or none yet
)

// String returns the method's usual name.
func (m Method) String() string {
	switch m {
	case MethodNone:
		return "none"
	case MethodPAP:
		return "PAP"
	case MethodCHAP:
		return "CHAP"
	case MethodMSCHAP:
		return "MS-CHAP"
	case MethodMSCHAPv2:
		return "MS-CHAPv2"
	case MethodEAPMD5:
		return "EAP-MD5"
	case MethodEAPMSCHAPv2:
		return "EAP-MSCHAPv2"
	case MethodEAP:
		return "EAP"
	}
	return "invalid"
}

// An AuthResult is how an authentication ended. It is valid until PostAuth
// returns.
type AuthResult struct {
	Access     *AccessRequest
	Time       time.Time // when it was decided
	Accepted   bool      // Access-Accept, in full or restricted
	Restricted bool      // accepted with the Restricted profile
	Reason     Reason    // why not accepted, or why restricted
	Message    string    // the Reply-Message of an Access-Reject; empty with EAP, which has none

	// Password is what the subscriber gave with PAP, and nothing otherwise. It
	// is here for those who must store it as FreeRADIUS's radpostauth does; it
	// does not belong in a log. Bytes in the request's memory.
	Password []byte
}

// String says in one line who it was and how it ended, without the password.
func (r AuthResult) String() string {
	name, method := "", MethodNone
	if r.Access != nil {
		name, method = r.Access.UserName, r.Access.Method
	}
	how := "rejected: " + r.Reason.String()
	switch {
	case r.Restricted:
		how = "accepted with the restricted profile: " + r.Reason.String()
	case r.Accepted:
		how = "accepted"
	}
	return fmt.Sprintf("%.64q %s (%s)", name, how, method)
}

// Format prints what String returns, whatever the verb.
func (r AuthResult) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, r.String()) }
