// Command radperf loads a RADIUS server as NASes do, verifies every reply, and says what the subscribers would have felt.
// See -h, and "radperf sweep -h" for a series over workers and requests with its plots.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/radpool/radpool/internal/loadgen"
)

// Exit statuses.
const (
	statusOK    = 0
	statusWrong = 1 // a reply was wrong, none came at all, or the run could not be made
	statusUsage = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends the process
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run is the whole program, and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var err error
	if len(args) > 0 && args[0] == "sweep" {
		err = sweep(ctx, args[1:], stdout, stderr)
	} else {
		err = single(ctx, args, stdout, stderr)
	}
	usage := (*usageError)(nil)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return statusOK
	case errors.As(err, &usage):
		_, _ = fmt.Fprintf(stderr, "radperf: %v\n", err)
		return statusUsage
	default:
		_, _ = fmt.Fprintf(stderr, "radperf: %v\n", err)
		return statusWrong
	}
}

// single makes one run.
func single(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseRun(args, stderr)
	if err != nil {
		return err
	}
	out, err := openOutputs(o, stdout)
	if err != nil {
		return err
	}
	p := newProgress(o, stderr)
	result, err := loadgen.Run(ctx, o.config, p.observe)
	p.end()
	if err != nil {
		return errors.Join(err, out.close())
	}
	report := newReport(o.config, result)
	if !out.printed { // standard output is a file's
		report.print(stdout)
	}
	return errors.Join(out.write(report), out.close(), verdict(result))
}

// verdict is the error that makes the exit status.
func verdict(r *loadgen.Result) error {
	switch {
	case r.Wrong() > 0:
		return fmt.Errorf("%s of the replies were wrong", count(r.Wrong()))
	case r.Answered == 0 && r.Requests > 0:
		return errors.New("no answer at all: is the server there, and does it know this client and secret?")
	}
	return nil
}
