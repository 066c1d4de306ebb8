package cache_test

import (
	"time"

	"github.com/radpool/radpool/cache"
)

// reference is the cache as one would explain it: a map, a slice, and no
// thought of speed. It is what a Cache of one shard must do, and what
// any Cache must do while there is no pressure on MaxRequests.
type reference struct {
	config  cache.Config
	latest  time.Time
	entries map[cache.Key]*refEntry
	sent    []*refEntry // retained entries, the one sent longest ago first
	stats   cache.Stats
}

type refEntry struct {
	request    cache.Request
	inFlight   bool
	began      time.Time
	seen       time.Time
	duplicates int

	reply   []byte // retained, when not in flight; empty: silence
	replied time.Time
	expires time.Time
}

func newReference(config cache.Config) *reference {
	return &reference{config: config, entries: map[cache.Key]*refEntry{}}
}

func (r *reference) advance(now time.Time) {
	if now.After(r.latest) {
		r.latest = now
	}
	for len(r.sent) > 0 && !r.sent[0].expires.After(r.latest) {
		r.stats.Expired++
		r.forget(r.sent[0])
	}
}

func (r *reference) forget(e *refEntry) {
	delete(r.entries, e.request.Key)
	r.unsend(e)
}

func (r *reference) unsend(e *refEntry) {
	for i, s := range r.sent {
		if s == e {
			r.sent = append(r.sent[:i], r.sent[i+1:]...)
			return
		}
	}
}

func (r *reference) begin(now time.Time, req cache.Request) (*refEntry, cache.Verdict, []byte) {
	r.advance(now)
	verdict := cache.Fresh
	if old := r.entries[req.Key]; old != nil {
		same := old.request == req
		switch {
		case old.inFlight && same:
			old.seen = r.latest
			old.duplicates++
			r.stats.InFlightCopies++
			return nil, cache.InFlight, nil
		case old.inFlight:
			verdict = cache.Superseded
		case !old.expires.After(r.latest):
			r.stats.Expired++
		case same:
			return r.repeat(old)
		default:
			r.stats.Replaced++
		}
		r.forget(old)
	}
	if len(r.entries) == r.config.MaxRequests {
		if len(r.sent) == 0 {
			r.stats.Full++
			return nil, cache.Full, nil
		}
		r.stats.Evicted++
		r.forget(r.sent[0])
	}
	if verdict == cache.Fresh {
		r.stats.Begun++
	} else {
		r.stats.Superseded++
	}
	e := &refEntry{request: req, inFlight: true, began: r.latest, seen: r.latest}
	r.entries[req.Key] = e
	return e, verdict, nil
}

func (r *reference) repeat(e *refEntry) (*refEntry, cache.Verdict, []byte) {
	e.expires = r.latest.Add(r.config.CleanupDelay)
	if end := e.replied.Add(r.config.MaxAge); end.Before(e.expires) {
		e.expires = end
	}
	r.unsend(e)
	r.sent = append(r.sent, e)
	if len(e.reply) == 0 {
		r.stats.SilencedCopies++
		return nil, cache.Silent, nil
	}
	r.stats.Replayed++
	return nil, cache.Replay, e.reply
}

// current tells whether the entry is still its request's.
func (r *reference) current(e *refEntry) bool {
	return e != nil && e.inFlight && r.entries[e.request.Key] == e
}

func (r *reference) finish(now time.Time, e *refEntry, reply []byte) bool {
	r.advance(now)
	if !r.current(e) {
		r.stats.Void++
		return false
	}
	if len(reply) == 0 {
		r.stats.Unanswered++
	} else {
		r.stats.Finished++
	}
	if r.overdue(e) {
		r.stats.Late++
	}
	e.inFlight = false
	e.reply = append([]byte(nil), reply...)
	e.replied = r.latest
	e.expires = r.latest.Add(r.config.CleanupDelay)
	r.sent = append(r.sent, e)
	return true
}

func (r *reference) abandon(e *refEntry) bool {
	if !r.current(e) {
		r.stats.Void++
		return false
	}
	r.stats.Abandoned++
	delete(r.entries, e.request.Key)
	return true
}

func (r *reference) overdue(e *refEntry) bool {
	return r.latest.Sub(e.began) >= r.config.MaxRequestTime
}

// expire returns when the next entry is to be freed.
func (r *reference) expire(now time.Time) time.Time {
	r.advance(now)
	if len(r.sent) == 0 {
		return time.Time{}
	}
	return r.sent[0].expires
}

// snapshot is Stats, but for Bytes.
func (r *reference) snapshot() cache.Stats {
	s := r.stats
	s.MaxRequests = r.config.MaxRequests
	s.Entries = len(r.entries)
	for _, e := range r.entries {
		switch {
		case !e.inFlight:
			s.Retained++
			s.ReplyBytes += len(e.reply)
		case r.overdue(e):
			s.Tombstones++
			s.InFlight++
		default:
			s.InFlight++
		}
	}
	return s
}
