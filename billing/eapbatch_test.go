package billing_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/eap"
	"github.com/radpool/radpool/radpool"
)

// batching is a back end that knows the password of each subscriber, and takes
// batches.
type batching struct {
	*fake
	batches, asked atomic.Int64
}

func (b *batching) AuthorizeBatch(_ context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, _ []error) {
	b.batches.Add(1)
	b.asked.Add(int64(len(reqs)))
	for i, r := range reqs {
		grants[i] = grantOf(r)
	}
}

func (b *batching) AccountBatch(context.Context, []*billing.AccountingRecord, []error) {}

// grantOf is the Grant of userN, whose password is passN and whose reply names them.
func grantOf(r *billing.AccessRequest) billing.Grant {
	var n int
	if _, err := fmt.Sscanf(r.UserName, "user%d", &n); err != nil {
		return billing.Grant{Reason: billing.ReasonUnknownUser}
	}
	return billing.Grant{
		Password: billing.Cleartext(fmt.Sprint("pass", n)), SimultaneousUse: 1,
		Reply: radius.Attributes{attr(rfc2865.FilterID_Type, r.UserName)},
	}
}

// interleaved are n conversations, every other one by MSCHAPv2, every third with the
// wrong password.
type interleaved struct {
	peers []*billingtest.EAPPeer
	last  []*billingtest.Reply
	done  []bool
}

func interleave(n int) *interleaved {
	x := &interleaved{last: make([]*billingtest.Reply, n), done: make([]bool, n)}
	for i := range n {
		password := fmt.Sprint("pass", i)
		if i%3 == 0 {
			password = "wrong"
		}
		peer := billingtest.EAPMD5
		if i%2 == 0 {
			peer = billingtest.EAPMSCHAPv2
		}
		x.peers = append(x.peers, peer(fmt.Sprint("user", i), password))
	}
	return x
}

// round is the next request of each that goes on.
func (x *interleaved) round(t *testing.T) (of []int, next []billingtest.Request) {
	t.Helper()
	for i, peer := range x.peers {
		if x.done[i] {
			continue
		}
		r, more, err := peer.Next(x.last[i])
		if err != nil {
			t.Fatalf("conversation %d: %v", i, err)
		}
		if x.done[i] = !more; more {
			of, next = append(of, i), append(next, r)
		}
	}
	return of, next
}

// check says whether each has ended as it should, with its own reply.
func (x *interleaved) check(t *testing.T) {
	t.Helper()
	for i, last := range x.last {
		want := i%3 != 0
		if last.Accepted() != want || last.Rejected() == want {
			t.Errorf("conversation %d: %v", i, last)
		}
		if name := fmt.Sprint("user", i); want && last.String(rfc2865.FilterID_Type) != name {
			t.Errorf("conversation %d has the reply of %q", i, last.String(rfc2865.FilterID_Type))
		}
		if i%2 == 0 && x.peers[i].Refused() == want {
			t.Errorf("conversation %d: refused: %t", i, x.peers[i].Refused())
		}
	}
}

// TestEAPInterleaved is 200 conversations, packet by packet.
func TestEAPInterleaved(t *testing.T) {
	back := &fake{grant: func(r *billing.AccessRequest) (billing.Grant, error) { return grantOf(r), nil }}
	p := &billing.Processor{Handler: back}
	x := interleave(200)
	for of, next := x.round(t); len(of) > 0; of, next = x.round(t) {
		for k := range of {
			j := (k*77 + 5) % len(of) // not in the order in which they began
			if len(of)%7 == 0 || len(of)%11 == 0 {
				j = k
			}
			x.last[of[j]] = billingtest.Run(t, p, next[j])
		}
	}
	x.check(t)
	if s := p.Stats(); back.asked != 200 || len(back.results) != 200 || s.EAPWaiting != 0 || s.EAPUnknown != 0 {
		t.Errorf("asked %d times, %d results, %+v", back.asked, len(back.results), s)
	}
}

// TestEAPBatch is the same in batches: the back end is asked once for each batch that
// must ask it.
func TestEAPBatch(t *testing.T) {
	back := &batching{fake: granting(billing.Grant{})}
	p := &billing.Processor{Handler: back}
	x := interleave(200)
	rounds := 0
	for of, next := x.round(t); len(of) > 0; of, next = x.round(t) {
		rounds++
		for k, reply := range billingtest.RunBatch(t, p, next...) {
			x.last[of[k]] = reply
		}
	}
	x.check(t)
	// MD5: identity, NAK, response; MSCHAPv2: identity, response, acknowledgement.
	if back.asked.Load() != 200 || back.batches.Load() != 2 || rounds != 3 || len(back.results) != 200 {
		t.Errorf("asked for %d in %d batches and %d rounds, %d results", back.asked.Load(), back.batches.Load(), rounds, len(back.results))
	}
	if s := p.Stats(); s.EAPWaiting != 0 || s.EAPUnknown != 0 {
		t.Errorf("%+v", s)
	}
}

// closing is a method that counts how often it is closed.
type closing struct{ open *atomic.Int64 }

func (c closing) Type() eap.Type { return eap.TypeTTLS }
func (c closing) Begin(eap.Peer) eap.Exchange {
	c.open.Add(1)
	return closingExchange{c}
}

type closingExchange struct{ closing }

func (closingExchange) Start(uint8) ([]byte, error)    { return []byte("hello"), nil }
func (closingExchange) Respond(uint8, []byte) eap.Step { return eap.Ask() }
func (x closingExchange) Close()                       { x.open.Add(-1) }
func (closingExchange) Verify(c eap.Credentials) eap.Step {
	if !c.Password([]byte(thePassword)) {
		return eap.Fail(nil)
	}
	return eap.Succeed(make([]byte, 64))
}

// inBatches asks a fake for each.
type inBatches struct{ *fake }

func (b inBatches) AuthorizeBatch(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
	billing.AuthorizeAll(ctx, b.fake, reqs, grants, errs)
}

func (inBatches) AccountBatch(context.Context, []*billing.AccountingRecord, []error) {}

// TestEAPMethodOfOnesOwn: its keys go out, and it is closed also after a panic of the
// back end.
func TestEAPMethodOfOnesOwn(t *testing.T) {
	for _, panics := range []bool{false, true} {
		for _, alone := range []bool{true, false} {
			var open atomic.Int64
			back := &fake{grant: func(*billing.AccessRequest) (billing.Grant, error) {
				if panics {
					panic("a fault of the back end")
				}
				return billing.Grant{Password: mustParse(t, billing.FormSHA, sumOf(billing.FormSHA, ""))}, nil
			}}
			p := &billing.Processor{Handler: inBatches{back}, EAP: billing.EAPConfig{Methods: []eap.Method{closing{&open}}}}
			first, _, err := billingtest.EAPMD5("alice", "pw").Next(nil)
			if err != nil {
				t.Fatal(err)
			}
			challenge := billingtest.Run(t, p, first)
			if open.Load() != 1 {
				t.Errorf("%d open", open.Load())
			}
			in, _ := eap.Parse(challenge.Bytes(79))
			next := billingtest.AccessRequest().User("alice").Bytes(rfc2865.State_Type, challenge.Bytes(rfc2865.State_Type)).
				Bytes(79, eap.Packet{Code: eap.CodeResponse, Identifier: in.Identifier, Type: eap.TypeTTLS}.Append(nil))
			func() {
				defer func() { _ = recover() }()
				var reply *billingtest.Reply
				if alone {
					reply = billingtest.Run(t, p, next)
				} else {
					reply = billingtest.RunBatch(t, radpool.BatchHandler(p), next, billingtest.PAP("x", "y"))[0]
				}
				// A key of 32 octets is 50 with its salt, length and padding.
				if recv := reply.Vendor(311, 17); !panics && (!reply.Accepted() || len(recv) != 50) {
					t.Errorf("%v", reply)
				}
			}()
			if open.Load() != 0 {
				t.Errorf("panic %t, alone %t: %d open", panics, alone, open.Load())
			}
		}
	}
}
