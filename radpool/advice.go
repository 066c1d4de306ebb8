package radpool

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/radpool/radpool/internal/decimal"
)

// Advice is what the measurements of a [Server] say about its limits.
type Advice struct {
	// Sizing is what was measured, and Plan what it comes to. Online is how many
	// requests came within MaxRequestTime when most did, ServiceTime what one took of
	// a worker, the network to the database included, and Workers how many there
	// can be. Change what will be different, and ask Sizing.Plan again.
	Sizing Sizing
	Plan   Plan
	// Reasons are in words what there is to say, each beginning with the field of
	// [Config] that it is about. They are for people: their wording may change.
	Reasons []string
}

// Advice applies [Sizing] to what was measured. Before anything was run there
// is nothing to say but that.
func (s Stats) Advice() Advice {
	var a Advice
	a.Sizing = Sizing{
		Online:         min(max(int(math.Ceil(s.PeakArrivalRate*s.Config.MaxRequestTime.Seconds())), 1), maxOnline),
		ServiceTime:    s.ServiceTime,
		MaxRequestTime: s.Config.MaxRequestTime,
		Workers:        s.mostWorkers(),
	}
	if s.ServiceTime == 0 {
		a.say("ServiceTime: nothing has been run yet, so there is nothing to go by")
		return a
	}
	a.Sizing.ServiceTime = max(s.ServiceTime, time.Microsecond)
	var err error
	if a.Plan, err = a.Sizing.Plan(); err != nil {
		a.say("MaxRequestTime: a request takes %s of a worker, and nobody waits longer than %v: the back end is too slow for any number of workers",
			inWords(s.ServiceTime), s.Config.MaxRequestTime)
		return a
	}
	a.ofWorkers(s)
	a.ofQueue(s)
	a.ofTable(s)
	return a
}

func (a *Advice) say(format string, args ...any) {
	a.Reasons = append(a.Reasons, fmt.Sprintf(format, args...))
}

// mostWorkers is how many workers there can be: as far as the policy says, and
// else as many as there were.
func (s *Stats) mostWorkers() int {
	most := s.MaxWorkers
	if most == 0 {
		most = s.Pool.WorkersHighWater
	}
	if s.Pool.Limit > 0 {
		most = min(most, s.Pool.Limit)
	}
	return min(most, MaxWorkers)
}

// mostOf is the most workers that the policy may decide on, or zero if it is not known.
func mostOf(p Policy) int {
	switch p := p.(type) {
	case Fixed:
		return int(p)
	case Spare:
		return p.WithDefaults().MaxServers
	case Adaptive:
		return p.WithDefaults().MaxServers
	}
	return 0
}

func (a *Advice) ofWorkers(s Stats) {
	p := a.Plan
	need := max(int(math.Ceil(p.ExactWorkers-1e-9)), 1)
	can := fmt.Sprintf("%s workers of %s each answer %s a second", grouped(p.Workers), inWords(p.RequestTime), grouped(int(p.Rate)))
	if p.Workers == 1 {
		can = fmt.Sprintf("1 worker of %s answers %s a second", inWords(p.RequestTime), grouped(int(p.Rate)))
	}
	switch {
	case s.PeakArrivalRate == 0:
		a.say("MaxServers: %s", can)
	case need <= p.Workers:
		a.say("MaxServers: %s; the most that came were %s, for which %d are enough", can, grouped(int(s.PeakArrivalRate)), need)
	case s.Pool.Limit > 0:
		a.say("MaxServers: %s, and the back end does no more with more of them; the most that came were %s", can, grouped(int(s.PeakArrivalRate)))
	default:
		a.say("MaxServers: %s; the most that came were %s, for which it takes %s, if the back end is not slower with so many",
			can, grouped(int(s.PeakArrivalRate)), grouped(need))
	}
}

func (a *Advice) ofQueue(s Stats) {
	size, p := s.Pool.MaxQueueSize, a.Plan
	switch {
	case size > p.UsefulQueue:
		a.say("MaxQueueSize: queue is bounded by time, not memory: %s entries is %s of work, and nobody waits longer than %v, which is %s entries",
			grouped(size), inWords(p.QueueTime(size)), a.Sizing.MaxRequestTime, grouped(p.UsefulQueue))
	case s.QueueFull > 0:
		a.say("MaxQueueSize: %s requests met a full queue of %s entries; with %s they would have been answered in time",
			grouped(int(s.QueueFull)), grouped(size), grouped(p.UsefulQueue))
	}
	if s.Pool.Queued > 0 {
		a.say("MaxQueueSize: %s wait now, which is %s of work", grouped(s.Pool.Queued), inWords(p.QueueTime(s.Pool.Queued)))
	}
}

func (a *Advice) ofTable(s Stats) {
	if s.TableFull == 0 {
		return
	}
	need := int(math.Ceil(s.PeakArrivalRate * (s.Config.CleanupDelay + s.Config.MaxRequestTime).Seconds()))
	a.say("MaxRequests: %s requests found the table of %s full; what comes in CleanupDelay and MaxRequestTime, %v, is %s entries",
		grouped(int(s.TableFull)), grouped(s.Config.MaxRequests), s.Config.CleanupDelay+s.Config.MaxRequestTime, grouped(need))
}

// inWords is a duration in the unit in which people think of it.
func inWords(d time.Duration) string {
	switch {
	case d >= 3*time.Hour:
		return grouped(int(d.Round(time.Hour)/time.Hour)) + " hours"
	case d >= 2*time.Minute:
		return grouped(int(d.Round(time.Minute)/time.Minute)) + " minutes"
	case d >= 10*time.Second:
		return grouped(int(d.Round(time.Second)/time.Second)) + " seconds"
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(time.Microsecond).String()
}

// grouped writes a number with a comma before each three digits.
func grouped(n int) string { return decimal.Grouped(strconv.Itoa(n)) }
