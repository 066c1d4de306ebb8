package radclient

import (
	"math/rand/v2"

	"layeh.com/radius"
)

func newCore(cfg *Config, random *rand.Rand, d driver) core {
	c := core{
		retransmission: cfg.Retransmission, failover: cfg.Failover,
		maxInFlight: cfg.MaxInFlight, maxSockets: cfg.MaxSockets,
		random: random, driver: d, group: len(cfg.Servers), armed: never,
	}
	for _, list := range [][]Server{cfg.Servers, cfg.Others} {
		for _, s := range list {
			p := peer{ids: identifiers{long: cfg.IdentifierRest, short: cfg.IdentifierRest / settledRest}}
			p.heard, p.noProbes = -1, s.NoStatusServer
			c.servers = append(c.servers, p)
		}
	}
	return c
}

// The Client is the core's driver. All of this is called with the lock held.

func (c *Client) encode(f *flight) error {
	err := f.seal(c.remotes[f.server].secret)
	f.encoded = err == nil
	return err
}

func (c *Client) transmit(f *flight) {
	if !c.sockets[f.id.socket()].send(f.datagram, c.remotes[f.server].addr) {
		c.errors.Write++
	}
}

func (c *Client) end(f *flight, err error) {
	if f.probe {
		f.probe = false
		f.generation++
		f.encoded = false
		f.request = radius.Packet{}
		c.flights.Put(f)
		return
	}
	if err == errNoReply { //nolint:errorlint // the core's own, never wrapped
		t := &TimeoutError{Server: c.remotes[f.server].addr, Copies: f.plan.sent, Elapsed: c.now() - f.plan.began}
		t.Discarded = discards(&f.discarded)
		err = t
	}
	f.err, f.ended = err, true
	f.done <- struct{}{} // it has room: a flight ends once
}

func (c *Client) probe(int) *flight {
	f := c.flights.Get().(*flight)
	f.hides = false
	f.request = radius.Packet{Code: radius.CodeStatusServer}
	f.discarded = [numDiscards]uint64{}
	return f
}

func (c *Client) turned(server int, to State) {
	if c.config.ServerTurned != nil {
		c.config.ServerTurned(c.remotes[server].addr, to)
	}
}
