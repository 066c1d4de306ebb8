package loadgen

import (
	"net/netip"
	"time"

	"github.com/radpool/radpool/internal/udp"
)

// Flight is the requests in flight, for a comparison with a naive one.
type Flight struct{ *flight }

func NewFlight(timeout time.Duration, retries int) Flight { return Flight{newFlight(timeout, retries)} }

func (f Flight) Room() bool { return f.room() }
func (f Flight) Take(now time.Duration) uint8 {
	id, _ := f.take(now)
	return id
}
func (f Flight) Due(now time.Duration) (id uint8, lost, ok bool) { return f.dueNow(now) }
func (f Flight) Next() (time.Duration, bool)                     { return f.nextDue() }
func (f Flight) Release(id uint8)                                { f.release(id) }
func (f Flight) Busy(id uint8) bool                              { return f.requests[id].busy }

func (p Profile) When(x float64) (time.Duration, bool) { return p.when(x) }
func (p Profile) Count() float64                       { return p.count() }
func (m Mix) Pattern() []Kind                          { return m.pattern() }

func (u *Users) Name(i int) string     { return string(u.appendName(nil, i)) }
func (u *Users) Password(i int) string { return string(u.appendPassword(nil, i)) }

// Lane is one lane of a run, without its socket.
type Lane struct{ l *lane }

func NewLane(cfg Config, start time.Time) Lane {
	return Lane{newLane(newPlan(cfg, start), 0, netip.MustParseAddr("127.0.0.1"))}
}

// Turn has the lane do what is due, and gives it the replies to what it has sent.
func (l Lane) Turn(now time.Duration, reply func(m *udp.Message) []byte) error {
	if _, _, err := l.l.advance(now); err != nil {
		return err
	}
	for i := range l.l.out {
		m := &l.l.out[i]
		l.l.receive(now, m.Addr, reply(m))
	}
	l.l.out = l.l.out[:0]
	return nil
}

func (l Lane) Counters() Counters { return l.l.counters }
