package radclient

import "net/netip"

// Stats is what a [Client] has counted since it was made. Of the requests that were taken on each ends in one of four:
//
//	Requests = Answered + TimedOut + Cancelled + InFlight
type Stats struct {
	Requests  uint64 // taken on
	Answered  uint64 // with a reply that verified
	TimedOut  uint64 // given up without a reply, or ended by Close
	Cancelled uint64 // by their context, or because they could not be encoded
	InFlight  int    // now
	Failovers uint64 // a request went on to another server

	// Discarded are the datagrams that were not believed.
	Discarded Discards

	Sockets int           // open now
	Errors  SocketErrors  // since the beginning
	Servers []ServerStats // Config.Servers, then Config.Others
}

// SocketErrors counts what sockets refused. A datagram that was not written is as if lost: it is sent again.
type SocketErrors struct{ Open, Read, Write uint64 }

// ServerStats is what was counted of one server.
type ServerStats struct {
	Addr          netip.AddrPort
	State         State
	Sent          uint64 // datagrams, Status-Servers and retransmissions among them
	Retransmitted uint64 // of them, those that were copies
	Replies       uint64 // that were believed
	Deaths        uint64 // how often it was found dead
}

// Stats returns what was counted so far.
func (c *Client) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := &c.core.counts
	st := Stats{
		Requests: n.requests, Answered: n.answered, TimedOut: n.failed, Cancelled: n.cancelled, Failovers: n.failovers,
		InFlight: c.core.inFlight, Discarded: discards(&c.discarded), Sockets: len(c.sockets), Errors: c.errors,
	}
	for i := range c.core.servers {
		p := &c.core.servers[i]
		st.Servers = append(st.Servers, ServerStats{
			c.remotes[i].addr, p.state, p.counts.sent, p.counts.retransmitted, p.counts.replies, p.counts.deaths,
		})
	}
	return st
}
