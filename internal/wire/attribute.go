package wire

import (
	"strconv"

	"layeh.com/radius"
)

// Attribute types that the codec itself has to know.
const (
	typeUserPassword         = 2  // RFC 2865 section 5.2
	typeCHAPPassword         = 3  // RFC 2865 section 5.3
	typeState                = 24 // RFC 2865 section 5.24
	typeProxyState           = 33 // RFC 2865 section 5.33
	typeAcctStatusType       = 40 // RFC 2866 section 5.1
	typeARAPPassword         = 70 // RFC 2869 section 5.4
	typeEAPMessage           = 79 // RFC 2869 section 5.13
	typeMessageAuthenticator = 80 // RFC 2869 section 5.14
)

// MaxValueLength is the longest value an attribute can carry, in octets: its
// Length field is one octet and counts the two octets of its header
// (RFC 2865 section 5).
const MaxValueLength = 253

const (
	attributeHeader = 2  // octets: Type and Length
	digestLength    = 16 // octets of an MD5 digest, so of every authenticator

	messageAuthenticatorLength = attributeHeader + digestLength
)

// attributeName is "18 (Reply-Message)" where the type has a well-known name,
// and its number otherwise: for error texts.
func attributeName(t radius.Type) string {
	n := strconv.Itoa(int(t))
	if t < 1 || int(t) >= len(attributeNames) || attributeNames[t] == "" {
		return n
	}
	return n + " (" + attributeNames[t] + ")"
}

// attributeNames holds the names of RFC 2865, 2866, 2867, 2868, 2869, 3162,
// 3576, 4372, 4675, 4818 and 6911: those that error texts are likely to need. The
// dictionary proper is not the codec's business.
var attributeNames = [...]string{
	1: "User-Name", 2: "User-Password", 3: "CHAP-Password", 4: "NAS-IP-Address",
	5: "NAS-Port", 6: "Service-Type", 7: "Framed-Protocol", 8: "Framed-IP-Address",
	9: "Framed-IP-Netmask", 10: "Framed-Routing", 11: "Filter-Id", 12: "Framed-MTU",
	13: "Framed-Compression", 14: "Login-IP-Host", 15: "Login-Service",
	16: "Login-TCP-Port", 18: "Reply-Message", 19: "Callback-Number",
	20: "Callback-Id", 22: "Framed-Route", 23: "Framed-IPX-Network", 24: "State",
	25: "Class", 26: "Vendor-Specific", 27: "Session-Timeout", 28: "Idle-Timeout",
	29: "Termination-Action", 30: "Called-Station-Id", 31: "Calling-Station-Id",
	32: "NAS-Identifier", 33: "Proxy-State", 34: "Login-LAT-Service",
	35: "Login-LAT-Node", 36: "Login-LAT-Group", 37: "Framed-AppleTalk-Link",
	38: "Framed-AppleTalk-Network", 39: "Framed-AppleTalk-Zone",
	40: "Acct-Status-Type", 41: "Acct-Delay-Time", 42: "Acct-Input-Octets",
	43: "Acct-Output-Octets", 44: "Acct-Session-Id", 45: "Acct-Authentic",
	46: "Acct-Session-Time", 47: "Acct-Input-Packets", 48: "Acct-Output-Packets",
	49: "Acct-Terminate-Cause", 50: "Acct-Multi-Session-Id", 51: "Acct-Link-Count",
	52: "Acct-Input-Gigawords", 53: "Acct-Output-Gigawords", 55: "Event-Timestamp",
	56: "Egress-VLANID", 57: "Ingress-Filters", 58: "Egress-VLAN-Name",
	59: "User-Priority-Table", 60: "CHAP-Challenge", 61: "NAS-Port-Type",
	62: "Port-Limit", 63: "Login-LAT-Port", 64: "Tunnel-Type",
	65: "Tunnel-Medium-Type", 66: "Tunnel-Client-Endpoint",
	67: "Tunnel-Server-Endpoint", 68: "Acct-Tunnel-Connection",
	69: "Tunnel-Password", 70: "ARAP-Password", 71: "ARAP-Features",
	72: "ARAP-Zone-Access", 73: "ARAP-Security", 74: "ARAP-Security-Data",
	75: "Password-Retry", 76: "Prompt", 77: "Connect-Info", 78: "Configuration-Token",
	79: "EAP-Message", 80: "Message-Authenticator", 81: "Tunnel-Private-Group-ID",
	82: "Tunnel-Assignment-ID", 83: "Tunnel-Preference", 84: "ARAP-Challenge-Response",
	85: "Acct-Interim-Interval", 86: "Acct-Tunnel-Packets-Lost", 87: "NAS-Port-Id",
	88: "Framed-Pool", 89: "Chargeable-User-Identity", 90: "Tunnel-Client-Auth-ID",
	91: "Tunnel-Server-Auth-ID", 95: "NAS-IPv6-Address", 96: "Framed-Interface-Id",
	97: "Framed-IPv6-Prefix", 98: "Login-IPv6-Host", 99: "Framed-IPv6-Route",
	100: "Framed-IPv6-Pool", 101: "Error-Cause", 123: "Delegated-IPv6-Prefix",
	168: "Framed-IPv6-Address", 169: "DNS-Server-IPv6-Address",
	170: "Route-IPv6-Information", 171: "Delegated-IPv6-Prefix-Pool",
	172: "Stateful-IPv6-Address-Pool",
}
