// Command nas is a NAS of one session, to try a RADIUS server with and to copy from: it asks to let a subscriber in,
// accounts for the session, and ends it when the billing system says so (Disconnect-Request), after -for, or at
// Ctrl-C. It prints what happens, and the Stop waits for a server that is away.
//
//	nas -user user1 -password pass1
//	echo 'Acct-Session-Id=SESSION' | radclient 127.0.0.1:3799 disconnect testing123
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"syscall"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc3576"

	"github.com/radpool/radpool/radclient"
	"github.com/radpool/radpool/radpool"
)

type options struct {
	auth, acct, coa, secret, user, password string
	length                                  time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.auth, "auth", "127.0.0.1:1812", "`address` of the server for authentication")
	flag.StringVar(&o.acct, "acct", "127.0.0.1:1813", "`address` of the server for accounting")
	flag.StringVar(&o.coa, "coa", "127.0.0.1:3799", "`address` to listen on for CoA and Disconnect")
	flag.StringVar(&o.secret, "secret", "testing123", "shared `secret`")
	flag.StringVar(&o.user, "user", "user1", "`name` of the subscriber")
	flag.StringVar(&o.password, "password", "pass1", "`password` of the subscriber")
	flag.DurationVar(&o.length, "for", 0, "end the session after this time; 0: at its Session-Timeout, if it has one")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// nas is the session, and what it takes to run it.
type nas struct {
	id      string
	user    string
	began   time.Time
	records *radclient.AccountingQueue
	ended   chan rfc2866.AcctTerminateCause
}

func run(ctx context.Context, o options, w io.Writer) error {
	out := log.New(w, "", 0)
	auth, err := client(o.auth, o.secret)
	if err != nil {
		return err
	}
	defer func() { _ = auth.Close() }() // always nil
	acct, err := client(o.acct, o.secret)
	if err != nil {
		return err
	}
	defer func() { _ = acct.Close() }()

	request := radclient.NewRequest(radius.CodeAccessRequest)
	if err := errors.Join(rfc2865.UserName_SetString(request, o.user), rfc2865.UserPassword_SetString(request, o.password)); err != nil {
		return err
	}
	reply, err := auth.Do(ctx, request)
	if err != nil {
		return err
	}
	out.Println(reply.Code, rfc2865.ReplyMessage_GetString(reply.Packet))
	if reply.Code != radius.CodeAccessAccept {
		return nil
	}
	length := o.length
	if t := rfc2865.SessionTimeout_Get(reply.Packet); length == 0 && t > 0 {
		length = time.Duration(t) * time.Second
	}
	n := &nas{id: fmt.Sprintf("%08x", time.Now().UnixMicro()), user: o.user, began: time.Now(), ended: make(chan rfc2866.AcctTerminateCause, 1)}
	if n.records, err = radclient.NewAccountingQueue(radclient.AccountingConfig{Client: acct}); err != nil {
		return err
	}
	if err := n.serve(ctx, o, length, out); err != nil {
		return err
	}
	// The last record is not to be lost: wait for its acknowledgement.
	late, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	left, err := n.records.Shutdown(late)
	out.Println(n.records.Stats().Acknowledged, "records acknowledged,", len(left), "lost")
	return err
}

func client(addr, secret string) (*radclient.Client, error) {
	a, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, err
	}
	return radclient.New(radclient.Config{Servers: []radclient.Server{{Addr: a, Secret: []byte(secret)}}})
}

// serve runs the session to its end.
func (n *nas) serve(ctx context.Context, o options, length time.Duration, out *log.Logger) error {
	local := netip.MustParsePrefix("127.0.0.0/8") // who may end sessions
	clients, err := radpool.NewClients(radpool.Client{Prefix: local, Secret: []byte(o.secret)})
	if err != nil {
		return err
	}
	pc, err := net.ListenPacket("udp", o.coa)
	if err != nil {
		return err
	}
	server := &radpool.Server{Handler: n, Clients: clients}
	stopped := make(chan error, 1)
	go func() { stopped <- server.ServeServices(pc, radpool.CoA) }()
	if err := n.account(rfc2866.AcctStatusType_Value_Start, 0); err != nil {
		return errors.Join(err, server.Close(), <-stopped)
	}
	out.Println("session", n.id, "CoA at", pc.LocalAddr())

	var timeout <-chan time.Time
	if length > 0 {
		timeout = time.After(length)
	}
	var cause rfc2866.AcctTerminateCause
	select {
	case cause = <-n.ended:
	case <-timeout:
		cause = rfc2866.AcctTerminateCause_Value_SessionTimeout
	case <-ctx.Done():
		cause = rfc2866.AcctTerminateCause_Value_AdminReboot
	}
	out.Println("session", n.id, "has ended:", cause)
	err = n.account(rfc2866.AcctStatusType_Value_Stop, cause)
	// The Disconnect-ACK may be on its way: gently.
	err = errors.Join(err, server.Shutdown(context.Background()))
	if served := <-stopped; !errors.Is(served, radpool.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

func (n *nas) account(status rfc2866.AcctStatusType, cause rfc2866.AcctTerminateCause) error {
	p := radclient.NewRequest(radius.CodeAccountingRequest)
	err := errors.Join(rfc2866.AcctStatusType_Set(p, status), rfc2866.AcctSessionID_SetString(p, n.id), rfc2865.UserName_SetString(p, n.user),
		rfc2865.NASIdentifier_SetString(p, "example"))
	if status == rfc2866.AcctStatusType_Value_Stop {
		err = errors.Join(err, rfc2866.AcctTerminateCause_Set(p, cause),
			rfc2866.AcctSessionTime_Set(p, rfc2866.AcctSessionTime(time.Since(n.began)/time.Second)))
	}
	return errors.Join(err, n.records.Send(p))
}

// Handle answers the billing system.
func (n *nas) Handle(_ context.Context, req *radpool.Request, resp *radpool.Response) {
	name, named := req.Lookup(rfc2865.UserName_Type)
	switch {
	case rfc2866.AcctSessionID_GetString(req.Packet) != n.id || named && string(name) != n.user:
		resp.NAK(rfc3576.ErrorCause_Value_SessionContextNotFound)
	case req.Code == radius.CodeCoARequest:
		resp.NAK(rfc3576.ErrorCause_Value_UnsupportedService) // nothing of this session can be changed
	default:
		resp.ACK()
		select {
		case n.ended <- rfc2866.AcctTerminateCause_Value_AdminReset:
		default: // it was told before
		}
	}
}
