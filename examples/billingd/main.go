// Command billingd is a billing RADIUS server on radpool's packages: run it as
// it is, or copy from it.
//
//	billingd                              serve radpool.db, made with 100 demo users if there is none
//	billingd -db sqlite:/var/lib/isp.db   serve a FreeRADIUS database as it stands
//	billingd -db 'mysql:radius:PASSWORD@tcp(127.0.0.1:3306)/radius'
//	billingd -db postgres://radius:PASSWORD@127.0.0.1/radius
//	billingd -db memory:1000              serve 1000 users without a database
//	billingd check -conf FILE -db ...     say what is missing or wrong in a configuration and a database; exit status 1 if anything is
//	billingd explain -db ... USER         say which rows let a user in, or keep them out; exit status 1 if it keeps them out
//	                                      (each with -schema radpool for radpool's own tables)
//	billingd -conf /etc/freeradius/3.0/radiusd.conf
//	billingd -schema radpool              serve radpool's own tables: tariffs, balances, a ledger
//	billingd -schema radpool -coa         and change or end sessions in progress when money or quota does
//	billingd migrate -db DSN              take the subscribers of FreeRADIUS's tables over into those
//	billingd version                      say which it is
//	billingd completion bash              print what makes a shell complete its flags: bash, zsh or fish
//	billingd -X                           print each request, what decided and the reply, as radiusd -X does
//	billingd -http 127.0.0.1:8812         show a status page there, to a browser on this machine; /metrics is for Prometheus
//
// Where the server of the database is away at the start it starts all the same: it answers no
// Access-Request and keeps accounting in the journal until the database is there, and reads the
// table nas then. What is wrong with the DSN, the password or the tables ends it at once.
//
// It serves the clients 127.0.0.0/8 and ::1 with one secret, and with -read-clients
// those of the table nas; with -conf, those of the file instead. SIGHUP reads file and table again:
// clients and the number of workers are as it says from then on, no request is lost,
// and a file that is wrong changes nothing. It takes sockets from systemd and tells it when
// it is ready, reloads, ends and lives (see examples/systemd). SIGTERM and Ctrl-C
// end it gently: what was received is answered first; a second one ends it at
// once. Exit status 0: ended by a signal; 1: it could not serve; 2: wrong flags.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/coa"
	"github.com/radpool/radpool/examples/serving"
	"github.com/radpool/radpool/radpool"
	"github.com/radpool/radpool/radpool/metrics"
)

func main() {
	keep := allowGarbage()
	ctx, stop := serving.Signals()
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	keep()
	stop()
	os.Exit(status)
}

// run is the whole program: it serves until ctx ends, and returns the exit
// status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		if command, ok := commands()[args[0]]; ok {
			return command(ctx, args[1:], stdout, stderr)
		}
	}
	o, err := parseFlags(args, stderr)
	switch {
	case errors.Is(err, errHelp):
		return 0
	case err != nil:
		complain(stderr, err)
		return 2
	}
	stdout, log := o.outputs(stdout, stderr)
	err = serve(ctx, o, stdout, log)
	switch {
	case errors.Is(err, errNotReady):
		log.Info("ended by a signal before it was ready")
	case err != nil:
		complain(stderr, err)
		return 1
	}
	return 0
}

// errNotReady is that a signal came before billingd was ready.
var errNotReady = errors.New("ended before it was ready")

// complain prints why the program ends. Where even that cannot be written, only
// the exit status is left to tell.
func complain(stderr io.Writer, err error) {
	_, _ = fmt.Fprintf(stderr, "billingd: %v\n", err)
}

// serve puts the parts together, and takes them down in the opposite order.
func serve(ctx context.Context, o *options, stdout io.Writer, log *zap.Logger) (err error) {
	hup := make(chan os.Signal, 1)
	if o.conf != "" || o.readClients {
		signal.Notify(hup, syscall.SIGHUP)
		defer signal.Stop(hup)
	}
	o.logPassedOver(log)
	if err := o.resolve(ctx); err != nil {
		return err
	}
	// Sockets first: a second billingd must find the port taken before it
	// touches the first one's database.
	sockets, web, err := openSockets(o, log)
	if err != nil {
		return err
	}
	defer web.close()     // last, so that the end can be watched
	defer sockets.close() // where the server has not
	backend, err := openBackend(ctx, o, log)
	if err != nil {
		if ctx.Err() != nil {
			return errNotReady
		}
		return err
	}
	defer func() { err = errors.Join(err, backend.close()) }()

	clients := new(radpool.Clients)
	if err := readClients(ctx, clients, o, backend); err != nil {
		return err
	}
	var follow []func(context.Context) error
	if o.readClients {
		follow = append(follow, func(ctx context.Context) error { return readClients(ctx, clients, o, backend) })
	}
	if o.coa {
		dynamic, err := startCoA(ctx, o, backend, clients, log)
		if err != nil {
			return fmt.Errorf("-coa: %w", err)
		}
		defer dynamic.close()
		follow = append(follow, dynamic.read)
		backend.metrics = append(backend.metrics, coa.Metrics(dynamic.stats))
	}
	end := followClients(ctx, follow, backend.ready, log)
	defer end() // before the database is closed
	processor := &billing.Processor{Handler: backend.handler, Logger: log, PoolFull: billing.PoolFullPolicy(o.poolFull), EAP: billing.EAPConfig(o.eap)}
	handler, endRecord, err := recorded(processor, o, log)
	if err != nil {
		return err
	}
	defer endRecord()
	server := &radpool.Server{Handler: handler, Clients: clients, Config: o.config, Policy: o.workers(), Logger: log}
	if err := o.trace(server, stdout); err != nil {
		return err
	}

	sources := append(backend.metrics, metrics.Server(server), processor.Metrics())
	if err := errors.Join(web.addMetrics(sources...), web.serve(server, shownOf(ctx, o, clients, processor, backend))); err != nil {
		return err
	}
	served := make(chan error, len(sockets))
	for _, s := range sockets {
		go func() { served <- server.ServeServices(s.conn, s.services) }()
	}
	// Serving goes on without a reader of this line.
	_, _ = fmt.Fprintln(stdout, sockets.ready(o.database())+web.ready())
	defer serviceManager{log}.watch(server)()
	if err := attend(ctx, served, hup, log, func() { reload(ctx, o, clients, server, backend, log) }); err != nil {
		return errors.Join(err, server.Close())
	}
	return drain(server, o, log)
}

// attend tells the service manager how it goes, and reloads at each hup, until ctx ends; or
// until a socket failed, since there is no use in going on with the others: it returns why.
func attend(ctx context.Context, served <-chan error, hup <-chan os.Signal, log *zap.Logger, reload func()) error {
	manager := serviceManager{log}
	manager.tell(ready)
	for ctx.Err() == nil {
		select {
		case err := <-served:
			return err
		case <-hup:
			manager.tell(reloading())
			reload()
			manager.tell(ready)
		case <-ctx.Done():
		}
	}
	manager.tell(stopping)
	return nil
}

// drain ends a server when what was received is answered, or after as long as that may take.
func drain(server *radpool.Server, o *options, log *zap.Logger) error {
	log.Info("ending: answering what was received")
	ctx, cancel := context.WithTimeout(context.Background(), o.drainTime())
	defer cancel()
	err := server.Shutdown(ctx)
	log.Info("ended", outcomes(server.Stats())...)
	if err != nil {
		return fmt.Errorf("not everything was answered: %w", err)
	}
	return nil
}

// outcomes says what became of the datagrams: those that are not named were none,
// and the others add up to what was received.
func outcomes(st radpool.Stats) []zap.Field {
	fields := []zap.Field{zap.Uint64("received", st.Received)}
	for o := range radpool.Outcome(radpool.NumOutcomes) {
		if n := st.Outcome(o); n > 0 || o == radpool.Replied {
			fields = append(fields, zap.Uint64(o.String(), n))
		}
	}
	return fields
}
