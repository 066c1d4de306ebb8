package radclient

import "time"

// Never is a time that does not come.
const Never = never

// Schedule is one request's retransmissions.
type Schedule struct{ s schedule }

// Begin starts at this time.
func (s *Schedule) Begin(now time.Duration) { s.s = schedule{began: now} }

// Next counts a copy and returns when the next step is due.
func (s *Schedule) Next(r *Retransmission, now time.Duration, draw float64) time.Duration {
	return s.s.next(r, now, draw)
}

// Over reports whether the request is to be given up.
func (s *Schedule) Over(r *Retransmission, now time.Duration) bool { return s.s.over(r, now) }

// Identifiers is the allocator of one server.
type Identifiers struct{ ids identifiers }

// NewIdentifiers makes one that knows no socket yet.
func NewIdentifiers(long, short time.Duration) *Identifiers {
	return &Identifiers{identifiers{long: long, short: short}}
}

// Grow adds a socket.
func (i *Identifiers) Grow() { i.ids.grow() }

// Take takes one.
func (i *Identifiers) Take(now time.Duration) (int, bool) {
	id, ok := i.ids.take(now)
	return int(id), ok
}

// Give gives it back.
func (i *Identifiers) Give(now time.Duration, id int, settled bool) {
	i.ids.give(now, ident(id), settled)
}

// ReadyAt is when one can be taken.
func (i *Identifiers) ReadyAt() time.Duration { return i.ids.readyAt() }

// Health is what is known of one server.
type Health struct{ h health }

// NewHealth is that of a server that was never heard.
func NewHealth(noProbes bool) *Health { return &Health{health{heard: -1, noProbes: noProbes}} }

// State is alive or dead.
func (h *Health) State() State { return h.h.state }

// Replied notes a reply.
func (h *Health) Replied(now time.Duration) { h.h.replied(now) }

// Unanswered notes a wait in vain.
func (h *Health) Unanswered(f *Failover, now, sent time.Duration) bool {
	return h.h.unansweredSince(f, now, sent)
}

// Probe reports whether one is due.
func (h *Health) Probe(f *Failover, now time.Duration, draw float64) bool {
	return h.h.probe(f, now, draw)
}

// ProbeEnded notes the end of one.
func (h *Health) ProbeEnded(f *Failover, now time.Duration, answered bool) bool {
	return h.h.probeEnded(f, now, answered)
}

// Revive reports whether it is alive again by time.
func (h *Health) Revive(f *Failover, now time.Duration) bool { return h.h.revive(f, now) }

// Next is when there is something to do.
func (h *Health) Next(f *Failover) time.Duration { return h.h.next(f) }

// WithDefaults is c as New completes it.
func (c Config) WithDefaults() (Config, error) { return c.withDefaults() }
