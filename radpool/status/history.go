package status

import (
	"time"

	"github.com/radpool/radpool/radpool"
)

// sample is what the source had counted at a time.
type sample struct {
	at    time.Time
	stats radpool.Stats
}

// history is the last samples, oldest first: a ring that is as large as it gets when
// it is full.
type history struct {
	samples []sample
	next    int // where the next one goes, once the ring is full
	most    int
}

func newHistory(most int) history { return history{most: most} }

func (h *history) add(s sample) {
	if len(h.samples) < h.most {
		h.samples = append(h.samples, s)
		return
	}
	h.samples[h.next] = s
	h.next = (h.next + 1) % h.most
}

func (h *history) len() int { return len(h.samples) }

// at returns the i-th sample, from the oldest on.
func (h *history) at(i int) *sample { return &h.samples[(h.next+i)%len(h.samples)] }

// since returns the newest sample that is at least d older than now, or else the
// oldest.
func (h *history) since(now time.Time, d time.Duration) *sample {
	for i := h.len() - 1; i > 0; i-- {
		if s := h.at(i); now.Sub(s.at) >= d {
			return s
		}
	}
	return h.at(0)
}

// Point is what happened between two samples, and how things stood at the later one.
type Point struct {
	Time time.Time `json:"time"` // of the later sample

	// A second.
	Received float64 `json:"received_per_second"`
	Answered float64 `json:"answered_per_second"`
	Dropped  float64 `json:"dropped_per_second"`

	// Response times of Access-Requests and of accounting; zero where none was answered.
	AccessP50     float64 `json:"access_p50_seconds"`
	AccessP99     float64 `json:"access_p99_seconds"`
	AccountingP99 float64 `json:"accounting_p99_seconds"`

	Waiting int `json:"waiting"`
	Workers int `json:"workers"`
	Busy    int `json:"busy"`
}

// point compares two samples.
func point(from, to *sample) Point {
	r := ratesBetween(from, to)
	access := to.stats.AccessTimes.Sub(&from.stats.AccessTimes)
	accounting := to.stats.AccountingTimes.Sub(&from.stats.AccountingTimes)
	return Point{
		Time: to.at, Received: r.Received, Answered: r.Answered, Dropped: r.Dropped,
		AccessP50: access.Quantile(0.5).Seconds(), AccessP99: access.Quantile(0.99).Seconds(),
		AccountingP99: accounting.Quantile(0.99).Seconds(),
		Waiting:       to.stats.Pool.Queued, Workers: to.stats.Pool.Workers, Busy: to.stats.Pool.Busy,
	}
}

// points are those of all samples that are step apart, the last one among them.
func (h *history) points(step int) []Point {
	list := []Point{}
	for i := (h.len() - 1) % step; i+step < h.len(); i += step {
		list = append(list, point(h.at(i), h.at(i+step)))
	}
	return list
}
