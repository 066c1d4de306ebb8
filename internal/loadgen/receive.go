package loadgen

import (
	"container/heap"
	"net/netip"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/wire"
)

// receive judges a datagram that came, and moves the conversation on whose request it answers.
func (l *lane) receive(now time.Duration, from netip.AddrPort, b []byte) {
	if from != l.Auth && from != l.Acct {
		l.counters.Foreign++
		return
	}
	l.counters.Replies++
	shape, fault := wire.Parse(b, 0)
	if fault != wire.WellFormed {
		l.counters.Malformed++
		return
	}
	f := l.auth
	if from == l.Acct {
		f = l.acct
	}
	id := b[1]
	r := &f.requests[id]
	if !r.busy || !wire.VerifyResponse(b, &shape, r.auth, l.secret) {
		if l.answersEarlier(r, b, &shape) {
			l.counters.Extra++
		} else {
			l.counters.BadSignature++
		}
		return
	}
	l.counters.Answered++
	l.recent.Record(now - r.first)
	l.lastAnswer, l.lastDone = now, now
	c := r.conv
	l.judge(c, r, b[:shape.Length], &shape)
	f.release(id)
	l.moveOn(c, shape.Code, b[:shape.Length], now)
}

// answersEarlier reports whether b answers a request that the Identifier was used for before: the answer to a
// retransmission or duplicate, or one that came after the request was given up.
func (l *lane) answersEarlier(r *request, b []byte, shape *wire.Shape) bool {
	for _, past := range r.past[:min(int(r.pasts), memory)] {
		if wire.Answers(past.code, shape.Code) && wire.VerifyResponse(b, shape, past.auth, l.secret) {
			return true
		}
	}
	return false
}

// judge counts what a verified reply is, and what is wrong with it.
func (l *lane) judge(c *conversation, r *request, b []byte, shape *wire.Shape) {
	n, request := &l.counters, r.code
	if !wire.Answers(request, shape.Code) {
		n.BadCode++
		return
	}
	switch {
	case request == radius.CodeStatusServer:
		n.StatusResponses++
	case shape.Code == radius.CodeAccessAccept:
		n.Accepts++
	case shape.Code == radius.CodeAccessReject:
		n.Rejects++
	case shape.Code == radius.CodeAccessChallenge:
		n.Challenges++
	case shape.Code == radius.CodeAccountingResponse:
		n.AccountingResponses++
	default: // a Protocol-Error answers, but nobody's question
		n.BadCode++
		return
	}
	if request == radius.CodeAccountingRequest {
		return
	}
	// One wrong reply is one, whatever is wrong with it.
	switch {
	case l.RequireMessageAuthenticator && shape.MessageAuthenticator != wire.HeaderLength:
		n.Unprotected++
	case request == radius.CodeStatusServer:
	case l.wants(c) != 0 && shape.Code != l.wants(c):
		n.Unexpected++
	case c.kind.Method == MethodMSCHAPv2 && shape.Code == radius.CodeAccessAccept && !c.provesPassword(b):
		n.UnprovenMSCHAP2++
	case c.kind.Method == MethodMSCHAP && shape.Code == radius.CodeAccessAccept && c.wrongKeys(b, r.auth, l.secret, l.builder.text):
		n.WrongMSCHAPKeys++
	}
}

// wants is the code that c's login must be answered with; 0: any.
func (l *lane) wants(c *conversation) radius.Code {
	if code := l.Users.expect(c.user); code != 0 {
		return code
	}
	return l.Expect
}

// moveOn has c ask what comes next, now or later.
func (l *lane) moveOn(c *conversation, code radius.Code, b []byte, now time.Duration) {
	if c.step == stepLogin && c.kind.Session && code == radius.CodeAccessAccept {
		c.learn(b)
	}
	wait := c.answered(code, l.Interims, l.Interval, l.ending)
	if c.step == stepOver {
		l.counters.Finished++
		l.over(c)
		return
	}
	c.due = now
	if l.Speed > 0 {
		c.due += time.Duration(float64(wait) / l.Speed)
	}
	if c.due > now {
		heap.Push(&l.waiting, c)
		return
	}
	l.ready(c)
}
