// Command custombackend is the least that makes a billing system a RADIUS server:
// copy it, and put your own look-up and your own storage into its two methods.
package main

import (
	"context"
	"log"
	"net/netip"
	"sync"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/radpool"
)

type backend struct {
	passwords map[string]string
	octets    sync.Map // by session; a real one is durable
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
	b.octets.Store(rec.UniqueID, rec.InputOctets+rec.OutputOctets)
	return nil // the Accounting-Response is sent now
}

func main() {
	clients, err := radpool.NewClients(radpool.Client{
		Prefix: netip.MustParsePrefix("127.0.0.0/8"), Secret: []byte("testing123"),
	})
	if err != nil {
		log.Fatal(err)
	}
	b := &backend{passwords: map[string]string{"alice": "wonderland"}}
	server := &radpool.Server{Handler: &billing.Processor{Handler: b}, Clients: clients}
	log.Fatal(server.ListenAndServe()) // 1812 and 1813
}
