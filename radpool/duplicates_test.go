package radpool_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/radpool"
)

// requests of both kinds, the same octets each time they are asked for.
var bothKinds = map[string]func(id byte, n uint64) []byte{
	"Access-Request":     func(id byte, n uint64) []byte { return access(id, n, "ivan") },
	"Accounting-Request": func(id byte, n uint64) []byte { return accounting(id, 1, string(rune('a'+n))) },
}

// counting answers with the number of the run, so that a second run shows.
func counting(runs *atomic.Uint32) radpool.Handler {
	return radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
		accept(ctx, req, resp)
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], runs.Add(1))
		resp.Add(rfc2865.Class_Type, b[:])
	})
}

// slowly is a handler that takes a second for each.
func slowly(h radpool.Handler) radpool.Handler {
	return radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
		time.Sleep(time.Second)
		h.Handle(ctx, req, resp)
	})
}

func TestRetransmissionGetsTheSameOctets(t *testing.T) {
	for name, request := range bothKinds {
		t.Run(name, func(t *testing.T) {
			var runs atomic.Uint32
			inWorld(t, &radpool.Server{Handler: counting(&runs)}, func(w *world) {
				n := w.nas(nasAddr)
				req := request(1, 1)
				n.send(req)
				first := n.receive()
				parseReply(t, first, req)
				for _, wait := range []time.Duration{0, 1, 5, 50, 500, 5000} {
					time.Sleep(wait * time.Millisecond)
					n.send(req)
					if again := n.receive(); !bytes.Equal(again, first) {
						t.Errorf("%d ms after: % x, want % x", wait, again, first)
					}
				}
				if got := runs.Load(); got != 1 {
					t.Errorf("the handler ran %d times, want once", got)
				}
				time.Sleep(radpoolRetention)
				if n.ask(req); runs.Load() != 2 {
					t.Error("the reply was kept longer than CleanupDelay")
				}
			})
		})
	}
}

// radpoolRetention is longer than a reply is kept, extended by duplicates or not.
const radpoolRetention = 40 * time.Second

func TestDuplicateOfARequestInProgressIsDropped(t *testing.T) {
	for name, request := range bothKinds {
		t.Run(name, func(t *testing.T) {
			var runs atomic.Uint32
			s := &radpool.Server{Config: radpool.Config{MaxServers: 1}, Handler: slowly(counting(&runs))}
			inWorld(t, s, func(w *world) {
				n := w.nas(nasAddr)
				running, queued := request(1, 1), request(2, 2)
				for range 3 {
					n.send(running)
					n.send(queued)
					synctest.Wait()
				}
				time.Sleep(5 * time.Second)
				replies := 0
				for n.receive() != nil {
					replies++
				}
				if replies != 2 {
					t.Errorf("%d replies, want one to each of the two", replies)
				}
				if st := w.server.Stats(); st.Duplicate != 4 || st.Replied != 2 || runs.Load() != 2 {
					t.Errorf("ran %d times: %+v", runs.Load(), st)
				}
			})
		})
	}
}

// The NAS that uses an Identifier for a new request has given up the old one:
// queued, it must not run; running, its reply must not be sent.
func TestNewRequestSupersedesTheOldOne(t *testing.T) {
	for name, request := range bothKinds {
		t.Run(name, func(t *testing.T) {
			var runs atomic.Uint32
			s := &radpool.Server{Config: radpool.Config{MaxServers: 1}, Handler: slowly(counting(&runs))}
			inWorld(t, s, func(w *world) {
				n := w.nas(nasAddr)
				n.send(request(1, 1)) // runs
				synctest.Wait()
				n.send(request(1, 2)) // waits, and the first is void
				synctest.Wait()
				last := request(1, 3)
				n.send(last) // and the second
				time.Sleep(5 * time.Second)
				if p := n.reply(last); p == nil || binary.BigEndian.Uint32(rfc2865.Class_Get(p)) != 2 {
					t.Errorf("got %v, want the reply of the second run to the last request", p)
				}
				if n.receive() != nil {
					t.Error("a reply to a request that was given up was sent")
				}
				if st := w.server.Stats(); st.Superseded != 2 || st.Replied != 1 || runs.Load() != 2 {
					t.Errorf("ran %d times: %+v", runs.Load(), st)
				}
			})
		})
	}
}

// Where a table or the queue is full, nothing is lost in silence, and a
// retransmission may try again.
func TestFullQueueAndFullTable(t *testing.T) {
	for name, c := range map[string]struct {
		config  radpool.Config
		counter func(radpool.Stats) uint64
	}{
		"queue": {radpool.Config{MaxServers: 1, MaxQueueSize: 2}, func(st radpool.Stats) uint64 { return st.QueueFull }},
		"table": {radpool.Config{MaxServers: 1, MaxRequests: 3}, func(st radpool.Stats) uint64 { return st.TableFull }},
	} {
		t.Run(name, func(t *testing.T) {
			var told atomic.Uint32
			s := &radpool.Server{
				Config: c.config,
				Hooks:  radpool.Hooks{Drop: func(radpool.DropInfo) { told.Add(1) }},
				Handler: radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
					time.Sleep(time.Second)
					accept(ctx, req, resp)
				}),
			}
			inWorld(t, s, func(w *world) {
				n := w.nas(nasAddr)
				for i := range byte(5) {
					n.send(access(i, uint64(i), "ivan"))
					synctest.Wait()
				}
				if st := w.server.Stats(); c.counter(st) != 2 || told.Load() != 2 || st.InFlight != 3 {
					t.Errorf("told of %d: %+v", told.Load(), st)
				}
				time.Sleep(5 * time.Second)
				n.send(access(4, 4, "ivan"))
				time.Sleep(2 * time.Second)
				if st := w.server.Stats(); st.Replied != 4 {
					t.Errorf("the retransmission was not answered: %+v", st)
				}
			})
		})
	}
}
