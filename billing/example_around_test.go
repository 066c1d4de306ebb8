package billing_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"time"

	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/eap"
)

// What FreeRADIUS's realm module does: "alice@isp.example" is alice for the back end. A copy is
// asked about, since the request is the Processor's. Batches stay batches.
func ExampleAround() {
	stripRealm := billing.Around{
		Authorize: func(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error, next billing.AuthorizeFunc) {
			stripped := make([]*billing.AccessRequest, len(reqs))
			for i, req := range reqs {
				r := *req
				r.UserName, _, _ = strings.Cut(r.UserName, "@")
				stripped[i] = &r
			}
			next(ctx, stripped, grants, errs)
		},
	}
	memory := billing.NewMemory(0)
	memory.Put("alice", billing.Grant{Password: billing.Cleartext("wonderland")})
	p := &billing.Processor{Handler: billing.Chain(memory, stripRealm.Wrap)}

	reply, err := billingtest.Do(context.Background(), p, billingtest.PAP("alice@isp.example", "wonderland"))
	fmt.Println(reply.Outcome(), err)
	// Output: Access-Accept <nil>
}

// onePool leases the addresses of one pool, to everybody the same one for ever.
type onePool struct {
	*billing.Memory

	mu     sync.Mutex
	next   netip.Addr
	leases map[string]netip.Addr // by name; a real pool knows devices, and ends of leases
}

func (p *onePool) LeaseAddresses(_ context.Context, leases []*billing.AddressLease) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range leases {
		if _, ok := p.leases[l.UserName]; !ok {
			p.leases[l.UserName], p.next = p.next, p.next.Next()
		}
		l.Addr = p.leases[l.UserName]
	}
}

// A Grant names a pool, and who is let in gets an address of it.
func ExampleAddressPooler() {
	h := &onePool{Memory: billing.NewMemory(0), next: netip.MustParseAddr("10.0.0.1"), leases: make(map[string]netip.Addr)}
	for _, name := range []string{"alice", "bob"} {
		h.Put(name, billing.Grant{Password: billing.Cleartext("secret"), Pool: "main"})
	}
	p := &billing.Processor{Handler: h, PoolFull: billing.PoolFullReject}
	for _, name := range []string{"alice", "bob", "alice"} {
		reply, err := billingtest.Do(context.Background(), p, billingtest.PAP(name, "secret"))
		fmt.Println(name, reply.Addr(rfc2865.FramedIPAddress_Type), err)
	}
	// Output:
	// alice 10.0.0.1 <nil>
	// bob 10.0.0.2 <nil>
	// alice 10.0.0.1 <nil>
}

// batched is a back end that takes batches.
type batched struct{ *billing.Memory }

func (h batched) AuthorizeBatch(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
	billing.AuthorizeAll(ctx, h.Memory, reqs, grants, errs) // a database is asked once for all of them
}

func (h batched) AccountBatch(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
	billing.AccountAll(ctx, h.Memory, recs, errs)
}

// The server starts while the database is away, answers nobody, and serves when it is there.
func ExampleOpenLater() {
	attempts := 0
	later, err := billing.OpenLater(context.Background(), func(context.Context) (billing.BatchHandler, error) {
		if attempts++; attempts == 1 {
			return nil, fmt.Errorf("%w: connection refused", billing.ErrAway)
		}
		return batched{billing.NewMemory(0)}, nil
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = later.Close() }()

	_, err = later.Authorize(context.Background(), &billing.AccessRequest{UserName: "alice"})
	fmt.Println(errors.Is(err, billing.ErrAway))
	<-later.Ready()
	g, err := later.Authorize(context.Background(), &billing.AccessRequest{UserName: "alice"})
	fmt.Println(g.Reason, err)
	// Output:
	// true
	// unknown-user <nil>
}

// Only EAP-MSCHAPv2 is offered, and only who takes strong encryption is let in. The reply has the
// keys for the NAS, encrypted.
func ExampleEAPConfig() {
	memory := billing.NewMemory(0)
	memory.Put("alice", billing.Grant{Password: billing.Cleartext("wonderland")})
	p := &billing.Processor{
		Handler: memory,
		EAP:     billing.EAPConfig{Methods: []eap.Method{eap.MSCHAPv2{Name: "radius1"}}, Timeout: 30 * time.Second},
		MPPE:    billing.MPPERequireStrong,
	}
	if err := p.Validate(); err != nil {
		fmt.Println(err)
		return
	}
	for _, peer := range []*billingtest.EAPPeer{billingtest.EAPMSCHAPv2("alice", "wonderland"), billingtest.EAPMD5("alice", "wonderland")} {
		reply, err := billingtest.DoEAP(context.Background(), p, peer)
		fmt.Println(reply.Outcome(), err)
	}
	// Output:
	// Access-Accept <nil>
	// Access-Reject <nil>
}

// A password that a forwarding LAC is to use: encrypted under the secret of each NAS, with the
// tag of its tunnel.
func ExampleNewHidden() {
	const tunnelPassword = 69 // RFC 2868 section 3.5
	hidden, err := billing.NewHidden(billing.HideTunnelPassword, 0, tunnelPassword, []byte("lns secret"))
	if err != nil {
		fmt.Println(err)
		return
	}
	memory := billing.NewMemory(0)
	memory.Put("alice", billing.Grant{Password: billing.Cleartext("wonderland"), Hidden: []billing.Hidden{hidden.WithTag(1)}})
	reply, err := billingtest.Do(context.Background(), &billing.Processor{Handler: memory}, billingtest.PAP("alice", "wonderland"))
	value := reply.Bytes(tunnelPassword)
	fmt.Println(reply.Outcome(), err, "tag", value[0], "and", len(value)-1, "octets")
	// Output: Access-Accept <nil> tag 1 and 18 octets
}

// What accounting has told of a session.
func ExampleMemory_Session() {
	memory := billing.NewMemory(0)
	recorder := &billingtest.Recorder{Handler: memory}
	p := &billing.Processor{Handler: recorder}
	for _, req := range []billingtest.Request{
		billingtest.Stop("alice", "5AC0").SessionTime(time.Hour).Octets(1_000, 5_000_000_000),
		billingtest.Start("alice", "5AC0"), // comes late
	} {
		if _, err := billingtest.Do(context.Background(), p, req); err != nil {
			fmt.Println(err)
		}
	}
	s, ok := memory.Session(recorder.Records()[0].UniqueID)
	fmt.Println(ok, s.UserName, s.SessionID, s.SessionTime, s.OutputOctets, "ended:", !s.Stopped.IsZero())
	kept, open := memory.Sessions()
	fmt.Println(kept, "kept,", open, "open")
	// Output:
	// true alice 5AC0 1h0m0s 5000000000 ended: true
	// 1 kept, 0 open
}

// Who is online.
func ExampleMemory_All() {
	memory := billing.NewMemory(0)
	p := &billing.Processor{Handler: memory}
	for _, req := range []billingtest.Request{
		billingtest.Start("alice", "5AC0"), billingtest.Start("bob", "5AC1"), billingtest.Stop("alice", "5AC0"),
		billingtest.Start("carol", "5AC2"),
	} {
		if _, err := billingtest.Do(context.Background(), p, req); err != nil {
			fmt.Println(err)
		}
	}
	for s := range memory.All() {
		if s.Stopped.IsZero() {
			fmt.Println(s.UserName, s.SessionID, "on", s.NASAddr)
		}
	}
	// Output:
	// bob 5AC1 on 192.0.2.1
	// carol 5AC2 on 192.0.2.1
}
