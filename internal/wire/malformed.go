package wire

import (
	"fmt"
	"strconv"

	"layeh.com/radius"
)

// Malformed says what is wrong with the shape of a datagram. The zero value,
// [WellFormed], says that nothing is. The values are small and dense, so that a
// counter for each fits an array of [MalformedKinds].
type Malformed uint8

// The faults that [Parse] finds. It reports the first one in the order of the
// wire; the rules about a combination of attributes are judged last.
const (
	WellFormed                   Malformed = iota
	DatagramTooShort                       // under 4 octets: not even a Length field
	LengthTooSmall                         // the Length field is under 20
	LengthTooLarge                         // the Length field is over 4096
	HeaderCut                              // the datagram is under 20 octets
	DatagramCut                            // the datagram is shorter than its Length field says
	UnknownCode                            // not the code of a packet that RADIUS exchanges
	AttributeHeaderCut                     // one octet is left where an attribute should start
	AttributeTypeZero                      // attribute type 0
	AttributeLengthTooSmall                // an attribute's Length field is under 2
	AttributeOverrun                       // an attribute ends after the packet does
	TooManyAttributes                      // more attributes than the caller allows
	MessageAuthenticatorLength             // a Message-Authenticator that is not 18 octets
	MessageAuthenticatorRepeated           // more than one Message-Authenticator
	EAPWithUserPassword                    // EAP-Message beside User-Password
	EAPWithCHAPPassword                    // EAP-Message beside CHAP-Password
	EAPWithARAPPassword                    // EAP-Message beside ARAP-Password

	// MalformedKinds is the number of values, WellFormed among them.
	MalformedKinds = iota
)

var malformedTexts = [MalformedKinds]string{
	WellFormed:                   "well-formed",
	DatagramTooShort:             "datagram shorter than 4 octets",
	LengthTooSmall:               "Length field smaller than the 20 octets of a header",
	LengthTooLarge:               "Length field larger than 4096 octets",
	HeaderCut:                    "datagram shorter than the 20 octets of a header",
	DatagramCut:                  "datagram shorter than its Length field",
	UnknownCode:                  "unknown packet code",
	AttributeHeaderCut:           "one trailing octet after the attributes",
	AttributeTypeZero:            "attribute type 0",
	AttributeLengthTooSmall:      "attribute Length field smaller than 2",
	AttributeOverrun:             "attribute longer than the rest of the packet",
	TooManyAttributes:            "too many attributes",
	MessageAuthenticatorLength:   "Message-Authenticator not 18 octets long",
	MessageAuthenticatorRepeated: "more than one Message-Authenticator",
	EAPWithUserPassword:          "EAP-Message together with User-Password",
	EAPWithCHAPPassword:          "EAP-Message together with CHAP-Password",
	EAPWithARAPPassword:          "EAP-Message together with ARAP-Password",
}

// String is a short English description, the same for every datagram with this
// fault: good as a counter's label.
func (m Malformed) String() string {
	if m >= MalformedKinds {
		return "Malformed(" + strconv.Itoa(int(m)) + ")"
	}
	return malformedTexts[m]
}

// Explain is the text of m with what this datagram shows of it: the code, or
// the attribute that is to blame and the offset in octets where it starts. It
// allocates; it is for the log line of one datagram, not for counting.
func (s *Shape) Explain(m Malformed) string {
	switch m {
	case UnknownCode:
		return fmt.Sprintf("%v %d", m, int(s.Code))
	case LengthTooSmall, LengthTooLarge, DatagramCut:
		return fmt.Sprintf("%v (Length %d)", m, s.Length)
	case AttributeHeaderCut, AttributeTypeZero:
		return fmt.Sprintf("%v, at octet %d", m, s.faultAt)
	case AttributeLengthTooSmall, AttributeOverrun, TooManyAttributes,
		MessageAuthenticatorLength, MessageAuthenticatorRepeated:
		return fmt.Sprintf("%v: attribute %s at octet %d", m, attributeName(radius.Type(s.faultType)), s.faultAt)
	default:
		return m.String()
	}
}
