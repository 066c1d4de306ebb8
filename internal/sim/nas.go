package sim

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/radpool/radpool/cache"
	"github.com/radpool/radpool/radpool"
)

// Timers say when a NAS sends a request again, with the same Identifier and the same
// octets, and when it gives up.
type Timers struct {
	// Timeout is the wait after the first transmission.
	Timeout time.Duration
	// Sends is how often it is sent at most, the first time included.
	Sends int
	// Factor is by how much each wait is longer than the one before. Zero: 1.
	Factor float64
	// MaxTimeout bounds a wait. Zero: no bound.
	MaxTimeout time.Duration
	// MaxTime is when the NAS gives up though it might send again. Zero: it does not.
	MaxTime time.Duration
	// Jitter is the share by which a wait is made longer or shorter at random.
	Jitter float64
}

// Timers of real ones, as they are unless an operator changes them. Where a source
// counts retransmissions, the first transmission is added.
var (
	MikroTik = Timers{Timeout: 1100 * time.Millisecond, Sends: 3} // the number is not documented
	AccelPPP = Timers{Timeout: 3 * time.Second, Sends: 3}
	Juniper  = Timers{Timeout: 3 * time.Second, Sends: 4}
	CiscoIOS = Timers{Timeout: 5 * time.Second, Sends: 4}
	StarOS   = Timers{Timeout: 3 * time.Second, Sends: 6}
	// RFC5080 is what section 2.2.1 recommends: IRT 2 s, MRC 5, MRT 16 s, MRD 30 s.
	RFC5080 = Timers{Timeout: 2 * time.Second, Sends: 6, Factor: 2, MaxTimeout: 16 * time.Second, MaxTime: 30 * time.Second, Jitter: 0.1}
)

// GiveUp is how long a NAS waits in all, without jitter.
func (t Timers) GiveUp() time.Duration {
	var all time.Duration
	wait := t.Timeout
	for range t.Sends {
		all += wait
		wait = t.after(wait)
	}
	if t.MaxTime > 0 {
		return min(all, t.MaxTime)
	}
	return all
}

// after is the wait that follows one.
func (t Timers) after(wait time.Duration) time.Duration {
	if t.Factor > 0 {
		wait = time.Duration(float64(wait) * t.Factor)
	}
	if t.MaxTimeout > 0 {
		wait = min(wait, t.MaxTimeout)
	}
	return wait
}

// Rate is how many new requests a second come from a time on.
type Rate struct {
	From      time.Duration
	PerSecond float64
}

// NAS is a client: it asks, at random times (a Poisson process), and waits.
type NAS struct {
	Timers Timers
	// Sockets is how many sockets it sends from, each of which has 256
	// Identifiers: a request for which none is free is not sent at all. Zero: 64.
	Sockets int
	// Load is how many requests of each class it makes, in the order of their times.
	// Before the first, and where there is none: 0.
	Load [radpool.NumClasses][]Rate
}

// identifiers is how many a socket has (RFC 2865 section 3).
const identifiers = 256

// slot is an Identifier of a socket.
type slot struct {
	socket     uint16
	identifier byte
}

// nas is a NAS that runs.
type nas struct {
	*world
	NAS
	index int
	rand  *rand.Rand
	free  []slot // the one that has been free for longest first
	addr  netip.Addr
}

// request is a request that a NAS has made.
type request struct {
	nas    *nas
	class  radpool.Class
	record int // in Result.Requests
	slot   slot
	key    cache.Request
	sends  int
	wait   time.Duration
	ended  bool // answered or given up
	job    *Job // what the server made of it last
}

func (w *world) newNAS(index int, cfg NAS, r *rand.Rand) *nas {
	n := &nas{world: w, NAS: cfg, index: index, rand: r, addr: netip.AddrFrom4([4]byte{10, 0, byte(index >> 8), byte(index)})}
	n.free = make([]slot, 0, cfg.Sockets*identifiers)
	for id := range identifiers {
		for s := range cfg.Sockets {
			n.free = append(n.free, slot{socket: uint16(s), identifier: byte(id)})
		}
	}
	for class, rates := range cfg.Load {
		if len(rates) > 0 {
			w.at(rates[0].From, func() { n.arrive(radpool.Class(class), rates) })
		}
	}
	return n
}

// arrive makes requests at the first of the rates until the next one holds.
func (n *nas) arrive(class radpool.Class, rates []Rate) {
	until := n.until
	if len(rates) > 1 {
		until = rates[1].From
	}
	next := until
	if rates[0].PerSecond > 0 {
		// By its logarithm, that a rate next to nothing is not before now.
		next = min(next, n.now+time.Duration(min(n.rand.ExpFloat64()/rates[0].PerSecond, maxTime.Seconds())*float64(time.Second)))
	}
	switch {
	case next < until:
		n.at(next, func() {
			n.request(class)
			n.arrive(class, rates)
		})
	case len(rates) > 1:
		n.at(until, func() { n.arrive(class, rates[1:]) })
	}
}

// request makes a new request and sends it.
func (n *nas) request(class radpool.Class) {
	n.result.Requests = append(n.result.Requests, Request{NAS: n.index, Class: class, At: n.now})
	if len(n.free) == 0 {
		return // no Identifier: it counts as not answered
	}
	r := &request{nas: n, class: class, record: len(n.result.Requests) - 1, slot: n.free[0]}
	n.free = n.free[1:]
	r.key = cache.Request{
		Key:    cache.Key{Client: netip.AddrPortFrom(n.addr, 1024+r.slot.socket), Code: codeOf(class), Identifier: r.slot.identifier},
		Length: 20,
	}
	binary.BigEndian.PutUint64(r.key.Authenticator[:], uint64(r.record)+1)
	r.wait = n.Timers.Timeout
	n.send(r)
}

func codeOf(c radpool.Class) byte {
	switch c {
	case radpool.ClassStatus:
		return 12
	case radpool.ClassAccess:
		return 1
	}
	return 4
}

// send sends a request, for the first time or again, and waits.
func (n *nas) send(r *request) {
	r.sends++
	record := &n.result.Requests[r.record]
	record.Sends = r.sends
	n.carry(func() { n.server.receive(r) })

	wait := r.wait
	if n.Timers.Jitter > 0 {
		wait = time.Duration(float64(wait) * (1 + n.Timers.Jitter*(2*n.rand.Float64()-1)))
	}
	r.wait = n.Timers.after(r.wait)
	if left := record.At + n.Timers.MaxTime - n.now; n.Timers.MaxTime > 0 && wait > left {
		n.after(left, func() { n.end(r) })
		return
	}
	n.after(wait, func() {
		switch {
		case r.ended:
		case r.sends >= n.Timers.Sends:
			n.end(r)
		default:
			n.send(r)
		}
	})
}

// answered is told that an answer has come.
func (n *nas) answered(r *request) {
	if r.ended {
		n.result.Server.Late++
		return
	}
	record := &n.result.Requests[r.record]
	record.Answered, record.After = true, n.now-record.At
	n.end(r)
}

// end frees the Identifier of a request.
func (n *nas) end(r *request) {
	if !r.ended {
		r.ended = true
		n.free = append(n.free, r.slot)
	}
}
