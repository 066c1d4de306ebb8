// Package serving is what the back ends in examples have in common: a server for one
// billing.Handler on two sockets, until a signal ends it.
package serving

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/radpool"
)

// drainTime is how long what was received may take to be answered at the end.
const drainTime = 10 * time.Second

// Options say how a back end is served.
type Options struct {
	Name       string // of the program, in its line "NAME ready"
	Auth, Acct string // UDP addresses; port 0 is a free one
	Secret     string // shared with the clients 127.0.0.0/8 and ::1, where there are no Clients
	Clients    []radpool.Client
	Workers    int // at most; where each uses one connection, as many as there are of these
	Logger     *zap.Logger

	notices []radpool.ConfNotice // of the file of clients
}

// Run serves h until ctx ends, and then answers what was received. It prints
// "NAME ready auth=ADDRESS acct=ADDRESS" to stdout when it serves.
func Run(ctx context.Context, o Options, h billing.Handler, stdout io.Writer) error {
	clients, err := o.clients()
	if err != nil {
		return err
	}
	auth, err := net.ListenPacket("udp", o.Auth)
	if err != nil {
		return fmt.Errorf("-auth: %w", err)
	}
	acct, err := net.ListenPacket("udp", o.Acct)
	if err != nil {
		_ = auth.Close() // nothing was sent on it
		return fmt.Errorf("-acct: %w", err)
	}
	server := &radpool.Server{
		Handler: &billing.Processor{Handler: h, Logger: o.Logger},
		Clients: clients, Logger: o.Logger,
		Config: radpool.Config{MaxServers: o.Workers, MaxSpareServers: min(o.Workers, 32), MinSpareServers: min(o.Workers, 8)},
	}
	served := make(chan error, 2)
	go func() { served <- server.ServeServices(auth, radpool.Auth) }()
	go func() { served <- server.ServeServices(acct, radpool.Acct) }()
	// Serving goes on without a reader of this line.
	_, _ = fmt.Fprintf(stdout, "%s ready auth=%s acct=%s\n", o.Name, auth.LocalAddr(), acct.LocalAddr())
	select {
	case err := <-served: // a socket failed: there is no use in going on with the other
		return errors.Join(err, server.Close())
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	return server.Shutdown(drain)
}
