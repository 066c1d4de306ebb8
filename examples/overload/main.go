// Command overload shows what becomes of a RADIUS server when more is asked of it
// than it can do: radpool's queue and policies beside a first-in, first-out queue, which is
// what most servers have. It simulates both in virtual time, so it takes seconds, and
// prints the same for the same flags.
//
//	overload                   32 workers of 50 ms, NASes that wait 3 s and send three times
//	overload -nas mikrotik     with other NASes
//	overload -svg docs         the plots as well, into that directory
//
// Exit status 0; 1: something could not be written; 2: wrong flags.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/radpool/radpool/internal/sim"
	"github.com/radpool/radpool/radpool"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// options are the flags.
type options struct {
	workers int
	service time.Duration
	timers  sim.Timers
	nas     string
	seed    uint64
	svg     string
}

// kinds are the NASes that there are timers of.
var kinds = map[string]sim.Timers{
	"mikrotik": sim.MikroTik, "accel-ppp": sim.AccelPPP, "juniper": sim.Juniper,
	"cisco": sim.CiscoIOS, "staros": sim.StarOS, "rfc5080": sim.RFC5080,
}

// capacity is how many requests a second the workers can answer.
func (o *options) capacity() float64 { return float64(o.workers) / o.service.Seconds() }

func parse(args []string, stderr io.Writer) (*options, error) {
	var o options
	names := strings.Join(slices.Sorted(maps.Keys(kinds)), ", ")
	f := flag.NewFlagSet("overload", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&o.workers, "workers", 32, "`number` of workers, and of requests that the back end serves at once (1 to 1000)")
	f.DurationVar(&o.service, "service", 50*time.Millisecond, "what a request takes of the back end (1ms to 1s)")
	f.StringVar(&o.nas, "nas", "accel-ppp", "whose timers the NASes have: "+names)
	f.Uint64Var(&o.seed, "seed", 1, "the `number` that makes the course")
	f.StringVar(&o.svg, "svg", "", "`directory` to write the plots to")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	var ok bool
	o.timers, ok = kinds[o.nas]
	switch {
	case f.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.workers < 1 || o.workers > 1000:
		return nil, fmt.Errorf("-workers is %d: must be from 1 to 1000", o.workers)
	case o.service < time.Millisecond || o.service > time.Second:
		return nil, fmt.Errorf("-service is %v: must be from 1ms to 1s", o.service)
	case o.capacity() > 2000:
		return nil, fmt.Errorf("-workers %d of -service %v answer %.0f requests a second: at most 2000 are simulated", o.workers, o.service, o.capacity())
	case !ok:
		return nil, fmt.Errorf("-nas is %q: must be one of %s", o.nas, names)
	}
	return &o, nil
}

// run is the whole program, and returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		complain(stderr, err)
		return 2
	}
	if err := show(o, stdout); err != nil {
		complain(stderr, err)
		return 1
	}
	return 0
}

// complain prints why the program ends. Where even that cannot be written, only
// the exit status is left to tell.
func complain(stderr io.Writer, err error) { _, _ = fmt.Fprintf(stderr, "overload: %v\n", err) }

// show simulates, prints the tables, and writes the plots.
func show(o *options, stdout io.Writer) error {
	loads, err := goodput(o)
	if err != nil {
		return err
	}
	storm, err := recovery(o)
	if err != nil {
		return err
	}
	sweep, err := adaptive(o.seed)
	if err != nil {
		return err
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%d workers of %v answer %.0f requests a second; a NAS gives up after %v (%d times sent).\n\n",
		o.workers, o.service, o.capacity(), o.timers.GiveUp(), o.timers.Sends)
	loads.print(&out)
	storm.print(&out)
	sweep.print(&out)
	if _, err := io.WriteString(stdout, out.String()); err != nil {
		return err
	}
	if o.svg == "" {
		return nil
	}
	return errors.Join(loads.plot(o), storm.plot(o))
}

// scenario is the server and its NASes, under a load that is given as multiples of the
// capacity.
func (o *options) scenario(newQueue func(int) (sim.Queue, error), until time.Duration, load ...sim.Rate) sim.Scenario {
	for i := range load {
		load[i].PerSecond *= o.capacity()
	}
	n := sim.NAS{Timers: o.timers, Sockets: 4096}
	n.Load[radpool.ClassAccess] = load
	return sim.Scenario{
		Seed: o.seed, NAS: []sim.NAS{n}, Delay: 500 * time.Microsecond, Until: until,
		Server:  sim.Server{NewQueue: newQueue, Policy: radpool.Fixed(o.workers)},
		Backend: sim.Backend{Parallel: o.workers, Service: sim.Constant(o.service)},
	}
}
