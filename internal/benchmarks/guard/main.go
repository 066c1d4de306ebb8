// Command guard fails when a part of radpool has become slower, or allocates more.
//
//	go run ./guard           compare with guard/guard.json
//	go run ./guard -update   measure, and write guard/guard.json
//
// It is run in the directory of the module internal/benchmarks. For each part it
// runs two of the module's benchmarks in turn, again and again: radpool's, and the
// naive thing that does the same work. Machines differ and others use them, so what
// counts is the ratio of the two in processor time, round by round, and of these the
// median. It fails when that is worse by more than a quarter than the ratio recorded,
// in a look and in two more with twice and four times the rounds. Allocations are
// counted, not measured: more than was recorded fails at once.
//
// All runs with GOMAXPROCS=1: what a part does is measured, not how two threads
// meet, which is different every time. For that there are the tables in docs.
//
// A change that makes a part slower for a good reason, or faster for good, comes
// with a new guard.json; where the ratios of all parts moved at once it is the
// machine or the version of Go that changed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"
)

var errWorse = errors.New("worse than recorded")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "guard:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	f := flag.NewFlagSet("guard", flag.ContinueOnError)
	file := f.String("file", "guard/guard.json", "the `file` with what was recorded")
	update := f.Bool("update", false, "record what is measured now")
	rounds := f.Int("rounds", 11, "rounds of the first look, each part and its reference once in each")
	each := f.Duration("each", 25*time.Millisecond, "how `long` each benchmark runs in a round")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *rounds < 1 || *each <= 0 || f.NArg() > 0 {
		return errors.New("-rounds and -each must be positive, and there are no arguments")
	}
	parts, err := readParts(*file)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "guard")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary := filepath.Join(dir, "bench.test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", binary, ".")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("go test -c: %w", err)
	}
	measure := func(benchmark string) (figures, error) { return runBenchmark(ctx, binary, benchmark, *each) }
	if *update {
		found, err := look(parts, 2**rounds, measure)
		if err != nil {
			return err
		}
		return writeParts(*file, recorded(parts, found), out)
	}
	return check(parts, *rounds, measure, out)
}
