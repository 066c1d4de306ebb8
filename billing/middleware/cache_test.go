package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/middleware"
)

func cached(t *testing.T, o middleware.CacheOptions, h billing.Handler) (*middleware.Cache, billing.BatchHandler) {
	t.Helper()
	c, err := middleware.NewCache(o)
	if err != nil {
		t.Fatal(err)
	}
	return c, c.Middleware(h).(billing.BatchHandler)
}

// What is kept, and for how long: the back end is asked, then again after some time.
func TestCacheKeeps(t *testing.T) {
	reject := func(r billing.Reason) billing.Grant { return billing.Grant{Reason: r} }
	for what, c := range map[string]struct {
		grant billing.Grant
		err   error
		after time.Duration
		again *billing.AccessRequest // nil: the same
		stop  bool                   // a Stop comes in between
		asked int
	}{
		"in time":               {grant: good, after: middleware.DefaultTTL, asked: 1},
		"too old":               {grant: good, after: middleware.DefaultTTL + 1, asked: 2},
		"another user":          {grant: good, again: access("bob"), asked: 2},
		"another spelling":      {grant: good, again: access("Alice"), asked: 2},
		"another device":        {grant: good, again: &billing.AccessRequest{UserName: "alice", Method: billing.MethodPAP}, asked: 2},
		"a Stop":                {grant: good, stop: true, asked: 2},
		"unknown":               {grant: reject(billing.ReasonUnknownUser), after: middleware.DefaultNegativeTTL, asked: 1},
		"unknown, later":        {grant: reject(billing.ReasonUnknownUser), after: middleware.DefaultNegativeTTL + 1, asked: 2},
		"blocked":               {grant: reject(billing.ReasonBlocked), asked: 1},
		"restricted":            {grant: billing.Grant{Reason: billing.ReasonNoMoney, Restricted: radius.Attributes{}}, after: middleware.DefaultTTL, asked: 2},
		"wrong password":        {grant: reject(billing.ReasonWrongPassword), asked: 2},
		"limited":               {grant: reject(billing.ReasonTooManyAttempts), asked: 2},
		"any password":          {grant: billing.Grant{AnyPassword: true}, asked: 2},
		"simultaneous use":      {grant: billing.Grant{Password: good.Password, SimultaneousUse: 1}, asked: 2},
		"an error":              {err: errDown, asked: 2},
		"an error of their own": {err: billing.ErrSubscriber, asked: 2},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				back := &core{answer: func(context.Context, *billing.AccessRequest) (billing.Grant, error) { return c.grant, c.err }}
				_, h := cached(t, middleware.CacheOptions{}, back)
				again := c.again
				if again == nil {
					again = access("alice")
				}
				if _, err := h.Authorize(t.Context(), access("alice")); !errors.Is(err, c.err) {
					t.Error(err)
				}
				if c.stop {
					_ = h.Account(t.Context(), &billing.AccountingRecord{UserName: "alice", Status: billing.Stop})
				}
				time.Sleep(c.after)
				if g, err := h.Authorize(t.Context(), again); !errors.Is(err, c.err) || g.Reason != c.grant.Reason {
					t.Errorf("the second answer is %v, %v", g.Reason, err)
				}
				if n, _ := back.asked(); n != c.asked {
					t.Errorf("the back end was asked %d times, want %d", n, c.asked)
				}
			})
		})
	}
}

// Many ask for the same at once, also in batches: the back end is asked once.
func TestCacheAsksOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		back := &core{answer: func(context.Context, *billing.AccessRequest) (billing.Grant, error) {
			time.Sleep(time.Second)
			return good, nil
		}}
		cache, h := cached(t, middleware.CacheOptions{}, back)
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				reqs := []*billing.AccessRequest{access("alice"), access("bob"), access("alice")}
				grants, errs := make([]billing.Grant, 3), make([]error, 3)
				h.AuthorizeBatch(t.Context(), reqs, grants, errs)
				for i := range reqs {
					if errs[i] != nil || grants[i].Password.IsZero() {
						t.Errorf("%v, %v", grants[i], errs[i])
					}
				}
			})
		}
		wg.Wait()
		if calls, requests := back.asked(); calls != 1 || requests != 2 {
			t.Errorf("asked %d times about %d", calls, requests)
		}
		if s := cache.Stats(); s.Misses != 2 || s.Shared != 28 || s.Grants != 2 {
			t.Errorf("%+v", s)
		}
	})
}

// Who waits for somebody else's answer asks himself where that one does not do, and no
// longer than he may.
func TestCacheDoesNotShare(t *testing.T) {
	for what, c := range map[string]struct {
		answer func(ctx context.Context, first bool) (billing.Grant, error)
		leader time.Duration // how long the first may take
		calls  int
		err    error // of the second
	}{
		"the first one gives up": {func(ctx context.Context, first bool) (billing.Grant, error) {
			if first {
				<-ctx.Done()
				return billing.Grant{}, ctx.Err()
			}
			return good, nil
		}, time.Second, 2, nil},
		"the back end panics": {func(_ context.Context, first bool) (billing.Grant, error) {
			if first {
				panic("a fault of the back end")
			}
			return good, nil
		}, time.Hour, 2, nil},
		"the password was wrong": {func(_ context.Context, first bool) (billing.Grant, error) {
			if first {
				return billing.Grant{Reason: billing.ReasonWrongPassword}, nil
			}
			return good, nil
		}, time.Hour, 2, nil},
		"the back end is away": {func(context.Context, bool) (billing.Grant, error) { return billing.Grant{}, errDown }, time.Hour, 1, errDown},
		"the second one gives up": {func(_ context.Context, _ bool) (billing.Grant, error) {
			time.Sleep(time.Minute)
			return good, nil
		}, time.Hour, 1, context.DeadlineExceeded},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				_, h := cached(t, middleware.CacheOptions{}, &core{answer: func(ctx context.Context, _ *billing.AccessRequest) (billing.Grant, error) {
					n++
					first := n == 1
					time.Sleep(time.Millisecond)
					return c.answer(ctx, first)
				}})
				var wg sync.WaitGroup
				wg.Go(func() {
					defer func() { _ = recover() }()
					ctx, cancel := context.WithTimeout(t.Context(), c.leader)
					defer cancel()
					_, _ = h.Authorize(ctx, access("alice"))
				})
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				g, err := h.Authorize(ctx, access("alice"))
				if !errors.Is(err, c.err) || err == nil && g.Password.IsZero() {
					t.Errorf("%v, %v; want %v", g, err, c.err)
				}
				if n != c.calls {
					t.Errorf("the back end was asked %d times, want %d", n, c.calls)
				}
				wg.Wait()
			})
		})
	}
}

// Whatever happens, an answer is one that the back end gave to this subscriber within the
// time for which it is good.
func TestCacheAgainstReference(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	synctest.Test(t, func(t *testing.T) {
		o := middleware.CacheOptions{TTL: 10 * time.Second, NegativeTTL: 2 * time.Second, MaxGrants: 5}
		type given struct {
			grant billing.Grant
			at    time.Time
		}
		last := make(map[string]given)
		back := &core{answer: func(_ context.Context, req *billing.AccessRequest) (billing.Grant, error) {
			g := billing.Grant{Message: fmt.Sprint(random.Uint64()), Password: good.Password}
			if random.IntN(3) == 0 {
				g.Reason = billing.ReasonBlocked
			}
			last[req.UserName] = given{g, time.Now()}
			return g, nil
		}}
		cache, h := cached(t, o, back)
		for range 20_000 {
			user := fmt.Sprint("user", random.IntN(8))
			switch random.IntN(10) {
			case 0:
				_ = h.Account(t.Context(), &billing.AccountingRecord{UserName: user, Status: billing.Start})
				delete(last, user)
				continue
			case 1:
				time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond)
			}
			g, err := h.Authorize(t.Context(), access(user))
			l := last[user]
			ttl := o.TTL
			if l.grant.Reason != billing.ReasonNone {
				ttl = o.NegativeTTL
			}
			if err != nil || g.Message != l.grant.Message || time.Since(l.at) > ttl {
				t.Fatalf("seed %d: %s: %q given %v ago, want %q", seed, user, g.Message, time.Since(l.at), l.grant.Message)
			}
		}
		s := cache.Stats()
		if s.Hits == 0 || s.Grants > 5 {
			t.Errorf("seed %d: %+v", seed, s)
		}
	})
}
