package radpool_test

import (
	"context"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/radpool"
)

// The clients and the workers are replaced 100 times while requests are on their way,
// in the queue and at work: none is lost, the client that came is answered, the one
// that went is not, and what was learned of those that stayed is still known.
func TestReplacementsUnderLoad(t *testing.T) {
	const rounds, each = 100, 20
	secret := []byte(testSecret)
	steady := radpool.Client{Prefix: nasHost, Name: "steady", Secret: secret}
	guest := func(round int) netip.Addr { return netip.AddrFrom4([4]byte{203, 0, 113, byte(round)}) }
	list := func(round int) []radpool.Client {
		return []radpool.Client{steady, {Prefix: netip.PrefixFrom(guest(round), 32), Secret: secret}}
	}
	s := &radpool.Server{
		Clients: clients(t, list(0)...),
		Handler: radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
			time.Sleep(50 * time.Millisecond)
			accept(ctx, req, resp)
		}),
	}
	if err := s.SetPolicy(radpool.Fixed(1)); err == nil {
		t.Error("SetPolicy before Serve: no error")
	}
	inWorld(t, s, func(w *world) {
		stayed := w.nas(nasAddr)
		var guests []*nas
		for round := range rounds + 1 {
			guests = append(guests, w.nas(netip.AddrPortFrom(guest(round), 40000)))
		}
		sent, answered := 0, 0
		for round := 1; round <= rounds; round++ {
			for range each {
				sent++
				stayed.send(access(byte(sent), uint64(sent), "ivan"))
			}
			if round%2 == 0 {
				synctest.Wait() // they are at work and in the queue; else some are on their way
			}
			if err := s.Clients.Replace(list(round)); err != nil {
				t.Fatal(err)
			}
			if err := s.SetPolicy(radpool.Spare{MaxServers: 4 + round%13}); err != nil {
				t.Fatal(err)
			}
			came := access(1, uint64(1000+round), "new")
			guests[round].send(came)
			guests[round-1].send(access(2, uint64(2000+round), "old"))
			time.Sleep(time.Second)
			if reply := guests[round].reply(came); reply == nil || reply.Code != radius.CodeAccessAccept {
				t.Fatalf("round %d: the client that came got %v", round, reply)
			}
			if guests[round-1].receive() != nil {
				t.Fatalf("round %d: the client that went is answered", round)
			}
			for stayed.receive() != nil {
				answered++
			}
		}
		st := s.Stats()
		if answered != sent || st.Replied != uint64(sent+rounds) || st.UnknownClient != rounds {
			t.Errorf("%d of %d requests answered; %d replied, %d of unknown clients", answered, sent, st.Replied, st.UnknownClient)
		}
		if got := s.Clients.States()[0]; !got.Signs || got.Requests != uint64(sent) {
			t.Errorf("what was learned and counted of the client that stayed is lost: %+v", got)
		}
	})
}

// Stats tell of the band of the policy that decides now.
func TestSpareBandInStats(t *testing.T) {
	inWorld(t, &radpool.Server{Handler: radpool.HandlerFunc(accept)}, func(w *world) {
		for _, tc := range []struct {
			policy      radpool.Policy
			least, most int
		}{
			{nil, 8, 32},
			{radpool.Spare{MaxServers: 4}, 4, 4},
			{radpool.Spare{MinSpareServers: 3, MaxSpareServers: 9}, 3, 9},
			{radpool.Fixed(4), 0, 0},
			{radpool.Adaptive{}, 0, 0},
		} {
			if err := w.server.SetPolicy(tc.policy); err != nil {
				t.Fatal(err)
			}
			if st := w.server.Stats(); st.MinSpare != tc.least || st.MaxSpare != tc.most {
				t.Errorf("%#v: %d to %d spare workers, want %d to %d", tc.policy, st.MinSpare, st.MaxSpare, tc.least, tc.most)
			}
		}
	})
}
