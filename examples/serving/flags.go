package serving

import (
	"flag"
	"fmt"
	"io"
)

// Flags returns a set of flags for the program o.Name, with those that set o.Auth, o.Acct,
// o.Secret and o.Clients. What Parse says of it goes to stderr.
func (o *Options) Flags(stderr io.Writer) *flag.FlagSet {
	f := flag.NewFlagSet(o.Name, flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.Auth, "auth", "127.0.0.1:1812", "`address` for authentication")
	f.StringVar(&o.Acct, "acct", "127.0.0.1:1813", "`address` for accounting")
	f.StringVar(&o.Secret, "secret", "testing123", "`secret` shared with the clients 127.0.0.0/8 and ::1, where -clients is not given")
	f.Func("clients", "`FILE` in the syntax of FreeRADIUS's clients.conf, whose clients are served instead of this machine", o.readClients)
	return f
}

// Parse parses args, among which there must be nothing but flags.
func Parse(f *flag.FlagSet, args []string) error {
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: all is said by flags, see -h", f.Arg(0))
	}
	return nil
}
