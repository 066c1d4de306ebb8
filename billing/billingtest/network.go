package billingtest

import (
	"net"
	"net/netip"
	"time"

	"github.com/radpool/radpool/internal/simnet"
)

// A NetworkConfig says how a [Network] treats datagrams. The zero value is a
// perfect network: nothing is lost, and what is sent has arrived when the write
// returns. Values out of their bounds are errors of [NewNetwork].
type NetworkConfig struct {
	// Seed starts the generator from which every decision is drawn: where one
	// goroutine sends, the same seed gives the same losses, duplicates and
	// delays. Zero is a seed like any other.
	Seed uint64

	// Loss is the probability, from 0 to 1, that a datagram vanishes on its way.
	Loss float64

	// Duplicate is the probability, from 0 to 1, that a datagram that was not
	// lost arrives twice.
	Duplicate float64

	// Reorder is the probability, from 0 to 1, that a datagram is held back until
	// the next one for the same receiver has passed it, or for 10 ms (for MaxDelay
	// where that is longer) when none comes.
	Reorder float64

	// MinDelay and MaxDelay bound the time on the way, drawn evenly for each
	// datagram, at most one hour. A zero MaxDelay means MinDelay.
	MinDelay, MaxDelay time.Duration

	// Capacity is how many datagrams a socket's receive buffer holds, from 1 to
	// 1,048,576; 0 means 1,024. What arrives while it is full is dropped.
	Capacity int

	// InFlight is how many datagrams may be on their way at once, from 1 to
	// 1,048,576; 0 means 65,536. What is sent beyond is dropped.
	InFlight int

	// MTU is the longest payload in octets, from 1 to 65,527; 0 means 65,507.
	// Writing a longer one fails with EMSGSIZE.
	MTU int
}

// NetworkStats counts datagrams since the network was made:
//
//	Sent + Duplicated = Delivered + Lost + Overflowed + Unreachable + InFlight
type NetworkStats struct {
	Sent        uint64 // written to a socket without an error
	Delivered   uint64 // put into a receive buffer, whether or not they were read
	Lost        uint64 // vanished by NetworkConfig.Loss
	Duplicated  uint64 // second copies made by NetworkConfig.Duplicate
	Reordered   uint64 // among Delivered: arrived after one sent later to the same socket
	Overflowed  uint64 // met a full receive buffer, or NetworkConfig.InFlight on their way
	Unreachable uint64 // found no socket at their destination
	InFlight    uint64 // on their way now
}

// A Network is a packet network in memory, for tests of what speaks UDP: its
// sockets are net.PacketConns that behave as those of the operating system do,
// errors included. It has no goroutine, and timers only while a datagram is
// delayed, so that one made inside a bubble of testing/synctest works there. Its
// methods may be called from several goroutines at once. Make one with
// [NewNetwork].
type Network struct{ network *simnet.Network }

// NewNetwork returns a network without sockets, or an error that names each field
// of cfg that is out of its bounds.
func NewNetwork(cfg NetworkConfig) (*Network, error) {
	n, err := simnet.New(simnet.Config(cfg))
	if err != nil {
		return nil, err
	}
	return &Network{n}, nil
}

// Listen opens a socket at addr. Port 0 picks a free one from 49152 to 65535.
// There are no wildcard addresses: each socket is a host of its own. Its address
// is a *net.UDPAddr.
func (n *Network) Listen(addr netip.AddrPort) (net.PacketConn, error) {
	c, err := n.network.Listen(addr)
	if err != nil {
		return nil, err // not a nil *simnet.Conn in an interface
	}
	return c, nil
}

// Stats returns the counters as they are now.
func (n *Network) Stats() NetworkStats { return NetworkStats(n.network.Stats()) }

// Close closes every socket. Datagrams on their way become unreachable. It
// returns nil.
func (n *Network) Close() error { return n.network.Close() }
