package radclient_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/simnet"
	"github.com/radpool/radpool/radclient"
)

// A request that one server does not answer is another's, under that one's secret; when the first is known to be dead
// it is not asked any more, and it is asked again when it answers Status-Server.
func TestFailover(t *testing.T) {
	inWorld(t, simnet.Config{}, func(t *testing.T, w *world) {
		down := true
		var asked, probes int
		w.serve(serverA, func(in *incoming) [][]byte {
			if in.packet.Code == radius.CodeStatusServer {
				probes++
			} else {
				asked++
			}
			if down {
				return nil
			}
			return echo(in)
		})
		w.serve(serverB, echo)
		var turns []string
		c := w.client(radclient.Config{ServerTurned: func(s netip.AddrPort, to radclient.State) {
			turns = append(turns, fmt.Sprint(s, " ", to))
		}}, serverA, serverB)

		if r := ask(context.Background(), t, c, "alice"); r.Server != serverB || r.Copies != 3 {
			t.Errorf("answered by %v after %d copies, want %v after two to the first", r.Server, r.Copies, serverB)
		}
		ask(context.Background(), t, c, "bob") // by its first wait in vain the third is over: A is dead
		w.sync()
		before := asked
		for i := range 10 {
			if r := ask(context.Background(), t, c, fmt.Sprint("user ", i)); r.Server != serverB || r.Copies != 1 {
				t.Errorf("answered by %v after %d copies", r.Server, r.Copies)
			}
		}
		w.sync()
		if asked != before || c.Stats().Servers[0].State != radclient.Dead {
			t.Errorf("%d requests went to a server that is %v", asked-before, c.Stats().Servers[0].State)
		}
		time.Sleep(300 * second) // far beyond Revive: but only where nothing answers probes, and then it is tried
		w.sync()
		if probes < 4 {
			t.Errorf("%d probes", probes)
		}
		for c.Stats().Servers[0].State == radclient.Alive {
			ask(context.Background(), t, c, "carol")
		}
		w.sync()
		down = false
		probes = 0
		w.sync()
		time.Sleep(60 * second)
		w.sync()
		if r := ask(context.Background(), t, c, "dave"); r.Server != serverA || probes != 3 {
			t.Errorf("answered by %v, after %d probes were answered", r.Server, probes)
		}
		if len(turns) != 4 || turns[0] != "192.0.2.1:1812 dead" || turns[3] != "192.0.2.1:1812 alive" {
			t.Errorf("told of %q", turns)
		}
		c.Close()
		if st := check(t, c); st.Failovers < 2 || st.TimedOut != 0 {
			t.Errorf("%+v", st)
		}
	})
}

// When all are dead each gets its turn, and who answers is alive.
func TestAllServersDead(t *testing.T) {
	inWorld(t, simnet.Config{}, func(t *testing.T, w *world) {
		up := map[netip.AddrPort]bool{}
		seen := map[netip.AddrPort]int{}
		for _, addr := range []netip.AddrPort{serverA, serverB, serverC} {
			w.serve(addr, func(in *incoming) [][]byte {
				if in.packet.Code == radius.CodeAccessRequest {
					seen[addr]++
				}
				if !up[addr] {
					return nil
				}
				return echo(in)
			})
		}
		c := w.client(radclient.Config{Retransmission: radclient.Retransmission{MRC: 6, MRD: radclient.Unlimited}}, serverA, serverB, serverC)
		for range 5 {
			if _, err := c.Do(context.Background(), access("alice")); !errors.Is(err, radclient.ErrNoReply) {
				t.Fatalf("got %v", err)
			}
		}
		w.sync()
		for addr, n := range seen {
			if n < 5 {
				t.Errorf("%v was asked %d times of 30", addr, n)
			}
		}
		up[serverC] = true
		w.sync()
		if r := ask(context.Background(), t, c, "bob"); r.Server != serverC {
			t.Errorf("answered by %v", r.Server)
		}
		if r := ask(context.Background(), t, c, "bob"); r.Server != serverC || r.Copies != 1 {
			t.Errorf("answered by %v after %d copies, want the one that is alive", r.Server, r.Copies)
		}
		c.Close()
		check(t, c)
	})
}

// A request to one server stays there, and says nothing about the group.
func TestExchangeWith(t *testing.T) {
	inWorld(t, simnet.Config{}, func(t *testing.T, w *world) {
		w.serve(serverA, echo)
		w.serve(serverC, silent)
		c := w.client(radclient.Config{Retransmission: radclient.Retransmission{MRC: 2}, Others: []radclient.Server{{Addr: serverC, Secret: secretOf(serverC)}}}, serverA)
		var r radclient.Reply
		for range 2 {
			if err := c.ExchangeWith(context.Background(), serverC, access("alice"), &r); !errors.Is(err, radclient.ErrNoReply) {
				t.Errorf("got %v", err)
			}
		}
		if err := c.ExchangeWith(context.Background(), serverA, access("alice"), &r); err != nil || r.Server != serverA {
			t.Errorf("%v from %v", err, r.Server)
		}
		c.Close()
		if st := check(t, c); st.Failovers != 0 || st.Servers[1].State != radclient.Alive || st.Servers[1].Sent != 4 {
			t.Errorf("%+v", st)
		}
	})
}

func TestConfigErrorsNameTheField(t *testing.T) {
	good := []radclient.Server{{Addr: serverA, Secret: []byte("x")}}
	for want, cfg := range map[string]radclient.Config{
		"Servers and Others":     {},
		"Servers[0].Addr":        {Servers: []radclient.Server{{Secret: []byte("x")}}},
		"Others[0].Addr":         {Servers: good, Others: good},
		"Servers[0].Secret":      {Servers: []radclient.Server{{Addr: serverA}}},
		"Servers[0].Protection":  {Servers: []radclient.Server{{Addr: serverA, Secret: []byte("x"), Protection: 3}}},
		"MaxInFlight":            {Servers: good, MaxInFlight: -1},
		"MaxSockets":             {Servers: good, MaxSockets: 5000},
		"IdentifierRest":         {Servers: good, IdentifierRest: time.Hour},
		"Retransmission.IRT":     {Servers: good, Retransmission: radclient.Retransmission{IRT: -1}},
		"Retransmission.MRT":     {Servers: good, Retransmission: radclient.Retransmission{MRT: second}},
		"Retransmission.MRC":     {Servers: good, Retransmission: radclient.Retransmission{MRC: -2}},
		"Retransmission.MRD":     {Servers: good, Retransmission: radclient.Retransmission{MRD: -2}},
		"Failover.Tries":         {Servers: good, Failover: radclient.Failover{Tries: 101}},
		"Failover.DeadAfter":     {Servers: good, Failover: radclient.Failover{DeadAfter: -1}},
		"Failover.ProbeInterval": {Servers: good, Failover: radclient.Failover{ProbeInterval: 1}},
		"Failover.ProbeTimeout":  {Servers: good, Failover: radclient.Failover{ProbeTimeout: time.Hour}},
		"Failover.Answers":       {Servers: good, Failover: radclient.Failover{Answers: -1}},
		"Failover.Revive":        {Servers: good, Failover: radclient.Failover{Revive: 1}},
	} {
		c, err := radclient.New(cfg)
		var wrong *radclient.ConfigError
		if !errors.As(err, &wrong) || wrong.Field != want {
			t.Errorf("%s: got %v", want, err)
		}
		if c != nil {
			c.Close()
		}
	}
}
