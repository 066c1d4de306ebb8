package radpool

import (
	"math"
	"time"
)

// What a search takes for granted; see Adaptive.
const (
	// adaptiveWorth is the share of a difference in workers that has to be
	// gained in throughput for the greater number to be the better one.
	adaptiveWorth = 0.25
	// adaptiveSure is the logarithm of the odds at which it is taken for true.
	adaptiveSure = 2
	// adaptiveOnce bounds what one look can weigh: the back end may just have
	// changed.
	adaptiveOnce = 3
	// adaptiveTries is after how many looks without a result the longest step is
	// not taken; for each finer one it is one look more.
	adaptiveTries = 2

	// Steps: the first doubles, each further one is half as far.
	adaptiveFinest  = 3
	adaptiveRestart = 2 // after a rest
	adaptiveAgain   = 1 // after a change of the back end

	adaptiveRuns   = 16  // the fewest for a mean
	adaptiveMemory = 8   // how many measurements back the mean at the centre goes
	adaptiveRests  = 8   // the most measurements between two looks
	adaptiveChange = 16  // the square of how many standard deviations are no chance
	adaptiveFull   = 0.9 // how much of the limit has to be busy for it to be the limit that decides
)

// adaptivePhase is what the search is doing.
type adaptivePhase uint8

const (
	adaptiveRest    adaptivePhase = iota // nothing: the limit is not met
	adaptiveSettle                       // waiting until what began under another limit is done
	adaptiveMeasure                      // measuring
)

// adaptiveSearch is the state of an Adaptive. It is a value: the one that was
// given to the pool does not change.
type adaptiveSearch struct {
	centre int // the best number of workers by now
	probe  int // the one that is looked at instead; 0: none
	step   int // how far the next look goes
	down   bool

	phase adaptivePhase
	next  time.Time // when the phase ends, or is looked at again
	since time.Time // when the measurement began, and the counts of then
	done  uint64
	runs  uint64
	took  time.Duration
	busy  time.Duration
	last  time.Duration // what a run took of late, to know how long to settle

	mean  float64 // what a job takes at the centre, in seconds
	known float64 // how many runs the mean is of; 0: it is not known
	noise float64 // the square of the coefficient of variation of what a job takes
	looks float64 // how many measurements noise is of

	above, below adaptiveCase
	rests, rest  int // measurements before the next look, and how many they were at the last rest
}

// adaptiveCase is what speaks for a step in one direction.
type adaptiveCase struct {
	odds  float64 // their logarithm
	tries int
	no    bool
}

func newAdaptiveSearch(centre int) adaptiveSearch {
	return adaptiveSearch{centre: centre, noise: 1, looks: 1}
}

// limit is how many workers may be busy.
func (s *adaptiveSearch) limit() int {
	if s.probe > 0 {
		return s.probe
	}
	return s.centre
}

// target is the number of workers that a step leads to, above or below the
// centre: another one, even where the step is less than one worker.
func (s *adaptiveSearch) target(step int, down bool) int {
	ratio := math.Exp2(1 / float64(int(1)<<step))
	if down {
		return min(int(math.Round(float64(s.centre)/ratio)), s.centre-1)
	}
	return max(int(math.Round(float64(s.centre)*ratio)), s.centre+1)
}

// look goes on with the search when it is time for that.
func (s *adaptiveSearch) look(now time.Time, p Snapshot, a Adaptive) {
	switch {
	case s.phase == adaptiveRest:
		if p.Busy >= s.centre {
			s.settle(now, a)
		}
	case now.Before(s.next):
	case s.phase == adaptiveSettle:
		s.begin(now, p, a)
	default:
		s.measured(now, p, a)
	}
}

// settle waits until what began under another limit is done.
func (s *adaptiveSearch) settle(now time.Time, a Adaptive) {
	s.phase = adaptiveSettle
	s.next = now.Add(min(max(2*s.last, a.Interval/4), 20*a.Interval))
}

// begin begins to measure.
func (s *adaptiveSearch) begin(now time.Time, p Snapshot, a Adaptive) {
	s.phase = adaptiveMeasure
	s.since, s.done, s.runs, s.took, s.busy = now, p.Done, p.Runs, p.DoneTime, p.BusyTime
	s.next = now.Add(a.Interval)
}

// measured looks at what has been measured by now.
func (s *adaptiveSearch) measured(now time.Time, p Snapshot, a Adaptive) {
	passed := now.Sub(s.since)
	runs := float64(p.Runs - s.runs)
	if float64(p.BusyTime-s.busy) < adaptiveFull*float64(s.limit())*float64(passed) {
		s.notFull(now, p, a)
		return
	}
	if need := s.need(); runs < need && passed < 10*a.Interval || runs < adaptiveRuns && passed < 50*a.Interval {
		missing := (need - runs) / max(runs, 1) * float64(passed)
		s.next = now.Add(min(max(time.Duration(missing), a.Interval/4), 5*a.Interval))
		return
	}
	if runs == 0 {
		s.begin(now, p, a) // the back end hangs: nothing can be said
		return
	}
	took := p.DoneTime - s.took
	s.last = took / time.Duration(runs)
	mean := max(took.Seconds()/float64(p.Done-s.done), 1e-9)
	if s.probe == 0 {
		s.know(mean, runs)
		s.goOn(now, p, a)
		return
	}
	moved := s.judge(mean, runs)
	s.probe = 0
	switch {
	case !moved:
		s.settle(now, a)
	case s.step == 0:
		s.goOn(now, p, a) // far from where it is best, nothing needs to be known well
	default:
		s.begin(now, p, a)
	}
}

// notFull is what to do when fewer workers were busy than might be.
func (s *adaptiveSearch) notFull(now time.Time, p Snapshot, a Adaptive) {
	switch {
	case s.probe > 0:
		s.probe = 0
		s.settle(now, a)
	case p.Queued > 0 && p.Busy >= s.centre:
		s.begin(now, p, a) // workers take their time to start
	default:
		s.phase, s.next = adaptiveRest, time.Time{}
	}
}

// need is how many runs it takes to see the next step above the noise: so many
// that the difference that it should make is twice the standard deviation.
func (s *adaptiveSearch) need() float64 {
	log := math.Ln2 / float64(int(1)<<s.step)
	return max(8*s.noise/(log*log), adaptiveRuns)
}

// know takes up a measurement at the centre.
func (s *adaptiveSearch) know(mean, runs float64) {
	if s.known > 0 {
		change := math.Log(mean / s.mean)
		seen := change * change / (1/runs + 1/s.known)
		if seen > adaptiveChange*s.noise && math.Abs(change) > 0.1 {
			// Not by chance: it is another back end than before.
			s.above, s.below = adaptiveCase{}, adaptiveCase{}
			s.step, s.rests, s.rest = min(s.step, adaptiveAgain), 0, 0
			s.known = 0
		} else {
			s.looks = min(s.looks+1, adaptiveMemory)
			s.noise = max(s.noise+(seen-s.noise)/s.looks, 0.01)
		}
	}
	kept := min(s.known, (adaptiveMemory-1)*runs)
	s.mean = (s.mean*kept + mean*runs) / (kept + runs)
	s.known = kept + runs
}

// judge weighs a measurement of the probe, and moves the centre there if that is
// better.
func (s *adaptiveSearch) judge(mean, runs float64) (moved bool) {
	workers := math.Log(float64(s.probe) / float64(s.centre))
	gain := 1 - math.Log(mean/s.mean)/workers // the share of the difference in workers that is one in throughput, too
	doubt := s.noise * (1/runs + 1/s.known) / (workers * workers)
	odds := (min(max(gain, -1), 2) - adaptiveWorth) / doubt
	c := &s.above
	if s.down {
		c, odds = &s.below, -odds
	}
	c.odds += min(max(odds, -adaptiveOnce), adaptiveOnce)
	c.tries++
	if c.odds >= adaptiveSure {
		s.centre, s.mean, s.known = s.probe, mean, runs
		s.above, s.below = adaptiveCase{}, adaptiveCase{}
		s.step, s.rest = max(s.step-1, 0), 0
		return true
	}
	c.no = c.odds <= -adaptiveSure || c.tries >= adaptiveTries+s.step
	s.down = !s.down
	return false
}

// goOn decides what to measure next: the centre again while it rests, and else
// one side of it.
func (s *adaptiveSearch) goOn(now time.Time, p Snapshot, a Adaptive) {
	if s.rests > 0 {
		s.rests--
		s.begin(now, p, a)
		return
	}
	above, below := s.centre < a.MaxServers && !s.above.no, s.centre > a.MinServers && !s.below.no
	if !above && !below {
		s.finer()
		s.begin(now, p, a)
		return
	}
	s.down = below && (s.down || !above)
	s.probe = min(max(s.target(s.step, s.down), a.MinServers), a.MaxServers)
	s.settle(now, a)
}

// finer halves the step, or rests and then begins again where none is better.
func (s *adaptiveSearch) finer() {
	s.above, s.below = adaptiveCase{}, adaptiveCase{}
	if s.step < adaptiveFinest {
		s.step++
		return
	}
	s.rest = min(2*s.rest+1, adaptiveRests)
	s.rests, s.step = s.rest, adaptiveRestart
}
