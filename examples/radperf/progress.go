package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/radpool/radpool/internal/loadgen"
)

// progress shows a run on its way: a bar with the rate now on a terminal, a line an interval elsewhere.
type progress struct {
	w        io.Writer
	terminal bool
	quiet    bool
	config   loadgen.Config
	finished uint64
	lost     uint64
	wrong    uint64
	lines    int
	shown    bool
}

func newProgress(o *options, w io.Writer) *progress {
	return &progress{w: w, terminal: isTerminal(w), quiet: o.quiet, config: o.config}
}

// isTerminal reports whether w is a terminal, on which a line can be written over.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (p *progress) observe(s loadgen.Sample) {
	if p.quiet {
		return
	}
	p.finished += s.Finished + s.Lost + s.Unsent
	p.lost += s.Lost
	p.wrong += s.Wrong()
	state := fmt.Sprintf("%9s/s  p50 %s  p99 %s  in flight %s  lost %s  wrong %s", rounded(s.Goodput()),
		milliseconds(s.Latency.P50), milliseconds(s.Latency.P99), count(uint64(s.InFlight)), count(p.lost), count(p.wrong))
	if s.Behind > time.Millisecond {
		state += "  behind " + milliseconds(s.Behind)
	}
	if p.lines++; p.lines > 1 && s.Span < p.config.Every/4 {
		return // a rest at the end, too short for a rate
	}
	if !p.terminal {
		_, _ = fmt.Fprintf(p.w, "%8s %s\n", seconds(s.At), state)
		return
	}
	p.shown = true
	// The line is as long as what it says, and what stood there before is cleared.
	_, _ = fmt.Fprintf(p.w, "\r\x1b[K%s %s", bar(p.share(s.At)), state)
}

// share is how much of the run is over.
func (p *progress) share(at time.Duration) float64 {
	var done float64
	if length := p.length(); length > 0 {
		done = at.Seconds() / length.Seconds()
	}
	if p.config.Requests > 0 {
		done = max(done, float64(p.finished)/float64(p.config.Requests))
	}
	return min(done, 1)
}

func (p *progress) length() time.Duration {
	if len(p.config.Profile) > 0 {
		return p.config.Profile.Duration()
	}
	return p.config.Duration
}

const barWidth = 20

func bar(share float64) string {
	full := int(share * barWidth)
	return fmt.Sprintf("[%s%s] %3.0f %%", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), 100*share)
}

// end leaves the line.
func (p *progress) end() {
	if p.shown {
		_, _ = fmt.Fprintln(p.w)
	}
}
