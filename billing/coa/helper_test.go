package coa_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"layeh.com/radius"

	"github.com/radpool/radpool/billing/coa"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A store is a back end in memory, as small as one can be. Its states outlive a Controller.
type store struct {
	mu    sync.Mutex
	items map[string]*coa.Item
	err   error // of every call
}

func newStore() *store { return &store{items: make(map[string]*coa.Item)} }

func (s *store) Sessions(_ context.Context, _ time.Time, users []string, after string, limit int) (items []coa.Item, more string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(s.items)) {
		it := s.items[key]
		if key <= after || len(users) > 0 && !slices.Contains(users, it.Session.UserName) {
			continue
		}
		if items = append(items, *it); len(items) == limit {
			return items, key, s.err
		}
	}
	return items, "", s.err
}

func (s *store) Save(_ context.Context, key string, state coa.State) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	it := s.items[key]
	if it == nil || it.State.Version != state.Version {
		return false, s.err
	}
	it.State = state
	it.State.Version++
	return true, s.err
}

// add adds a session of a user that has Full.
func (s *store) add(key, user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items[key] = &coa.Item{Session: coa.Session{Key: key, SessionID: key, UserName: user, NASAddr: nasAddr.Addr(), Seen: time.Now()}, State: coa.State{Applied: coa.Full}, Want: coa.Want{Mode: coa.Full}}
}

// want says what all sessions are to have.
func (s *store) want(w coa.Want) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, it := range s.items {
		it.Want = w
	}
}

// stop ends a session.
func (s *store) stop(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.items, key)
}

func (s *store) state(key string) coa.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.items[key].State
}

// A fakeNAS answers what it is told to, and remembers what it was asked for.
type fakeNAS struct {
	mu     sync.Mutex
	answer error
	hang   bool // until the request is given up
	asked  []string
}

func (n *fakeNAS) do(ctx context.Context, what string) error {
	n.mu.Lock()
	n.asked = append(n.asked, what)
	hang, answer := n.hang, n.answer
	n.mu.Unlock()
	if hang {
		<-ctx.Done()
		return ctx.Err()
	}
	return answer
}

func (n *fakeNAS) Change(ctx context.Context, s *coa.Session, to radius.Attributes) error {
	return n.do(ctx, fmt.Sprintf("change %s %d", s.SessionID, len(to)))
}

func (n *fakeNAS) Disconnect(ctx context.Context, s *coa.Session) error {
	return n.do(ctx, "disconnect "+s.SessionID)
}

func (n *fakeNAS) answers(err error, hang bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answer, n.hang = err, hang
}

// all is what the NAS was asked for since the last call.
func (n *fakeNAS) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	asked := n.asked
	n.asked = nil
	return asked
}
