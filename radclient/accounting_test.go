package radclient_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"

	"github.com/radpool/radpool/internal/simnet"
	"github.com/radpool/radpool/radclient"
)

func stopRecord(session string) *radius.Packet {
	p := radclient.NewRequest(radius.CodeAccountingRequest)
	rfc2866.AcctStatusType_Set(p, rfc2866.AcctStatusType_Value_Stop)
	rfc2866.AcctSessionID_SetString(p, session)
	return p
}

func newQueue(t *testing.T, cfg radclient.AccountingConfig) *radclient.AccountingQueue {
	t.Helper()
	q, err := radclient.NewAccountingQueue(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// checkQueue fails the test when a record has ended in no counter, or in two.
func checkQueue(t *testing.T, q *radclient.AccountingQueue) radclient.AccountingStats {
	t.Helper()
	st := q.Stats()
	if st.Taken != st.Acknowledged+st.TooOld+st.Unsendable+uint64(st.Waiting) {
		t.Errorf("the counters do not add up: %+v", st)
	}
	return st
}

// An hour without a server loses no record. Each round says how late it is, under another Identifier and Authenticator; in
// a round the octets stay the same.
func TestAccountingSurvivesADeadServer(t *testing.T) {
	inWorld(t, simnet.Config{}, func(t *testing.T, w *world) {
		begin := time.Now()
		delays := map[string]map[uint32][16]byte{}
		acknowledged := map[string]bool{}
		w.serve(serverA, func(in *incoming) [][]byte {
			if in.packet.Code != radius.CodeAccountingRequest {
				return nil
			}
			session := rfc2866.AcctSessionID_GetString(in.packet)
			delay := uint32(rfc2866.AcctDelayTime_Get(in.packet))
			if late := time.Since(begin) - time.Duration(delay)*second; late < 0 || late > 31*second {
				t.Errorf("%s says %d s after %v", session, delay, time.Since(begin))
			}
			if got := rfc2869.EventTimestamp_Get(in.packet); !got.Equal(begin.Truncate(second)) {
				t.Errorf("%s happened at %v, says Event-Timestamp; it was at %v", session, got, begin)
			}
			if delays[session] == nil {
				delays[session] = map[uint32][16]byte{}
			}
			if auth, seen := delays[session][delay]; seen && auth != in.packet.Authenticator {
				t.Errorf("%s: a copy within a round is another request", session)
			}
			delays[session][delay] = in.packet.Authenticator
			if time.Since(begin) < time.Hour {
				return nil
			}
			acknowledged[session] = true
			return [][]byte{in.reply(radius.CodeAccountingResponse)}
		})
		c := w.client(radclient.Config{}, serverA)
		q := newQueue(t, radclient.AccountingConfig{Client: c, MaxQueue: 100, MaxInFlight: 10})
		for i := range 101 {
			err := q.Send(stopRecord(fmt.Sprint(i)))
			if (i < 100) != (err == nil) || err != nil && !errors.Is(err, radclient.ErrQueueFull) {
				t.Errorf("record %d: %v", i, err)
			}
		}
		if left, err := q.Shutdown(context.Background()); len(left) != 0 || err != nil {
			t.Errorf("%d records are left, %v", len(left), err)
		}
		w.sync()
		if len(acknowledged) != 100 {
			t.Errorf("%d records are acknowledged", len(acknowledged))
		}
		for session, d := range delays {
			if len(d) < 3 {
				t.Errorf("%s had %d rounds", session, len(d))
			}
		}
		if st := checkQueue(t, q); st.Acknowledged != 100 || st.Refused != 1 || st.Rounds < 300 {
			t.Errorf("%+v", st)
		}
		if err := q.Send(stopRecord("late")); !errors.Is(err, radclient.ErrClosed) {
			t.Errorf("after Shutdown: %v", err)
		}
		c.Close()
		check(t, c)
	})
}

// What was not acknowledged at the end is given back.
func TestAccountingShutdownReturnsWhatIsLeft(t *testing.T) {
	inWorld(t, simnet.Config{}, func(t *testing.T, w *world) {
		w.serve(serverA, silent)
		c := w.client(radclient.Config{}, serverA)
		q := newQueue(t, radclient.AccountingConfig{Client: c, MaxInFlight: 2})
		for i := range 5 {
			p := stopRecord(fmt.Sprint(i))
			rfc2866.AcctDelayTime_Set(p, 7)
			if err := q.Send(p); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), 40*second)
		defer cancel()
		left, err := q.Shutdown(ctx)
		if len(left) != 5 || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%d records are left, %v", len(left), err)
		}
		for _, p := range left {
			if got := rfc2866.AcctDelayTime_Get(p); got != 47 {
				t.Errorf("Acct-Delay-Time is %d, 40 s after it was 7", got)
			}
		}
		if st := checkQueue(t, q); st.Waiting != 5 {
			t.Errorf("%+v", st)
		}
		c.Close()
	})
}

func TestAccountingDropsAreCountedAndTold(t *testing.T) {
	inWorld(t, simnet.Config{}, func(t *testing.T, w *world) {
		w.serve(serverA, silent)
		c := w.client(radclient.Config{}, serverA)
		told := make(chan error, 2)
		q := newQueue(t, radclient.AccountingConfig{Client: c, MaxAge: time.Minute, Dropped: func(p *radius.Packet, err error) {
			told <- fmt.Errorf("%s: %w", rfc2866.AcctSessionID_GetString(p), err)
		}})
		long := stopRecord("long")
		for range 20 {
			long.Add(rfc2865.Class_Type, make(radius.Attribute, 253))
		}
		for _, p := range []*radius.Packet{long, stopRecord("old")} {
			if err := q.Send(p); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if st := checkQueue(t, q); st.Unsendable != 1 || st.Waiting != 1 {
			t.Errorf("%+v", st)
		}
		if left, err := q.Shutdown(context.Background()); len(left) != 0 || err != nil {
			t.Errorf("%d left, %v", len(left), err)
		}
		t.Log(<-told)
		if err := <-told; !errors.Is(err, radclient.ErrTooOld) {
			t.Errorf("told %v", err)
		}
		if st := checkQueue(t, q); st.TooOld != 1 {
			t.Errorf("%+v", st)
		}
		c.Close()
	})
}

// A Client that is full is no reason to lose a record.
func TestAccountingWaitsForAClientThatIsFull(t *testing.T) {
	inWorld(t, simnet.Config{MinDelay: 50 * time.Millisecond}, func(t *testing.T, w *world) {
		w.serve(serverA, func(in *incoming) [][]byte { return [][]byte{in.reply(radius.CodeAccountingResponse)} })
		c := w.client(radclient.Config{MaxInFlight: 1}, serverA)
		q := newQueue(t, radclient.AccountingConfig{Client: c})
		for i := range 50 {
			if err := q.Send(stopRecord(fmt.Sprint(i))); err != nil {
				t.Fatal(err)
			}
		}
		if err := q.Send(access("alice")); !errors.Is(err, radclient.ErrCode) {
			t.Errorf("an Access-Request: %v", err)
		}
		if left, err := q.Shutdown(context.Background()); len(left) != 0 || err != nil {
			t.Errorf("%d left, %v", len(left), err)
		}
		if st := checkQueue(t, q); st.Acknowledged != 50 {
			t.Errorf("%+v", st)
		}
		c.Close()
	})
}
