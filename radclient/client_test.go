package radclient_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"

	"github.com/radpool/radpool/internal/simnet"
	"github.com/radpool/radpool/internal/wire"
	"github.com/radpool/radpool/radclient"
)

func TestExchange(t *testing.T) {
	inWorld(t, simnet.Config{}, func(t *testing.T, w *world) {
		w.serve(serverA, echo)
		c := w.client(radclient.Config{}, serverA)
		r := ask(t.Context(), t, c, "alice")
		if r.Server != serverA || r.Copies != 1 {
			t.Errorf("answered by %v after %d copies", r.Server, r.Copies)
		}
		c.Close()
		if st := check(t, c); st.Answered != 1 || st.Sockets != 1 || st.Discarded != (radclient.Discards{}) {
			t.Errorf("%+v", st)
		}
	})
}

// A retransmission is the same octets from the same port; the waits are those of RFC 5080, and after the last comes the error.
func TestRetransmissionAndTimeout(t *testing.T) {
	inWorld(t, simnet.Config{}, func(t *testing.T, w *world) {
		var first *incoming
		var at []time.Duration
		begin := time.Now()
		w.serve(serverA, func(in *incoming) [][]byte {
			if first == nil {
				first = in
			}
			if string(in.datagram) != string(first.datagram) || in.from != first.from {
				t.Error("a retransmission is not the same datagram from the same port")
			}
			at = append(at, time.Since(begin))
			return nil
		})
		c := w.client(radclient.Config{Servers: []radclient.Server{{Addr: serverA, Secret: secretOf(serverA), NoStatusServer: true}}})
		_, err := c.Do(t.Context(), access("alice"))
		w.sync()
		var timeout *radclient.TimeoutError
		if !errors.As(err, &timeout) || !errors.Is(err, radclient.ErrNoReply) || !timeout.Timeout() {
			t.Fatalf("got %v, want a TimeoutError", err)
		}
		// 2 s, then twice the one before, each with a tenth (of 2 s, of the one before) more or less; MRD is 30 s.
		if timeout.Server != serverA || timeout.Copies != len(at) || timeout.Copies < 4 || timeout.Elapsed != 30*second {
			t.Errorf("%v, but the server saw copies at %v", timeout, at)
		}
		for i, wait := 1, 2*second; i < len(at) && i < 4; i++ {
			got := at[i] - at[i-1]
			low, high := wait*9/10, wait*11/10
			if i > 1 {
				low, high = wait*19/20, wait*21/20 // a tenth of the one before
			}
			if got < low || got > high || got == wait {
				t.Errorf("wait %d was %v, want %v to %v and not exactly %v", i, got, low, high, wait)
			}
			wait = 2 * got
		}
		c.Close()
		check(t, c)
	})
}

func TestContextEndsARequest(t *testing.T) {
	inWorld(t, simnet.Config{}, func(t *testing.T, w *world) {
		w.serve(serverA, silent)
		c := w.client(radclient.Config{}, serverA)
		ctx, cancel := context.WithTimeout(t.Context(), 3*second)
		defer cancel()
		begin := time.Now()
		_, err := c.Do(ctx, access("alice"))
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 3*second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		if _, err := c.Do(ctx, access("alice")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a context that is over: %v", err)
		}
		if st := check(t, c); st.Cancelled != 1 || st.InFlight != 0 {
			t.Errorf("%+v", st)
		}
		c.Close()
	})
}

func TestCloseEndsRequests(t *testing.T) {
	inWorld(t, simnet.Config{}, func(t *testing.T, w *world) {
		w.serve(serverA, silent)
		// One socket has 256 Identifiers, so that some wait for one.
		c := w.client(radclient.Config{MaxSockets: 1}, serverA)
		var wg sync.WaitGroup
		for range 300 {
			wg.Go(func() {
				if _, err := c.Do(t.Context(), access("alice")); !errors.Is(err, radclient.ErrClosed) {
					t.Errorf("got %v, want ErrClosed", err)
				}
			})
		}
		synctest.Wait()
		if st := c.Stats(); st.InFlight != 300 || st.Sockets != 1 {
			t.Errorf("%+v", st)
		}
		c.Close()
		wg.Wait()
		if _, err := c.Do(t.Context(), access("alice")); !errors.Is(err, radclient.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		c.Close()
		check(t, c)
	})
}

func TestBounds(t *testing.T) {
	inWorld(t, simnet.Config{}, func(t *testing.T, w *world) {
		w.serve(serverA, silent)
		c := w.client(radclient.Config{MaxInFlight: 3}, serverA)
		for range 3 {
			w.wg.Go(func() { c.Do(t.Context(), access("alice")) })
		}
		synctest.Wait()
		if _, err := c.Do(t.Context(), access("bob")); !errors.Is(err, radclient.ErrTooManyRequests) {
			t.Errorf("got %v, want ErrTooManyRequests", err)
		}
		if _, err := c.Do(t.Context(), radius.New(radius.CodeAccessAccept, []byte("x"))); !errors.Is(err, radclient.ErrCode) {
			t.Errorf("a reply sent as a request: %v", err)
		}
		c.Close()
		check(t, c)
	})
}

// What cannot be sent is an error that says why, and leaves nothing behind.
func TestRequestsThatCannotBeSent(t *testing.T) {
	inWorld(t, simnet.Config{}, func(t *testing.T, w *world) {
		w.serve(serverA, echo)
		c := w.client(radclient.Config{}, serverA)
		long := access("alice")
		for range 20 {
			long.Add(rfc2865.ReplyMessage_Type, make(radius.Attribute, 253))
		}
		if _, err := c.Do(t.Context(), long); !errors.Is(err, wire.ErrPacketTooLong) {
			t.Errorf("a packet that is too long: %v", err)
		}
		broken := access("alice")
		broken.Secret = nil
		if _, err := c.Do(t.Context(), broken); !errors.Is(err, wire.ErrNoSecret) {
			t.Errorf("a password under no secret: %v", err)
		}
		holed := access("alice")
		holed.Attributes = append(holed.Attributes, nil)
		if _, err := c.Do(t.Context(), holed); !errors.Is(err, wire.ErrNilAttribute) {
			t.Errorf("a nil attribute: %v", err)
		}
		if err := c.ExchangeWith(t.Context(), serverB, access("alice"), new(radclient.Reply)); !errors.Is(err, radclient.ErrUnknownServer) {
			t.Errorf("a server that was not configured: %v", err)
		}
		ask(t.Context(), t, c, "bob")
		if st := check(t, c); st.InFlight != 0 || st.Answered != 1 {
			t.Errorf("%+v", st)
		}
		c.Close()
	})
}

// The challenge of a CHAP-Password may be the Request Authenticator, which the Client chooses anew.
func TestCHAP(t *testing.T) {
	inWorld(t, simnet.Config{}, func(t *testing.T, w *world) {
		p := radclient.NewRequest(radius.CodeAccessRequest)
		rfc2865.CHAPPassword_Set(p, make([]byte, 17))
		w.serve(serverA, func(in *incoming) [][]byte {
			if got := rfc2865.CHAPChallenge_Get(in.packet); string(got) != string(p.Authenticator[:]) || in.packet.Authenticator == p.Authenticator {
				t.Errorf("CHAP-Challenge %x, Authenticator %x, but the password is of %x", got, in.packet.Authenticator, p.Authenticator)
			}
			return [][]byte{in.reply(radius.CodeAccessAccept)}
		})
		c := w.client(radclient.Config{}, serverA)
		if _, err := c.Do(t.Context(), p); err != nil {
			t.Error(err)
		}
		if _, ok := p.Lookup(rfc2865.CHAPChallenge_Type); ok {
			t.Error("the caller's packet was changed")
		}
		c.Close()
	})
}

// Loss, duplicates, reordering and delays: every request gets its own reply.
func TestLossyNetwork(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			cfg := simnet.Config{
				Seed: seed, Loss: 0.1, Duplicate: 0.1, Reorder: 0.1, MaxDelay: 400 * time.Millisecond, Capacity: 1 << 16,
			}
			inWorld(t, cfg, func(t *testing.T, w *world) {
				w.serve(serverA, echo)
				c := w.client(radclient.Config{
					IdentifierRest: 10 * second, // and 1 s after a first copy, so that nothing meets another request
					Retransmission: radclient.Retransmission{IRT: second, MRC: radclient.Unlimited, MRD: radclient.Unlimited},
				}, serverA)
				var wg sync.WaitGroup
				for i := range 500 {
					wg.Go(func() {
						for k := range 4 {
							ask(t.Context(), t, c, fmt.Sprintf("user %d of %d", k, i))
						}
					})
				}
				wg.Wait()
				time.Sleep(2 * second) // for what is still on its way
				c.Close()
				st := check(t, c)
				if st.Answered != 2000 || st.Servers[0].Retransmitted == 0 || st.Discarded.Unexpected == 0 || st.Discarded.Unauthentic != 0 {
					t.Errorf("%+v", st)
				}
			})
		})
	}
}

// No Identifier is used again while its request is in flight, nor before it has rested.
func TestIdentifiersRestAsSeenByTheServer(t *testing.T) {
	inWorld(t, simnet.Config{MinDelay: 20 * time.Millisecond}, func(t *testing.T, w *world) {
		type key struct {
			from netip.AddrPort
			id   byte
		}
		last := map[key]time.Time{}
		auth := map[key][16]byte{}
		w.serve(serverA, func(in *incoming) [][]byte {
			k := key{in.from, in.shape.Identifier}
			if at, seen := last[k]; seen && auth[k] != in.packet.Authenticator && time.Since(at) < 200*time.Millisecond {
				t.Errorf("an Identifier came again after %v", time.Since(at))
			}
			last[k], auth[k] = time.Now(), in.packet.Authenticator
			return echo(in)
		})
		c := w.client(radclient.Config{MaxSockets: 2}, serverA) // a rest of 200 ms, for what is answered at once
		var wg sync.WaitGroup
		for i := range 700 {
			wg.Go(func() {
				for range 4 {
					ask(t.Context(), t, c, fmt.Sprintf("user %d", i))
				}
			})
		}
		wg.Wait()
		w.sync()
		c.Close()
		if st := check(t, c); st.Answered != 2800 || st.Sockets != 2 || len(last) != 512 {
			t.Errorf("%d Identifiers were used; %+v", len(last), st)
		}
	})
}

func TestAccountingRequestAndStatusServer(t *testing.T) {
	inWorld(t, simnet.Config{}, func(t *testing.T, w *world) {
		w.serve(serverA, func(in *incoming) [][]byte { return [][]byte{in.reply(radius.CodeAccountingResponse)} })
		c := w.client(radclient.Config{}, serverA)
		p := radclient.NewRequest(radius.CodeAccountingRequest)
		rfc2866.AcctStatusType_Set(p, rfc2866.AcctStatusType_Value_Start)
		for _, p := range []*radius.Packet{p, radclient.NewRequest(radius.CodeStatusServer)} {
			if r, err := c.Do(t.Context(), p); err != nil || r.Code != radius.CodeAccountingResponse {
				t.Errorf("%v: %v", p.Code, err)
			}
		}
		c.Close()
	})
}
