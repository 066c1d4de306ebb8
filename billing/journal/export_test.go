package journal

import (
	"context"
	"strconv"
	"time"

	"github.com/radpool/radpool/billing"
)

// Encode, Decode and MaxRecord are the encoding of the records in the file.
var (
	Encode = appendRecord
	Decode = decodeRecord
)

const MaxRecord = maxRecord

// WithMaxPages bounds the file, as a full disk does.
func (o Options) WithMaxPages(n int) Options {
	o.maxPages = n
	return o
}

// SetMaxPages changes that bound.
func (j *Journal) SetMaxPages(n int) error {
	j.file.mu.Lock()
	defer j.file.mu.Unlock()
	var got int
	return j.file.conn.QueryRowContext(context.Background(), "PRAGMA max_page_count = "+strconv.Itoa(n)).Scan(&got)
}

// Keys are those of Waves.
type Keys = keys

// NewKeys returns what says which records must stay in order.
func NewKeys(session, nas uint64, restart bool) Keys { return keys{session, nas, restart} }

var Waves = waves

// A Waiting is what is counted of records that wait.
type Waiting struct{ w waiting }

func NewWaiting() *Waiting { return &Waiting{newWaiting()} }

func (w *Waiting) Add(k Keys)         { w.w.add(k) }
func (w *Waiting) Remove(k Keys)      { w.w.remove(k) }
func (w *Waiting) Before(k Keys) bool { return w.w.before(k) }
func (w *Waiting) Empty() bool {
	return len(w.w.sessions)+len(w.w.nases)+len(w.w.restarts) == 0
}

// A Breaker is a breaker.
type Breaker struct{ b breaker }

func NewBreaker(interval time.Duration) *Breaker {
	return &Breaker{breaker{what: "accounting", interval: interval}}
}

func (b *Breaker) Allow(now time.Time) (probe, ok bool)   { return b.b.allow(now) }
func (b *Breaker) Passed(now time.Time, probe bool) bool  { return b.b.end(now, probe, passed, nil) }
func (b *Breaker) Unknown(now time.Time, probe bool) bool { return b.b.end(now, probe, unknown, nil) }
func (b *Breaker) Away() bool                             { return b.b.away }
func (b *Breaker) Err() error                             { return b.b.err }
func (b *Breaker) Failed(now time.Time, probe bool, err error) bool {
	return b.b.end(now, probe, failed, err)
}

const (
	OpensAfter = opensAfter
	MaxProbes  = maxProbes
)

// Grants are the last good Grants.
type Grants struct{ g *grants }

func NewGrants(most int, age time.Duration) Grants { return Grants{newGrants(most, age)} }

func (g Grants) Answered(now time.Time, req *billing.AccessRequest, grant billing.Grant) {
	g.g.answered(now, req, &grant)
}

func (g Grants) Find(now time.Time, req *billing.AccessRequest) (billing.Grant, bool) {
	grant, _, ok := g.g.find(now, req)
	return grant, ok
}

func (g Grants) Len() int { return len(g.g.byName) }

// A Pace is a pace.
type Pace struct{ p pace }

func NewPace(rate int) *Pace { return &Pace{pace{rate: rate}} }

func (p *Pace) Wait(now time.Time, n int) time.Duration { return p.p.wait(now, n) }
