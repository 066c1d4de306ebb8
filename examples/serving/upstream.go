package serving

import (
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// maxConns bounds -conns: each is a worker, and a thread's worth of work at the other end.
const maxConns = 1024

// An Upstream is the server that a back end asks, as flags say it.
type Upstream struct {
	Conns   int           // connections, at most
	Timeout time.Duration // of one answer
	TLS     *tls.Config   // set by Check

	ca string
}

// Flags adds -conns, with a default, -timeout and -ca to f. The server is called name in their help.
func (u *Upstream) Flags(f *flag.FlagSet, name string, conns int) {
	f.IntVar(&u.Conns, "conns", conns, "connections to "+name+", and workers, at `most`")
	f.DurationVar(&u.Timeout, "timeout", 3*time.Second, "how long "+name+" may take to answer")
	f.StringVar(&u.ca, "ca", "", "`FILE` with the certificates, in PEM, that those of "+name+" must come from (default: those of the system)")
}

// Check says what is wrong with the values of the flags, and reads the file of -ca.
func (u *Upstream) Check() error {
	var errs []error
	if u.Conns < 1 || u.Conns > maxConns {
		errs = append(errs, fmt.Errorf("-conns %d: must be 1 to %d", u.Conns, maxConns))
	}
	if u.Timeout <= 0 {
		errs = append(errs, fmt.Errorf("-timeout %v: must be more than 0", u.Timeout))
	}
	var err error
	if u.TLS, err = TLS(u.ca); err != nil {
		errs = append(errs, fmt.Errorf("-ca: %w", err))
	}
	return errors.Join(errs...)
}

// ThisMachine reports whether host, a name or an address, is a loopback address. Of names it
// believes localhost alone, since another may lead anywhere.
func ThisMachine(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.IsLoopback()
}
