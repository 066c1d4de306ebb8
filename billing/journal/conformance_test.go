package journal_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/billing/journal"
)

// store is a Memory that can be looked into, be away, and hang.
type store struct {
	*billing.Memory
	away atomic.Bool
	hang atomic.Pointer[chan struct{}] // closed when it ends; nil: none
}

func (s *store) Authorize(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
	if err := s.hangs(ctx); err != nil {
		return billing.Grant{}, err
	}
	return s.Memory.Authorize(ctx, req)
}

func (s *store) Account(ctx context.Context, rec *billing.AccountingRecord) error {
	if err := s.hangs(ctx); err != nil {
		return err
	}
	if s.away.Load() {
		return errDown
	}
	return s.Memory.Account(ctx, rec)
}

func (s *store) hangs(ctx context.Context) error {
	hang := s.hang.Load()
	if hang == nil {
		return nil
	}
	select {
	case <-*hang:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *store) AuthorizeBatch(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
	for i, req := range reqs {
		grants[i], errs[i] = s.Authorize(ctx, req)
	}
}

func (s *store) AccountBatch(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
	for i, rec := range recs {
		errs[i] = s.Account(ctx, rec)
	}
}

func (s *store) sessions() []billingtest.Session {
	var list []billingtest.Session
	for m := range s.All() {
		list = append(list, billingtest.Session{
			UniqueID: m.UniqueID, SessionID: m.SessionID, UserName: m.UserName, Start: m.Started, Stop: m.Stopped,
			SessionTime: m.SessionTime, InputOctets: m.InputOctets, OutputOctets: m.OutputOctets,
		})
	}
	return list
}

// The suite for back ends holds for one behind a journal: while that is there, and
// while it is there only for as long as is looked into it, so that every record goes
// through the file.
func TestConformance(t *testing.T) {
	for what, away := range map[string]bool{"there": false, "away": true} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			files := 0
			next := func() string {
				files++
				return filepath.Join(dir, fmt.Sprintf("%s-%d.db", what, files))
			}
			billingtest.TestHandler(t, func(ctx context.Context, subscribers []billingtest.Subscriber) (*billingtest.Backend, error) {
				s := &store{Memory: billing.NewMemory(0)}
				for _, sub := range subscribers {
					s.Put(sub.UserName, billing.Grant{Password: billing.Cleartext(sub.Password)})
				}
				s.away.Store(away)
				return conforming(ctx, s, next(), next, away)
			})
		})
	}
}

func conforming(ctx context.Context, s *store, file string, next func() string, away bool) (*billingtest.Backend, error) {
	j, err := journal.Open(ctx, file, s, journal.Options{ProbeInterval: time.Millisecond})
	if err != nil {
		return nil, err
	}
	b := &billingtest.Backend{
		Handler: j.Handler(),
		Close:   j.Close,
		Sessions: func(ctx context.Context) ([]billingtest.Session, error) {
			s.away.Store(false)
			defer s.away.Store(away)
			for j.Stats().Queued > 0 {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				runtime.Gosched()
			}
			return s.sessions(), nil
		},
		Stall: func(context.Context) (func(), error) {
			hang := make(chan struct{})
			s.hang.Store(&hang)
			return func() { s.hang.Store(nil); close(hang) }, nil
		},
		Reopen: func(ctx context.Context) (*billingtest.Backend, error) {
			again := next()
			for _, suffix := range []string{"", "-wal"} { // as the disk is now
				content, err := os.ReadFile(file + suffix)
				if err == nil {
					err = os.WriteFile(again+suffix, content, 0o600)
				}
				if err != nil {
					return nil, err
				}
			}
			if err := j.Close(); err != nil {
				return nil, err
			}
			return conforming(ctx, s, again, next, away)
		},
	}
	return b, nil
}
