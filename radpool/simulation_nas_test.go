package radpool_test

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"

	"github.com/radpool/radpool/internal/simnet"
	"github.com/radpool/radpool/internal/wire"
	"github.com/radpool/radpool/radpool"
)

// identifiers is how many Identifiers a port uses for each code: few, so that it
// soon comes back to each.
const identifiers = 64

// port is one socket of a NAS, with a slot for each Identifier of each code.
type port struct {
	index int
	conn  *simnet.Conn
	slots []slot
}

// slot is one Identifier that a NAS uses for one request after the other.
type slot struct {
	index      int // of its key
	code       radius.Code
	identifier byte
	to         netip.AddrPort
	datagram   []byte // the request of now; none: empty
	earlier    []byte // the one before, a copy of which may still be on its way
	serial     uint32
	sends      int
}

// crowd is all the NASes, and some who are none. One goroutine is it; the
// replies come to others.
type crowd struct {
	rng     *rand.Rand
	judge   *judge
	mix     mix
	ports   []*port
	outcast *simnet.Conn // no client
	acct    netip.AddrPort
	sent    int

	packet  radius.Packet // made anew for each request
	serial  []byte        // its attributes
	user    []byte
	status  []byte
	scratch []byte
}

// mix is what requests ask of the handler, in parts of 100,000; the rest is
// answered at once.
type mix struct{ slow, stuck, waiting, failing, silent, panicking, goexit, unencodable int }

// What a request asks the handler to do, in its User-Name.
const (
	fast        = 'f'
	slow        = 's' // some milliseconds
	stuck       = 'k' // far beyond MaxRequestTime, and takes no notice of its context
	waiting     = 'w' // until its context ends
	failing     = 'e'
	silent      = 'q'
	panicking   = 'p'
	goexit      = 'g'
	unencodable = 'u'
)

func (m mix) draw(r *rand.Rand) byte {
	n := r.IntN(100_000)
	for _, b := range [...]struct {
		part int
		what byte
	}{
		{m.slow, slow}, {m.stuck, stuck}, {m.waiting, waiting}, {m.failing, failing}, {m.silent, silent},
		{m.panicking, panicking}, {m.goexit, goexit}, {m.unencodable, unencodable},
	} {
		if n < b.part {
			return b.what
		}
		n -= b.part
	}
	return fast
}

func newCrowd(j *judge, seed uint64, m mix, datagrams int, acct netip.AddrPort) *crowd {
	c := &crowd{rng: rand.New(rand.NewPCG(seed, 1)), judge: j, mix: m, acct: acct, serial: make([]byte, 8), user: make([]byte, 1), status: make([]byte, 4)}
	j.records = make([]record, 1, datagrams+1)
	j.records[0].verdict = radpool.Malformed
	return c
}

// listen opens the sockets of the NASes: some have one port, some have many.
func (c *crowd) listen(network *simnet.Network) error {
	for host := range byte(8) {
		ports := 1
		if host%4 == 3 {
			ports = 8
		}
		for p := range ports {
			conn, err := network.Listen(netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, 10 + host}), uint16(40000+p)))
			if err != nil {
				return err
			}
			c.addPort(conn)
		}
	}
	var err error
	c.outcast, err = network.Listen(netip.MustParseAddrPort("198.51.100.1:40000"))
	return err
}

func (c *crowd) addPort(conn *simnet.Conn) {
	p := &port{index: len(c.ports), conn: conn}
	for i := range 2 * identifiers {
		s := slot{index: len(c.judge.keys), identifier: byte(i * 256 / identifiers), code: radius.CodeAccessRequest, to: authAddr}
		if i >= identifiers {
			s.code, s.to = radius.CodeAccountingRequest, c.acct
		}
		p.slots = append(p.slots, s)
		c.judge.keys = append(c.judge.keys, key{})
	}
	c.ports = append(c.ports, p)
	go func() {
		b := make([]byte, wire.MaxPacketLength)
		for {
			n, _, err := conn.ReadFromUDPAddrPort(b)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			c.judge.received(p.index, b[:n])
		}
	}()
}

// step sends one datagram of one NAS, or of somebody else.
func (c *crowd) step() {
	p := c.ports[c.rng.IntN(len(c.ports))]
	s := &p.slots[c.rng.IntN(len(p.slots))]
	switch n := c.rng.IntN(100); {
	case n < 5:
		c.malformed(p, s)
	case n < 9:
		c.forged(p, s)
	case n < 11:
		c.stranger(s)
	case n < 13:
		c.wrongCode(p, s)
	case n < 15:
		c.probe(p, s)
	case n < 18 && len(s.earlier) > 0:
		c.send(p.conn, s.earlier, s.to) // a copy that took a detour
	case n < 26 || len(s.datagram) == 0:
		c.renew(p, s) // too early, if there is one
	default:
		c.next(p, s)
	}
}

// next is what an honest NAS does: it waits for a reply, asks again, gives up
// after a while, and uses the Identifier again. Now and then the reply is lost
// behind its socket.
func (c *crowd) next(p *port, s *slot) {
	c.judge.mu.Lock()
	answered := c.judge.records[s.serial].answered
	c.judge.mu.Unlock()
	if s.sends >= 6 || answered && c.rng.IntN(3) > 0 {
		c.renew(p, s)
		return
	}
	s.sends++
	c.send(p.conn, s.datagram, s.to)
}

func (c *crowd) renew(p *port, s *slot) {
	s.earlier = append(s.earlier[:0], s.datagram...)
	s.datagram = c.make(s.datagram[:0], p, s, s.code, reaches)
	s.serial, s.sends = serialOf(s.datagram), 1
	c.send(p.conn, s.datagram, s.to)
}

// make appends to dst a new request, and registers it with the judge.
func (c *crowd) make(dst []byte, p *port, s *slot, code radius.Code, verdict radpool.Outcome) []byte {
	c.judge.mu.Lock()
	defer c.judge.mu.Unlock()
	serial := uint64(len(c.judge.records))
	binary.BigEndian.PutUint64(c.serial, serial)
	c.user[0] = c.mix.draw(c.rng)
	c.packet.Code, c.packet.Identifier = code, s.identifier
	binary.BigEndian.PutUint64(c.packet.Authenticator[:], c.rng.Uint64())
	binary.BigEndian.PutUint64(c.packet.Authenticator[8:], serial)
	c.packet.Attributes = append(c.packet.Attributes[:0], &radius.AVP{Type: rfc2865.UserName_Type, Attribute: c.user})
	if code == radius.CodeAccountingRequest {
		binary.BigEndian.PutUint32(c.status, []uint32{1, 2, 3, 3, 3, 3, 7}[c.rng.IntN(7)])
		c.packet.Attributes = append(c.packet.Attributes, &radius.AVP{Type: rfc2866.AcctStatusType_Type, Attribute: c.status})
	}
	c.packet.Attributes = append(c.packet.Attributes, &radius.AVP{Type: rfc2865.ProxyState_Type, Attribute: c.serial})
	b, err := wire.EncodeRequest(dst, &c.packet, c.judge.secret)
	if err != nil {
		panic(err) // a request that cannot be meant
	}
	if code == radius.CodeAccessRequest && serial%4 == 0 {
		b = unsigned(b)
	}
	c.judge.records = append(c.judge.records, record{
		verdict: verdict, code: code, socket: int32(p.index), slot: int32(s.index), authenticator: wire.Authenticator(b),
	})
	return b
}

func (c *crowd) send(conn *simnet.Conn, b []byte, to netip.AddrPort) {
	c.sent++
	if _, err := conn.WriteToUDPAddrPort(b, to); err != nil {
		c.judge.t.Error(err)
	}
}

func (c *crowd) malformed(p *port, s *slot) {
	b := c.make(c.scratch[:0], p, s, s.code, radpool.Malformed)
	switch c.rng.IntN(5) {
	case 0:
		b[0] = 200
	case 1:
		binary.BigEndian.PutUint16(b[2:], uint16(len(b)+1))
	case 2:
		binary.BigEndian.PutUint16(b[2:], 19)
	case 3:
		b[20] = 0 // the type of the first attribute
	case 4:
		b[21] = 1 // its length
	}
	c.send(p.conn, b, s.to)
	c.scratch = b
}

// forged sends what looks like a request under an Identifier that is in use, but
// was not made with the secret.
func (c *crowd) forged(p *port, s *slot) {
	code := s.code
	b := c.make(c.scratch[:0], p, s, code, radpool.Unauthentic)
	if shape, _ := wire.Parse(b, 0); code == radius.CodeAccessRequest && !shape.HasMessageAuthenticator() {
		b = slices.Insert(b, wire.HeaderLength, append([]byte{80, 18}, make([]byte, 16)...)...)
		binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	} else {
		b[4+c.rng.IntN(16)] ^= 1 << c.rng.IntN(8)
	}
	c.send(p.conn, b, s.to)
	c.scratch = b
}

func (c *crowd) stranger(s *slot) {
	b := c.make(c.scratch[:0], c.ports[0], s, s.code, radpool.UnknownClient)
	c.send(c.outcast, b, s.to)
	c.scratch = b
}

// wrongCode sends a request that no socket serves, or to the other socket.
func (c *crowd) wrongCode(p *port, s *slot) {
	code, to := radius.CodeCoARequest, s.to
	if c.acct != authAddr && c.rng.IntN(2) == 0 {
		code, to = radius.CodeAccountingRequest, authAddr
	}
	b := c.make(c.scratch[:0], p, s, code, radpool.WrongCode)
	c.send(p.conn, b, to)
	c.scratch = b
}

func (c *crowd) probe(p *port, s *slot) {
	b := c.make(c.scratch[:0], p, s, radius.CodeStatusServer, radpool.StatusServer)
	c.send(p.conn, b, authAddr)
	c.scratch = b
}

// delayOf is for how long a slow request sleeps, always the same.
func delayOf(serial uint32) time.Duration {
	return time.Duration(1+serial*2654435761>>16%40) * time.Millisecond
}
