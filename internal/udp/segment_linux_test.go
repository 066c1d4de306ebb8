package udp_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/radpool/radpool/internal/udp"
)

// segmentConn is a Conn that sends messages in groups, and counts the messages that it puts to the kernel.
func segmentConn(t testing.TB, bind string) (c udp.Conn, offered *int) {
	t.Helper()
	c = batchConn(t, bind)
	if !udp.Segments(c) {
		t.Skip("this kernel does not know UDP_SEGMENT")
	}
	offered = new(int)
	udp.SetSend(c, func(count int, call func(int) (int, syscall.Errno)) (int, syscall.Errno) {
		*offered += count
		return call(count)
	})
	return c, offered
}

// TestSegments sends batches of every shape, each datagram of which must arrive once, as it was, in the order of those of
// its length, from where it was to come from.
func TestSegments(t *testing.T) {
	for name, tc := range map[string]struct{ bind, client, local string }{
		"IPv4, bound":            {"127.0.0.1", "127.0.0.1", ""},
		"IPv4, wildcard":         {"0.0.0.0", "127.0.0.1", "127.0.0.5"},
		"IPv6, bound":            {"::1", "::1", ""},
		"IPv6, wildcard":         {"::", "::1", "::1"},
		"IPv4 on an IPv6 socket": {"::", "127.0.0.1", "127.0.0.5"},
	} {
		t.Run(name, func(t *testing.T) {
			server, offered := segmentConn(t, tc.bind)
			clients := []udp.Conn{batchConn(t, tc.client), batchConn(t, tc.client), batchConn(t, tc.client)}
			rng := rand.New(rand.NewPCG(1, 2))
			for round := range 200 {
				var ms []udp.Message
				want := make([][]string, len(clients))
				shapes := make(map[string]bool)
				for i := range 1 + rng.IntN(udp.MaxBatch) {
					to := rng.IntN(len(clients))
					length := []int{20, 20, 38, 1232, 1233, 4096}[rng.IntN(2+round%5)]
					text := fmt.Sprintf("%03d", i) + strings.Repeat("x", length-3)
					m := messages(at(tc.client, clients[to]), text)[0]
					if tc.local != "" {
						m.Local = netip.MustParseAddr(tc.local)
					}
					ms = append(ms, m)
					want[to] = append(want[to], text)
					shape := fmt.Sprint(to, length)
					if length > 1232 {
						shape += text // each by its own
					}
					shapes[shape] = true
				}
				*offered = 0
				write(t, server, ms...)
				if *offered < len(shapes) || *offered > len(shapes)+1 { // 64 of 1,232 are more than one packet holds
					t.Fatalf("%d messages for %d lengths and receivers", *offered, len(shapes))
				}
				for to, c := range clients {
					got := read(t, c, len(want[to]))
					if tc.local != "" && len(got) > 0 && got[0].Addr.Addr().String() != tc.local {
						t.Fatalf("from %v, want %s", got[0].Addr, tc.local)
					}
					texts := payloads(got)
					for _, s := range [][]string{texts, want[to]} {
						slices.SortStableFunc(s, func(a, b string) int { return len(a) - len(b) })
					}
					if !slices.Equal(texts, want[to]) {
						t.Fatalf("round %d, client %d: read %s, want %s", round, to, labels(texts), labels(want[to]))
					}
				}
			}
		})
	}
}

func TestEmptyDatagramsAreNoSegments(t *testing.T) {
	c, _ := segmentConn(t, "127.0.0.1")
	write(t, c, messages(c.LocalAddr(), "", "", "x", "", "y")...)
	got := payloads(read(t, c, 5))
	slices.Sort(got)
	equal(t, "read", got, []string{"", "", "", "x", "y"})
}

// TestSegmentFaults: what cannot be sent as a group is sent a datagram at a time.
func TestSegmentFaults(t *testing.T) {
	for name, tc := range map[string]struct {
		groups, singles syscall.Errno
		on              bool // groups are tried again
	}{
		"no segments on this route": {unix.EIO, 0, false},
		"a segment too long for it": {unix.EMSGSIZE, 0, false},
		"not understood":            {unix.EINVAL, 0, false},
		"no room for a group":       {unix.ENOBUFS, 0, true},
		"nor for a message":         {unix.ENOBUFS, unix.ENOBUFS, true},
		"not the segments' fault":   {unix.EINVAL, unix.EINVAL, true},
		"an ICMP says nobody there": {unix.ECONNREFUSED, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := segmentConn(t, "127.0.0.1")
			udp.SetFaults(c, tc.groups, tc.singles)
			texts := []string{"a0", "alone", "a1", "bbb0", "bbb1", "a2", "bbb2", "and alone"}
			n, err := c.WriteBatch(messages(c.LocalAddr(), texts...))
			if tc.singles == 0 && (n != len(texts) || err != nil) || tc.singles != 0 && (n != 0 || !errors.Is(err, tc.singles)) {
				t.Errorf("%d sent, %v", n, err)
			}
			if udp.Segments(c) != tc.on {
				t.Errorf("groups are tried again: %v", udp.Segments(c))
			}
			if n > 0 {
				got := payloads(read(t, c, n))
				slices.Sort(got)
				slices.Sort(texts)
				equal(t, "read", got, texts)
			}
		})
	}
}

// labels are the beginnings and lengths of texts that are too long to print.
func labels(texts []string) (out []string) {
	for _, s := range texts {
		out = append(out, fmt.Sprintf("%.3s+%d", s, len(s)))
	}
	return out
}
