package radpool

import (
	"net/netip"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/arena"
	"github.com/radpool/radpool/internal/wire"
)

// job is a request that a worker runs, with all that the handler sees. It belongs
// to the worker, which uses it again.
type job struct {
	origin
	arena    *arena.Arena
	datagram []byte // a copy in the arena: what was verified, which no handler can reach
	shape    wire.Shape

	// What the Handler sees.
	exchange      Exchange
	request       Request
	response      Response
	requestPacket radius.Packet
	replyPacket   radius.Packet
	context       *requestContext
	attributes    [replyAttributes]*radius.AVP // room for a reply's attributes, so that appending to it is free
}

// replyAttributes is how many attributes a reply may have before its list moves
// to the heap.
const replyAttributes = 32

// newJob returns a job that holds nothing of an earlier one.
func (ws *workerState) newJob() *job {
	n := len(ws.free)
	if n == 0 {
		return new(job)
	}
	j := ws.free[n-1]
	ws.free = ws.free[:n-1]
	return j
}

// openJob makes a job of a request that has waited. The datagram was judged before, so
// it is well-formed.
func (e *engine) openJob(ws *workerState, w *waiting, now time.Time) *job {
	j := ws.newJob()
	j.origin = w.origin
	j.arena = e.arenas.Get()
	j.datagram = j.arena.Copy(w.datagram())
	j.shape, _ = wire.Parse(j.datagram, 0)
	e.free(w)

	wire.Decode(j.arena, j.datagram, &j.shape, &j.requestPacket)
	j.requestPacket.Secret = j.client.Secret
	j.replyPacket = radius.Packet{
		Identifier:    j.requestPacket.Identifier,
		Authenticator: j.requestPacket.Authenticator,
		Secret:        j.client.Secret,
		Attributes:    j.attributes[:0],
	}
	// By way of now, whose wall clock is right whatever was done to it since epoch.
	received := now.Add(time.Duration(j.received) - now.Sub(e.epoch))
	j.request = Request{
		Packet:     &j.requestPacket,
		Client:     &j.client.Client,
		RemoteAddr: j.remote,
		LocalAddr:  j.listener.local,
		Received:   received,
		arena:      j.arena,
	}
	if j.local.IsValid() {
		j.request.LocalAddr = netip.AddrPortFrom(j.local, j.listener.local.Port())
	}
	j.response = Response{Packet: &j.replyPacket, arena: j.arena, request: j.requestPacket.Code}
	if j.context == nil {
		j.context = new(requestContext)
	}
	j.context.begin(e.base, received.Add(e.config.MaxRequestTime))
	j.exchange = Exchange{Ctx: j.context, Request: &j.request, Response: &j.response}
	return j
}

// finish ends a job that was run: of every one exactly once.
func (e *engine) finish(ws *workerState, j *job, o Outcome, err error, now time.Time) {
	e.count(&j.origin, j.shape.Code, j.shape.Identifier, o, err, ws.counters, now)
	ws.release(j)
}

// release gives the memory of the request back. What a handler kept against the
// rules must not come to see another request's: where arenas catch such use
// (arena.Debug), the job is not used again either.
func (ws *workerState) release(j *job) {
	context := j.context
	if !context.end() {
		context = nil
	}
	j.arena.Release()
	*j = job{context: context}
	if !arena.Debug {
		ws.free = append(ws.free, j)
	}
}
