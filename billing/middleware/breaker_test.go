package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/middleware"
)

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var down error
		back := &core{
			answer: func(context.Context, *billing.AccessRequest) (billing.Grant, error) { return good, down },
			store:  func(context.Context) error { return nil },
		}
		var changes []string
		b, err := middleware.NewBreaker(middleware.BreakerOptions{Failures: 2, ProbeInterval: time.Second, Changed: func(what string, err error) {
			changes = append(changes, fmt.Sprintf("%s: %v", what, err))
		}})
		if err != nil {
			t.Fatal(err)
		}
		h := b.Middleware(back).(billing.BatchHandler)
		for i, c := range []struct {
			after time.Duration
			down  error
			want  error // and ErrOpen if it is errDown without a call
			asked int   // how often in all
		}{
			{0, nil, nil, 1},
			{0, errDown, errDown, 2},
			{0, billing.ErrSubscriber, billing.ErrSubscriber, 3}, // an answer
			{0, errDown, errDown, 4},
			{0, errDown, errDown, 5}, // now it is open
			{0, nil, middleware.ErrOpen, 5},
			{time.Second, errDown, errDown, 6}, // a probe
			{0, nil, middleware.ErrOpen, 6},
			{time.Second, nil, nil, 7}, // it is back
			{0, nil, nil, 8},
		} {
			time.Sleep(c.after)
			down = c.down
			_, err := h.Authorize(t.Context(), access("alice"))
			n, _ := back.asked()
			if !errors.Is(err, c.want) || n != c.asked || errors.Is(c.want, middleware.ErrOpen) && !errors.Is(err, errDown) {
				t.Errorf("step %d: %v after %d calls, want %v after %d", i, err, n, c.want, c.asked)
			}
			if err := h.Account(t.Context(), &billing.AccountingRecord{}); err != nil {
				t.Errorf("step %d: accounting: %v", i, err)
			}
		}
		if s := b.Stats(); s.AccessOpen || s.AccountingOpen || s.Opened != 1 || s.Refused != 2 {
			t.Errorf("%+v", s)
		}
		if len(changes) != 2 || changes[0] != "Access-Requests: the database is away" || changes[1] != "Access-Requests: <nil>" {
			t.Errorf("%q", changes)
		}
	})
}

// A batch of which one is answered says that the back end is there, and one that waits for
// too long that it is not; who goes away says nothing.
func TestBreakerJudges(t *testing.T) {
	hang := func(ctx context.Context, _ *billing.AccessRequest) (billing.Grant, error) {
		<-ctx.Done()
		return billing.Grant{}, ctx.Err()
	}
	for what, c := range map[string]struct {
		answer func(context.Context, *billing.AccessRequest) (billing.Grant, error)
		cancel time.Duration // of the request
		open   bool
		panics bool
	}{
		"one of two": {answer: func(_ context.Context, req *billing.AccessRequest) (billing.Grant, error) {
			if req.UserName == "bob" {
				return good, nil
			}
			return billing.Grant{}, errDown
		}},
		"all":                {answer: func(context.Context, *billing.AccessRequest) (billing.Grant, error) { return billing.Grant{}, errDown }, open: true},
		"no answer in time":  {answer: hang, open: true},
		"the caller is gone": {answer: hang, cancel: time.Second},
		"panics":             {answer: func(context.Context, *billing.AccessRequest) (billing.Grant, error) { panic("a fault") }, open: true, panics: true},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, err := middleware.NewBreaker(middleware.BreakerOptions{Timeout: 5 * time.Second})
				if err != nil {
					t.Fatal(err)
				}
				h := b.Middleware(&core{answer: c.answer}).(billing.BatchHandler)
				for range 3 {
					func() {
						defer func() {
							if (recover() != nil) != c.panics {
								t.Error("a panic is not handed on, or there was none")
							}
						}()
						ctx, cancel := context.WithCancel(t.Context())
						defer cancel()
						if c.cancel > 0 {
							time.AfterFunc(c.cancel, cancel)
						}
						h.AuthorizeBatch(ctx, []*billing.AccessRequest{access("alice"), access("bob")}, make([]billing.Grant, 2), make([]error, 2))
					}()
				}
				if s := b.Stats(); s.AccessOpen != c.open {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}

// A poolCore leases addresses while it is there.
type poolCore struct {
	*core
	down bool
}

func (p *poolCore) LeaseAddresses(_ context.Context, leases []*billing.AddressLease) {
	p.count(len(leases))
	for _, l := range leases {
		if l.Addr = netip.MustParseAddr("10.0.0.1"); p.down {
			l.Addr, l.Err = netip.Addr{}, errDown
		}
	}
}

func TestBreakerOfAddresses(t *testing.T) {
	b, err := middleware.NewBreaker(middleware.BreakerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	back := &poolCore{granting(good), true}
	h := b.Middleware(back).(billing.AddressPooler)
	for range 5 {
		l := []*billing.AddressLease{{Access: access("alice")}, {Access: access("bob")}}
		h.LeaseAddresses(t.Context(), l)
		if !errors.Is(l[0].Err, errDown) || !errors.Is(l[1].Err, errDown) {
			t.Errorf("%v, %v", l[0].Err, l[1].Err)
		}
	}
	if calls, _ := back.asked(); calls != 3 || !b.Stats().AddressesOpen || b.Stats().AccessOpen {
		t.Errorf("asked %d times: %+v", calls, b.Stats())
	}
}
