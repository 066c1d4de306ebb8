package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/billing/middleware"
)

type spanKey struct{}

// Operations begin and end around each other, and those inside know those around them.
func TestTracer(t *testing.T) {
	var log []string
	n := 0
	trace := middleware.Tracer(func(ctx context.Context, op middleware.Operation) (context.Context, func(error)) {
		n++
		id := n
		parent, _ := ctx.Value(spanKey{}).(int)
		log = append(log, fmt.Sprintf("%d in %d: %s of %d for %s", id, parent, op.Name, op.Requests, op.Request.Get(1)))
		return context.WithValue(ctx, spanKey{}, id), func(err error) { log = append(log, fmt.Sprintf("%d ends: %v", id, err)) }
	})
	back := granting(good)
	h := trace.Requests(&billing.Processor{Handler: trace.Backend(back)})
	billingtest.RunBatch(t, h.(billingtest.Batch), billingtest.PAP("alice", "pw"), billingtest.PAP("bob", "pw"))
	back.store = func(context.Context) error { return errDown }
	billingtest.Run(t, h, billingtest.Start("carol", "s1"))
	back.store = func(context.Context) error { panic("a fault") }
	func() {
		defer func() { _ = recover() }()
		billingtest.Run(t, h, billingtest.Start("dave", "s2"))
	}()
	want := []string{
		"1 in 0: radius.request of 1 for alice", "2 in 0: radius.request of 1 for bob",
		"3 in 1: billing.authorize of 2 for alice", "3 ends: <nil>", "1 ends: <nil>", "2 ends: <nil>",
		"4 in 0: radius.request of 1 for carol", "5 in 4: billing.account of 1 for carol",
		"5 ends: the database is away", "4 ends: billing: account: the database is away",
		"6 in 0: radius.request of 1 for dave", "7 in 6: billing.account of 1 for dave", "7 ends: panic", "6 ends: panic",
	}
	if !slices.Equal(log, want) {
		t.Errorf("got\n%q, want\n%q", log, want)
	}
}

// What is slow or fails is logged, and no more than once a second.
func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var takes time.Duration
		var fails error
		h := middleware.Log(nil, 0).Backend(granting(good)) // never logs what is not asked for
		core, logs := observer.New(zap.DebugLevel)
		h = middleware.Log(zap.New(core), 100*time.Millisecond).Backend(&oneCore{func() error {
			time.Sleep(takes)
			return fails
		}, h})
		for _, c := range []struct {
			takes time.Duration
			fails error
			lines int
		}{
			{time.Millisecond, nil, 0}, {100 * time.Millisecond, nil, 1}, {time.Millisecond, errDown, 1}, {time.Second, nil, 2}, {0, errDown, 2},
			{2 * time.Second, errDown, 3},
		} {
			takes, fails = c.takes, c.fails
			if _, err := h.Authorize(t.Context(), access("alice")); !errors.Is(err, c.fails) {
				t.Error(err)
			}
			if logs.Len() != c.lines {
				t.Errorf("%v, %v: %d lines, want %d", c.takes, c.fails, logs.Len(), c.lines)
			}
		}
		last := logs.All()[2].ContextMap()
		if last["operation"] != middleware.OpAuthorize || last["skipped"] != uint64(1) || last["error"] != errDown.Error() {
			t.Errorf("%v", last)
		}
	})
}

// A oneCore does something before it asks.
type oneCore struct {
	before func() error
	billing.Handler
}

func (c *oneCore) Authorize(_ context.Context, _ *billing.AccessRequest) (billing.Grant, error) {
	return good, c.before()
}
