package radclient

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// Errors of a [Client]. What it returns may wrap them: compare with errors.Is.
var (
	// ErrClosed: the Client is closed.
	ErrClosed = errors.New("radclient: client closed")

	// ErrTooManyRequests: Config.MaxInFlight requests are under way.
	ErrTooManyRequests = errors.New("radclient: too many requests in flight")

	// ErrNoReply is what each [TimeoutError] is.
	ErrNoReply = errors.New("radclient: no reply")

	// ErrUnknownServer: the server is neither in Config.Servers nor in Config.Others, or there are no Servers to choose from.
	ErrUnknownServer = errors.New("radclient: not a server of this client")

	// ErrCode: the packet's code is not that of a request.
	ErrCode = errors.New("radclient: not a request")
)

// errNoReply stands for a TimeoutError within the core, which does not know what it says.
var errNoReply = errors.New("radclient: given up")

// A TimeoutError says that a request was given up because no reply came that could be believed.
type TimeoutError struct {
	Server  netip.AddrPort // the one that was asked last
	Copies  int            // that were sent, to all servers; 0: it waited for an Identifier all the time
	Elapsed time.Duration  // since the request began

	// Discarded are replies to this request that were not believed: they say that a server is there, but has another secret
	// or is old.
	Discarded Discards
}

func (e *TimeoutError) Error() string {
	s := fmt.Sprintf("radclient: no reply from %v: %d copies sent in %v", e.Server, e.Copies, e.Elapsed.Round(time.Millisecond))
	if why := e.Discarded.String(); why != "" {
		s += "; discarded replies: " + why
	}
	return s
}

// Is reports whether target is ErrNoReply.
func (e *TimeoutError) Is(target error) bool { return target == ErrNoReply }

// Timeout is true, as in net.Error.
func (e *TimeoutError) Timeout() bool { return true }

// Discards counts datagrams that were not believed, by why. Nothing else of the client changes by them.
type Discards struct {
	Malformed   uint64 // no RADIUS packet
	Unexpected  uint64 // from no server of ours, or no request waits for it: late, or a second reply
	WrongCode   uint64 // the code does not answer the request
	Unauthentic uint64 // an authenticator is wrong: another secret, or a forgery
	Unprotected uint64 // no Message-Authenticator, or not where Protection wants it
}

// String lists what there is of each: "2 unauthentic, 1 without Message-Authenticator", or "".
func (d Discards) String() string {
	var parts []string
	for i, n := range []uint64{d.Malformed, d.Unexpected, d.WrongCode, d.Unauthentic, d.Unprotected} {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, discardTexts[i]))
		}
	}
	return strings.Join(parts, ", ")
}

var discardTexts = [numDiscards]string{
	"malformed", "unexpected", "of a wrong code", "unauthentic (is the secret the same?)",
	"without the required Message-Authenticator",
}

// discard is why a datagram is not believed: an index of what Discards counts.
type discard uint8

const (
	malformed discard = iota
	unexpected
	wrongCode
	unauthentic
	unprotected
	numDiscards = 5
	believed    = discard(numDiscards)
)

func discards(n *[numDiscards]uint64) Discards {
	return Discards{n[malformed], n[unexpected], n[wrongCode], n[unauthentic], n[unprotected]}
}
