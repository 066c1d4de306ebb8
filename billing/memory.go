package billing

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// Bounds of a Memory.
const (
	DefaultMemorySessions = 262144 // sessions kept, about 400 octets each
	maxMemoryNASes        = 65536  // NASes whose restarts are remembered
	maxMemoryRestarts     = 32     // of each
)

// causeNASReboot is the Acct-Terminate-Cause of sessions that ended with their
// NAS.
const causeNASReboot = 11

// ErrMemoryFull is the error of Memory.Account when as many sessions are open as
// may be kept.
var ErrMemoryFull = errors.New("billing: Memory: too many open sessions")

// A Memory is a billing system that keeps everything in memory: for tests, for
// measuring, and to start from. What it stores is gone with the process, so its
// accounting is not durable as Handler asks.
//
// Sessions are bounded: when there are
// as many as it may keep, the one that ended longest ago makes room, and if none
// has ended, Account fails. All methods are safe for concurrent use.
type Memory struct {
	subscribersMu sync.RWMutex
	subscribers   map[string]*Grant // by user name; a Grant is never changed once stored

	mu       sync.RWMutex
	most     int
	all      []*MemorySession           // none is nil; a new one takes the place of one that is forgotten
	sessions map[string]int             // places in all, by UniqueID
	open     map[string]int             // open sessions by user name
	restarts map[netip.Addr][]time.Time // the last maxMemoryRestarts of each NAS by Accounting-On and Off, in order
	ended    []string                   // UniqueIDs of ended sessions, in the order in which they were closed
}

// A MemorySession is what a Memory knows of a session.
type MemorySession struct {
	UniqueID, SessionID, UserName string
	NASAddr                       netip.Addr
	Started, Updated              time.Time // the earliest and the latest that its records tell
	Stopped                       time.Time // zero: still open
	SessionTime                   time.Duration
	InputOctets, OutputOctets     uint64 // from and to the subscriber, with Gigawords
	TerminateCause                uint32 // Acct-Terminate-Cause, how it ended; 0: not told
}

// NewMemory returns a Memory without subscribers that keeps at most maxSessions
// sessions. 0: DefaultMemorySessions. It panics if maxSessions is negative.
func NewMemory(maxSessions int) *Memory {
	if maxSessions < 0 {
		panic(fmt.Sprintf("billing: NewMemory: maxSessions is %d", maxSessions))
	}
	if maxSessions == 0 {
		maxSessions = DefaultMemorySessions
	}
	return &Memory{
		subscribers: make(map[string]*Grant),

		most:     maxSessions,
		sessions: make(map[string]int),
		open:     make(map[string]int),
		restarts: make(map[netip.Addr][]time.Time),
	}
}

// Put adds a subscriber, or replaces it. Grant.OpenSessions is counted by the
// Memory itself.
func (m *Memory) Put(userName string, g Grant) {
	m.subscribersMu.Lock()
	defer m.subscribersMu.Unlock()
	m.subscribers[userName] = &g
}

// Delete removes a subscriber. Sessions stay.
func (m *Memory) Delete(userName string) {
	m.subscribersMu.Lock()
	defer m.subscribersMu.Unlock()
	delete(m.subscribers, userName)
}

// Authorize implements Handler.
func (m *Memory) Authorize(_ context.Context, req *AccessRequest) (Grant, error) {
	m.subscribersMu.RLock()
	known := m.subscribers[req.UserName]
	m.subscribersMu.RUnlock()
	if known == nil {
		return Grant{Reason: ReasonUnknownUser}, nil
	}
	g := *known
	if g.SimultaneousUse > 0 {
		m.mu.RLock()
		g.OpenSessions = m.open[req.UserName]
		m.mu.RUnlock()
	}
	return g, nil
}

// Account implements Handler. Records of one session may come in any order and any
// number of times, and end in the same MemorySession.
func (m *Memory) Account(_ context.Context, rec *AccountingRecord) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch rec.Status {
	case Start, InterimUpdate, Stop:
		return m.update(rec)
	case AccountingOn, AccountingOff:
		return m.restart(rec)
	}
	return nil // nothing to keep
}

// Session returns a copy of what is known of a session.
func (m *Memory) Session(uniqueID string) (s MemorySession, ok bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if i, known := m.sessions[uniqueID]; known {
		return *m.all[i], true
	}
	return MemorySession{}, false
}

// Sessions is how many sessions are kept, and how many of them are open.
func (m *Memory) Sessions() (kept, open int) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.all), len(m.all) - len(m.ended)
}

// memoryPage is how many sessions All copies at a time.
const memoryPage = 256

// All yields a copy of each session that is kept, those that have ended among them,
// in the order in which they became known; one that takes the place of another, which
// was forgotten, comes where that was. Who is online:
//
//	for s := range memory.All() {
//		if s.Stopped.IsZero() { ... }
//	}
//
// Records may be stored meanwhile, also by the loop's body, which may call any method
// of m: sessions are copied 256 at a time, as they are then, and the lock is
// held for no longer. A session that is kept all the while is yielded once; one that
// is made or forgotten meanwhile may be missed, and one that is both may come twice.
func (m *Memory) All() iter.Seq[MemorySession] {
	return func(yield func(MemorySession) bool) {
		page := make([]MemorySession, 0, memoryPage)
		for next := 0; ; next += memoryPage {
			if page = m.page(page[:0], next); len(page) == 0 {
				return
			}
			for i := range page {
				if !yield(page[i]) {
					return
				}
			}
		}
	}
}

// page appends the sessions from a place on, a memoryPage at most.
func (m *Memory) page(to []MemorySession, from int) []MemorySession {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, s := range m.all[min(from, len(m.all)):min(from+memoryPage, len(m.all))] {
		to = append(to, *s)
	}
	return to
}

// update merges one record into its session. Every rule takes the least or the
// greatest of what the records say, so their order does not matter.
func (m *Memory) update(rec *AccountingRecord) error {
	s, err := m.session(rec)
	if err != nil {
		return err
	}
	if began := rec.Time.Add(-rec.SessionTime); s.Started.IsZero() || began.Before(s.Started) {
		s.Started = began
	}
	if rec.Time.After(s.Updated) {
		s.Updated = rec.Time
	}
	s.SessionTime = max(s.SessionTime, rec.SessionTime)
	s.InputOctets = max(s.InputOctets, rec.InputOctets)
	s.OutputOctets = max(s.OutputOctets, rec.OutputOctets)
	if rec.Status == Stop {
		m.stop(s, rec.Time, rec.TerminateCause)
	}
	for _, t := range m.restarts[s.NASAddr] {
		if s.Started.Before(t) {
			m.stop(s, t, causeNASReboot)
			break
		}
	}
	return nil
}

// session is that of a record. It is made where there is none.
func (m *Memory) session(rec *AccountingRecord) (*MemorySession, error) {
	if i, known := m.sessions[rec.UniqueID]; known {
		return m.all[i], nil
	}
	i, err := m.makeRoom()
	if err != nil {
		return nil, err
	}
	s := &MemorySession{
		// Not the memory of the whole record, of which they are parts.
		UniqueID: strings.Clone(rec.UniqueID), SessionID: strings.Clone(rec.SessionID), UserName: strings.Clone(rec.UserName),
		NASAddr: rec.NASAddr,
	}
	m.all[i], m.sessions[s.UniqueID] = s, i
	m.open[s.UserName]++
	return s, nil
}

// restart ends what was open on a NAS that has restarted, or is about to.
func (m *Memory) restart(rec *AccountingRecord) error {
	all, known := m.restarts[rec.NASAddr]
	if !known && len(m.restarts) >= maxMemoryNASes {
		return ErrMemoryFull
	}
	if i, again := slices.BinarySearchFunc(all, rec.Time, time.Time.Compare); !again {
		all = slices.Insert(all, i, rec.Time)
		m.restarts[rec.NASAddr] = all[max(0, len(all)-maxMemoryRestarts):]
	}
	for _, s := range m.all {
		if s.NASAddr == rec.NASAddr && s.Started.Before(rec.Time) {
			m.stop(s, rec.Time, causeNASReboot)
		}
	}
	return nil
}

// stop ends s at t. Of several ends the first is kept.
func (m *Memory) stop(s *MemorySession, t time.Time, cause uint32) {
	switch {
	case s.Stopped.IsZero():
		if m.open[s.UserName]--; m.open[s.UserName] == 0 {
			delete(m.open, s.UserName)
		}
		m.ended = append(m.ended, s.UniqueID)
	case t.After(s.Stopped):
		return
	case t.Equal(s.Stopped):
		cause = max(cause, s.TerminateCause)
	}
	s.Stopped, s.TerminateCause = t, cause
}

// makeRoom returns a place in all for one more session. It forgets the session that
// ended longest ago, if there is no room else.
func (m *Memory) makeRoom() (place int, err error) {
	if len(m.all) < m.most {
		m.all = append(m.all, nil)
		return len(m.all) - 1, nil
	}
	if len(m.ended) == 0 {
		return 0, ErrMemoryFull
	}
	oldest := m.ended[0]
	m.ended = m.ended[1:]
	place = m.sessions[oldest]
	delete(m.sessions, oldest)
	return place, nil
}
