package billing_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/radpool/radpool/billing"
)

// oneByOne is a BatchHandler of a Memory, which can be closed.
type oneByOne struct {
	*billing.Memory
	closed int
}

func (h *oneByOne) AuthorizeBatch(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
	billing.AuthorizeAll(ctx, h.Memory, reqs, grants, errs)
}

func (h *oneByOne) AccountBatch(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
	billing.AccountAll(ctx, h.Memory, recs, errs)
}

func (h *oneByOne) LeaseAddresses(_ context.Context, leases []*billing.AddressLease) {
	for _, l := range leases {
		l.Addr = netip.MustParseAddr("10.0.0.1")
	}
}

func (h *oneByOne) Close() error { h.closed++; return nil }

// attempts is an open that fails with errs, one after the other, and works after that.
type attempts struct {
	errs []error
	h    oneByOne
	at   []time.Duration // since the first
	from time.Time
}

func (a *attempts) open(context.Context) (billing.BatchHandler, error) {
	if len(a.at) == 0 {
		a.from = time.Now()
	}
	a.at = append(a.at, time.Since(a.from))
	if n := len(a.at); n <= len(a.errs) {
		return nil, a.errs[n-1]
	}
	return &a.h, nil
}

var (
	errRefused  = fmt.Errorf("connection refused: %w", billing.ErrAway)
	errPassword = errors.New("the password is wrong")
)

func TestLaterThereAtOnce(t *testing.T) {
	a := &attempts{h: oneByOne{Memory: billing.NewMemory(0)}}
	l, err := billing.OpenLater(t.Context(), a.open, nil)
	if err != nil {
		t.Fatal(err)
	}
	<-l.Ready()
	if err := l.Close(); err != nil || a.h.closed != 1 {
		t.Error(err, a.h.closed)
	}
}

func TestLaterWrongIsAnError(t *testing.T) {
	a := &attempts{errs: []error{errPassword}}
	if _, err := billing.OpenLater(t.Context(), a.open, nil); !errors.Is(err, errPassword) || len(a.at) != 1 {
		t.Error(err, a.at)
	}
}

// While the back end is away everything fails and is away; attempts come at bounded
// distances, and the log has one line for the beginning, each other error and the end.
func TestLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &attempts{h: oneByOne{Memory: billing.NewMemory(0)}}
		for i := range 12 {
			a.errs = append(a.errs, errRefused)
			if i == 7 || i == 8 {
				a.errs[i] = errPassword
			}
		}
		core, logs := observer.New(zap.InfoLevel)
		l, err := billing.OpenLater(t.Context(), a.open, zap.New(core))
		if err != nil {
			t.Fatal(err)
		}
		req, rec := &billing.AccessRequest{UserName: "nobody"}, &billing.AccountingRecord{Status: billing.AccountingOn, Time: time.Now()}
		lease := &billing.AddressLease{Access: req, Pool: "main"}
		ask := func() (errs [5]error) {
			_, errs[0] = l.Authorize(t.Context(), req)
			l.AuthorizeBatch(t.Context(), []*billing.AccessRequest{req}, make([]billing.Grant, 1), errs[1:2])
			errs[2] = l.Account(t.Context(), rec)
			l.AccountBatch(t.Context(), []*billing.AccountingRecord{rec}, errs[3:4])
			lease.Err = nil
			l.LeaseAddresses(t.Context(), []*billing.AddressLease{lease})
			errs[4] = lease.Err
			l.PostAuth(&billing.AuthResult{Access: req})
			return errs
		}
		for _, err := range ask() {
			if !errors.Is(err, billing.ErrAway) {
				t.Error(err)
			}
		}
		<-l.Ready()
		for _, err := range ask() {
			if err != nil {
				t.Error(err)
			}
		}
		if !lease.Addr.IsValid() {
			t.Error("no address is leased")
		}
		for i := 2; i < len(a.at); i++ {
			if wait, before := a.at[i]-a.at[i-1], a.at[i-1]-a.at[i-2]; wait != min(max(2*before, 250*time.Millisecond), 10*time.Second) {
				t.Errorf("attempt %d comes %v after the one before", i, wait)
			}
		}
		if len(a.at) != 13 || logs.Len() != 3 {
			t.Errorf("%d attempts, log: %v", len(a.at), logs.All())
		}
		if err := l.Close(); err != nil || a.h.closed != 1 {
			t.Error(err, a.h.closed)
		}
	})
}

func TestLaterClosedWhileAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &attempts{errs: make([]error, 100)}
		for i := range a.errs {
			a.errs[i] = errRefused
		}
		l, err := billing.OpenLater(t.Context(), a.open, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}
