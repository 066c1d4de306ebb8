package journal_test

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/billing/journal"
)

// A pooler has an address for everybody, while its core is there.
type pooler struct{ *core }

func (c pooler) LeaseAddresses(_ context.Context, leases []*billing.AddressLease) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range leases {
		if c.down {
			l.Err = errDown
			continue
		}
		l.Addr = netip.MustParseAddr("10.0.0.1")
	}
}

// While the back end is away nobody gets an address, nor an Access-Accept without one:
// also not whom the journal would let in.
func TestLeaseWhileAway(t *testing.T) {
	both(t, func(t *testing.T, c *core, backend billing.Handler) {
		if b, ok := backend.(billing.BatchHandler); ok {
			backend = struct {
				billing.BatchHandler
				billing.AddressPooler
			}{b, pooler{c}}
		} else {
			backend = pooler{c}
		}
		j := open(t, "", backend, journal.Options{GrantAge: time.Hour})
		p := &billing.Processor{Handler: j.Handler()}
		c.set(func(c *core) {
			c.grant = func(string) (billing.Grant, error) {
				return billing.Grant{Password: billing.Cleartext("pw"), Pool: "main"}, nil
			}
		})
		reply := billingtest.Run(t, p, billingtest.PAP("alice", "pw"))
		if reply.Code != radius.CodeAccessAccept || rfc2865.FramedIPAddress_Get(reply.Packet).String() != "10.0.0.1" {
			t.Error(reply.Outcome())
		}
		c.set(func(c *core) { c.down = true })
		for range journal.OpensAfter + 2 {
			if reply := billingtest.Run(t, p, billingtest.PAP("alice", "pw")); !reply.Failed() {
				t.Error("away:", reply.Outcome())
			}
		}
		if s := j.Stats(); !s.AccessAway || s.Unanswered == 0 {
			t.Errorf("%+v", s)
		}
		closeJournal(t, j)
	})
}

// A back end without pools has none behind a journal either.
func TestNoPoolsBehindJournal(t *testing.T) {
	both(t, func(t *testing.T, c *core, backend billing.Handler) {
		j := open(t, "", backend, journal.Options{})
		c.set(func(c *core) {
			c.grant = func(string) (billing.Grant, error) {
				return billing.Grant{Password: billing.Cleartext("pw"), Pool: "main"}, nil
			}
		})
		p := &billing.Processor{Handler: j.Handler(), PoolFull: billing.PoolFullReject}
		if reply := billingtest.Run(t, p, billingtest.PAP("alice", "pw")); reply.Code != radius.CodeAccessReject {
			t.Error(reply.Outcome())
		}
		closeJournal(t, j)
	})
}
