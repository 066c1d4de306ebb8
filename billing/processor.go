package billing

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"go.uber.org/zap"
	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/radpool"
)

// Defaults of a Processor, and the bounds of its fields.
const (
	DefaultReservationTime = 30 * time.Second
	MaxReservationTime     = time.Hour
	DefaultMaxReservations = 65536
	LimitMaxReservations   = 16 << 20
)

// A FailurePolicy says what a NAS gets when the back end cannot answer.
type FailurePolicy uint8

// Failure policies.
const (
	// FailSilent sends nothing: the NAS asks again, or asks another server.
	FailSilent FailurePolicy = iota
	// FailReject sends an Access-Reject with ReasonUnavailable.
	FailReject
)

// An MPPEPolicy says what MS-CHAP's keys are for: the parameters use_mppe,
// require_encryption and require_strong of FreeRADIUS's mschap module.
type MPPEPolicy uint8

// MPPE policies.
const (
	MPPEAllow         MPPEPolicy = iota // encryption is allowed, with 40 or 128 bits
	MPPERequire                         // encryption is required, with 40 or 128 bits
	MPPERequireStrong                   // encryption is required, with 128 bits
	MPPEOff                             // no keys are sent
)

// A Processor makes a RADIUS server's handler of a billing system: it takes name
// and credentials from the request, asks its Handler, verifies the password,
// writes the reply, and turns accounting into records. It is a radpool.Handler and
// a radpool.BatchHandler.
//
// Fields must not be changed after first use; a zero field, but for Handler, means
// its default. Check them with Validate at start: a Processor that is wrong fails
// every request. A Processor is safe for concurrent use and must not be copied.
//
// # Access-Request
//
// Methods are PAP, CHAP, MS-CHAP with the NT response, MS-CHAPv2, and by EAP what
// EAPConfig says; a request without credentials (or with an empty User-Password) is
// let in by Grant.NoPassword alone. Requests of another code than Access-Request and
// Accounting-Request get no answer.
//
// The order of checks: the password first, and only then the Grant's Reason,
// Calling-Station-Id, Expires, money, simultaneous use, and last an address of the
// Pool. So nobody who does not know the password learns more than one text, the
// same for an unknown user and a wrong password, unless ShowReasons is set. The
// log, PostAuth and Stats have the true reason. They can still be told apart by
// time, where unknown users are answered before a slow hash (crypt, PBKDF2) would
// be: a back end to which that matters returns for them ReasonUnknownUser together
// with a Password of the same form, which is then verified in vain.
//
// # EAP
//
// An EAP conversation takes several Access-Requests, all but the last answered with
// an Access-Challenge. Authorize is called in one of them, when the peer has sent
// what its password is verified with; where the conversation goes on after that
// (EAP-MSCHAPv2) its Grant is kept for what follows, for 5 seconds at most, and then
// asked for anew. All other checks are made, the session is reserved, an address
// leased and PostAuth called at the end alone. The conversation is with one client
// address and one User-Name, which must be the EAP identity; no reply has a
// Reply-Message beside EAP (RFC 3579 section 2.6.5). Conversations are this
// Processor's own: a NAS must send all of one to the same server.
//
// The server must require Message-Authenticator of requests with EAP-Message, as
// radpool.Server always does.
//
// # Accounting-Request
//
// Attributes that tell the session or what it used must be there and well formed:
// Acct-Status-Type; for Start, Interim-Update and Stop Acct-Session-Id; octets,
// packets, times, the NAS and its port. A request without gets no answer (RFC 2866
// section 4.1), is counted and logged: an answer would make the NAS forget what
// was not stored. Other attributes that are malformed are as good as absent. A
// status that has no name here (Tunnel-Start and the like) goes to the Handler as
// any other.
//
// # Simultaneous use
//
// With Grant.SimultaneousUse a session that is let in is reserved in memory until
// its Start is durable, at most ReservationTime. Two logins before either Start
// therefore do not both pass. The same device asking again (the same
// Calling-Station-Id; without one, the same port of the same NAS) takes over its own
// reservation, since most often the first login came to nothing: PPP failed behind
// it. Two devices with one Calling-Station-Id thus count as one until the first
// Start. Reservations are this Processor's own: servers side by side do not see
// each other's.
type Processor struct {
	// Handler is the billing system. Required. If it is a BatchHandler, a
	// PostAuther or an AddressPooler, it is used as such.
	Handler Handler

	// OnError says what happens when Authorize returns an error other than
	// ErrSubscriber. The zero value, FailSilent: no answer.
	OnError FailurePolicy

	// ShowReasons puts the true reason into every Access-Reject's Reply-Message,
	// also for those who did not give the right password.
	ShowReasons bool

	// PoolFull says what happens to a subscriber whose pool has no address left.
	// The zero value, PoolFullAccept: they are let in without one.
	PoolFull PoolFullPolicy

	// MPPE is the policy for the keys of MS-CHAP and EAP. The zero value: MPPEAllow.
	MPPE MPPEPolicy

	// EAP says how EAP is served. The zero value: EAP-MSCHAPv2 and EAP-MD5.
	EAP EAPConfig

	// ReservationTime is how long a session that was let in is reserved while
	// there is no Start. It should be longer than the server's MaxRequestTime. 0:
	// DefaultReservationTime; the most is MaxReservationTime; negative: sessions
	// are not reserved.
	ReservationTime time.Duration

	// MaxReservations is the most sessions that are reserved at once, about 300
	// octets each. Beyond it, logins are judged but not reserved, and counted in
	// Stats.Unreserved. 0: DefaultMaxReservations; the most is
	// LimitMaxReservations.
	MaxReservations int

	// Logger receives a line for each reject and each accounting record that was
	// discarded, at most one a second for each reason. nil: none.
	Logger *zap.Logger

	once  sync.Once
	err   error // of Validate
	table table
	eap   eapTable
	stats counters
	log   rejectLog
}

// A table is the reservations with their lock.
type table struct {
	mu           sync.Mutex // held for a few map operations, never across a call out
	reservations            // all but ttl and most, which do not change
}

var (
	_ radpool.BatchHandler = (*Processor)(nil)

	errNoHandler = errors.New("Handler is nil")
)

// Validate reports every field that is out of its bounds.
func (p *Processor) Validate() error {
	var errs []error
	wrong := func(err error) { errs = append(errs, fmt.Errorf("billing: Processor: %w", err)) }
	if p.Handler == nil {
		wrong(errNoHandler)
	}
	if p.OnError > FailReject {
		wrong(fmt.Errorf("OnError is %d, must be at most %d", p.OnError, FailReject))
	}
	if p.PoolFull > PoolFullReject {
		wrong(fmt.Errorf("PoolFull is %d, must be at most %d", p.PoolFull, PoolFullReject))
	}
	if p.MPPE > MPPEOff {
		wrong(fmt.Errorf("MPPE is %d, must be at most %d", p.MPPE, MPPEOff))
	}
	if p.ReservationTime > MaxReservationTime {
		wrong(fmt.Errorf("ReservationTime is %v, must be at most %v", p.ReservationTime, MaxReservationTime))
	}
	if p.MaxReservations < 0 || p.MaxReservations > LimitMaxReservations {
		wrong(fmt.Errorf("MaxReservations is %d, must be 0 to %d", p.MaxReservations, LimitMaxReservations))
	}
	if err := p.EAP.validate(); err != nil {
		wrong(fmt.Errorf("EAP: %w", err))
	}
	return errors.Join(errs...)
}

// ready makes the Processor ready at its first request.
func (p *Processor) ready() error {
	p.once.Do(func() {
		if p.err = p.Validate(); p.err != nil {
			return
		}
		ttl, most := p.ReservationTime, p.MaxReservations
		if ttl == 0 {
			ttl = DefaultReservationTime
		}
		if most == 0 {
			most = DefaultMaxReservations
		}
		p.table.mu.Lock()
		p.table.reservations = newReservations(ttl, most)
		p.table.mu.Unlock()
		p.eap.init(&p.EAP)
		p.log.init(p.Logger, time.Now())
	})
	return p.err
}

// Handle answers one request. It implements radpool.Handler.
func (p *Processor) Handle(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
	if err := p.ready(); err != nil {
		resp.Fail(err)
		return
	}
	switch req.Code {
	case radius.CodeAccessRequest:
		p.handleAccess(ctx, req, resp)
	case radius.CodeAccountingRequest:
		p.handleAccounting(ctx, req, resp)
	default:
		p.stats.ignored.Add(1)
	}
}

func (p *Processor) handleAccess(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
	a := p.beginAccess(req)
	if a.eap.is {
		defer p.settle(a, resp)
	}
	if p.answerAlone(a, resp) {
		return
	}
	var err error
	grant := a.kept()
	if grant == nil {
		var asked Grant
		asked, err = p.Handler.Authorize(ctx, &a.AccessRequest)
		grant = &asked
	}
	d, now, ok := p.decideAccess(a, grant, err, resp)
	switch {
	case !ok:
	case !grant.wantsLease(d):
		p.finishAccept(a, grant, d, now, netip.Addr{}, resp)
	default:
		l := newLease(a, grant, d)
		LeaseAll(ctx, p.Handler, []*AddressLease{l})
		p.finishLease(a, grant, d, now, l, resp)
	}
}

// beginAccess reads the request.
func (p *Processor) beginAccess(req *radpool.Request) *access {
	now := time.Now()
	a := readAccess(req, now)
	a.began = now
	if a.eap.is && p.EAP.Off {
		a.bad("EAP-Message")
	}
	return a
}

// answerAlone answers, if it can be done without the back end: a request that cannot
// be understood, and most of an EAP conversation.
func (p *Processor) answerAlone(a *access, resp *radpool.Response) bool {
	if a.problem != "" {
		p.reject(a, decision{reason: ReasonBadRequest, proven: true}, &Grant{}, resp)
		return true
	}
	return a.eap.is && p.receiveEAP(a, resp)
}

// decideAccess decides on the back end's answer. If that is no Access-Accept it
// answers and returns false.
func (p *Processor) decideAccess(a *access, g *Grant, err error, resp *radpool.Response) (d decision, now time.Time, accepted bool) {
	if err != nil {
		// That this is a subscriber at all is nothing for strangers.
		p.fail(a, fmt.Errorf("authorize: %w", err), !errors.Is(err, ErrSubscriber), resp)
		return d, now, false
	}
	if a.eap.session != nil && !p.proveEAP(a, g, resp) {
		return d, now, false
	}
	now = a.began
	if g.timed() {
		now = time.Now()
	}
	if d = p.table.decide(a, g, now); !d.accepted() {
		p.reject(a, d, g, resp)
		return d, now, false
	}
	return d, now, true
}

// fail answers a request for which the back end failed: not at all, or with a reject.
func (p *Processor) fail(a *access, err error, proven bool, resp *radpool.Response) {
	p.stats.authorizeErrors.Add(1)
	a.tell(decision{reason: ReasonUnavailable}, FormNone, err, resp)
	if !errors.Is(err, ErrSubscriber) && p.OnError != FailReject {
		resp.Fail(fmt.Errorf("billing: %w", err))
		return
	}
	p.log.failure(time.Now(), a, err)
	p.reject(a, decision{reason: ReasonUnavailable, proven: proven}, &Grant{}, resp)
}

// finishAccept writes the Access-Accept, with the address that was leased, if any.
func (p *Processor) finishAccept(a *access, g *Grant, d decision, now time.Time, addr netip.Addr, resp *radpool.Response) {
	if err := p.accept(a, g, d, now, resp); err != nil {
		p.stats.authorizeErrors.Add(1)
		resp.Fail(err)
		return
	}
	a.tell(d, g.Password.Form(), nil, resp)
	if addr.IsValid() {
		octets := addr.As4()
		resp.Add(rfc2865.FramedIPAddress_Type, octets[:])
	}
	if d.restricted {
		p.stats.restricted.Add(1)
	} else {
		p.stats.accepted.Add(1)
	}
	p.postAuth(a, d, "")
}

// reject writes an Access-Reject, and tells everybody about it.
func (p *Processor) reject(a *access, d decision, g *Grant, resp *radpool.Response) {
	if d.reason != ReasonUnavailable { // else fail has told of the error
		a.tell(d, g.Password.Form(), nil, resp)
	}
	message := g.Message
	switch {
	case !d.proven && !p.ShowReasons:
		message = strangerText
	case message == "":
		message = d.reason.Text()
	}
	reply := g.RejectReply
	if a.eap.is {
		message, reply = "", withoutReplyMessage(reply)
	}
	if g.Reason != ReasonNone && g.RejectReply != nil {
		resp.AddShared(reply)
		a.writeReject("", resp)
	} else {
		a.writeReject(message, resp)
	}
	p.stats.rejected[d.reason].Add(1)
	p.log.reject(time.Now(), a, d.reason)
	p.postAuth(a, d, message)
}

// postAuth tells the back end, if it wants to hear.
func (p *Processor) postAuth(a *access, d decision, message string) {
	h, ok := p.Handler.(PostAuther)
	if !ok {
		return
	}
	a.result = AuthResult{
		Access:     &a.AccessRequest,
		Time:       time.Now(),
		Accepted:   d.accepted(),
		Restricted: d.restricted,
		Reason:     d.reason,
		Message:    message,
		Password:   a.cred.given,
	}
	h.PostAuth(&a.result)
}
