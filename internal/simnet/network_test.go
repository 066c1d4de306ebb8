package simnet_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/radpool/radpool/internal/simnet"
)

func TestListen(t *testing.T) {
	n := newNetwork(t, simnet.Config{})
	for addr, want := range map[string]error{
		"0.0.0.0:1812":            syscall.EADDRNOTAVAIL,
		"[::]:1812":               syscall.EADDRNOTAVAIL,
		"[::ffff:0.0.0.0]:1812":   syscall.EADDRNOTAVAIL,
		"224.0.0.1:1812":          syscall.EADDRNOTAVAIL,
		"192.0.2.1:1812":          nil,
		"192.0.2.1:1813":          nil,
		"192.0.2.2:1812":          nil,
		"[fe80::1%eth0]:1812":     nil,
		"[fe80::1%eth1]:1812":     nil,
		"[::ffff:192.0.2.3]:1812": nil,
	} {
		c, err := n.Listen(netip.MustParseAddrPort(addr))
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", addr, err)
		}
		if err == nil && c.LocalAddr().String() != c.LocalAddrPort().String() {
			t.Errorf("%s: LocalAddr %v, LocalAddrPort %v", addr, c.LocalAddr(), c.LocalAddrPort())
		}
	}
	if _, err := n.Listen(netip.AddrPort{}); !errors.Is(err, syscall.EADDRNOTAVAIL) {
		t.Errorf("no address: %v", err)
	}
	if _, err := n.Listen(netip.MustParseAddrPort("192.0.2.3:1812")); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("the mapped address, unmapped: %v", err)
	}
}

func TestListenExhaustsPorts(t *testing.T) {
	n := newNetwork(t, simnet.Config{})
	anyPort := netip.MustParseAddrPort("192.0.2.1:0")
	var last *simnet.Conn
	for i := range 65536 - 49152 {
		c, err := n.Listen(anyPort)
		if err != nil {
			t.Fatalf("socket %d: %v", i, err)
		}
		last = c
	}
	if _, err := n.Listen(anyPort); !errors.Is(err, syscall.EADDRINUSE) {
		t.Fatalf("no port is left: %v", err)
	}
	_ = last.Close()
	if c, err := n.Listen(anyPort); err != nil || c.LocalAddr().String() != last.LocalAddr().String() {
		t.Fatalf("one port is left: %v", err)
	}
}

func TestLossAndUnreachable(t *testing.T) {
	n := newNetwork(t, simnet.Config{Loss: 1})
	a := listen(t, n, "192.0.2.1:1")
	send(t, a, a.LocalAddrPort(), "lost")
	if s := n.Stats(); s != (simnet.Stats{Sent: 1, Lost: 1}) {
		t.Errorf("%+v", s)
	}
	n = newNetwork(t, simnet.Config{})
	a = listen(t, n, "192.0.2.1:1")
	send(t, a, netip.MustParseAddrPort("192.0.2.1:2"), "nobody")
	if s := n.Stats(); s != (simnet.Stats{Sent: 1, Unreachable: 1}) {
		t.Errorf("%+v", s)
	}
}

func TestCapacity(t *testing.T) {
	n := newNetwork(t, simnet.Config{Capacity: 3})
	a := listen(t, n, "192.0.2.1:1")
	for i := range 5 {
		send(t, a, a.LocalAddrPort(), strconv.Itoa(i))
	}
	if s := n.Stats(); s != (simnet.Stats{Sent: 5, Delivered: 3, Overflowed: 2}) {
		t.Errorf("%+v", s)
	}
	if got := receive(t, a) + receive(t, a) + receive(t, a); got != "012" {
		t.Errorf("got %q", got)
	}
	send(t, a, a.LocalAddrPort(), "room again")
	if got := receive(t, a); got != "room again" {
		t.Errorf("got %q", got)
	}
}

func TestMTU(t *testing.T) {
	n := newNetwork(t, simnet.Config{MTU: 4})
	a := listen(t, n, "192.0.2.1:1")
	send(t, a, a.LocalAddrPort(), "four")
	if _, err := a.WriteToUDPAddrPort([]byte("fives"), a.LocalAddrPort()); !errors.Is(err, syscall.EMSGSIZE) {
		t.Error(err)
	}
	if s := n.Stats(); s.Sent != 1 {
		t.Errorf("what failed was counted: %+v", s)
	}
}

func TestDuplicate(t *testing.T) {
	n := newNetwork(t, simnet.Config{Duplicate: 1})
	a := listen(t, n, "192.0.2.1:1")
	send(t, a, a.LocalAddrPort(), "x")
	if got := receive(t, a) + receive(t, a); got != "xx" {
		t.Errorf("got %q", got)
	}
	if s := n.Stats(); s != (simnet.Stats{Sent: 1, Duplicated: 1, Delivered: 2}) {
		t.Errorf("%+v", s)
	}
}

func TestReorder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, simnet.Config{Reorder: 1})
		a := listen(t, n, "192.0.2.1:1")
		for _, s := range []string{"1", "2", "3"} {
			send(t, a, a.LocalAddrPort(), s)
		}
		if s := n.Stats(); s.Delivered != 2 || s.Reordered != 1 || s.InFlight != 1 {
			t.Errorf("%+v", s)
		}
		start := time.Now()
		if got := receive(t, a) + receive(t, a) + receive(t, a); got != "213" {
			t.Errorf("got %q", got)
		}
		if waited := time.Since(start); waited != 10*time.Millisecond {
			t.Errorf("one that nothing overtakes went in after %v", waited)
		}
		if s := n.Stats(); s != (simnet.Stats{Sent: 3, Delivered: 3, Reordered: 1}) {
			t.Errorf("%+v", s)
		}
	})
}

func TestDelays(t *testing.T) {
	const shortest, longest, count = 5 * time.Millisecond, 50 * time.Millisecond, 500
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, simnet.Config{Seed: 3, MinDelay: shortest, MaxDelay: longest})
		a := listen(t, n, "192.0.2.1:1")
		b := listen(t, n, "192.0.2.2:1")
		start := time.Now()
		for i := range count {
			send(t, a, b.LocalAddrPort(), strconv.Itoa(i))
		}
		if s := n.Stats(); s.InFlight != count {
			t.Errorf("%+v", s)
		}
		newest, overtaken, early, late := -1, uint64(0), longest, shortest
		for range count {
			i, err := strconv.Atoi(receive(t, b))
			if err != nil {
				t.Fatal(err)
			}
			took := time.Since(start)
			early, late = min(early, took), max(late, took)
			if took < shortest || took > longest {
				t.Errorf("datagram %d took %v", i, took)
			}
			if i < newest {
				overtaken++
			}
			newest = max(newest, i)
		}
		if early > shortest+time.Millisecond || late < longest-time.Millisecond {
			t.Errorf("%d delays fill only %v to %v", count, early, late)
		}
		if s := n.Stats(); s.Reordered != overtaken || overtaken == 0 || s.Delivered != count {
			t.Errorf("%d were overtaken: %+v", overtaken, s)
		}
	})
}

func TestEqualDelaysKeepOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, simnet.Config{MinDelay: time.Second})
		a := listen(t, n, "192.0.2.1:1")
		for i := range 200 {
			send(t, a, a.LocalAddrPort(), strconv.Itoa(i))
		}
		for i := range 200 {
			if got := receive(t, a); got != strconv.Itoa(i) {
				t.Fatalf("got %s in place of %d", got, i)
			}
		}
	})
}

func TestInFlightBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, simnet.Config{MinDelay: time.Second, InFlight: 2})
		a := listen(t, n, "192.0.2.1:1")
		for range 5 {
			send(t, a, a.LocalAddrPort(), "x")
		}
		time.Sleep(2 * time.Second)
		if s := n.Stats(); s != (simnet.Stats{Sent: 5, Delivered: 2, Overflowed: 3}) {
			t.Errorf("%+v", s)
		}
	})
}

func TestCloseWithDatagramsOnTheirWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, simnet.Config{MinDelay: time.Second})
		a := listen(t, n, "192.0.2.1:1")
		b := listen(t, n, "192.0.2.2:1")
		send(t, a, b.LocalAddrPort(), "to a socket that closes")
		_ = b.Close()
		time.Sleep(2 * time.Second)
		send(t, listen(t, n, "192.0.2.2:1"), a.LocalAddrPort(), "to a network that closes")
		ended := make(chan error)
		go func() {
			_, _, err := a.ReadFrom(nil)
			ended <- err
		}()
		synctest.Wait()
		_ = n.Close()
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
		if s := n.Stats(); s != (simnet.Stats{Sent: 2, Unreachable: 2}) {
			t.Errorf("%+v", s)
		}
		if _, err := n.Listen(netip.MustParseAddrPort("192.0.2.9:1")); !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
		_ = n.Close()
	})
}

func TestReadDeadlineInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, simnet.Config{})
		a := listen(t, n, "192.0.2.1:1")
		start := time.Now()
		_ = a.SetReadDeadline(start.Add(time.Second))
		time.Sleep(time.Second / 2)
		_ = a.SetReadDeadline(start.Add(time.Minute)) // the first timer must not end the read
		_, _, err := a.ReadFrom(nil)
		if !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

// journal is everything that one run over a bad network shows to its receivers.
func journal(t *testing.T, cfg simnet.Config) (log []string, stats simnet.Stats) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, cfg)
		a := listen(t, n, "192.0.2.1:0")
		b := listen(t, n, "[2001:db8::1]:0")
		c := listen(t, n, "[2001:db8::2]:0")
		start := time.Now()
		drain := func(s *simnet.Conn) {
			_ = s.SetReadDeadline(time.Now().Add(time.Second))
			for {
				var buf [64]byte
				k, from, err := s.ReadFromUDPAddrPort(buf[:])
				if err != nil {
					return
				}
				log = append(log, fmt.Sprint(string(buf[:k]), from, s.LocalAddr(), time.Since(start)))
			}
		}
		for i := range 300 {
			send(t, a, a.LocalAddrPort(), "a"+strconv.Itoa(i))
			send(t, b, c.LocalAddrPort(), "b"+strconv.Itoa(i))
			time.Sleep(time.Millisecond)
		}
		drain(a)
		drain(c)
		stats = n.Stats()
		checkIdentity(t, stats)
	})
	return log, stats
}

func TestDeterminism(t *testing.T) {
	bad := simnet.Config{Seed: 7, Loss: 0.2, Duplicate: 0.2, Reorder: 0.2, MaxDelay: 3 * time.Millisecond}
	first, stats := journal(t, bad)
	again, statsAgain := journal(t, bad)
	if !slices.Equal(first, again) || stats != statsAgain {
		t.Errorf("two runs with one seed differ: %+v, %+v", stats, statsAgain)
	}
	if stats.Lost == 0 || stats.Duplicated == 0 || stats.Reordered == 0 {
		t.Errorf("not a bad network: %+v", stats)
	}
	other := bad
	other.Seed++
	if differs, _ := journal(t, other); slices.Equal(first, differs) {
		t.Error("two seeds give the same run")
	}
	// What is lost depends on the seed and on Loss alone.
	lossy := simnet.Config{Seed: 7, Loss: 0.2}
	if _, s := journal(t, lossy); s.Lost != stats.Lost {
		t.Errorf("lost %d, and %d with duplicates and delays", s.Lost, stats.Lost)
	}
}

// TestProbabilities draws enough to tell a probability from its neighbours: 20,000 draws have a standard
// deviation of at most 0.0036.
func TestProbabilities(t *testing.T) {
	n := newNetwork(t, simnet.Config{Seed: 1, Loss: 0.3, Duplicate: 0.1})
	a := listen(t, n, "192.0.2.1:1")
	const count = 20000
	for range count {
		send(t, a, netip.MustParseAddrPort("192.0.2.2:1"), "")
	}
	s := n.Stats()
	lost, duplicated := float64(s.Lost)/count, float64(s.Duplicated)/float64(count-s.Lost)
	if lost < 0.28 || lost > 0.32 || duplicated < 0.08 || duplicated > 0.12 {
		t.Errorf("lost %v, duplicated %v", lost, duplicated)
	}
}

// TestConcurrent has many goroutines send, read, set deadlines and close over a bad network.
func TestConcurrent(t *testing.T) {
	const senders, each = 8, 300
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, simnet.Config{Seed: seed, Loss: 0.1, Duplicate: 0.1, Reorder: 0.1,
			MaxDelay: 20 * time.Millisecond, Capacity: 64})
		server := listen(t, n, "192.0.2.1:1812")
		var answered, reads sync.WaitGroup
		for range 2 {
			reads.Go(func() {
				var buf [64]byte
				for {
					k, from, err := server.ReadFromUDPAddrPort(buf[:])
					if err != nil {
						return
					}
					_, _ = server.WriteToUDPAddrPort(buf[:k], from)
				}
			})
		}
		for i := range senders {
			answered.Go(func() {
				c := listen(t, n, fmt.Sprintf("192.0.2.%d:0", 10+i))
				defer c.Close()
				var buf [64]byte
				for j := range each {
					want := fmt.Sprintf("%d/%d", i, j)
					for got := ""; got != want; {
						send(t, c, server.LocalAddrPort(), want)
						_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
						for got != want {
							k, _, err := c.ReadFromUDPAddrPort(buf[:])
							if err != nil {
								break
							}
							got = string(buf[:k])
						}
					}
				}
			})
		}
		answered.Wait()
		_ = server.Close()
		reads.Wait()
		time.Sleep(time.Second)
		s := n.Stats()
		checkIdentity(t, s)
		if s.InFlight != 0 || s.Sent < senders*each {
			t.Errorf("%+v", s)
		}
	})
}
