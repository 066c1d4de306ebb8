package billingtest_test

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
)

// ledger is a small back end that keeps every rule, on a "disk" that outlives it.
// The wrong ones are made of it.
type ledger struct {
	mu          sync.Mutex
	subscribers map[string]billing.Grant
	disk        *disk
}

// disk is what outlives a crash.
type disk struct {
	mu       sync.Mutex
	sessions map[string]*entry
	restarts map[netip.Addr][]time.Time

	stalled sync.RWMutex // held for writing while the disk hangs
}

// wait waits for the disk, or until ctx is over.
func (d *disk) wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if d.stalled.TryRLock() {
		d.stalled.RUnlock()
		return nil
	}
	<-ctx.Done() // good enough for a disk that hangs but in a test
	return ctx.Err()
}

func (d *disk) stall(context.Context) (func(), error) {
	d.stalled.Lock()
	return d.stalled.Unlock, nil
}

// entry is a session, the NAS that has it, and when its own Stop was, if any.
type entry struct {
	billingtest.Session
	nas     netip.Addr
	stopped time.Time
}

func newDisk() *disk {
	return &disk{sessions: make(map[string]*entry), restarts: make(map[netip.Addr][]time.Time)}
}

func newLedger(subscribers []billingtest.Subscriber) *ledger {
	l := &ledger{subscribers: make(map[string]billing.Grant), disk: newDisk()}
	for i, s := range subscribers {
		l.subscribers[s.UserName] = billing.Grant{
			Password: billing.Cleartext(s.Password),
			Reply:    radius.Attributes{{Type: 27, Attribute: radius.NewInteger(uint32(3600 + i))}},
		}
	}
	return l
}

func (l *ledger) Authorize(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
	if err := l.disk.wait(ctx); err != nil {
		return billing.Grant{}, err
	}
	return l.lookup(req.UserName), nil
}

func (l *ledger) lookup(name string) billing.Grant {
	l.mu.Lock()
	defer l.mu.Unlock()
	g, ok := l.subscribers[name]
	if !ok {
		return billing.Grant{Reason: billing.ReasonUnknownUser}
	}
	return g
}

func (l *ledger) Account(ctx context.Context, rec *billing.AccountingRecord) error {
	if err := l.disk.wait(ctx); err != nil {
		return err
	}
	l.disk.store(rec)
	return nil
}

func (l *ledger) AuthorizeBatch(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
	for i, req := range reqs {
		grants[i], errs[i] = l.Authorize(ctx, req)
	}
}

func (l *ledger) AccountBatch(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
	for i, rec := range recs {
		errs[i] = l.Account(ctx, rec)
	}
}

func (d *disk) store(rec *billing.AccountingRecord) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch rec.Status {
	case billing.AccountingOn, billing.AccountingOff:
		d.restarts[rec.NASAddr] = append(d.restarts[rec.NASAddr], rec.Time)
		for _, e := range d.sessions {
			d.settle(e)
		}
	case billing.Start, billing.InterimUpdate, billing.Stop:
		e := d.entry(rec)
		if began := rec.Time.Add(-rec.SessionTime); began.Before(e.Start) {
			e.Start = began
		}
		e.SessionTime = max(e.SessionTime, rec.SessionTime)
		e.InputOctets = max(e.InputOctets, rec.InputOctets)
		e.OutputOctets = max(e.OutputOctets, rec.OutputOctets)
		if rec.Status == billing.Stop && (e.stopped.IsZero() || rec.Time.Before(e.stopped)) {
			e.stopped = rec.Time
			e.Detail = fmt.Sprint("cause ", rec.TerminateCause)
		}
		d.settle(e)
	}
}

// settle says when e has ended: with its own Stop, or else with the first restart of
// its NAS. The caller holds the lock.
func (d *disk) settle(e *entry) {
	e.Stop = e.stopped
	if !e.Stop.IsZero() {
		return
	}
	for _, t := range d.restarts[e.nas] {
		if e.Start.Before(t) && (e.Stop.IsZero() || t.Before(e.Stop)) {
			e.Stop = t
		}
	}
}

// entry is the session of rec. The caller holds the lock.
func (d *disk) entry(rec *billing.AccountingRecord) *entry {
	e := d.sessions[rec.UniqueID]
	if e == nil {
		e = &entry{nas: rec.NASAddr}
		e.UniqueID, e.SessionID, e.UserName = rec.UniqueID, rec.SessionID, rec.UserName
		e.Start = rec.Time.Add(-rec.SessionTime)
		d.sessions[rec.UniqueID] = e
	}
	e.Class = max(e.Class, string(rec.Class)) // any order ends in the same
	return e
}

func (d *disk) list(context.Context) ([]billingtest.Session, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []billingtest.Session
	for _, e := range slices.Collect(maps.Values(d.sessions)) {
		all = append(all, e.Session)
	}
	return all, nil
}

// backend shows a ledger, behind any handler, to the suite.
func (l *ledger) backend(h billing.Handler) *billingtest.Backend {
	return &billingtest.Backend{
		Handler:  h,
		Sessions: l.disk.list,
		Stall:    l.disk.stall,
		Reopen: func(context.Context) (*billingtest.Backend, error) {
			again := &ledger{subscribers: l.subscribers, disk: l.disk}
			return again.backend(again), nil
		},
	}
}

// plain hides that a Handler can do more.
type plain struct{ billing.Handler }

// sessionsOf shows those of a billing.Memory to the suite.
func sessionsOf(m *billing.Memory) (all []billingtest.Session) {
	for s := range m.All() {
		all = append(all, billingtest.Session{
			UniqueID: s.UniqueID, SessionID: s.SessionID, UserName: s.UserName, Start: s.Started, Stop: s.Stopped,
			SessionTime: s.SessionTime, InputOctets: s.InputOctets, OutputOctets: s.OutputOctets,
			Detail: fmt.Sprint(s.Updated, s.TerminateCause),
		})
	}
	return all
}

func newMemory(_ context.Context, subscribers []billingtest.Subscriber) (*billingtest.Backend, error) {
	m := billing.NewMemory(0)
	for _, s := range subscribers {
		m.Put(s.UserName, billing.Grant{Password: billing.Cleartext(s.Password)})
	}
	return &billingtest.Backend{
		Handler: m, Sessions: func(context.Context) ([]billingtest.Session, error) { return sessionsOf(m), nil },
	}, nil
}
