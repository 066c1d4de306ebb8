package eap

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
)

// DefaultMaxRounds is Config.MaxRounds when that is 0, and LimitMaxRounds the most
// that it may be.
const (
	DefaultMaxRounds = 50
	LimitMaxRounds   = 1000
)

// MaxIdentity is the most octets of an identity: what fits into User-Name.
const MaxIdentity = 253

// A Config says how conversations are held. It is not changed after first use.
type Config struct {
	// Methods are offered in this order: the first to everybody, and to a peer that
	// wants another (NAK) the first of those that it wants and was not offered
	// yet. Empty: DefaultMethods().
	Methods []Method

	// MaxRounds is the most packets that a peer may send in a conversation. 0:
	// DefaultMaxRounds, as FreeRADIUS has it.
	MaxRounds int
}

// DefaultMethods are MSCHAPv2 and then MD5.
func DefaultMethods() []Method { return []Method{MSCHAPv2{}, MD5{}} }

var defaultMethods = DefaultMethods()

// Validate reports what is out of its bounds: methods that are none or stand twice,
// and MaxRounds.
func (c *Config) Validate() error {
	var errs []error
	seen := make(map[Type]bool)
	for i, m := range c.Methods {
		if m == nil {
			errs = append(errs, fmt.Errorf("Methods[%d] is nil", i))
			continue
		}
		switch t := m.Type(); {
		case t <= TypeNAK, t == TypeExpanded:
			errs = append(errs, fmt.Errorf("Methods[%d] has the type %v, which is no method's", i, t))
		case seen[t]:
			errs = append(errs, fmt.Errorf("Methods has %v twice", t))
		default:
			seen[t] = true
		}
	}
	if c.MaxRounds < 0 || c.MaxRounds > LimitMaxRounds {
		errs = append(errs, fmt.Errorf("MaxRounds is %d, must be 0 to %d", c.MaxRounds, LimitMaxRounds))
	}
	return errors.Join(errs...)
}

func (c *Config) maxRounds() int {
	if c.MaxRounds == 0 {
		return DefaultMaxRounds
	}
	return c.MaxRounds
}

func (c *Config) methods() []Method {
	if len(c.Methods) == 0 {
		return defaultMethods
	}
	return c.Methods
}

// A Verdict says what is to be done with a Result.
type Verdict uint8

// Verdicts.
const (
	// Failure: the conversation is over. Packet is the EAP-Failure for the
	// Access-Reject, and Err says why.
	Failure Verdict = iota
	// Request: Packet goes to the peer, in an Access-Challenge.
	Request
	// Verify: who the subscriber is must be found out, and Conversation.Verify
	// called. There is no Packet.
	Verify
	// Success: the conversation is over. Packet is the EAP-Success for the
	// Access-Accept; MSK are the keys, if there are any.
	Success
	// Ignore: what came is no answer to the last request, and changed nothing. Packet
	// is that request, for an Access-Challenge with Error-Cause 202, "Invalid EAP
	// Packet (Ignored)" (RFC 3579 section 2.2). Err says why.
	Ignore
)

// A Result is what came of a packet.
type Result struct {
	Verdict Verdict
	Packet  []byte
	MSK     []byte
	Err     error
}

// Errors of a Result. Those of methods come beside.
var (
	ErrNotIdentity    = errors.New("a conversation begins with an EAP-Response/Identity")
	ErrIdentity       = fmt.Errorf("the identity has not 1 to %d octets", MaxIdentity)
	ErrNotResponse    = errors.New("the EAP packet is no Response")
	ErrIdentifier     = errors.New("the Identifier is not that of the last request")
	ErrType           = errors.New("the type is not that of the last request")
	ErrNoMethod       = errors.New("the peer wants none of the methods offered")
	ErrTooManyRounds  = errors.New("the conversation has too many rounds")
	ErrNotAsked       = errors.New("the method did not ask")
	ErrRequestTooLong = errors.New("the method's request is too long")
)

// A Conversation is the server's side of one EAP conversation: a state machine
// without clock, goroutine or lock. Begin makes one. It is used by one goroutine at
// a time, and must be closed.
type Conversation struct {
	config   *Config
	peer     Peer
	offered  []Type
	method   Type
	exchange Exchange
	answered bool // the peer has answered the method: NAK is too late
	asking   bool // Verify comes next
	over     bool
	rounds   int
	last     []byte // the last request
	id       uint8  // its Identifier, or after a response that is handled the response's
}

// Begin begins a conversation with the peer's EAP-Response/Identity. mtu is
// Framed-MTU, 0 if there is none. The Conversation is nil if the Result is a Failure;
// else the Result is the first method's first request.
func Begin(c *Config, in Packet, mtu int) (*Conversation, Result) {
	v := &Conversation{config: c, id: in.Identifier, rounds: 1}
	var err error
	switch {
	case in.Code != CodeResponse || in.Type != TypeIdentity:
		err = ErrNotIdentity
	case len(in.Data) == 0 || len(in.Data) > MaxIdentity:
		err = ErrIdentity
	}
	if err != nil {
		return nil, v.fail(err)
	}
	v.peer = Peer{Identity: string(in.Data), MTU: mtu}
	r := v.offer(nil)
	if r.Verdict == Failure {
		v.Close()
		return nil, r
	}
	return v, r
}

// Identity is what the peer says its name is.
func (v *Conversation) Identity() string { return v.peer.Identity }

// Method is the method that was offered last.
func (v *Conversation) Method() Type { return v.method }

// Close frees what the method holds. It may be called more than once.
func (v *Conversation) Close() {
	v.over = true
	if v.exchange != nil {
		v.exchange.Close()
		v.exchange = nil
	}
}

// Receive takes what the peer sent, and says what follows.
func (v *Conversation) Receive(in Packet) Result {
	if v.over {
		return v.fail(ErrNotIdentity)
	}
	if v.rounds++; v.rounds > v.config.maxRounds() {
		v.id = in.Identifier
		return v.fail(ErrTooManyRounds)
	}
	switch {
	case in.Code != CodeResponse:
		return v.ignore(ErrNotResponse)
	case in.Identifier != v.id:
		return v.ignore(ErrIdentifier)
	case in.Type == TypeNAK && !v.answered:
		return v.offer(in.Data)
	case in.Type == TypeExpanded && !v.answered && len(in.Data) >= 7 && [7]byte(in.Data) == expandedNAK:
		return v.fail(ErrNoMethod) // it lists none but expanded types, of which there are none here
	case in.Type != v.method:
		return v.ignore(ErrType)
	}
	v.answered = true
	return v.follow(v.exchange.Respond(v.id, in.Data), true)
}

// expandedNAK is vendor 0 and type 3 (RFC 3748 section 5.3.2).
var expandedNAK = [7]byte{0, 0, 0, 0, 0, 0, 3}

// Verify goes on with the subscriber's credentials after a Result with Verify. What
// it answers is never Verify again.
func (v *Conversation) Verify(c Credentials) Result {
	if !v.asking || v.over {
		return v.fail(ErrNotAsked)
	}
	return v.follow(v.exchange.Verify(c), false)
}

// offer begins the first method that the peer wants, if it says what it wants, and
// that it was not offered yet.
func (v *Conversation) offer(wanted []byte) Result {
	for _, m := range v.config.methods() {
		t := m.Type()
		if slices.Contains(v.offered, t) || (v.rounds > 1 && !slices.Contains(wanted, byte(t))) {
			continue
		}
		if v.exchange != nil {
			v.exchange.Close()
		}
		v.offered = append(v.offered, t)
		v.method, v.exchange = t, m.Begin(v.peer)
		data, err := v.exchange.Start(v.id + 1)
		if err != nil {
			return v.fail(err)
		}
		return v.request(data)
	}
	return v.fail(ErrNoMethod)
}

// follow does what the method wants.
func (v *Conversation) follow(s Step, mayAsk bool) Result {
	v.asking = false
	switch {
	case s.verdict == Request:
		return v.request(s.data)
	case s.verdict == Verify && mayAsk:
		v.asking = true
		return Result{Verdict: Verify}
	case s.verdict == Success:
		v.over = true
		return Result{Verdict: Success, Packet: v.end(CodeSuccess), MSK: s.msk}
	case s.err == nil:
		s.err = ErrCredentials
	}
	return v.fail(s.err)
}

// request makes the next request.
func (v *Conversation) request(data []byte) Result {
	if len(data) > MaxPacket-HeaderLength-1 {
		return v.fail(ErrRequestTooLong)
	}
	v.id++
	v.last = Packet{Code: CodeRequest, Identifier: v.id, Type: v.method, Data: data}.Append(nil)
	return Result{Verdict: Request, Packet: v.last}
}

func (v *Conversation) ignore(err error) Result {
	return Result{Verdict: Ignore, Packet: v.last, Err: err}
}

// fail ends the conversation.
func (v *Conversation) fail(err error) Result {
	v.over, v.asking = true, false
	return Result{Verdict: Failure, Packet: v.end(CodeFailure), Err: err}
}

// end is the last packet. It has the Identifier of the response that it follows (RFC
// 3748 section 4.2).
func (v *Conversation) end(c Code) []byte {
	return Packet{Code: c, Identifier: v.id}.Append(nil)
}

// NewIdentityRequest is the request for an identity that answers a NAS which begins
// with an empty EAP-Message, EAP-Start (RFC 3579 section 2.1). It belongs to no
// conversation: that begins with the answer.
func NewIdentityRequest() []byte {
	var id [1]byte
	_, _ = rand.Read(id[:]) // never fails: see its documentation
	return Packet{Code: CodeRequest, Identifier: id[0], Type: TypeIdentity}.Append(nil)
}
