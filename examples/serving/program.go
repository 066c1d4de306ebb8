package serving

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"go.uber.org/zap"
)

// A Program serves until a signal ends it, with options of type O that its flags say.
type Program[O any] struct {
	Name string
	// Parse makes options of the arguments, and prints the help to stderr.
	Parse func(args []string, stderr io.Writer) (O, error)
	// Serve serves until ctx ends.
	Serve func(ctx context.Context, o O, stdout io.Writer, log *zap.Logger) error
}

// Main runs the program with the arguments of the process, and ends the process.
func (p Program[O]) Main() {
	ctx, _ := Signals() // for as long as the process lives
	os.Exit(p.Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Run runs the program until ctx ends and returns the exit status: 0, also after -h; 1 if
// Serve fails; 2 if Parse does. What is wrong is told to stderr.
func (p Program[O]) Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fail := func(status int, err error) int {
		_, _ = fmt.Fprintf(stderr, "%s: %v\n", p.Name, err) // there is nobody else to tell
		return status
	}
	o, err := p.Parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return fail(2, err)
	}
	log, err := zap.NewProduction()
	if err == nil {
		err = p.Serve(ctx, o, stdout, log)
	}
	if err != nil {
		return fail(1, err)
	}
	return 0
}

// Signals returns a context that SIGINT or SIGTERM ends. The second one finds nobody who
// waits for it, and ends the process.
func Signals() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
