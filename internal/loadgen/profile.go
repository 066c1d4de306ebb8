package loadgen

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Bounds of a Profile.
const (
	MaxRate     = 10_000_000 // conversations a second
	MaxSegments = 1000
)

// A Segment is a stretch of an open loop: a rate that is constant, or changes evenly from the first to the last.
type Segment struct {
	From, To float64 // conversations a second
	For      time.Duration
}

// A Profile is the offered rate over time. The zero value is none.
type Profile []Segment

// ParseProfile reads segments with commas between them, each RATE, or FROM:TO for a ramp, and @DURATION behind it. Those
// without a duration share what the others leave of total evenly, so that "1000,2000,4000" is three equal steps.
func ParseProfile(s string, total time.Duration) (Profile, error) {
	fields := strings.Split(s, ",")
	if len(fields) > MaxSegments {
		return nil, fmt.Errorf("%d segments: must be at most %d", len(fields), MaxSegments)
	}
	p := make(Profile, len(fields))
	open, rest := 0, total
	for i, field := range fields {
		seg, err := parseSegment(strings.TrimSpace(field))
		if err != nil {
			return nil, fmt.Errorf("segment %d, %.40q: %w", i+1, field, err)
		}
		p[i] = seg
		if seg.For == 0 {
			open++
		}
		rest -= seg.For
	}
	for i := range p {
		if p[i].For > 0 {
			continue
		}
		p[i].For = rest / time.Duration(open)
		if p[i].For <= 0 {
			return nil, fmt.Errorf("segment %d has no duration, and nothing is left of %v for it", i+1, total)
		}
	}
	if p.count() > MaxRequests {
		return nil, fmt.Errorf("more than %d requests in all", MaxRequests)
	}
	return p, nil
}

func parseSegment(s string) (seg Segment, err error) {
	rate, length, timed := strings.Cut(s, "@")
	if timed {
		if seg.For, err = time.ParseDuration(length); err != nil || seg.For <= 0 || seg.For > MaxDuration {
			return seg, fmt.Errorf("the duration must be more than 0 and at most %v, such as 30s", MaxDuration)
		}
	}
	from, to, ramp := strings.Cut(rate, ":")
	if !ramp {
		to = from
	}
	if seg.From, err = parseRate(from); err != nil {
		return seg, err
	}
	seg.To, err = parseRate(to)
	return seg, err
}

func parseRate(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0 && v <= MaxRate) {
		return 0, fmt.Errorf("a rate must be a number from 0 to %d a second", MaxRate)
	}
	return v, nil
}

// Constant is a Profile of one rate.
func Constant(rate float64, d time.Duration) Profile { return Profile{{From: rate, To: rate, For: d}} }

// Duration is how long the Profile lasts.
func (p Profile) Duration() (d time.Duration) {
	for _, s := range p {
		d += s.For
	}
	return d
}

// At is the rate at t after the start, 0 outside.
func (p Profile) At(t time.Duration) float64 {
	for _, s := range p {
		if t < s.For {
			return s.From + (s.To-s.From)*float64(t)/float64(s.For)
		}
		t -= s.For
	}
	return 0
}

// count is how many conversations the Profile begins.
func (p Profile) count() (n float64) {
	for _, s := range p {
		n += s.count()
	}
	return n
}

func (s Segment) count() float64 { return (s.From + s.To) / 2 * s.For.Seconds() }

// when is the time at which the expected number of conversations reaches x; ok is false where it never does.
func (p Profile) when(x float64) (t time.Duration, ok bool) {
	for _, s := range p {
		n := s.count()
		if x < n {
			return t + s.when(x), true
		}
		x -= n
		t += s.For
	}
	return t, false
}

// when solves From*t + slope*t*t/2 = x.
func (s Segment) when(x float64) time.Duration {
	slope := (s.To - s.From) / s.For.Seconds()
	root := math.Sqrt(max(s.From*s.From+2*slope*x, 0))
	// This form loses no digits where the slope is small.
	if d := s.From + root; d > 0 {
		return min(time.Duration(2*x/d*float64(time.Second)), s.For)
	}
	return 0
}

func (p Profile) validate() error {
	if len(p) > MaxSegments {
		return fmt.Errorf("%d segments: must be at most %d", len(p), MaxSegments)
	}
	for i, s := range p {
		if !(s.From >= 0 && s.From <= MaxRate && s.To >= 0 && s.To <= MaxRate) {
			return fmt.Errorf("segment %d: a rate must be from 0 to %d a second", i+1, MaxRate)
		}
		if s.For <= 0 || s.For > MaxDuration {
			return fmt.Errorf("segment %d lasts %v: must be more than 0 and at most %v", i+1, s.For, MaxDuration)
		}
	}
	if p.Duration() > MaxDuration {
		return fmt.Errorf("it lasts %v: must be at most %v", p.Duration(), MaxDuration)
	}
	if len(p) > 0 && p.count() < 1 {
		return errors.New("less than one request in all")
	}
	return nil
}
