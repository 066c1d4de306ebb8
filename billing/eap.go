package billing

import (
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"github.com/radpool/radpool/eap"
	"github.com/radpool/radpool/radpool"
)

// keepGrant is how long what the back end said is good for the rest of an EAP
// conversation. It is less than reservations are kept, which count on a question that
// is not older than they.
const keepGrant = 5 * time.Second

// An eapRound is what one Access-Request says and wants of EAP.
type eapRound struct {
	is      bool   // there is an EAP-Message
	message []byte // the EAP packet
	state   []byte // State
	mtu     uint32 // Framed-MTU

	session *eapSession // nil until it is found, and when none is
	taken   eap.State   // the name of the session until now, if it had one
	named   bool        // it had one
	waits   bool        // the session is in the table again
	method  eap.Type    // of the request that goes out
	result  eap.Result
}

// An eapSession is a conversation as it is kept between two Access-Requests.
type eapSession struct {
	conversation *eap.Conversation
	verified     Reason // what Credentials said last

	grant    Grant // of the back end, when it was asked
	askedAt  time.Time
	hasGrant bool

	// A packet that could not be answered, since the back end failed, comes again
	// and gets the same result. Its digest is kept, and not as much as the peer likes.
	undone       [sha256.Size]byte
	undoneResult eap.Result
	isUndone     bool
}

// add adds an EAP-Message. The parts of a packet are put together in the order in
// which they stand (RFC 3579 section 3.1).
func (r *eapRound) add(v []byte) {
	r.is = true
	if r.message == nil {
		r.message = slices.Clip(v) // most often there is but one
		return
	}
	r.message = append(r.message, v...)
}

// identifier is that of the peer's packet.
func (r *eapRound) identifier() byte {
	if len(r.message) < 2 {
		return 0
	}
	return r.message[1]
}

var (
	errUnknownState = errors.New("the State names no conversation with this client")
	errUserName     = errors.New("User-Name is not the EAP identity")
)

// receiveEAP takes the peer's packet. It reports whether the request is answered with
// that: else the back end comes next, or what it has said already.
func (p *Processor) receiveEAP(a *access, resp *radpool.Response) (answered bool) {
	r := &a.eap
	if len(r.message) == 0 { // EAP-Start (RFC 3579 section 2.1)
		r.result = eap.Result{Verdict: eap.Request, Packet: eap.NewIdentityRequest()}
	} else {
		r.result = p.converse(a)
	}
	if s := r.session; s != nil {
		a.Method = methodOfEAP(s.conversation.Method())
	}
	switch r.result.Verdict {
	case eap.Request, eap.Ignore:
		p.challenge(a, resp)
		return true
	case eap.Failure:
		if r.session == nil || !r.session.hasGrant {
			p.reject(a, decision{reason: ReasonEAP}, &Grant{}, resp)
			return true
		}
	}
	return false
}

// converse finds the conversation, or begins one, and has it take the packet.
func (p *Processor) converse(a *access) eap.Result {
	r := &a.eap
	in, err := eap.Parse(r.message)
	if err != nil {
		return eap.Result{Err: err}
	}
	p.takeEAP(a)
	if in.Code == eap.CodeResponse && in.Type == eap.TypeIdentity {
		return p.converseAnew(a, in)
	}
	s := r.session
	switch {
	case s == nil:
		return eap.Result{Err: errUnknownState}
	case !a.isNamed(s.conversation.Identity()):
		return eap.Result{Err: errUserName}
	case s.isUndone && s.undone == sha256.Sum256(r.message):
		s.isUndone = false
		return s.undoneResult
	}
	s.isUndone = false
	return s.conversation.Receive(in)
}

// converseAnew begins a conversation: a peer may do so at any time, and a NAS may
// send the State of its last one with it.
func (p *Processor) converseAnew(a *access, in eap.Packet) eap.Result {
	r := &a.eap
	if r.session != nil {
		r.session.conversation.Close()
		r.session, r.named = nil, false
	}
	c, result := eap.Begin(&p.eap.config, in, int(r.mtu))
	if c == nil {
		return result
	}
	r.session = &eapSession{conversation: c}
	if !a.isNamed(c.Identity()) {
		return eap.Result{Err: errUserName}
	}
	return result
}

// isNamed reports whether User-Name is the identity. Without a User-Name it becomes
// that.
func (a *access) isNamed(identity string) bool {
	if !a.hasName {
		a.UserName, a.hasName = identity, true
	}
	return a.UserName == identity
}

// takeEAP takes the conversation out of the table that State names.
func (p *Processor) takeEAP(a *access) {
	r := &a.eap
	if r.state == nil {
		return
	}
	p.eap.mu.Lock()
	defer p.eap.mu.Unlock()
	r.session, r.taken, r.named = p.eap.table.Take(time.Now(), a.Request.RemoteAddr.Addr(), r.state)
}

// kept is what the back end has said already in this conversation: nil, if it must be
// asked.
func (a *access) kept() *Grant {
	s := a.eap.session
	if s == nil || !s.hasGrant {
		return nil
	}
	if a.eap.result.Verdict != eap.Failure && a.began.Sub(s.askedAt) > keepGrant {
		return nil
	}
	a.began = s.askedAt
	return &s.grant
}

// proveEAP has the conversation verify what the peer said, now that g is known. It is
// false if the conversation goes on: the request is answered then.
func (p *Processor) proveEAP(a *access, g *Grant, resp *radpool.Response) bool {
	r := &a.eap
	s := r.session
	if r.result.Verdict == eap.Verify {
		s.grant, s.askedAt, s.hasGrant = *g, a.began, true
		r.result = s.conversation.Verify(&eapCredentials{a: a, g: &s.grant})
		if r.result.Verdict == eap.Request {
			p.challenge(a, resp)
			return false
		}
	}
	if r.result.Verdict != eap.Success && s.verified == ReasonNone {
		s.verified = ReasonEAP
	}
	return true
}

// settle sees to the conversation when the request is done with: it stays for the
// packet that could not be answered, or it is over.
func (p *Processor) settle(a *access, resp *radpool.Response) {
	r := &a.eap
	s := r.session
	if s == nil || r.waits {
		return
	}
	if resp.Err() == nil || !r.named {
		s.conversation.Close()
		r.session = nil
		return
	}
	s.undone, s.undoneResult, s.isUndone = sha256.Sum256(r.message), r.result, true
	r.waits = true
	p.eap.mu.Lock()
	defer p.eap.mu.Unlock()
	p.eap.table.PutBack(time.Now(), a.Request.RemoteAddr.Addr(), r.taken, s)
}
