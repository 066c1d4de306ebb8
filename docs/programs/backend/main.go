// A billing system on a map: who may come in, and what their sessions have used.
package main

import (
	"context"
	"log"
	"net/netip"
	"sync"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/radpool"
)

type backend struct {
	sync.Mutex
	octets map[string]uint64 // by session; a real one is durable
}

func (b *backend) Authorize(_ context.Context, req *billing.AccessRequest) (billing.Grant, error) {
	if req.UserName != "alice" {
		return billing.Grant{Reason: billing.ReasonUnknownUser}, nil
	}
	return billing.Grant{Password: billing.Cleartext("wonderland")}, nil // the Processor verifies it
}

func (b *backend) Account(_ context.Context, rec *billing.AccountingRecord) error {
	b.Lock()
	defer b.Unlock() // records come in any order, and more than once: the greatest counts
	b.octets[rec.UniqueID] = max(b.octets[rec.UniqueID], rec.InputOctets+rec.OutputOctets)
	return nil // the Accounting-Response is sent now
}

func main() {
	clients, err := radpool.NewClients(radpool.Client{Prefix: netip.MustParsePrefix("127.0.0.0/8"), Secret: []byte("testing123")})
	if err != nil {
		log.Fatal(err)
	}
	processor := &billing.Processor{Handler: &backend{octets: map[string]uint64{}}}
	log.Fatal((&radpool.Server{Handler: processor, Clients: clients}).ListenAndServe()) // ports 1812 and 1813
}
