package udp_test

import (
	"bytes"
	"errors"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/radpool/radpool/internal/udp"
)

// referenceLocal finds the destination with the parser of x/sys/unix.
func referenceLocal(b []byte) netip.Addr {
	for len(b) >= unix.SizeofCmsghdr {
		h, data, rest, err := unix.ParseOneSocketControlMessage(b)
		if err != nil {
			break
		}
		b = rest
		var a netip.Addr
		switch {
		case h.Level == unix.IPPROTO_IP && h.Type == unix.IP_PKTINFO && len(data) >= unix.SizeofInet4Pktinfo:
			a, _ = netip.AddrFromSlice(data[4:8])
		case h.Level == unix.IPPROTO_IPV6 && h.Type == unix.IPV6_PKTINFO && len(data) >= unix.SizeofInet6Pktinfo:
			a, _ = netip.AddrFromSlice(data[:16])
			a = a.Unmap()
		default:
			continue
		}
		if a.IsMulticast() || a.IsUnspecified() || a == netip.MustParseAddr("255.255.255.255") {
			return netip.Addr{}
		}
		return a
	}
	return netip.Addr{}
}

func FuzzParseLocal(f *testing.F) {
	for _, s := range []string{"192.0.2.1", "255.255.255.255", "224.0.0.1", "0.0.0.0"} {
		f.Add(udp.PutLocal(unix.AF_INET, netip.MustParseAddr(s)))
		f.Add(udp.PutLocal(unix.AF_INET6, netip.MustParseAddr(s)))
	}
	f.Add(udp.PutLocal(unix.AF_INET6, netip.MustParseAddr("2001:db8::1")))
	f.Add(udp.PutLocal(unix.AF_INET6, netip.MustParseAddr("ff02::1")))
	f.Add(append(unix.UnixRights(1), udp.PutLocal(unix.AF_INET, netip.MustParseAddr("192.0.2.1"))...))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := udp.ParseLocal(b), referenceLocal(b); got != want {
			t.Errorf("%x: %v, want %v", b, got, want)
		}
	})
}

// TestPutLocal compares the control messages with those of x/sys/unix.
func TestPutLocal(t *testing.T) {
	v4, v6 := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	for name, tc := range map[string]struct{ got, want []byte }{
		"IPv4":   {udp.PutLocal(unix.AF_INET, v4), unix.PktInfo4(&unix.Inet4Pktinfo{Spec_dst: v4.As4()})},
		"IPv6":   {udp.PutLocal(unix.AF_INET6, v6), unix.PktInfo6(&unix.Inet6Pktinfo{Addr: v6.As16()})},
		"mapped": {udp.PutLocal(unix.AF_INET6, v4), unix.PktInfo6(&unix.Inet6Pktinfo{Addr: v4.As16()})},
	} {
		if !bytes.Equal(tc.got, tc.want) {
			t.Errorf("%s: %x, want %x", name, tc.got, tc.want)
		}
	}
}

func interfaces() ([]net.Interface, error) {
	return []net.Interface{{Index: 1, Name: "lo"}, {Index: 7, Name: "eth0"}}, nil
}

func FuzzSockaddr(f *testing.F) {
	f.Add([]byte{192, 0, 2, 1}, uint16(1812), "")
	f.Add(netip.MustParseAddr("2001:db8::1").AsSlice(), uint16(0), "")
	f.Add(netip.MustParseAddr("fe80::1").AsSlice(), uint16(1813), "eth0")
	f.Add(netip.MustParseAddr("fe80::1").AsSlice(), uint16(1813), "9")
	f.Fuzz(func(t *testing.T, ip []byte, port uint16, zone string) {
		addr, ok := netip.AddrFromSlice(ip)
		if !ok {
			return
		}
		addr = addr.Unmap()
		z := udp.NewZones(interfaces)
		if index := z.Index(zone); index == 0 || addr.Is4() || z.Name(index) != zone {
			zone = "" // one that no sockaddr can carry
		}
		addr = addr.WithZone(zone)
		want := netip.AddrPortFrom(addr, port)
		if addr.Is4() {
			if got := z.Parse(z.Put(unix.AF_INET, want)); got != want {
				t.Errorf("sockaddr_in: %v, want %v", got, want)
			}
		} else if b := z.Put(unix.AF_INET, want); len(b) != 0 {
			t.Errorf("an IPv6 address as sockaddr_in: %x", b)
		}
		b := z.Put(unix.AF_INET6, want)
		if got := z.Parse(b); got != want {
			t.Errorf("sockaddr_in6: %v, want %v", got, want)
		}
		if got := z.Parse(b[:len(b)-1]); got.IsValid() {
			t.Errorf("a sockaddr_in6 cut short: %v", got)
		}
		z.Parse(ip)
	})
}

// TestZones counts the looks at the system's interfaces.
func TestZones(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks, list, failure := 0, map[int]string{2: "eth0", 12: "ppp0"}, error(nil)
		z := udp.NewZones(func() (out []net.Interface, err error) {
			looks++
			for index, name := range list {
				out = append(out, net.Interface{Index: index, Name: name})
			}
			return out, failure
		})
		check := func(index uint32, name string, wantLooks int) {
			t.Helper()
			if n, i := z.Name(index), z.Index(name); n != name || i != index || looks != wantLooks {
				t.Errorf("%d is %q, %q is %d, after %d looks; want %d, %q and %d looks", index, n, name, i, looks, index, name, wantLooks)
			}
		}
		check(2, "eth0", 1)
		check(12, "ppp0", 1)
		check(99, "99", 1) // unknown ones are asked for at most once a second
		time.Sleep(2 * time.Second)
		check(2, "eth0", 1)
		check(99, "99", 2)
		list = map[int]string{2: "eth0", 13: "ppp0"}
		time.Sleep(2 * time.Second)
		check(13, "ppp0", 3)
		list = map[int]string{2: "wan0"}
		time.Sleep(2 * time.Minute)
		check(2, "wan0", 4)
		if z.Index("nonsense") != 0 || z.Index("") != 0 {
			t.Error("a zone that is none has a number")
		}
		failure = errors.New("no netlink here")
		time.Sleep(2 * time.Minute)
		check(2, "wan0", 5)
	})
}
