package radpool

import (
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/cache"
	"github.com/radpool/radpool/internal/udp"
	"github.com/radpool/radpool/internal/wire"
)

const (
	// readBatch is how many datagrams a reader takes at once.
	readBatch = 32

	// receiveBuffer is the socket buffer asked for, in octets: some 10,000
	// requests. The system may give less.
	receiveBuffer = 4 << 20

	// datagramRoom is what a datagram is read into: one octet more than a packet
	// may have.
	datagramRoom = wire.MaxPacketLength + 1
)

// listener is one socket and its reader. What changes belongs to the reader's
// goroutine; conn may be written by all.
type listener struct {
	engine   *engine
	conn     udp.Conn
	id       uint32
	services Services
	local    netip.AddrPort
	counters *counters
	stopping chan struct{} // closed by stop

	in, out []udp.Message
	outMem  []byte      // the replies of out, one after the other
	jobs    []Job[*job] // the new requests of this batch
	reply   radius.Packet
	key     cache.Request // here, since what is passed by pointer would else be allocated
}

// stop makes the reader return. The socket stays open for the replies, unless it
// is of a kind that knows no deadlines: better that replies are lost than that
// the reader stays. To be called once.
func (l *listener) stop() {
	close(l.stopping)
	if err := l.conn.SetReadDeadline(time.Unix(1, 0)); err != nil {
		_ = l.conn.Close() // what it says was said already
	}
}

func (l *listener) stopped() bool {
	select {
	case <-l.stopping:
		return true
	default:
		return false
	}
}

// serve reads until the server ends. It is the reader's goroutine.
func (l *listener) serve() error {
	defer l.engine.readers.Done()
	defer l.engine.counters.put(l.counters)
	l.in = make([]udp.Message, readBatch)
	mem := make([]byte, readBatch*datagramRoom)
	for i := range l.in {
		l.in[i].Buf = mem[i*datagramRoom:][:datagramRoom:datagramRoom]
	}
	backoff := time.Duration(0)
	for !l.stopped() {
		n, err := l.conn.ReadBatch(l.in)
		if n > 0 {
			backoff = 0
			l.receive(l.in[:n], time.Now())
		}
		if err == nil || l.stopped() {
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			l.engine.removeListener(l)
			return err // not by us, who are not stopping
		}
		l.counters.readErrors.Add(1)
		l.engine.drops.readFailed(time.Now(), l.local, err)
		backoff = min(max(2*backoff, time.Millisecond), time.Second)
		l.pause(backoff)
	}
	return ErrServerClosed
}

// pause waits, or until the reader is to stop.
func (l *listener) pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-l.stopping:
	}
}

// receive takes a batch of datagrams as far as it goes without a worker, and
// sends the replies that need none.
func (l *listener) receive(in []udp.Message, now time.Time) {
	l.counters.received.Add(uint64(len(in)))
	l.out, l.outMem, l.jobs = l.out[:0], l.outMem[:0], l.jobs[:0]
	for i := range in {
		l.take(&in[i], now)
	}
	if len(l.jobs) > 0 {
		l.submit(now)
	}
	if len(l.out) > 0 {
		l.send(l.out, l.counters)
	}
}

// take judges one datagram. Nothing that it says is believed, and nothing but a
// counter changes, until its authenticators are verified.
func (l *listener) take(m *udp.Message, now time.Time) {
	e := l.engine
	b := m.Buf[:m.N]
	shape, fault := wire.Parse(b, e.config.MaxAttributes)
	if fault != wire.WellFormed {
		l.drop(now, Malformed, m, nil, &shape, fault)
		return
	}
	client := e.clients.lookup(m.Addr.Addr())
	switch {
	case client == nil:
		l.drop(now, UnknownClient, m, nil, &shape, fault)
		return
	case !l.serves(shape.Code):
		l.drop(now, WrongCode, m, client, &shape, fault)
		return
	case !l.authentic(b, &shape, client):
		l.drop(now, Unauthentic, m, client, &shape, fault)
		return
	}
	if shape.Code == radius.CodeStatusServer {
		l.counters.outcomes[StatusServer].Add(1)
		l.statusServer(m, &shape, client)
		return
	}
	l.admit(m, b, &shape, client, now)
}

// serves reports whether a packet of this code may come to this socket.
func (l *listener) serves(c radius.Code) bool {
	switch c {
	case radius.CodeAccessRequest:
		return l.services&Auth != 0
	case radius.CodeAccountingRequest:
		return l.services&Acct != 0
	}
	return c == radius.CodeStatusServer
}

// authentic reports whether the packet is the client's: the authenticators that
// it carries are right, and those that it must carry are there.
func (l *listener) authentic(b []byte, s *wire.Shape, client *clientEntry) bool {
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
func (l *listener) admit(m *udp.Message, b []byte, shape *wire.Shape, client *clientEntry, now time.Time) {
	e := l.engine
	l.key = cache.Request{
		Key:           cache.Key{Listener: l.id, Client: m.Addr, Code: byte(shape.Code), Identifier: shape.Identifier},
		Authenticator: wire.Authenticator(b),
		Length:        uint16(shape.Length),
	}
	start := len(l.outMem)
	ticket, verdict, mem := e.cache.Begin(now, &l.key, l.outMem)
	switch verdict {
	case cache.Replay:
		l.outMem = mem
		l.counters.outcomes[Replayed].Add(1)
		l.answer(m, start)
	case cache.InFlight, cache.Silent:
		l.drop(now, Duplicate, m, client, shape, wire.WellFormed)
	case cache.Full:
		l.drop(now, TableFull, m, client, shape, wire.WellFormed)
	case cache.Fresh, cache.Superseded:
		l.accept(m, b, shape, client, ticket, now)
	}
}

// accept makes a job of a new request, for submit.
func (l *listener) accept(m *udp.Message, b []byte, shape *wire.Shape, client *clientEntry, ticket cache.Ticket, now time.Time) {
	e := l.engine
	class, kind := classOf(shape)
	l.counters.requests[kind].Add(1)
	if e.outpaced.Load() && l.shed(class) {
		ticket.Abandon()
		l.drop(now, Shed, m, client, shape, wire.WellFormed)
		return
	}
	j := e.newJob()
	a := e.arenas.Get()
	*j = job{
		listener: l, client: client, ticket: ticket, arena: a, datagram: a.Copy(b[:shape.Length]), shape: *shape,
		remote: m.Addr, local: m.Local, received: now, context: j.context,
	}
	l.jobs = append(l.jobs, Job[*job]{Value: j, Class: class, Expires: now.Add(e.config.MaxRequestTime)})
}

// submit puts the new requests of a batch into the queue. One that was taken
// belongs to the pool from then on.
func (l *listener) submit(now time.Time) {
	l.counters.admitted.Add(uint64(len(l.jobs)))
	if l.engine.pool.SubmitBatch(l.jobs) == len(l.jobs) {
		clear(l.jobs)
		return
	}
	for i := range l.jobs {
		var o Outcome
		switch err := l.jobs[i].Err; {
		case err == nil:
			continue
		case errors.Is(err, ErrQueueFull):
			o = QueueFull
		case errors.Is(err, ErrExpired):
			o = Expired
		default:
			o = Aborted
		}
		j := l.jobs[i].Value
		j.ticket.Abandon()
		l.engine.finish(j, o, nil, l.counters, now)
	}
	clear(l.jobs)
}

// shed reports whether AutoLimitAcct drops this request.
func (l *listener) shed(class Class) bool {
	e := l.engine
	p := shedProbability(class, e.pool.Queued(), e.config.MaxQueueSize)
	return p > 0 && rand.Float64() < p
}

// classOf says how urgent a request is, and of which kind.
func classOf(s *wire.Shape) (Class, requestKind) {
	if s.Code == radius.CodeAccessRequest {
		return ClassAccess, kindAccess
	}
	if s.AcctStatusType == 3 { // Interim-Update
		return ClassInterim, kindAccounting
	}
	return ClassAccounting, kindAccounting
}

// statusServer answers a Status-Server (RFC 5997 section 4): Access-Accept, or
// Accounting-Response on a socket for accounting alone. It changes nothing, so
// it is not remembered.
func (l *listener) statusServer(m *udp.Message, shape *wire.Shape, client *clientEntry) {
	l.reply = radius.Packet{Code: radius.CodeAccessAccept}
	if l.services == Acct {
		l.reply.Code = radius.CodeAccountingResponse
	}
	start := len(l.outMem)
	mem, err := wire.Encode(l.outMem, &l.reply, m.Buf[:m.N], shape, client.secret)
	if err != nil {
		// A reply without attributes of its own can be too long only by the
		// request's Proxy-States, and those fitted into the request.
		l.counters.writeErrors.Add(1)
		return
	}
	l.outMem = mem
	l.answer(m, start)
}

// answer queues the octets of outMem from start on as the reply to m. outMem may
// move as it grows; what is queued keeps the old memory, which is not written
// again.
func (l *listener) answer(m *udp.Message, start int) {
	b := l.outMem[start:len(l.outMem):len(l.outMem)]
	l.out = append(l.out, udp.Message{Buf: b, N: len(b), Addr: m.Addr, Local: m.Local})
}

// send writes the replies, and counts those that the system refuses: they are as
// if lost on the way, and the NAS will ask again.
func (l *listener) send(out []udp.Message, c *counters) {
	n, err := l.conn.WriteBatch(out)
	if n == len(out) {
		return
	}
	c.writeErrors.Add(uint64(len(out) - n))
	l.engine.drops.writeFailed(time.Now(), l.local, err)
}

// drop counts a datagram that goes no further, and tells those who want to know.
func (l *listener) drop(now time.Time, o Outcome, m *udp.Message, client *clientEntry, s *wire.Shape, fault wire.Malformed) {
	l.counters.outcomes[o].Add(1)
	t, wanted := l.engine.telling(now, o)
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
	}
	t.tell(i)
}
