package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/radpool/radpool/internal/loadgen"
	"github.com/radpool/radpool/internal/plot"
)

const sweepUsage = `radperf sweep measures a server with several numbers of workers and of requests, each with each, and draws throughput and
total time against both.

  radperf sweep -plot sweep.html             on the server that runs; -workers are radperf's alone
  radperf sweep -start 'billingd -db sqlite:{dir}/radpool.db -auth {auth} -acct {acct} -max-servers {workers} -max-spare-servers {workers}' -plot sweep.html
                                             a server of as many workers, and a database, for each measurement

In -start {workers} is the number of workers, {dir} a new, empty directory, {auth} and {acct} the addresses. Words are parted by
blanks; a word with blanks stands in double quotes. The server is begun for each measurement, and ended after it by an interrupt.

`

// sweepOptions is what the flags of a sweep say.
type sweepOptions struct {
	options
	workers, requests []int
	start             []string
}

// A point is one measurement of a sweep.
type point struct {
	Workers    int             `json:"workers"`
	Requests   int             `json:"requests"`
	Throughput float64         `json:"throughput"` // requests a second that were answered
	Seconds    float64         `json:"seconds"`    // in all
	Result     *loadgen.Result `json:"result"`
}

// series is a whole sweep.
type series struct {
	Server string  `json:"server"`
	Mix    string  `json:"mix"`
	Start  string  `json:"start,omitempty"` // the command of the server
	Points []point `json:"points"`
}

func parseSweep(args []string, stderr io.Writer) (*sweepOptions, error) {
	o := new(sweepOptions)
	f := newFlags("radperf sweep", &o.options)
	workers := f.String("workers", "32,64,128,256", "`counts` of workers: up to 6 numbers with commas between")
	requests := f.String("n", "1000,10000,100000,1000000", "`counts` of logins or sessions: up to 6 numbers with commas between")
	start := f.String("start", "", "`COMMAND` that runs the server; see above")
	if err := parse(f, args, sweepUsage, stderr); err != nil {
		return nil, err
	}
	var err error
	if o.workers, err = numbers(*workers, loadgen.MaxWorkers); err != nil {
		return nil, wrong("-workers: %w", err)
	}
	if o.requests, err = numbers(*requests, loadgen.MaxRequests); err != nil {
		return nil, wrong("-n: %w", err)
	}
	if o.start, err = words(*start); err != nil {
		return nil, wrong("-start: %w", err)
	}
	for _, n := range o.workers { // each is checked before the first is measured
		o.config.Workers, o.config.Requests = n, max(n, o.requests[0])
		if err := o.read(); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// numbers reads up to plot.MaxLines numbers, each from 1 to most.
func numbers(s string, most int) ([]int, error) {
	var all []int
	for field := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || n < 1 || n > most {
			return nil, fmt.Errorf("%.40q must be a whole number from 1 to %d", field, most)
		}
		if len(all) > 0 && n <= all[len(all)-1] {
			return nil, fmt.Errorf("%d must be more than %d before it", n, all[len(all)-1])
		}
		all = append(all, n)
	}
	if len(all) > plot.MaxLines {
		return nil, fmt.Errorf("%d numbers: must be at most %d", len(all), plot.MaxLines)
	}
	return all, nil
}

// words parts a command at blanks that are not in double quotes.
func words(s string) (all []string, err error) {
	var word strings.Builder
	quoted, begun := false, false
	for _, c := range s {
		switch {
		case c == '"':
			quoted, begun = !quoted, true
		case (c == ' ' || c == '\t' || c == '\n') && !quoted:
			if begun {
				all = append(all, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	if quoted {
		return nil, errors.New("a double quote does not end")
	}
	if begun {
		all = append(all, word.String())
	}
	return all, nil
}

// sweep measures each number of workers with each number of requests.
func sweep(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseSweep(args, stderr)
	if err != nil {
		return err
	}
	out, err := openOutputs(&o.options, stdout)
	if err != nil {
		return err
	}
	s := &series{Server: o.config.Auth.String(), Mix: o.config.Mix.String(), Start: strings.Join(o.start, " ")}
	table := stdout
	if out.printed {
		table = stderr
	}
	_, _ = fmt.Fprintf(table, "%8s %10s %12s %10s %12s %12s %8s %8s\n", "workers", "requests", "answered/s", "seconds", "p50", "p99", "lost", "wrong")
	var bad error
	for _, workers := range o.workers {
		for _, requests := range o.requests {
			p, err := o.measure(ctx, workers, requests, stderr)
			if err != nil {
				return errors.Join(fmt.Errorf("%d workers, %d requests: %w", workers, requests, err), out.close())
			}
			r := p.Result
			_, _ = fmt.Fprintf(table, "%8d %10d %12.0f %10.3f %12s %12s %8d %8d\n", p.Workers, p.Requests, p.Throughput, p.Seconds,
				milliseconds(r.Latency.P50), milliseconds(r.Latency.P99), r.Lost, r.Wrong())
			s.Points = append(s.Points, *p)
			bad = errors.Join(bad, verdict(r))
			if ctx.Err() != nil {
				return errors.Join(errors.New("stopped"), out.close())
			}
		}
	}
	err = out.each(func(w io.Writer) error { return writeSeriesCSV(w, s) }, s, func(w io.Writer) error { return writeSweepPage(w, s) })
	return errors.Join(err, out.close(), bad)
}

// measure makes one run, on a server of its own where there is a command for it.
func (o *sweepOptions) measure(ctx context.Context, workers, requests int, stderr io.Writer) (p *point, err error) {
	c := o.config
	c.Workers, c.Requests = min(workers, requests), requests
	if len(o.start) > 0 {
		dir, err := os.MkdirTemp("", "radperf")
		if err != nil {
			return nil, err
		}
		defer func() { _ = os.RemoveAll(dir) }() // what a server leaves there, nobody needs
		server, err := startServer(o.start, strings.NewReplacer("{workers}", strconv.Itoa(workers), "{dir}", dir,
			"{auth}", c.Auth.String(), "{acct}", c.Acct.String()))
		if err != nil {
			return nil, err
		}
		defer func() {
			if err == nil {
				err = server.alive() // it was another one that has answered
			}
			server.stop()
		}()
		if err := server.ready(ctx, c); err != nil {
			return nil, err
		}
	}
	quiet := o.options
	quiet.config, quiet.quiet = c, o.quiet || !isTerminal(stderr) // elsewhere the lines of the table are enough
	progress := newProgress(&quiet, stderr)
	r, err := loadgen.Run(ctx, c, progress.observe)
	progress.end()
	if err != nil {
		return nil, err
	}
	return &point{Workers: workers, Requests: requests, Throughput: r.Throughput(), Seconds: r.Elapsed.Seconds(), Result: r}, nil
}

func writeSeriesCSV(w io.Writer, s *series) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"workers", "requests", "answered_per_s", "seconds", "p50_s", "p99_s", "lost", "wrong"}) // kept for Error
	for _, p := range s.Points {
		r := p.Result
		_ = c.Write([]string{
			strconv.Itoa(p.Workers), strconv.Itoa(p.Requests), fmt.Sprintf("%.1f", p.Throughput), fmt.Sprintf("%.3f", p.Seconds),
			inSeconds(r.Latency.P50), inSeconds(r.Latency.P99), number(r.Lost), number(r.Wrong()),
		})
	}
	c.Flush()
	return c.Error()
}
