package loadgen_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/internal/loadgen"
	"github.com/radpool/radpool/internal/simnet"
)

// The NAS's timers: the same octets after each Timeout, and after the last one the request is lost.
func TestTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(t)
		cfg.Requests, cfg.Timeout, cfg.Retries = 2, 3*time.Second, 2
		n := network(t, &cfg, simnet.Config{})
		start := time.Now()
		var seen []request
		script(func(r request, answer func([]byte)) {
			seen = append(seen, r)
			if r.number == 2 { // the third sending of the first; the second request is never answered
				answer(accept(t, r))
			}
		}).serve(t, n, auth)
		r := run(t, cfg)
		if r.Sent != 6 || r.Retransmitted != 4 || r.Answered != 1 || r.Accepts != 1 || r.Lost != 1 || r.Wrong() != 0 {
			t.Errorf("%+v", r.Counters)
		}
		if r.Latency.Max != 6*time.Second {
			t.Errorf("latency %v, want 6s: from when it was first sent", r.Latency.Max)
		}
		for i, s := range seen {
			first := seen[i/3*3]
			if !bytes.Equal(s.octets, first.octets) {
				t.Errorf("sending %d is not the same octets", i)
			}
			if want := time.Duration(i) * 3 * time.Second; i != 3 && s.at.Sub(start) != want-time.Duration(i/3)*3*time.Second {
				t.Errorf("sending %d after %v", i, s.at.Sub(start))
			}
		}
	})
}

func TestDuplicates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(t)
		cfg.Duplicates = 1
		n := network(t, &cfg, simnet.Config{MinDelay: time.Millisecond})
		script(func(r request, answer func([]byte)) { answer(accept(t, r)) }).serve(t, n, auth)
		r := run(t, cfg)
		if r.Sent != 20 || r.Duplicated != 10 || r.Answered != 10 || r.Extra != 10 || r.Wrong() != 0 || r.Replies != 20 {
			t.Errorf("%+v", r.Counters)
		}
	})
}

// An open loop does not wait for a server that stalls, and counts all of the wait (coordinated omission).
func TestOpenLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(t)
		cfg.Workers, cfg.Requests, cfg.Sockets = 0, 0, 4
		cfg.Profile = loadgen.Constant(100, 10*time.Second)
		n := network(t, &cfg, simnet.Config{})
		start := time.Now()
		script(func(r request, answer func([]byte)) {
			reply := accept(t, r)
			if at := r.at.Sub(start); at >= 4*time.Second && at < 5*time.Second { // it stalls for a second
				time.AfterFunc(5*time.Second-at, func() { answer(reply) })
				return
			}
			answer(reply)
		}).serve(t, n, auth)
		r := run(t, cfg)
		if r.Requests != 1000 || r.Answered != 1000 || r.Unsent != 0 {
			t.Errorf("%+v", r.Counters)
		}
		if r.Latency.Max != time.Second || r.Latency.P50 != 0 || r.Latency.P99 < 890*time.Millisecond || r.Latency.P99 > 910*time.Millisecond {
			t.Errorf("%+v, want one in ten up to a second", r.Latency)
		}
		if s := r.Samples[4]; s.Requests < 99 || s.Requests > 101 { // one more or less at its ends
			t.Errorf("%d requests in the second in which the server stalled, want 100", s.Requests)
		}
	})
}

// Without Identifiers a request waits, and is as old as its time; at the end what was never sent is counted.
func TestOpenLoopWithoutIdentifiers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(t)
		cfg.Workers, cfg.Requests, cfg.Sockets, cfg.Retries = 0, 0, 1, 0
		cfg.Profile = loadgen.Constant(1000, 4*time.Second)
		n := network(t, &cfg, simnet.Config{})
		script(func(r request, answer func([]byte)) {
			reply := accept(t, r)
			time.AfterFunc(time.Second, func() { answer(reply) }) // 256 Identifiers, so 256 a second
		}).serve(t, n, auth)
		r := run(t, cfg)
		if r.Requests+r.Unsent != 4000 || r.Requests < 1020 || r.Requests > 1030 {
			t.Errorf("%d sent and %d not, want about 1024 and 4000 in all", r.Requests, r.Unsent)
		}
		// The 1,024th was to go at 1.023 s, went at 3.255 s, and was answered a second after that.
		if r.Latency.Max < 3*time.Second || r.Latency.Max > 4*time.Second {
			t.Errorf("the longest latency is %v: the wait for an Identifier is missing", r.Latency.Max)
		}
		if r.Samples[2].Behind < time.Second {
			t.Errorf("behind %v in the third second", r.Samples[2].Behind)
		}
	})
}

func TestStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(t)
		cfg.Workers, cfg.Storm, cfg.Requests, cfg.Sockets = 0, true, 1000, 2
		n := network(t, &cfg, simnet.Config{MinDelay: 5 * time.Millisecond})
		script(func(r request, answer func([]byte)) { answer(accept(t, r)) }).serve(t, n, auth)
		r := run(t, cfg)
		// 512 Identifiers: two rounds of 10 ms.
		if r.Answered != 1000 || r.Latency.Max != 20*time.Millisecond || r.Elapsed != 20*time.Millisecond {
			t.Errorf("%d answered, the last after %v", r.Answered, r.Latency.Max)
		}
	})
}

// Sessions give back Class, end at Session-Timeout, and keep the interval of the server.
func TestSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(t)
		cfg.Mix, cfg.Requests, cfg.Interims, cfg.Speed = loadgen.Mix{{Kind: loadgen.Kind{Method: loadgen.MethodPAP, Session: true}, Weight: 1}}, 1, 10, 60
		n := network(t, &cfg, simnet.Config{})
		script(func(r request, answer func([]byte)) {
			answer(sign(t, r, radius.CodeAccessAccept,
				&radius.AVP{Type: 25, Attribute: []byte("first")}, &radius.AVP{Type: 25, Attribute: []byte("second")},
				number(27, 1500), number(85, 600), number(8, 0x0a0a0a0a)))
		}).serve(t, n, auth)
		var records []request
		script(func(r request, answer func([]byte)) {
			records = append(records, r)
			answer(accept(t, r))
		}).serve(t, n, acct)
		start := time.Now()
		r := run(t, cfg)
		if r.AccountingResponses != 4 || r.Finished != 1 || len(records) != 4 {
			t.Fatalf("%+v", r.Counters)
		}
		for i, want := range []struct{ status, seconds, cause uint32 }{{1, 0, 0}, {3, 600, 0}, {3, 1200, 0}, {2, 1500, 5}} {
			p := records[i]
			if value(p, 40) != want.status || value(p, 46) != want.seconds || value(p, 49) != want.cause || value(p, 8) != 0x0a0a0a0a {
				t.Errorf("record %d: status %d, time %d, cause %d", i, value(p, 40), value(p, 46), value(p, 49))
			}
			classes, err := rfc2865.Class_Gets(p.Packet)
			if err != nil || len(classes) != 2 || string(classes[0]) != "first" || string(classes[1]) != "second" {
				t.Errorf("record %d has Class %q", i, classes)
			}
			if at := p.at.Sub(start); at != time.Duration(want.seconds)*time.Second/60 {
				t.Errorf("record %d after %v", i, at)
			}
		}
	})
}

// A server may send any number of Class attributes, with nothing in them.
func TestTooMuchClass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(t)
		cfg.Mix, cfg.Requests = loadgen.Mix{{Kind: loadgen.Kind{Method: loadgen.MethodPAP, Session: true}, Weight: 1}}, 1
		n := network(t, &cfg, simnet.Config{})
		var classes radius.Attributes
		for range 1000 {
			classes = append(classes, &radius.AVP{Type: 25})
		}
		script(func(r request, answer func([]byte)) {
			answer(sign(t, r, radius.CodeAccessAccept, classes...))
		}).serve(t, n, auth)
		script(func(r request, answer func([]byte)) {
			if got, _ := rfc2865.Class_Gets(r.Packet); len(got) != 16 {
				t.Errorf("%d Class attributes", len(got))
			}
			answer(accept(t, r))
		}).serve(t, n, acct)
		if r := run(t, cfg); r.AccountingResponses != 2 || r.Wrong() != 0 {
			t.Errorf("%+v", r.Counters)
		}
	})
}

// A run that is stopped ends its sessions with a Stop.
func TestStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(t)
		cfg.Mix, cfg.Workers, cfg.Requests = loadgen.Mix{{Kind: loadgen.Kind{Session: true}, Weight: 1}}, 5, 0
		cfg.Duration, cfg.Interims, cfg.Speed = time.Hour, 100, 1
		n := network(t, &cfg, simnet.Config{})
		stops := 0
		script(func(r request, answer func([]byte)) {
			if value(r, 40) == 2 {
				stops++
				if value(r, 49) != 10 {
					t.Errorf("Acct-Terminate-Cause %d, want NAS-Request", value(r, 49))
				}
			}
			answer(accept(t, r))
		}).serve(t, n, acct)
		ctx, cancel := context.WithTimeout(t.Context(), 7*time.Minute)
		defer cancel()
		start := time.Now()
		r, err := loadgen.Run(ctx, cfg, nil)
		if err != nil || !r.Stopped || stops != 5 || r.Requests != 15 || time.Since(start) != 7*time.Minute {
			t.Errorf("%d Stops after %v, %+v, %v", stops, time.Since(start), r, err)
		}
	})
}

func number(t radius.Type, v uint32) *radius.AVP {
	return &radius.AVP{Type: t, Attribute: binary.BigEndian.AppendUint32(nil, v)}
}

// value is the number in an attribute; 0 where there is none.
func value(r request, t radius.Type) uint32 {
	if v, ok := r.Lookup(t); ok {
		return binary.BigEndian.Uint32(v)
	}
	return 0
}
