package udp

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Replies to one client that are of one length go to the kernel as one message, which it cuts into datagrams after
// it has done once what it else does for each: find the route, pass the firewall, hand it to the device (UDP_SEGMENT
// of udp(7), Linux 4.18). A NAS asks from few ports, and gets replies of few lengths, so that this is where most of
// a busy server's time goes.

const (
	// segmentMax is the longest datagram that is sent as a segment, in octets: it must not need fragments on any way,
	// and what IPv6 carries everywhere is 1,280 with 48 of headers (RFC 8200 section 5).
	segmentMax = 1232

	// groupMax is the most octets in a group: an IP packet's, less the headers.
	groupMax = 65535 - 48
)

// A group is the messages that one slot sends: one, or several that differ in nothing but their payload.
type group struct {
	first, last int // indices in the batch
	count       int
}

// groups is a batch in groups, which come in the order of their first messages; the messages of a group keep their
// order.
type groups struct {
	of    [MaxBatch]group
	count int
	after [MaxBatch]int // the index of the next message of the same group
}

// add puts message i into the first group that can take it, or one of its own.
func (g *groups) add(ms []Message, i int, join bool) {
	m := &ms[i]
	if join && m.N > 0 && m.N <= segmentMax {
		for k := range g.of[:g.count] {
			group := &g.of[k]
			first := &ms[group.first]
			if first.N == m.N && first.Addr == m.Addr && first.Local == m.Local && (group.count+1)*m.N <= groupMax {
				g.after[group.last] = i
				group.last = i
				group.count++
				return
			}
		}
	}
	g.of[g.count] = group{first: i, last: i, count: 1}
	g.count++
}

// split puts each message of group k into a group of its own, and drops the groups before.
func (g *groups) split(k int) {
	failed := g.of[k]
	var rest groups
	for i := failed.first; ; i = g.after[i] {
		rest.of[rest.count] = group{first: i, last: i, count: 1}
		rest.count++
		if i == failed.last {
			break
		}
	}
	rest.count += copy(rest.of[rest.count:], g.of[k+1:g.count])
	g.of, g.count = rest.of, rest.count
}

// putSegment writes the control message that has a message cut into datagrams of size octets, and returns its length
// in b.
func putSegment(b []byte, size int) int {
	data := putCmsg(b, unix.SOL_UDP, unix.UDP_SEGMENT, 2)
	binary.NativeEndian.PutUint16(data, uint16(size))
	return cmsgAlign(unix.SizeofCmsghdr + 2)
}

// segments reports whether the system knows UDP_SEGMENT. One that does not would send a group as one datagram.
func segments(fd uintptr) bool {
	_, err := unix.GetsockoptInt(int(fd), unix.SOL_UDP, unix.UDP_SEGMENT)
	return err == nil
}
