package radpool

import (
	"net/netip"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/arena"
	"github.com/radpool/radpool/cache"
	"github.com/radpool/radpool/internal/wire"
)

// job is one request on its way from a reader to a worker. It is made by the
// reader, owned by whoever holds it (the queue, then a worker), and ended
// exactly once, by finish.
type job struct {
	listener *listener
	client   *clientEntry
	ticket   cache.Ticket
	arena    *arena.Arena
	datagram []byte // a copy in the arena: what was verified, which no handler can reach
	shape    wire.Shape
	remote   netip.AddrPort
	local    netip.Addr // the address that was asked; not valid where the system does not tell
	received time.Time

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
func (e *engine) newJob() *job {
	if j, ok := e.jobs.Get().(*job); ok {
		return j
	}
	return new(job)
}

// open decodes the request and makes the response ready for the Handler.
func (j *job) open(e *engine) {
	wire.Decode(j.arena, j.datagram, &j.shape, &j.requestPacket)
	j.requestPacket.Secret = j.client.Secret
	j.replyPacket = radius.Packet{
		Identifier:    j.requestPacket.Identifier,
		Authenticator: j.requestPacket.Authenticator,
		Secret:        j.client.Secret,
		Attributes:    j.attributes[:0],
	}
	j.request = Request{
		Packet:     &j.requestPacket,
		Client:     &j.client.Client,
		RemoteAddr: j.remote,
		LocalAddr:  j.listener.local,
		Received:   j.received,
		arena:      j.arena,
	}
	if j.local.IsValid() {
		j.request.LocalAddr = netip.AddrPortFrom(j.local, j.listener.local.Port())
	}
	j.response = Response{Packet: &j.replyPacket, arena: j.arena}
	if j.context == nil {
		j.context = new(requestContext)
	}
	j.context.begin(e.base, j.received.Add(e.config.MaxRequestTime))
	j.exchange = Exchange{Ctx: j.context, Request: &j.request, Response: &j.response}
}

// release gives the memory of the request back. What a handler kept against the
// rules must not come to see another request's: where arenas catch such use
// (arena.Debug), the job is not used again either.
func (j *job) release(e *engine) {
	context := j.context
	if context != nil && !context.end() {
		context = nil
	}
	j.arena.Release()
	*j = job{context: context}
	if !arena.Debug {
		e.jobs.Put(j)
	}
}
