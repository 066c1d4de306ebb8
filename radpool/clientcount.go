package radpool

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"
)

// clientShown is what a client has shown of itself. It outlives a replacement of the
// [Clients] in which the client stays the same.
type clientShown struct {
	patience patience
	of       [numAsked]struct{ requests, duplicates, dropped atomic.Uint64 }
}

// A ClientCount counts what came from a client.
type ClientCount struct {
	// Requests is how many verified requests came that were new, Duplicates how many
	// came that were copies of them, and Dropped how many of the Requests were not
	// answered because there was too much to do, or the Handler failed.
	Requests, Duplicates, Dropped uint64
}

func (s *clientShown) count(what asked) ClientCount {
	c := &s.of[what]
	return ClientCount{Requests: c.requests.Load(), Duplicates: c.duplicates.Load(), Dropped: c.dropped.Load()}
}

func (c *ClientCount) add(o ClientCount) {
	c.Requests += o.Requests
	c.Duplicates += o.Duplicates
	c.Dropped += o.Dropped
}

// isDrop reports whether a verified request that ended so is one that its client
// asked in vain.
func isDrop(o Outcome) bool {
	switch o {
	case TableFull, QueueFull, Shed, Expired, Failed, Aborted:
		return true
	}
	return false
}

// flowOf tells one NAS from another, for the queue to give each its share.
func (e *engine) flowOf(a netip.Addr) uint64 {
	if a.Is4() {
		b := a.As4()
		return uint64(binary.BigEndian.Uint32(b[:]))
	}
	b := a.As16()
	return maphash.Bytes(e.flowSeed, b[:])
}

// MaxWaiting is the most that [Server.Waiting] returns.
const MaxWaiting = 1000

// WaitingNAS is what waits of one address.
type WaitingNAS struct {
	Addr   netip.Addr
	Client string          // its Name
	Queued [NumClasses]int // by class
	Total  int
	Oldest time.Duration // how long the first of them has waited
}

// Waiting tells of which NASes most requests wait in the queue now: up to n and
// [MaxWaiting], those with most waiting first. It says who floods or loops; what
// a client has asked in all stands in [Clients.States]. It is empty before the first
// Serve.
func (s *Server) Waiting(n int) []WaitingNAS {
	s.mu.Lock()
	e := s.engine
	s.mu.Unlock()
	if e == nil {
		return nil
	}
	var all []WaitingNAS
	e.pool.eachLongest(min(n, MaxWaiting), func(f FlowStats, w *waiting) {
		all = append(all, WaitingNAS{Addr: w.remote.Addr(), Client: w.client.Name, Queued: f.Queued, Total: f.Total, Oldest: f.Oldest})
	})
	slices.SortStableFunc(all, func(a, b WaitingNAS) int { return cmp.Compare(b.Total, a.Total) })
	return all
}
