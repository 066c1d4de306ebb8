package radpool

import (
	"net"
	"net/netip"
	"time"

	"github.com/radpool/radpool/internal/udp"
)

// ReaderMode is readerMode.
type ReaderMode struct{ m readerMode }

// Runs is runs.
func (m *ReaderMode) Runs(now time.Time) bool { return m.m.runs(now) }

// Ran is ran.
func (m *ReaderMode) Ran(now time.Time, took time.Duration) bool { return m.m.ran(now, took) }

// Deposed is deposed.
func (m *ReaderMode) Deposed(now time.Time) { m.m.deposed(now) }

// ServeConn is ServeServices for a Conn that is not made of pc, so that a test
// decides what comes in one batch.
func (s *Server) ServeConn(pc net.PacketConn, conn udp.Conn, services Services) error {
	s.mu.Lock()
	if s.engine == nil {
		e, err := newEngine(s)
		if err != nil {
			s.mu.Unlock()
			return err
		}
		s.engine = e
	}
	l := s.engine.addListener(pc, conn, services)
	s.mu.Unlock()
	return l.serve()
}

// SubmitLent is submitLent, and runs what it can of the jobs, up to most runs, as
// a reader does. It reports whether a worker was lent.
func (p *Pool[T]) SubmitLent(jobs []Job[T], most int) (lent bool) {
	w, _ := p.submitLent(jobs)
	if w == nil {
		return false
	}
	defer p.giveBack(w)
	for range most {
		if !p.nextLent(time.Now(), w) {
			break
		}
		p.run(w)
	}
	return true
}

// Arrivals is arrivals.
type Arrivals struct{ a arrivals }

// Age is what a reader takes for the age of what it has read at now, of which the
// last came at arrived by a wall clock that is ahead of now's by step; and whether
// it has asked for that at all.
func (a *Arrivals) Age(now time.Time, step time.Duration, emptied bool, arrived int64) (age time.Duration, asked bool) {
	most := a.a.most(now, emptied)
	if most < soon {
		return 0, false
	}
	return waited(now.UnixNano()+int64(step), arrived, most), true
}

// LearnPatience is learnPatience.
var LearnPatience = learnPatience

// ResponseTimeBucket is responseTimeBucket.
var ResponseTimeBucket = responseTimeBucket

// ReadStatisticsRequest is readStatisticsRequest.
func ReadStatisticsRequest(attributes []byte) (what uint32, client netip.Addr, number uint32, byNumber bool) {
	ask := readStatisticsRequest(attributes)
	return ask.what, ask.addr, ask.number, ask.byNumber
}
