package billingtest_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
)

func newGoodLedger(_ context.Context, subscribers []billingtest.Subscriber) (*billingtest.Backend, error) {
	l := newLedger(subscribers)
	return l.backend(l), nil
}

func TestLedgerConforms(t *testing.T) { billingtest.TestHandler(t, newGoodLedger) }

func TestMemoryConforms(t *testing.T) { billingtest.TestHandler(t, newMemory) }

// A back end that cannot be looked into has all that does not need it checked.
func TestWithoutLookingInto(t *testing.T) {
	factory := func(_ context.Context, subscribers []billingtest.Subscriber) (*billingtest.Backend, error) {
		return &billingtest.Backend{Handler: plain{newLedger(subscribers)}}, nil
	}
	skipped := make(map[string]string)
	for _, err := range billingtest.Check(t.Context(), factory) {
		skip, ok := errors.AsType[*billingtest.SkipError](err)
		if !ok {
			t.Error(err)
			continue
		}
		skipped[skip.Check] = skip.Needs
	}
	for _, name := range billingtest.CheckNames() {
		needs := skipped[name]
		switch {
		case strings.HasPrefix(name, "batch-"):
			if !strings.Contains(needs, "billing.BatchHandler") {
				t.Errorf("%s: needs %q", name, needs)
			}
		case name == "durable":
			if !strings.Contains(needs, "Backend.Reopen") {
				t.Errorf("%s: needs %q", name, needs)
			}
		case name == "stalled":
			if !strings.Contains(needs, "Backend.Stall") {
				t.Errorf("%s: needs %q", name, needs)
			}
		case name == "known-user" || name == "concurrent" || name == "other-status" || name == "arguments":
			if needs != "" {
				t.Errorf("%s: was skipped for %q", name, needs)
			}
		}
	}
}

func TestCheckNames(t *testing.T) {
	seen := make(map[string]bool)
	for _, name := range billingtest.CheckNames() {
		if seen[name] || strings.ContainsAny(name, " /") {
			t.Errorf("check %q", name)
		}
		seen[name] = true
	}
	defer func() {
		if v := recover(); v == nil || !strings.Contains(v.(string), "no such check") && !strings.Contains(v.(string), "no check") {
			t.Errorf("a check that is not there: %v", v)
		}
	}()
	billingtest.Check(t.Context(), newGoodLedger, "no-such-check")
}

func TestFactoryFails(t *testing.T) {
	for name, factory := range map[string]billingtest.Factory{
		"an error": func(context.Context, []billingtest.Subscriber) (*billingtest.Backend, error) {
			return nil, errors.New("no disk")
		},
		"no Backend": func(context.Context, []billingtest.Subscriber) (*billingtest.Backend, error) { return nil, nil },
		"no Handler": func(context.Context, []billingtest.Subscriber) (*billingtest.Backend, error) {
			return &billingtest.Backend{}, nil
		},
		"cannot close": func(_ context.Context, subscribers []billingtest.Subscriber) (*billingtest.Backend, error) {
			return &billingtest.Backend{Handler: newLedger(subscribers), Close: func() error { return errors.New("stuck") }}, nil
		},
	} {
		errs := billingtest.Check(t.Context(), factory, "unknown-user")
		if len(errs) != 1 {
			t.Errorf("%s: %v", name, errs)
			continue
		}
		f, ok := errors.AsType[*billingtest.Failure](errs[0])
		if want := "Factory"; !ok || f.Method != want && f.Method != "Backend.Close" {
			t.Errorf("%s: %v", name, errs[0])
		}
	}
}

// A hash that MS-CHAP cannot use is no reason to fail: the suite asks for what the
// form allows.
func TestHashedPasswords(t *testing.T) {
	factory := func(_ context.Context, subscribers []billingtest.Subscriber) (*billingtest.Backend, error) {
		l := newLedger(subscribers)
		for _, s := range subscribers {
			p, err := billing.ParsePassword(billing.FormWithHeader, "{SHA}"+sha1Base64(s.Password))
			if err != nil {
				return nil, err
			}
			l.subscribers[s.UserName] = billing.Grant{Password: p}
		}
		return l.backend(l), nil
	}
	for _, err := range billingtest.Check(t.Context(), factory) {
		t.Error(err)
	}
}
