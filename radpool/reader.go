package radpool

import (
	"errors"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/cache"
	"github.com/radpool/radpool/internal/udp"
	"github.com/radpool/radpool/internal/wire"
)

const (
	// readBatch is how many datagrams a reader takes at once.
	readBatch = 32

	// datagramRoom is what a datagram is read into: one octet more than a packet
	// may have.
	datagramRoom = wire.MaxPacketLength + 1
)

// reader is a goroutine that reads a socket, takes each datagram as far as it
// goes without a handler, and then hands the new requests over to the workers, or
// runs them as one itself (see lead). What is not atomic and not in the outbox is
// the goroutine's own.
type reader struct {
	*listener
	counters *counters
	in       []udp.Message
	out      outbox
	jobs     []Job[*waiting] // the new requests of this batch
	arrived  time.Time       // when this batch came to the socket
	reply    radius.Packet
	key      cache.Request // here, since what is passed by pointer would else be allocated

	// For the watchdog. since is when the handler began that the reader runs now, in
	// nanoseconds of the engine, 0 if it runs none, or deposed, for good. That these
	// are one word is what makes it certain that only a reader inside a handler is
	// deposed: it will read no more, and nothing of it is used but by that handler.
	since atomic.Int64
	led   atomic.Bool // it has run handlers since the watchdog looked

	perJob time.Duration // how long a request takes to run, on the average of late
}

// deposed is the reader's since when another has taken over.
const deposed = -1

// newBuffers is what a listener's datagrams are read into. A reader leaves it to
// the one that takes over: those that a handler holds up cost no memory of this size.
func newBuffers() []udp.Message {
	in := make([]udp.Message, readBatch)
	mem := make([]byte, readBatch*datagramRoom)
	for i := range in {
		in[i].Buf = mem[i*datagramRoom:][:datagramRoom:datagramRoom]
	}
	return in
}

// startReader makes a new reader the listener's own, which reads into in. Called
// while one is there that the end waits for, or under the engine's lock.
func (e *engine) startReader(l *listener, in []udp.Message) {
	r := &reader{listener: l, counters: e.counters.take(), in: in}
	r.out.reads = l
	l.reader.Store(r)
	e.readers.Add(1)
	go r.read()
}

// read reads until the server ends, or another reader has taken over.
func (r *reader) read() {
	err := errHandlerExit
	defer func() {
		r.leave(err)
	}()
	err = r.readAll()
}

// errHandlerExit stands for the end of the goroutine by runtime.Goexit in a
// handler.
var errHandlerExit = errors.New("radpool: a handler has ended its goroutine")

// leave is the end of the goroutine, however it came. A reader that is still the
// listener's own and was ended by a handler is followed by another.
func (r *reader) leave(err error) {
	e := r.engine
	defer e.readers.Done()
	r.out.send() // what a handler that ended it has left there
	e.counters.put(r.counters)
	switch {
	case r.replaced():
	case errors.Is(err, errHandlerExit):
		e.startReader(r.listener, r.in)
	default:
		r.ended <- err
	}
}

func (r *reader) readAll() error {
	backoff := time.Duration(0)
	for !r.stopped() {
		n, err := r.conn.ReadBatch(r.in)
		if n > 0 {
			backoff = 0
			r.receive(r.in[:n], time.Now())
			if r.replaced() {
				return nil
			}
		}
		if err == nil || r.stopped() {
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			r.engine.removeListener(r.listener)
			return err // not by us, who are not stopping
		}
		r.counters.readErrors.Add(1)
		r.engine.drops.readFailed(time.Now(), r.local, err)
		backoff = min(max(2*backoff, time.Millisecond), time.Second)
		r.pause(backoff)
	}
	r.drain()
	return ErrServerClosed
}

// receive takes a batch of datagrams as far as it goes without a worker, and
// sends the replies that need none.
func (r *reader) receive(in []udp.Message, now time.Time) {
	r.counters.received.Add(uint64(len(in)))
	r.jobs = r.jobs[:0]
	r.arrived = now.Add(-r.age(now, len(in) < len(r.in)))
	for i := range in {
		r.take(&in[i], now)
	}
	if len(r.jobs) > 0 {
		r.submit(now)
	}
	r.out.send()
}

// take judges one datagram. Nothing that it says is believed, and nothing but a
// counter changes, until its authenticators are verified.
func (r *reader) take(m *udp.Message, now time.Time) {
	e := r.engine
	b := m.Buf[:m.N]
	shape, fault := wire.Parse(b, e.config.MaxAttributes)
	if fault != wire.WellFormed {
		r.drop(now, Malformed, m, nil, &shape, fault)
		return
	}
	client := e.clients.lookup(m.Addr.Addr())
	switch {
	case client == nil:
		r.drop(now, UnknownClient, m, nil, &shape, fault)
		return
	case !r.serves(shape.Code):
		r.drop(now, WrongCode, m, client, &shape, fault)
		return
	case !r.authentic(b, &shape, client):
		r.drop(now, Unauthentic, m, client, &shape, fault)
		return
	}
	if isDynamic(shape.Code) && e.stale(now, b[:shape.Length], client) != "" {
		r.drop(now, Stale, m, client, &shape, fault)
		return
	}
	if shape.Code == radius.CodeStatusServer {
		r.counters.outcomes[askedOther][StatusServer].Add(1)
		r.statusServer(m, &shape, client)
		return
	}
	r.admit(m, b, &shape, client, now)
}

// authentic reports whether the packet is the client's: the authenticators that
// it carries are right, and those that it must carry are there.
func (r *reader) authentic(b []byte, s *wire.Shape, client *clientEntry) bool {
	if s.RequiresMessageAuthenticator() && !s.HasMessageAuthenticator() {
		return false
	}
	if s.Code == radius.CodeAccessRequest && client.missing(s) != "" {
		return false
	}
	if !wire.Verify(b, s, client.secret) {
		return false
	}
	if s.HasMessageAuthenticator() && s.Code == radius.CodeAccessRequest {
		client.learn()
	}
	return true
}

// admit asks the cache whether the request is new, and hands a new one on.
func (r *reader) admit(m *udp.Message, b []byte, shape *wire.Shape, client *clientEntry, now time.Time) {
	e := r.engine
	r.key = cache.Request{
		Key:           cache.Key{Listener: r.id, Client: m.Addr, Code: byte(shape.Code), Identifier: shape.Identifier},
		Authenticator: wire.Authenticator(b),
		Length:        uint16(shape.Length),
	}
	var ticket cache.Ticket
	var verdict cache.Verdict
	r.out.add(r.listener, *m, func(memory []byte) ([]byte, bool) {
		ticket, verdict, memory = e.cache.Begin(now, &r.key, memory)
		return memory, verdict == cache.Replay
	})
	what := askedBy(shape.Code)
	switch verdict {
	case cache.Replay:
		client.shown.of[what].duplicates.Add(1)
		r.counters.outcomes[what][Replayed].Add(1)
	case cache.InFlight, cache.Silent:
		client.shown.of[what].duplicates.Add(1)
		r.drop(now, Duplicate, m, client, shape, wire.WellFormed)
	case cache.Full:
		client.shown.of[what].requests.Add(1)
		r.drop(now, TableFull, m, client, shape, wire.WellFormed)
	case cache.Fresh, cache.Superseded:
		r.accept(m, b, shape, client, ticket, now)
	}
}

// accept makes a job of a new request, for submit.
func (r *reader) accept(m *udp.Message, b []byte, shape *wire.Shape, client *clientEntry, ticket cache.Ticket, now time.Time) {
	e := r.engine
	class, kind := classOf(shape)
	r.counters.requests[kind].Add(1)
	client.shown.of[askedBy(shape.Code)].requests.Add(1)
	if e.outpaced.Load() && r.shed(class) {
		ticket.Abandon()
		r.drop(now, Shed, m, client, shape, wire.WellFormed)
		return
	}
	at := r.arrived.Sub(e.epoch)
	w := e.newWaiting(origin{
		listener: r.listener, client: client, ticket: ticket, remote: m.Addr, local: m.Local, received: int64(at),
	}, b[:shape.Length])
	r.jobs = append(r.jobs, Job[*waiting]{Value: w, Class: class, Flow: e.flowOf(m.Addr.Addr()), Expires: e.expiry(client, at, at)})
}

// shed reports whether AutoLimitAcct drops this request.
func (r *reader) shed(class Class) bool {
	e := r.engine
	p := shedProbability(class, e.pool.Queued(), e.config.MaxQueueSize)
	return p > 0 && rand.Float64() < p
}

// classOf says how urgent a request is, and of which kind.
func classOf(s *wire.Shape) (Class, requestKind) {
	if s.Code == radius.CodeAccessRequest {
		if s.HasState() {
			return ClassConversation, kindAccess
		}
		return ClassAccess, kindAccess
	}
	switch s.Code {
	case radius.CodeCoARequest:
		return ClassAccess, kindCoA
	case radius.CodeDisconnectRequest:
		return ClassAccess, kindDisconnect
	}
	if s.AcctStatusType == 3 { // Interim-Update
		return ClassInterim, kindAccounting
	}
	return ClassAccounting, kindAccounting
}

// drop counts a datagram that goes no further, and tells those who want to know.
func (r *reader) drop(now time.Time, o Outcome, m *udp.Message, client *clientEntry, s *wire.Shape, fault wire.Malformed) {
	what := askedBy(s.Code)
	if o == Malformed || o == WrongCode {
		what = r.usual()
	}
	r.counters.outcomes[what][o].Add(1)
	if isDrop(o) {
		client.shown.of[what].dropped.Add(1)
	}
	t, wanted := r.engine.telling(now, o)
	if !wanted {
		return
	}
	i := DropInfo{Outcome: o, RemoteAddr: m.Addr, Code: s.Code, Identifier: s.Identifier}
	if client != nil {
		i.Client = &client.Client
	}
	switch {
	case fault != wire.WellFormed:
		i.Detail = s.Explain(fault)
	case o == Unauthentic:
		i.Detail = client.explain(s)
	case o == Stale:
		i.Detail = r.engine.stale(now, m.Buf[:s.Length], client)
	}
	t.tell(i)
}
