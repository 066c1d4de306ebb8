package simnet

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"
)

const (
	reorderHold  = 10 * time.Millisecond // the least time for which a datagram waits to be overtaken
	maxFree      = 1024                  // datagrams kept for reuse
	firstPort    = 49152                 // RFC 6335 section 6: the dynamic ports
	dynamicPorts = 65536 - firstPort
)

// Network carries datagrams between the sockets opened on it. Make one with [New]. All methods may be called
// from several goroutines at once.
type Network struct {
	cfg Config

	// One lock for the network and its sockets: it is never held while anything waits, and one order of
	// events is what makes a run repeatable.
	mu       sync.Mutex
	rng      *rand.Rand
	conns    map[netip.AddrPort]*Conn
	flight   flight
	timer    *time.Timer // runs at flight[0].due; nil until the first delayed datagram
	free     []*datagram
	seq      uint64
	launches uint64
	nextPort int // offset from firstPort at which the search for a free port starts
	stats    Stats
	closed   bool
}

// New returns a network without sockets, or the error of [Config.Validate].
func New(cfg Config) (*Network, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Network{
		cfg:   cfg.withDefaults(),
		rng:   rand.New(rand.NewPCG(cfg.Seed, 0x73696d6e6574)),
		conns: make(map[netip.AddrPort]*Conn),
	}, nil
}

// Listen opens a socket at addr, IPv4 or IPv6 (an IPv4-mapped IPv6 address is its IPv4 address). Port 0 picks
// a free one from 49152 to 65535. There are no wildcard addresses: each socket of a network is a host of
// its own. The error is a [*net.OpError] around EADDRINUSE where the address is taken, EADDRNOTAVAIL where it
// is no host's address, or [net.ErrClosed].
func (n *Network) Listen(addr netip.AddrPort) (*Conn, error) {
	addr = unmap(addr)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, listenError(addr, net.ErrClosed)
	}
	if ip := addr.Addr(); !ip.IsValid() || ip.IsUnspecified() || ip.IsMulticast() {
		return nil, listenError(addr, fmt.Errorf("simnet: not the address of one host: %w", syscall.EADDRNOTAVAIL))
	}
	addr, ok := n.freeAddr(addr)
	if !ok {
		return nil, listenError(addr, syscall.EADDRINUSE)
	}
	c := &Conn{network: n, local: addr, localUDP: net.UDPAddrFromAddrPort(addr)}
	c.wake.L = &n.mu
	n.conns[addr] = c
	return c, nil
}

// freeAddr returns addr, with a port in place of 0, and whether nobody has it yet.
func (n *Network) freeAddr(addr netip.AddrPort) (netip.AddrPort, bool) {
	if addr.Port() != 0 {
		return addr, n.conns[addr] == nil
	}
	for i := range dynamicPorts {
		offset := (n.nextPort + i) % dynamicPorts
		candidate := netip.AddrPortFrom(addr.Addr(), uint16(firstPort+offset))
		if n.conns[candidate] == nil {
			n.nextPort = offset + 1
			return candidate, true
		}
	}
	return addr, false
}

// Stats returns the counters as they are now.
func (n *Network) Stats() Stats {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.stats
	s.InFlight = uint64(len(n.flight))
	return s
}

// Close closes every socket and stops the timer. Datagrams on their way become unreachable. Always nil.
func (n *Network) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	for _, c := range n.conns {
		c.closeLocked()
	}
	if n.timer != nil {
		n.timer.Stop()
	}
	n.stats.Unreachable += uint64(len(n.flight))
	n.flight, n.free = nil, nil
	return nil
}

// fate is what was drawn for one datagram.
type fate struct {
	lost, duplicate, reorder bool
	delay, copyDelay         time.Duration
}

// draw takes the same number of draws whatever it decides, so that one decision does not shift the others.
func (n *Network) draw() fate {
	return fate{
		lost:      n.rng.Float64() < n.cfg.Loss,
		duplicate: n.rng.Float64() < n.cfg.Duplicate,
		reorder:   n.rng.Float64() < n.cfg.Reorder,
		delay:     n.drawDelay(),
		copyDelay: n.drawDelay(),
	}
}

func (n *Network) drawDelay() time.Duration {
	span := float64(n.cfg.MaxDelay - n.cfg.MinDelay)
	return n.cfg.MinDelay + time.Duration(n.rng.Float64()*(span+1))
}

// send decides what becomes of a datagram. The caller holds the lock.
func (n *Network) send(from, to netip.AddrPort, payload []byte) {
	n.seq++
	n.stats.Sent++
	f := n.draw()
	if f.lost {
		n.stats.Lost++
		return
	}
	n.carry(n.newDatagram(from, to, payload, f.reorder), f.delay)
	if f.duplicate {
		n.stats.Duplicated++
		n.carry(n.newDatagram(from, to, payload, false), f.copyDelay)
	}
}

// carry delivers d after delay: at once when there is none.
func (n *Network) carry(d *datagram, delay time.Duration) {
	switch {
	case delay == 0:
		n.arrive(d)
	case len(n.flight) >= n.cfg.InFlight:
		n.stats.Overflowed++
		n.recycle(d)
	default:
		n.launch(d, delay)
	}
}

// launch puts d on its way and sees to it that the timer runs when the first one is due.
func (n *Network) launch(d *datagram, delay time.Duration) {
	n.launches++
	d.launch = n.launches
	d.due = time.Now().Add(delay)
	heap.Push(&n.flight, d)
	if n.flight[0] != d {
		return
	}
	if n.timer == nil {
		n.timer = time.AfterFunc(delay, n.land)
		return
	}
	n.timer.Reset(delay)
}

// land is the timer's: it delivers all that is due.
func (n *Network) land() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	now := time.Now()
	for len(n.flight) > 0 && !n.flight[0].due.After(now) {
		n.arrive(heap.Pop(&n.flight).(*datagram))
	}
	if len(n.flight) > 0 {
		n.timer.Reset(n.flight[0].due.Sub(now))
	}
}

// arrive brings d to the door of its receiver, where it may have to wait for the next one to pass.
func (n *Network) arrive(d *datagram) {
	c := n.conns[d.to]
	if c == nil {
		n.stats.Unreachable++
		n.recycle(d)
		return
	}
	if d.reorder && c.held == nil && len(n.flight) < n.cfg.InFlight {
		d.reorder = false
		c.held = d
		n.launch(d, max(reorderHold, n.cfg.MaxDelay))
		return
	}
	held := c.held
	c.held = nil
	n.deliver(c, d)
	if held != nil && held != d {
		heap.Remove(&n.flight, held.index)
		n.deliver(c, held)
	}
}

// deliver puts d into c's receive buffer, if it has room.
func (n *Network) deliver(c *Conn, d *datagram) {
	if c.buffer.count >= n.cfg.Capacity {
		n.stats.Overflowed++
		n.recycle(d)
		return
	}
	n.stats.Delivered++
	if d.seq < c.newest {
		n.stats.Reordered++
	}
	c.newest = max(c.newest, d.seq)
	c.buffer.push(d)
	c.wake.Signal()
}

func (n *Network) newDatagram(from, to netip.AddrPort, payload []byte, reorder bool) *datagram {
	var d *datagram
	if last := len(n.free) - 1; last >= 0 {
		d = n.free[last]
		n.free = n.free[:last]
	} else {
		d = new(datagram)
	}
	d.payload = append(d.payload[:0], payload...)
	d.from, d.to, d.seq, d.reorder = from, to, n.seq, reorder
	return d
}

func (n *Network) recycle(d *datagram) {
	if len(n.free) < maxFree && !n.closed {
		n.free = append(n.free, d)
	}
}

func unmap(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

func listenError(addr netip.AddrPort, err error) error {
	return &net.OpError{Op: "listen", Net: "udp", Addr: net.UDPAddrFromAddrPort(addr), Err: err}
}
