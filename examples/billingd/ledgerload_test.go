package main

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
)

// acknowledged is what a server has answered by now.
type acknowledged struct {
	mu       sync.Mutex
	sessions map[string]*usage
	records  int
	more     chan struct{} // one token: records has grown
}

// usage is what the last acknowledged record of a session told.
type usage struct {
	octets  int64
	stopped bool
}

func newAcknowledged() *acknowledged {
	return &acknowledged{sessions: make(map[string]*usage), more: make(chan struct{}, 1)}
}

func (a *acknowledged) add(session string, octets int64, stopped bool) {
	a.mu.Lock()
	a.sessions[session] = &usage{octets, stopped}
	a.records++
	a.mu.Unlock()
	select {
	case a.more <- struct{}{}:
	default:
	}
}

// await waits until n more records are acknowledged.
func (a *acknowledged) await(t *testing.T, n int) {
	t.Helper()
	count := func() int {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.records
	}
	deadline := time.After(2 * time.Minute)
	for goal := count() + n; count() < goal; {
		select {
		case <-a.more:
		case <-deadline:
			t.Fatalf("%d records were not acknowledged in time", n)
		}
	}
}

// sendAccounting sends sessions of user0 to user19 from 12 NASes, each record until it is
// acknowledged, until end is called.
func sendAccounting(t *testing.T, b *billingd, name string, acked *acknowledged) (end func()) {
	t.Helper()
	stop := make(chan struct{})
	var running sync.WaitGroup
	for i := range 12 {
		n := dial(t, b.acct)
		running.Go(func() {
			id := byte(0)
			for s := 0; ; s++ {
				session := fmt.Sprintf("%s-%d-%d", name, i, s)
				for step, status := range []rfc2866.AcctStatusType{1, 3, 3, 2} {
					octets := uint32(step * (1_000_003 + 7*s + i))
					id++
					if !n.until(stop, id, sessionRecord(id, fmt.Sprint("user", (s+i)%20), session, status, octets, uint32(step*61))) {
						return
					}
					acked.add(session, int64(octets), status == rfc2866.AcctStatusType_Value_Stop)
				}
			}
		})
	}
	return func() {
		close(stop)
		running.Wait()
	}
}

// until sends a request until it is answered, and reports false when stop is closed first.
func (n *nas) until(stop <-chan struct{}, id byte, request []byte) bool {
	for {
		select {
		case <-stop:
			return false
		default:
		}
		n.send(request)
		for {
			reply := n.receive(time.Second)
			if reply == nil {
				break
			}
			if reply[1] == id { // and not one that was late
				return true
			}
		}
	}
}

func sessionRecord(id byte, user, session string, status rfc2866.AcctStatusType, octets, seconds uint32) []byte {
	p := &radius.Packet{Code: radius.CodeAccountingRequest, Identifier: id}
	p.Add(rfc2865.UserName_Type, radius.Attribute(user))
	p.Add(rfc2866.AcctStatusType_Type, radius.NewInteger(uint32(status)))
	p.Add(rfc2866.AcctSessionID_Type, radius.Attribute(session))
	p.Add(rfc2866.AcctInputOctets_Type, radius.NewInteger(octets))
	p.Add(rfc2866.AcctOutputOctets_Type, radius.NewInteger(3*octets))
	p.Add(rfc2866.AcctSessionTime_Type, radius.NewInteger(seconds))
	return encode(p)
}
