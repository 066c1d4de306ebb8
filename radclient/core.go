package radclient

import (
	"math/rand/v2"
	"time"
)

// core decides what becomes of each request: which server and Identifier it gets, when it is sent again, to whom, and when
// it is given up. It has no goroutine, socket or clock, and computes no digest; what is to be done it says to a
// driver. Times are since the client's epoch.
type core struct {
	retransmission Retransmission
	failover       Failover
	maxInFlight    int
	maxSockets     int
	random         *rand.Rand
	driver         driver

	servers  []peer
	group    int // how many of the servers, from the first, stand in for each other
	timers   timers
	sockets  int
	inFlight int // requests; probes are not among them
	armed    time.Duration
	kick     bool          // what is armed may be too late
	crowded  bool          // a request waits that another socket would help
	growAt   time.Duration // when another may be opened, after one that could not be
	counts   coreCounts
}

// peer is one server.
type peer struct {
	health
	ids     identifiers
	flights []*flight // by ident, as long as any was taken
	waiting line      // for an Identifier
	counts  peerCounts
}

type coreCounts struct{ requests, answered, failed, cancelled, failovers uint64 }

type peerCounts struct{ sent, retransmitted, replies, deaths uint64 }

// driver does what the core decides. Its methods are called from begin, advance and their like, and call none of the core.
type driver interface {
	encode(*flight) error        // for its server and Identifier, with a new Request Authenticator
	transmit(*flight)            // the encoded octets
	end(*flight, error)          // nobody waits for a reply any more
	probe(server int) *flight    // a Status-Server for it, pinned
	turned(server int, to State) // what is thought of a server has changed
}

// begin takes a request on. false: MaxInFlight are under way. The flight then holds an Identifier, and is to be encoded
// and handed to started; or it waits for one, and advance does that.
func (c *core) begin(now time.Duration, f *flight) bool {
	if c.inFlight >= c.maxInFlight {
		return false
	}
	c.inFlight++
	c.counts.requests++
	c.launch(now, f)
	return true
}

func (c *core) launch(now time.Duration, f *flight) {
	f.plan = schedule{began: now}
	if !f.pinned {
		f.server = c.choose(-1)
	}
	c.assign(now, f)
}

// assign gives f an Identifier of its server, or has it wait for one.
func (c *core) assign(now time.Duration, f *flight) bool {
	p := &c.servers[f.server]
	if p.waiting.first == nil && c.hold(now, f) {
		return true
	}
	p.waiting.push(f)
	c.schedule(f, f.plan.end(&c.retransmission))
	c.kick = true // for when an Identifier has rested
	c.crowd(now)
	return false
}

// crowd asks for another socket, if there may be one.
func (c *core) crowd(now time.Duration) {
	c.crowded = c.sockets < c.maxSockets && now >= c.growAt
}

// noSocket notes that there was none to be had.
func (c *core) noSocket(now time.Duration) { c.crowded, c.growAt = false, now+time.Second }

func (c *core) hold(now time.Duration, f *flight) bool {
	p := &c.servers[f.server]
	id, ok := p.ids.take(now)
	if !ok {
		return false
	}
	for int(id) >= len(p.flights) {
		p.flights = append(p.flights, make([]*flight, identifiersPerSocket)...)
	}
	p.flights[id] = f
	f.id, f.holds, f.here = id, true, 0
	return true
}

// release gives the Identifier of f back.
func (c *core) release(now time.Duration, f *flight, answered bool) {
	p := &c.servers[f.server]
	if f.waiting {
		p.waiting.remove(f)
	}
	if !f.holds {
		return
	}
	f.holds = false
	p.flights[f.id] = nil
	p.ids.give(now, f.id, answered && f.here == 1)
	c.kick = c.kick || p.waiting.first != nil
}

// started sends f for the first time under its Identifier, or again.
func (c *core) started(now time.Duration, f *flight) {
	p := &c.servers[f.server]
	p.counts.sent++
	if f.here > 0 {
		p.counts.retransmitted++
	}
	f.here++
	f.sentAt = now
	c.schedule(f, f.plan.next(&c.retransmission, now, c.draw()))
	if f.probe {
		c.schedule(f, now+c.failover.ProbeTimeout)
	}
	c.driver.transmit(f)
}

// find is the flight that a reply with this Identifier, to this socket, could answer.
func (c *core) find(server int, id ident) *flight {
	if p := &c.servers[server]; int(id) < len(p.flights) {
		return p.flights[id]
	}
	return nil
}

// answered ends f, to which a verified reply has come.
func (c *core) answered(now time.Duration, f *flight) {
	p := &c.servers[f.server]
	p.counts.replies++
	if f.probe {
		if p.probeEnded(&c.failover, now, true) {
			c.driver.turned(f.server, Alive)
		}
		c.kick = true
	} else {
		dead := p.state == Dead
		p.replied(now)
		if dead {
			c.driver.turned(f.server, Alive)
		}
		c.counts.answered++
	}
	c.finish(now, f, true)
	c.driver.end(f, nil)
}

// cancel ends f, which nobody waits for any more.
func (c *core) cancel(now time.Duration, f *flight) {
	if !f.probe {
		c.counts.cancelled++
	}
	c.finish(now, f, false)
}

func (c *core) fail(now time.Duration, f *flight, err error) {
	switch {
	case !f.probe:
		c.counts.failed++
	default:
		c.servers[f.server].probeEnded(&c.failover, now, false)
	}
	c.finish(now, f, false)
	c.driver.end(f, err)
}

func (c *core) finish(now time.Duration, f *flight, answered bool) {
	c.release(now, f, answered)
	c.timers.remove(f)
	if !f.probe {
		c.inFlight--
	}
}

// endAll ends every request and probe. Those that their caller is about to start are its own to end.
func (c *core) endAll(now time.Duration, err error) {
	for len(c.timers) > 0 {
		c.fail(now, c.timers[0], err)
	}
}

// addSocket gives each server the Identifiers of another socket.
func (c *core) addSocket() {
	c.sockets++
	c.crowded = false
	for i := range c.servers {
		c.servers[i].ids.grow()
	}
	c.kick = true
}

// advance does what is due by now.
func (c *core) advance(now time.Duration) {
	for c.timers.next() <= now {
		c.step(now, c.timers[0])
	}
	for i := range c.servers {
		p := &c.servers[i]
		for p.waiting.first != nil {
			f := p.waiting.first
			if !c.hold(now, f) {
				c.crowd(now)
				break
			}
			p.waiting.remove(f)
			c.send(now, f)
		}
		if p.revive(&c.failover, now) {
			c.driver.turned(i, Alive)
		}
		if p.probe(&c.failover, now, c.draw()) {
			f := c.driver.probe(i)
			f.server, f.pinned, f.probe = i, true, true
			f.plan = schedule{began: now}
			if c.assign(now, f) {
				c.send(now, f)
			}
		}
	}
}

// send encodes f and sends it under a new Identifier.
func (c *core) send(now time.Duration, f *flight) {
	if err := c.driver.encode(f); err != nil {
		c.fail(now, f, err)
		return
	}
	c.started(now, f)
}

// step is what to do with f, whose wait is over.
func (c *core) step(now time.Duration, f *flight) {
	p := &c.servers[f.server]
	if f.holds && !f.pinned && p.unansweredSince(&c.failover, now, f.sentAt) {
		p.counts.deaths++
		c.kick = true
		c.driver.turned(f.server, Dead)
	}
	if f.waiting || f.probe || f.plan.over(&c.retransmission, now) {
		c.fail(now, f, errNoReply)
		return
	}
	if other := c.other(f); other != f.server {
		c.counts.failovers++
		c.release(now, f, false)
		f.server = other
		f.plan.restart()
		if c.assign(now, f) {
			c.send(now, f)
		}
		return
	}
	c.started(now, f)
}

// other is the server that the next copy of f goes to.
func (c *core) other(f *flight) int {
	if f.pinned || c.servers[f.server].state == Alive && f.here < c.failover.Tries {
		return f.server
	}
	return c.choose(f.server)
}

// choose is the first server that is alive, after the given one in turn if that is not -1; where none is, the one that was not
// thought dead for the longest time: it is the likeliest to have come back.
func (c *core) choose(after int) int {
	best := -1
	for i := range c.group {
		s := (after + 1 + i) % c.group
		if c.servers[s].state == Alive {
			return s
		}
		if best < 0 || c.servers[s].died < c.servers[best].died {
			best = s
		}
	}
	if after >= 0 {
		return (after + 1) % c.group // each gets its turn
	}
	return best
}

// next is when advance has something to do.
func (c *core) next() time.Duration {
	at := c.timers.next()
	for i := range c.servers {
		p := &c.servers[i]
		at = min(at, p.health.next(&c.failover))
		if p.waiting.first != nil {
			at = min(at, p.ids.readyAt())
		}
	}
	return at
}

func (c *core) schedule(f *flight, due time.Duration) {
	c.timers.at(f, due)
	c.kick = c.kick || due < c.armed
}

func (c *core) draw() float64 { return 0.2*c.random.Float64() - 0.1 }
