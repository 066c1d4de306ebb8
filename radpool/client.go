package radpool

import (
	"fmt"
	"io"
	"net/netip"
	"time"
)

// A Requirement says whether something is required of a client's packets.
type Requirement uint8

// Requirements, as FreeRADIUS's require_message_authenticator and
// limit_proxy_state have them.
const (
	Auto Requirement = iota // the default: see the field that uses it
	No
	Yes
)

// String returns auto, no or yes, the words of radiusd.conf.
func (r Requirement) String() string {
	switch r {
	case Auto:
		return "auto"
	case No:
		return "no"
	case Yes:
		return "yes"
	}
	return "invalid"
}

// A Client is a NAS, or a network of them, that may send requests: a client
// section of FreeRADIUS's clients.conf.
type Client struct {
	// Prefix is the address or network that its requests come from. A single
	// address is a prefix of its full length. Of several that contain an
	// address the longest is used.
	Prefix netip.Prefix

	// Name is for logs and statistics. Empty: the prefix in words.
	Name string

	// Secret is shared with the NAS, at least one octet. It is copied.
	Secret []byte

	// MessageAuthenticator says whether an Access-Request must carry a
	// Message-Authenticator (RFC 2869 section 5.14, CVE-2024-3596). Auto, for a
	// client that is one address: not until it has shown one that verified, and
	// from then on; for a network: no. An Access-Request with an EAP-Message
	// and a Status-Server need one always. One that is present is verified in
	// any case.
	MessageAuthenticator Requirement

	// LimitProxyState says whether an Access-Request that carries Proxy-State
	// but no Message-Authenticator is dropped, since that is how a
	// BlastRADIUS attack looks (CVE-2024-3596). Auto is Yes: such a packet
	// proves nothing that could be learned from. Set it to No only for an old
	// proxy that cannot sign.
	LimitProxyState Requirement

	// EventTimestamp says whether the Event-Timestamp of a CoA-Request or
	// Disconnect-Request must be of now, give or take Config.EventTimestampWindow, so
	// that one that somebody has recorded is of no use later (RFC 5176 section 6.3). Auto:
	// where there is one; Yes: there must be one, too; No: it is not looked at.
	EventTimestamp Requirement

	// Patience is how long the NAS waits for an answer to what it last sent: its
	// timeout, not that times its tries. A request that nobody waits for any more is
	// not run; one that the NAS sends again is wanted anew. From 50 ms to 120 s.
	// Zero: Config.Patience, until it is learned from the times at which the client's
	// verified requests are sent again; what is learned never exceeds MaxRequestTime.
	Patience time.Duration
}

// String returns name and prefix, and never the secret.
func (c Client) String() string {
	if c.Name == "" {
		return c.Prefix.String()
	}
	return fmt.Sprintf("%s (%s)", c.Name, c.Prefix)
}

// Format prints what String returns, whatever the verb.
func (c Client) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }
