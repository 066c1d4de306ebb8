package main

import (
	"strings"
	"testing"
	"time"

	"github.com/radpool/radpool/internal/loadgen"
)

func sample(at time.Duration, finished uint64) loadgen.Sample {
	s := loadgen.Sample{At: at, Span: time.Second, InFlight: 7, Counters: loadgen.Counters{Finished: finished, Answered: finished}}
	s.Latency.P50, s.Latency.P99 = 1500*time.Microsecond, 22*time.Millisecond
	return s
}

func TestProgressOnATerminal(t *testing.T) {
	var b strings.Builder
	p := &progress{w: &b, terminal: true, config: loadgen.Config{Requests: 4000, Every: time.Second}}
	p.observe(sample(time.Second, 1000))
	p.observe(sample(2*time.Second, 1000))
	p.end()
	const state = "    1,000/s  p50 1.500 ms  p99 22.0 ms  in flight 7  lost 0  wrong 0"
	want := "\r\x1b[K[#####...............]  25 % " + state + "\r\x1b[K[##########..........]  50 % " + state + "\n"
	if b.String() != want {
		t.Errorf("%q\nwant\n%q", b.String(), want)
	}
}

func TestProgressElsewhere(t *testing.T) {
	var b strings.Builder
	p := newProgress(&options{config: loadgen.Config{Profile: loadgen.Constant(5, time.Minute), Every: time.Second}}, &b)
	late := sample(61*time.Second, 5)
	late.Behind, late.Lost = 2*time.Second, 1234
	p.observe(late)
	rest := sample(61100*time.Millisecond, 5)
	rest.Span = 100 * time.Millisecond // too short for a rate
	p.observe(rest)
	p.end()
	want := "  61.0 s         5/s  p50 1.500 ms  p99 22.0 ms  in flight 7  lost 1,234  wrong 0  behind 2,000 ms\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	quiet := newProgress(&options{quiet: true}, &b)
	b.Reset()
	quiet.observe(late)
	quiet.end()
	if b.Len() > 0 {
		t.Errorf("-quiet prints %q", b.String())
	}
}
