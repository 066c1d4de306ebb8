// Command custombackend is the least that makes a billing system a RADIUS server:
// copy it, and put your own look-up and your own storage into its two methods. One whose
// accounting is durable is filebackend.
package main

import (
	"context"
	"log"
	"net/netip"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"go.uber.org/zap"
	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/radpool"
)

type backend struct {
	passwords map[string]string

	mu     sync.Mutex
	octets map[string]uint64 // by session; a real one is durable, and ends sessions at AccountingOn and Off
}

func (b *backend) Authorize(_ context.Context, req *billing.AccessRequest) (billing.Grant, error) {
	password, ok := b.passwords[req.UserName]
	if !ok {
		return billing.Grant{Reason: billing.ReasonUnknownUser}, nil
	}
	reply := radius.Attributes{{Type: rfc2865.SessionTimeout_Type, Attribute: radius.NewInteger(3600)}}
	return billing.Grant{Password: billing.Cleartext(password), Reply: reply}, nil
}

func (b *backend) Account(_ context.Context, rec *billing.AccountingRecord) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	// The greatest wins: records come in any order, and more than once.
	b.octets[rec.UniqueID] = max(b.octets[rec.UniqueID], rec.InputOctets+rec.OutputOctets)
	return nil // the Accounting-Response is sent now
}

func main() {
	logger, err := zap.NewProduction()
	if err != nil {
		log.Fatal(err)
	}
	clients, err := radpool.NewClients(radpool.Client{
		Prefix: netip.MustParsePrefix("127.0.0.0/8"), Secret: []byte("testing123"),
	})
	if err != nil {
		log.Fatal(err)
	}
	b := &backend{passwords: map[string]string{"alice": "wonderland"}, octets: map[string]uint64{}}
	processor := &billing.Processor{Handler: b, Logger: logger}
	server := &radpool.Server{Handler: processor, Clients: clients, Logger: logger}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { _ = server.Shutdown(context.Background()) })
	log.Print(server.ListenAndServe()) // AuthAddr and AcctAddr, 1812 and 1813, until all is answered after a signal
}
