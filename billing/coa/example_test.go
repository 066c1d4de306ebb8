package coa_test

import (
	"context"
	"fmt"
	"log"
	"sync"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/billing/coa"
)

// A backEnd knows one session, whose subscription has ended.
type backEnd struct {
	mu    sync.Mutex
	state coa.State
}

func (b *backEnd) Sessions(_ context.Context, _ time.Time, _ []string, after string, _ int) ([]coa.Item, string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if after != "" {
		return nil, "", nil
	}
	return []coa.Item{{
		Session: coa.Session{Key: "51f2b6b9c3d3f9a0", SessionID: "81a00012", UserName: "alice"},
		Want:    coa.Want{Mode: coa.Ended},
		State:   b.state,
	}}, "", nil
}

func (b *backEnd) Save(_ context.Context, _ string, s coa.State) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.Version != b.state.Version {
		return false, nil
	}
	b.state = s
	b.state.Version++
	return true, nil
}

// A printer is a NAS that says what it is asked for; a coa.Client asks over the network.
type printer struct{ asked chan string }

func (p printer) Change(_ context.Context, s *coa.Session, to radius.Attributes) error {
	p.asked <- fmt.Sprintf("CoA-Request: %s, %d attributes", s.SessionID, len(to))
	return nil
}

func (p printer) Disconnect(_ context.Context, s *coa.Session) error {
	p.asked <- "Disconnect-Request: " + s.SessionID + " of " + s.UserName
	return nil
}

func Example() {
	nas := printer{make(chan string)}
	controller, err := coa.Start(coa.Config{Store: &backEnd{}, NAS: nas})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(<-nas.asked)
	controller.Close()
	// Output: Disconnect-Request: 81a00012 of alice
}
