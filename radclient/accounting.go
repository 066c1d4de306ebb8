package radclient

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"

	"github.com/radpool/radpool/internal/wire"
)

// Errors of an [AccountingQueue].
var (
	// ErrQueueFull: MaxQueue records wait or are under way. The record was not taken.
	ErrQueueFull = errors.New("radclient: accounting queue full")

	// ErrTooOld: a record was given up after MaxAge.
	ErrTooOld = errors.New("radclient: accounting record too old")
)

// AccountingConfig is what an [AccountingQueue] is made of. Zero fields mean their defaults.
type AccountingConfig struct {
	// Client sends the records. Required. The queue does not close it.
	Client *Client

	// MaxQueue is how many records there may be without an acknowledgement. From 1 to 1,048,576; zero means 65,536.
	MaxQueue int

	// MaxInFlight is how many of them are under way at once. From 1 to 65,536; zero means 256.
	MaxInFlight int

	// MaxAge is after what time a record is dropped. From 1 min to 365 days; zero means 24 h.
	MaxAge time.Duration

	// Dropped is told of each record that was taken and is lost, with [ErrTooOld] or why it cannot be sent. It is called
	// from the goroutines that send, and p is its own. nil: they are counted alone.
	Dropped func(p *radius.Packet, err error)
}

// AccountingQueue sends Accounting-Requests until they are acknowledged, also over hours in which no server is there. Each
// round of retransmissions (see [Retransmission]) that ends without an Accounting-Response is followed by another, after those of the
// records that wait. A new round is a new request, with another Identifier and Request Authenticator, since its
// Acct-Delay-Time says how much longer it has taken (RFC 2866 section 5.2); within a round the octets stay the same. A
// record without an Event-Timestamp (RFC 2869 section 5.3) gets that of its arrival in the queue.
//
// Records are sent in the order in which they came but several at once, so a Stop may be acknowledged before its Start:
// servers must bear that in any case. They are in memory alone; what is left at the end [AccountingQueue.Shutdown]
// returns. Methods may be called from many goroutines at once.
type AccountingQueue struct {
	config  AccountingConfig
	ctx     context.Context // of what is under way
	cancel  context.CancelFunc
	workers sync.WaitGroup

	mu      sync.Mutex // guards what follows
	queue   []*record  // that wait, oldest first
	running int        // records that are under way: one a worker
	closed  bool
	stats   AccountingStats
}

// AccountingStats is what an [AccountingQueue] has counted.
//
//	Taken = Acknowledged + TooOld + Unsendable + Waiting
type AccountingStats struct {
	Taken        uint64 // by Send
	Refused      uint64 // ErrQueueFull
	Acknowledged uint64 // by a server: the record is its
	TooOld       uint64 // given up after AccountingConfig.MaxAge
	Unsendable   uint64 // could not be encoded
	Rounds       uint64 // of retransmissions, that ended without an acknowledgement
	Waiting      int    // now, those under way among them
}

// record is an Accounting-Request that waits for its acknowledgement.
type record struct {
	packet *radius.Packet
	taken  time.Time
	delay  uint32 // Acct-Delay-Time that it came with, in seconds
	pause  time.Duration
}

// NewAccountingQueue makes one that is empty. Its goroutines run while there are records, and end with Shutdown.
func NewAccountingQueue(config AccountingConfig) (*AccountingQueue, error) {
	if config.Client == nil {
		return nil, &ConfigError{"Client", nil, "set"}
	}
	config.MaxQueue = cmp.Or(config.MaxQueue, 65536)
	config.MaxInFlight = cmp.Or(config.MaxInFlight, 256)
	config.MaxAge = cmp.Or(config.MaxAge, 24*time.Hour)
	if err := firstError(
		within("MaxQueue", config.MaxQueue, 1, 1<<20),
		within("MaxInFlight", config.MaxInFlight, 1, 1<<16),
		within("MaxAge", config.MaxAge, time.Minute, 365*24*time.Hour),
	); err != nil {
		return nil, err
	}
	q := &AccountingQueue{config: config}
	q.ctx, q.cancel = context.WithCancel(context.Background())
	return q, nil
}

// Send takes a copy of an Accounting-Request, and returns at once. The error is [ErrQueueFull], [ErrClosed] or [ErrCode], or says
// that it can never be encoded.
func (q *AccountingQueue) Send(p *radius.Packet) error {
	if p.Code != radius.CodeAccountingRequest {
		return fmt.Errorf("%w for accounting: %v (%d)", ErrCode, p.Code, int(p.Code))
	}
	r := &record{packet: &radius.Packet{Code: p.Code}, taken: time.Now()}
	stamped := false
	for _, a := range p.Attributes {
		if a == nil {
			return wire.ErrNilAttribute
		}
		r.packet.Add(a.Type, append(radius.Attribute(nil), a.Attribute...))
		switch {
		case a.Type == rfc2866.AcctDelayTime_Type && len(a.Attribute) == 4:
			r.delay = binary.BigEndian.Uint32(a.Attribute)
		case a.Type == rfc2869.EventTimestamp_Type:
			stamped = true
		}
	}
	if !stamped {
		r.packet.Add(rfc2869.EventTimestamp_Type, radius.NewInteger(uint32(r.taken.Unix())))
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return ErrClosed
	case len(q.queue)+q.running >= q.config.MaxQueue:
		q.stats.Refused++
		return ErrQueueFull
	}
	q.stats.Taken++
	q.queue = append(q.queue, r)
	if q.running < q.config.MaxInFlight {
		q.running++
		first := q.pop()
		q.workers.Go(func() { q.work(first) })
	}
	return nil
}

// pop takes the first that waits. Called with the lock held.
func (q *AccountingQueue) pop() *record {
	r := q.queue[0]
	q.queue[0] = nil
	if q.queue = q.queue[1:]; len(q.queue) == 0 {
		q.queue = nil // so that the memory of a long one is not kept
	}
	return r
}

// work sends records, beginning with r, until none waits or the end is hurried.
func (q *AccountingQueue) work(r *record) {
	var reply Reply
	for r != nil {
		r.stamp(time.Now())
		err := q.config.Client.Exchange(q.ctx, r.packet, &reply)
		if err == nil && reply.Code != radius.CodeAccountingResponse {
			err = fmt.Errorf("radclient: %v answered accounting with %v", reply.Server, reply.Code)
		}
		r = q.settle(r, err)
	}
}

// settle notes what became of r and returns the record to send next, nil at the end.
func (q *AccountingQueue) settle(r *record, err error) *record {
	hurried := q.ctx.Err() != nil || errors.Is(err, ErrClosed)
	lost := err != nil && !hurried && (unsendable(err) || time.Since(r.taken) >= q.config.MaxAge)
	if lost && q.config.Dropped != nil {
		why := err
		if !unsendable(err) {
			why = fmt.Errorf("%w, after %v: %w", ErrTooOld, time.Since(r.taken).Round(time.Second), err)
		}
		q.config.Dropped(r.packet, why)
	}
	if err != nil && !lost && !hurried {
		q.rest(r, err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case err == nil:
		q.stats.Acknowledged++
	case lost && unsendable(err):
		q.stats.Unsendable++
	case lost:
		q.stats.TooOld++
	default:
		q.stats.Rounds++
		q.queue = append(q.queue, r)
	}
	if len(q.queue) == 0 || hurried {
		q.running--
		return nil
	}
	return q.pop()
}

// rest waits before the next round where the last took no time, lest a Client that is full or a server that refuses is asked
// without end: from 100 ms, twice as long each time, to 10 s.
func (q *AccountingQueue) rest(r *record, err error) {
	if errors.Is(err, ErrNoReply) {
		return // it has waited
	}
	r.pause = min(max(2*r.pause, 100*time.Millisecond), 10*time.Second)
	select {
	case <-time.After(r.pause):
	case <-q.ctx.Done():
	}
}

// unsendable reports whether no further attempt can do better.
func unsendable(err error) bool {
	for _, never := range []error{wire.ErrPacketTooLong, wire.ErrValueTooLong, wire.ErrAttributeType, ErrUnknownServer} {
		if errors.Is(err, never) {
			return true
		}
	}
	return false
}

// stamp has Acct-Delay-Time say how long ago the event was.
func (r *record) stamp(now time.Time) {
	waited := uint64(max(0, now.Sub(r.taken)) / time.Second)
	delay := uint32(min(uint64(r.delay)+waited, 1<<32-1))
	if delay == 0 {
		return // as it came, whether it has one or not
	}
	r.packet.Set(rfc2866.AcctDelayTime_Type, radius.NewInteger(delay))
}

// Shutdown takes no more records, waits until those there are have been acknowledged, or until ctx ends, and returns those that were
// not, with their Acct-Delay-Time up to date, and ctx's error if there are any. After that no goroutine of the queue is left.
func (q *AccountingQueue) Shutdown(ctx context.Context) (left []*radius.Packet, err error) {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	stop := context.AfterFunc(ctx, q.cancel)
	q.workers.Wait()
	stop()
	q.cancel()
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range q.queue {
		r.stamp(time.Now())
		left = append(left, r.packet)
	}
	switch {
	case len(left) == 0:
		return nil, nil
	case ctx.Err() != nil:
		return left, ctx.Err()
	}
	return left, ErrClosed // the Client was closed before
}

// Stats returns what was counted so far.
func (q *AccountingQueue) Stats() AccountingStats {
	q.mu.Lock()
	defer q.mu.Unlock()
	st := q.stats
	st.Waiting = len(q.queue) + q.running
	return st
}
