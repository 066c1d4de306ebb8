package eap

import (
	"crypto/rand"
	"net/netip"
	"time"
)

// Defaults and bounds of a Table.
const (
	DefaultTimeout          = time.Minute
	MaxTimeout              = time.Hour
	DefaultMaxConversations = 65536
	LimitMaxConversations   = 4 << 20
)

// StateLength is the length of a State.
const StateLength = 16

// A State names a conversation between two packets: the attribute State (RFC 2865
// section 5.24), 16 octets that cannot be guessed.
type State [StateLength]byte

// A Table keeps conversations, or whatever T stands for one, while the peer thinks.
// It is a pure data structure without clock or lock: time is an argument, and one
// goroutine uses it at a time. Make one with NewTable.
//
// Take takes a conversation out, so that nobody else has it meanwhile, and Put puts it
// in under a new State: each State is good for one packet.
type Table[T any] struct {
	timeout time.Duration
	most    int
	drop    func(T)

	entries        map[State]*entry[T]
	oldest, newest *entry[T] // in the order in which they end
	stats          TableStats
}

// TableStats counts what became of conversations.
type TableStats struct {
	Waiting  int    // in the table now
	TimedOut uint64 // the peer did not answer in time
	Pushed   uint64 // the table was full, and they were the oldest
	Unknown  uint64 // Takes of a State that is not in the table, or not of this client
}

type entry[T any] struct {
	state        State
	client       netip.Addr
	until        time.Time
	value        T
	older, newer *entry[T]
}

// NewTable makes a Table. A conversation stays for timeout (0: DefaultTimeout, at
// most MaxTimeout), and there are at most `most` of them (0:
// DefaultMaxConversations, at most LimitMaxConversations): beyond, the oldest gives
// way. Larger and negative values are held to the bounds; who takes them from people
// checks them before. drop is told of each one that times out or gives way; nil:
// nobody is.
func NewTable[T any](timeout time.Duration, most int, drop func(T)) *Table[T] {
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	if most <= 0 {
		most = DefaultMaxConversations
	}
	if drop == nil {
		drop = func(T) {}
	}
	return &Table[T]{
		timeout: min(timeout, MaxTimeout),
		most:    min(most, LimitMaxConversations),
		drop:    drop,
		entries: make(map[State]*entry[T]),
	}
}

// Put puts a conversation with the client in, and returns the State that names it.
func (t *Table[T]) Put(now time.Time, client netip.Addr, value T) State {
	var s State
	for {
		_, _ = rand.Read(s[:]) // never fails: see its documentation
		if t.entries[s] == nil {
			break
		}
	}
	t.PutBack(now, client, s, value)
	return s
}

// PutBack puts a conversation back in under the State under which it was taken, since
// the packet that took it could not be answered, and comes again.
func (t *Table[T]) PutBack(now time.Time, client netip.Addr, s State, value T) {
	t.expire(now)
	if len(t.entries) >= t.most {
		t.stats.Pushed++
		t.remove(t.oldest, true)
	}
	e := &entry[T]{state: s, client: client, until: now.Add(t.timeout), value: value, older: t.newest}
	if t.newest != nil {
		t.newest.newer = e
	} else {
		t.oldest = e
	}
	t.newest = e
	t.entries[s] = e
}

// Take takes out the conversation that a client's State names. It is false if there is
// none, or if it is with another client: it then stays where it is.
func (t *Table[T]) Take(now time.Time, client netip.Addr, state []byte) (value T, s State, ok bool) {
	t.expire(now)
	if len(state) == StateLength {
		s = State(state)
		if e := t.entries[s]; e != nil && e.client == client {
			t.remove(e, false)
			return e.value, s, true
		}
	}
	t.stats.Unknown++
	return value, s, false
}

// Stats returns what has been counted by now.
func (t *Table[T]) Stats(now time.Time) TableStats {
	t.expire(now)
	s := t.stats
	s.Waiting = len(t.entries)
	return s
}

// expire removes what has ended by now.
func (t *Table[T]) expire(now time.Time) {
	for e := t.oldest; e != nil && !now.Before(e.until); e = t.oldest {
		t.stats.TimedOut++
		t.remove(e, true)
	}
}

func (t *Table[T]) remove(e *entry[T], dropped bool) {
	delete(t.entries, e.state)
	if e.older != nil {
		e.older.newer = e.newer
	} else {
		t.oldest = e.newer
	}
	if e.newer != nil {
		e.newer.older = e.older
	} else {
		t.newest = e.older
	}
	e.older, e.newer = nil, nil
	if dropped {
		t.drop(e.value)
	}
}
