package billing_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/billing/coa"
	"github.com/radpool/radpool/billing/middleware"
	"github.com/radpool/radpool/eap"
)

// long is the longest value of an attribute.
var long = strings.Repeat("l", 253)

// wordy is a request with the longest values in all that is no key of what is kept.
func wordy(r billingtest.Request) billingtest.Request {
	return r.CalledStation(long).NASIdentifier(long).String(rfc2869.NASPortID_Type, long).String(rfc2869.ConnectInfo_Type, long).String(rfc2866.AcctSessionID_Type, long)
}

// emptyStore is one without sessions.
type emptyStore struct{}

func (emptyStore) Sessions(context.Context, time.Time, []string, string, int) ([]coa.Item, string, error) {
	return nil, "", nil
}
func (emptyStore) Save(context.Context, string, coa.State) (bool, error) { return false, nil }

// TestWhatIsKept has 2,000 of what the tables keep for which a number of octets is
// promised, or is bounded in number alone, made of requests that are as long as can be:
// none keeps more of a request than what it is for.
func TestWhatIsKept(t *testing.T) {
	const n = 2000
	granted := billing.Grant{Password: billing.Cleartext("pw"), SimultaneousUse: 1}
	for name, c := range map[string]struct {
		most int // octets each
		fill func(t *testing.T) (kept any)
	}{
		"reservations": {700, func(t *testing.T) any {
			p := &billing.Processor{Handler: lean{grant: granted}}
			for i := range n {
				billingtest.Run(t, p, wordy(billingtest.PAP(fmt.Sprint("user", i), "pw")).CallingStation(fmt.Sprint("station ", i)))
			}
			return p
		}},
		"middleware.Limit": {500, func(t *testing.T) any {
			limit, err := middleware.NewLimit(middleware.LimitOptions{})
			if err != nil {
				t.Fatal(err)
			}
			p := &billing.Processor{Handler: limit.Middleware(lean{})}
			for i := range n {
				billingtest.Run(t, p, wordy(billingtest.PAP(fmt.Sprint("user", i), "pw")))
			}
			return p
		}},
		"middleware.Cache": {1000, func(t *testing.T) any {
			cache, err := middleware.NewCache(middleware.CacheOptions{TTL: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			p := &billing.Processor{Handler: cache.Middleware(lean{grant: billing.Grant{Password: billing.Cleartext("pw")}})}
			for i := range n {
				billingtest.Run(t, p, wordy(billingtest.PAP(fmt.Sprint("user", i), "pw")).CalledStation("a").NASIdentifier("b"))
			}
			return p
		}},
		"billing.Memory": {700, func(t *testing.T) any {
			p := &billing.Processor{Handler: billing.NewMemory(0)}
			for i := range n {
				billingtest.Run(t, p, wordy(billingtest.Start("user", "")).String(rfc2866.AcctSessionID_Type, fmt.Sprint("session", i)))
			}
			return p
		}},
		"coa.Controller": {300, func(t *testing.T) any {
			controller, err := coa.Start(coa.Config{Store: emptyStore{}, NAS: new(coa.Client), Linger: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(controller.Close)
			p := &billing.Processor{Handler: lean{account: func(r *billing.AccountingRecord) { controller.Wake(r.UserName) }}}
			for i := range n {
				billingtest.Run(t, p, wordy(billingtest.Start(fmt.Sprint("user", i), "s")))
			}
			return p
		}},
		"EAP-MD5, and the back end is away": {1200, func(t *testing.T) any {
			p := &billing.Processor{Handler: lean{err: errors.New("away")}}
			for i := range n {
				peer := billingtest.EAPMD5(fmt.Sprint("user", i), "pw")
				next, _ := challenged(t, p, peer)
				last := billingtest.Run(t, p, next)
				next, _, err := peer.Next(last)
				if err != nil {
					t.Fatal(err)
				}
				billingtest.Run(t, p, lengthened(next, func(e *eap.Packet) { e.Data = append(e.Data, make([]byte, 3500)...) }))
			}
			return p
		}},
		"EAP-MSCHAPv2, and half of it done": {1500, func(t *testing.T) any {
			p := &billing.Processor{Handler: lean{grant: granted}}
			for i := range n {
				peer := billingtest.EAPMSCHAPv2(fmt.Sprint("user", i), "pw")
				next, _ := challenged(t, p, peer)
				billingtest.Run(t, p, lengthened(next, func(e *eap.Packet) {
					const fixed = 4 + 1 + 49 // before the name, of which a domain is no part
					e.Data = append(e.Data[:fixed:fixed], strings.Repeat("D", 3500)+`\`+peer.Identity...)
					binary.BigEndian.PutUint16(e.Data[2:], uint16(len(e.Data)))
				}))
			}
			return p
		}},
	} {
		t.Run(name, func(t *testing.T) {
			before := heap()
			kept := c.fill(t)
			each := (heap() - before) / n
			t.Logf("%d octets each", each)
			if each > int64(c.most) {
				t.Errorf("%d octets are kept of each, at most %d should be", each, c.most)
			}
			runtime.KeepAlive(kept)
		})
	}
}

// lengthened is r with another EAP packet.
func lengthened(r billingtest.Request, edit func(*eap.Packet)) billingtest.Request {
	return r.With(func(p *radius.Packet) error {
		message, err := rfc2869.EAPMessage_Lookup(p)
		if err != nil {
			return err
		}
		e, err := eap.Parse(message)
		if err != nil {
			return err
		}
		edit(&e)
		p.Del(rfc2869.EAPMessage_Type)
		eap.Fragments(e.Append(nil), func(v []byte) { p.Add(rfc2869.EAPMessage_Type, v) })
		return nil
	})
}

// lean is a back end that keeps nothing.
type lean struct {
	grant   billing.Grant
	err     error
	account func(*billing.AccountingRecord)
}

func (l lean) Authorize(context.Context, *billing.AccessRequest) (billing.Grant, error) {
	return l.grant, l.err
}

func (l lean) Account(_ context.Context, r *billing.AccountingRecord) error {
	if l.account != nil {
		l.account(r)
	}
	return nil
}

func heap() int64 {
	runtime.GC()
	runtime.GC() // what pools let go of only the second time
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
