package billingtest

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/arena"
	"github.com/radpool/radpool/internal/wire"
	"github.com/radpool/radpool/radpool"
)

// maxRequestTime is how long a handler gets, as in a radpool.Server of default
// Config.
const maxRequestTime = 9 * time.Second

// maxAttributes is how many attributes a request may have, as in a radpool.Server
// of default Config.
const maxAttributes = 200

// serverAddr is the address that requests are sent to.
var serverAddr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, 254}), 1812)

// arenas is where requests live, as in a radpool.Server: what a handler keeps
// against the rules is overwritten here as it is there.
var arenas = func() *arena.Pool {
	p, err := arena.NewPool(arena.Config{})
	if err != nil {
		panic("billingtest: " + err.Error())
	}
	return p
}()

// Do runs req through h as a radpool.Server would, without a socket, a queue or
// another goroutine: the request is encoded, parsed, verified and decoded into an
// arena; the reply is encoded, signed and verified as by the NAS. ctx is the
// handler's but for a deadline of 9 s, and ends when h returns. A panic of h goes
// through to the caller.
//
// That h fails, or does not reply, is in the [Reply]. An error says that the
// request cannot be sent, or that the reply is not one that the NAS or the
// subscriber would accept.
func Do(ctx context.Context, h radpool.Handler, req Request) (*Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, maxRequestTime)
	defer cancel()
	x, err := open(req)
	if err != nil {
		return nil, err
	}
	defer x.arena.Release()
	h.Handle(ctx, x.request, x.response)
	return x.reply()
}

// A Batch is the method of a radpool.BatchHandler that [DoBatch] needs.
type Batch interface {
	HandleBatch(batch []*radpool.Exchange)
}

// DoBatch is [Do] for requests that a worker took together. The replies are in the
// order of the requests; where one is in error it is nil, and the errors of all are
// joined.
func DoBatch(ctx context.Context, h Batch, reqs ...Request) ([]*Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, maxRequestTime)
	defer cancel()
	batch := make([]*radpool.Exchange, len(reqs))
	exchanges := make([]*exchange, len(reqs))
	for i, req := range reqs {
		x, err := open(req)
		if err != nil {
			return nil, fmt.Errorf("request %d: %w", i, err)
		}
		defer x.arena.Release()
		exchanges[i] = x
		batch[i] = &radpool.Exchange{Ctx: ctx, Request: x.request, Response: x.response}
	}
	h.HandleBatch(batch)
	replies := make([]*Reply, len(reqs))
	var errs []error
	for i, x := range exchanges {
		reply, err := x.reply()
		if err != nil {
			errs = append(errs, fmt.Errorf("request %d: %w", i, err))
			continue
		}
		replies[i] = reply
	}
	return replies, errors.Join(errs...)
}

// Run is [Do] for tests and benchmarks: an error is fatal.
func Run(t testing.TB, h radpool.Handler, req Request) *Reply {
	t.Helper()
	reply, err := Do(t.Context(), h, req)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// RunBatch is [DoBatch] for tests and benchmarks: an error is fatal.
func RunBatch(t testing.TB, h Batch, reqs ...Request) []*Reply {
	t.Helper()
	replies, err := DoBatch(t.Context(), h, reqs...)
	if err != nil {
		t.Fatal(err)
	}
	return replies
}

// exchange is one request on the server's side. The arena is its caller's to
// release.
type exchange struct {
	sent     *sent
	arena    *arena.Arena
	datagram []byte // what was verified: the handler cannot reach it but through the packet
	shape    wire.Shape
	request  *radpool.Request
	response *radpool.Response
}

// open receives the request as the server does.
func open(r Request) (*exchange, error) {
	s, err := r.encode()
	if err != nil {
		return nil, err
	}
	shape, fault := wire.Parse(s.datagram, maxAttributes)
	if fault != wire.WellFormed {
		return nil, fmt.Errorf("billingtest: a server drops this request: %s", shape.Explain(fault))
	}
	if !wire.Verify(s.datagram, &shape, s.secret) {
		return nil, errors.New("billingtest: a server drops this request: an authenticator is wrong")
	}
	source := r.source()
	x := &exchange{sent: s, arena: arenas.Get(), shape: shape}
	x.datagram = x.arena.Copy(s.datagram)
	p := &radius.Packet{Secret: slices.Clone(s.packet.Secret)}
	wire.Decode(x.arena, x.datagram, &shape, p)
	x.request = radpool.NewRequest(p, x.arena)
	x.request.Client = &radpool.Client{
		Prefix: netip.PrefixFrom(source.Addr(), source.Addr().BitLen()), Name: source.Addr().String(), Secret: p.Secret,
	}
	x.request.RemoteAddr, x.request.LocalAddr = source, serverAddr
	x.response = radpool.NewResponse(x.request)
	return x, nil
}

// reply sends the response, and receives it as the NAS does.
func (x *exchange) reply() (*Reply, error) {
	p := x.response.Packet // the handler may have put another in its place
	switch {
	case x.response.Err() != nil:
		return &Reply{Request: x.sent.packet, Err: x.response.Err()}, nil
	case p == nil || p.Code == 0:
		return &Reply{Request: x.sent.packet}, nil
	}
	b, err := wire.Encode(nil, p, x.datagram, &x.shape, x.sent.secret)
	if err != nil {
		// The server counts it as a failure of the handler, and so do we.
		return &Reply{Request: x.sent.packet, Err: err}, nil
	}
	return receive(b, x.sent)
}
