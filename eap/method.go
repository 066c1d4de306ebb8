package eap

import "errors"

// A Method is a way to authenticate by EAP. Those of this package are MD5 and
// MSCHAPv2; another, such as one in a TLS tunnel, is written as a Method of its own.
// It is used by several goroutines at once.
type Method interface {
	// Type is the method's number. It is neither of TypeIdentity,
	// TypeNotification, TypeNAK and TypeExpanded.
	Type() Type

	// Begin returns the state of the method in one conversation.
	Begin(peer Peer) Exchange
}

// A Peer is who a conversation is with.
type Peer struct {
	// Identity is what the peer says its name is: 1 to 253 octets of any kind.
	Identity string

	// MTU is Framed-MTU of the request: the most octets of an EAP packet that fit
	// between the NAS and the peer. 0: not told. A method whose requests may be
	// longer must fragment them (RFC 3579 section 2.4).
	MTU int
}

// An Exchange is one method's part of one conversation. Its methods are called by
// one goroutine at a time; they neither block nor keep their arguments.
//
// There may be as many rounds as it takes, up to Config.MaxRounds: so a method can
// send and receive fragments, and acknowledge them.
type Exchange interface {
	// Start returns the Type-Data of the first request, which has this Identifier.
	Start(identifier uint8) ([]byte, error)

	// Respond takes the Type-Data of the peer's response to the last request, which
	// had this Identifier, and says what follows.
	Respond(identifier uint8, data []byte) Step

	// Verify says what follows now that the subscriber is known. It is called after
	// Respond has answered Ask.
	Verify(c Credentials) Step

	// Close frees what the exchange holds. It is called once, however the
	// conversation ends: also when it was never finished.
	Close()
}

// Credentials are the subscriber's, with which an Exchange checks what the peer
// says. The password itself is not shown.
type Credentials interface {
	// MD5 checks a response of CHAP (RFC 1994 section 4.1).
	MD5(identifier uint8, challenge, response []byte) bool

	// MSCHAPv2 checks a response of MS-CHAPv2 (RFC 2759 section 8) to the 16-octet
	// challenges of the authenticator (this server) and of the peer.
	MSCHAPv2(challenge, peerChallenge []byte, name string, ntResponse []byte) (MSCHAPv2Proof, bool)

	// Password checks a password in cleartext, as it comes through a tunnel.
	Password(password []byte) bool
}

// An MSCHAPv2Proof is what follows from a right response of MS-CHAPv2.
type MSCHAPv2Proof struct {
	// Response is the authenticator's, "S=" and 40 hexadecimal digits (RFC 2759
	// section 8.7): it proves that the server knows the password too.
	Response string

	// SendKey and RecvKey are the keys of RFC 3079 section 3.3, from the server's side.
	SendKey, RecvKey [16]byte
}

// A Step is what an Exchange wants to happen next. Make one with Continue, Ask,
// Succeed or Fail; the zero Step is a failure.
type Step struct {
	verdict Verdict
	data    []byte
	msk     []byte
	err     error
}

// Continue sends another request with this Type-Data.
func Continue(data []byte) Step { return Step{verdict: Request, data: data} }

// Ask asks who the subscriber is: Exchange.Verify comes next.
func Ask() Step { return Step{verdict: Verify} }

// Succeed ends the conversation with an EAP-Success. msk is the Master Session Key,
// of which the first half becomes MS-MPPE-Recv-Key and the second MS-MPPE-Send-Key
// (RFC 3748 section 7.10): 32 octets of MSCHAPv2, 64 of methods with TLS. nil: the
// method has no keys.
func Succeed(msk []byte) Step { return Step{verdict: Success, msk: msk} }

// Fail ends the conversation with an EAP-Failure. err says why, for the log.
func Fail(err error) Step { return Step{verdict: Failure, err: err} }

// ErrCredentials is why a conversation fails whose peer is not who it says.
var ErrCredentials = errors.New("the credentials are wrong")
