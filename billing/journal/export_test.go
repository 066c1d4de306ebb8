package journal

import (
	"context"
	"strconv"
	"time"

	"github.com/radpool/radpool/billing/internal/breaker"
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

// OpensAfter is breaker.OpensAfter.
const OpensAfter = breaker.OpensAfter

// A Pace is a pace.
type Pace struct{ p pace }

func NewPace(rate int) *Pace { return &Pace{pace{rate: rate}} }

func (p *Pace) Wait(now time.Time, n int) time.Duration { return p.p.wait(now, n) }
