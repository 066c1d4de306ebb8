package loadgen

import (
	"bytes"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2866"

	"github.com/radpool/radpool/internal/wire"
)

// step is what a conversation asks next.
type step uint8

const (
	stepLogin step = iota // or a Status-Server
	stepStart
	stepInterim
	stepStop
	stepOver
)

// How much Class a session keeps, more than servers send: octets, and attributes.
const (
	maxClass   = 1024
	maxClasses = 16
)

// A conversation is one subscriber from Access-Request to Stop, or as much of that as its Kind has. It asks one thing at
// a time.
type conversation struct {
	number uint64 // of the run, from 0
	user   int
	kind   Kind
	step   step
	due    time.Duration // when the next request is to be sent

	// What a session knows from its Access-Accept.
	class   []byte // Class attributes, whole
	classes int
	timeout time.Duration
	every   time.Duration // between records
	address [4]byte       // Framed-IP-Address; zero: one is made up
	success [43]byte      // the value of MS-CHAP2-Success that must come
	ntKey   [16]byte      // what MS-CHAP-MPPE-Keys must hold after MS-CHAP version 1

	elapsed  time.Duration // Acct-Session-Time of the next record
	interims int           // sent
	cause    rfc2866.AcctTerminateCause
}

// open makes c a new conversation.
func (c *conversation) open(number uint64, user int, kind Kind, due time.Duration) {
	*c = conversation{number: number, user: user, kind: kind, due: due, class: c.class[:0]}
	if kind.Method == MethodNone {
		c.step = stepStart
	}
}

// learn takes from an Access-Accept what the accounting of the session needs: Class, which is sent back as it came (RFC
// 2865 section 5.25), Session-Timeout (5.27), Acct-Interim-Interval (RFC 2869 section 5.16) and the address.
func (c *conversation) learn(accept []byte) {
	for t, value := range wire.Attributes(accept[wire.HeaderLength:]) {
		number, ok := uint32Of(value)
		switch t {
		case typeClass:
			if c.classes < maxClasses && len(c.class)+2+len(value) <= maxClass {
				c.class = append(append(c.class, byte(t), byte(2+len(value))), value...)
				c.classes++
			}
		case typeSessionTimeout:
			if ok {
				c.timeout = time.Duration(number) * time.Second
			}
		case typeInterimInterval:
			if ok && number > 0 {
				c.every = time.Duration(number) * time.Second
			}
		case typeFramedIPAddress:
			if ok && number != 0xffffffff && number != 0xfffffffe { // not: the subscriber or the NAS chooses
				copy(c.address[:], value)
			}
		}
	}
}

// provesPassword reports whether an Access-Accept carries the MS-CHAP2-Success that belongs to what was sent.
func (c *conversation) provesPassword(accept []byte) bool {
	for t, value := range wire.Attributes(accept[wire.HeaderLength:]) {
		if t != typeVendorSpecific {
			continue
		}
		if success, ok := microsoft(value, msCHAP2Success); ok && bytes.Equal(success, c.success[:]) {
			return true
		}
	}
	return false
}

// wrongKeys reports whether an Access-Accept carries an MS-CHAP-MPPE-Keys that does not belong to the password. Version 1 of
// MS-CHAP has no other proof that the server knows it, and a server need not send them. auth is that of the request, and
// scratch memory to work in.
func (c *conversation) wrongKeys(accept []byte, auth [16]byte, secret *wire.Secret, scratch []byte) bool {
	for t, value := range wire.Attributes(accept[wire.HeaderLength:]) {
		if t != typeVendorSpecific {
			continue
		}
		hidden, ok := microsoft(value, msCHAPMPPEKeys)
		if !ok {
			continue
		}
		keys, err := wire.RevealPassword(scratch[:0], hidden, auth, secret)
		if err != nil || len(hidden) != 32 { // 8 octets of LM, 16 of NT, 8 of padding
			return true
		}
		for len(keys) < 24 { // NULs at the end are not told from padding
			keys = append(keys, 0)
		}
		return len(keys) != 24 || !bytes.Equal(keys[8:], c.ntKey[:])
	}
	return false
}

// answered moves on after an answer, and returns how much session time passes until the next request.
func (c *conversation) answered(code radius.Code, interims int, interval time.Duration, ending bool) (wait time.Duration) {
	switch c.step {
	case stepLogin:
		c.step = stepOver
		if c.kind.Session && code == radius.CodeAccessAccept {
			c.step = stepStart
		}
		return 0
	case stepStart, stepInterim:
		return c.afterRecord(interims, interval, ending)
	default:
		c.step = stepOver
		return 0
	}
}

// afterRecord decides on the record after a Start or an Interim.
func (c *conversation) afterRecord(interims int, interval time.Duration, ending bool) (wait time.Duration) {
	if c.step == stepInterim {
		c.interims++
	}
	if ending {
		c.cut()
		return 0
	}
	if c.every > 0 {
		interval = c.every
	}
	c.step = stepInterim
	if c.interims >= interims {
		c.step, c.cause = stepStop, rfc2866.AcctTerminateCause_Value_UserRequest
	}
	if c.timeout > 0 && c.elapsed+interval >= c.timeout {
		interval = max(c.timeout-c.elapsed, 0)
		c.step, c.cause = stepStop, rfc2866.AcctTerminateCause_Value_SessionTimeout
	}
	c.elapsed += interval
	return interval
}

// cut has the session end now, because the run does.
func (c *conversation) cut() {
	c.step, c.cause = stepStop, rfc2866.AcctTerminateCause_Value_NASRequest
}

// status is the Acct-Status-Type of the record.
func (c *conversation) status() rfc2866.AcctStatusType {
	switch c.step {
	case stepStart:
		return rfc2866.AcctStatusType_Value_Start
	case stepInterim:
		return rfc2866.AcctStatusType_Value_InterimUpdate
	default:
		return rfc2866.AcctStatusType_Value_Stop
	}
}

// waiting is the sessions between two records, by the time of the next; a heap for container/heap.
type waiting []*conversation

func (w waiting) Len() int           { return len(w) }
func (w waiting) Less(i, j int) bool { return w[i].due < w[j].due }
func (w waiting) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }
func (w *waiting) Push(x any)        { *w = append(*w, x.(*conversation)) }
func (w *waiting) Pop() any {
	last := len(*w) - 1
	c := (*w)[last]
	(*w)[last] = nil
	*w = (*w)[:last]
	return c
}

// queue is conversations in the order in which they came. The zero value is empty.
type queue struct {
	items []*conversation
	head  int
}

func (q *queue) empty() bool { return q.head == len(q.items) }

func (q *queue) push(c *conversation) {
	if q.head > 64 && q.head*2 > len(q.items) {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, c)
}

func (q *queue) pop() *conversation {
	c := q.items[q.head]
	q.items[q.head] = nil
	if q.head++; q.empty() {
		q.items, q.head = q.items[:0], 0
	}
	return c
}
