package radpool_test

import (
	"context"
	"encoding/binary"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/radpool"
)

var statusAddr = netip.MustParseAddrPort("192.0.2.1:18121")

// freeRADIUS is an attribute of FreeRADIUS's.
func freeRADIUS(kind byte, value []byte) *radius.AVP {
	b := append(binary.BigEndian.AppendUint32(nil, 11344), kind, byte(2+len(value)))
	return &radius.AVP{Type: rfc2865.VendorSpecific_Type, Attribute: append(b, value...)}
}

func u32(v uint32) []byte { return binary.BigEndian.AppendUint32(nil, v) }

// status asks with Status-Server, and returns FreeRADIUS's attributes of the reply
// in their order. Each number stands once, but for those of clients.
func (n *nas) status(addr netip.AddrPort, more ...*radius.AVP) (*radius.Packet, [][2]uint32, string) {
	n.w.t.Helper()
	req := encode(&radius.Packet{Code: radius.CodeStatusServer, Identifier: 77, Attributes: more}, testSecret)
	n.sendTo(req, addr)
	p := n.reply(req)
	if p == nil {
		n.w.t.Fatal("Status-Server is not answered")
	}
	var all [][2]uint32
	failure := ""
	for _, a := range p.Attributes {
		if a.Type != rfc2865.VendorSpecific_Type {
			continue
		}
		vendor, value, err := radius.VendorSpecific(a.Attribute)
		if err != nil || vendor != 11344 || int(value[1]) != len(value) {
			n.w.t.Fatalf("not an attribute of FreeRADIUS's: % x", a.Attribute)
		}
		if value[0] == 187 {
			failure = string(value[2:])
			continue
		}
		all = append(all, [2]uint32{uint32(value[0]), binary.BigEndian.Uint32(value[2:])})
	}
	return p, all, failure
}

// statisticsHandler accepts 1, rejects 2, challenges 3, and is silent to others.
func statisticsHandler(_ context.Context, req *radpool.Request, resp *radpool.Response) {
	time.Sleep(time.Millisecond)
	if req.Code == radius.CodeAccountingRequest {
		resp.Code = radius.CodeAccountingResponse
		return
	}
	resp.Code = map[string]radius.Code{
		"1": radius.CodeAccessAccept, "2": radius.CodeAccessReject, "3": radius.CodeAccessChallenge,
	}[rfc2865.UserName_GetString(req.Packet)]
}

func inStatisticsWorld(t *testing.T, f func(*world, *nas)) {
	s := &radpool.Server{
		Handler: radpool.HandlerFunc(statisticsHandler),
		Config:  radpool.Config{MaxServers: 2, MaxQueueSize: 200, RunInReader: radpool.No},
		Clients: new(radpool.Clients),
	}
	inWorld(t, s, func(w *world) {
		w.serve(statusAddr, radpool.Status)
		time.Sleep(time.Second)
		if err := s.Clients.Replace([]radpool.Client{
			{Name: "all", Prefix: netip.MustParsePrefix("192.0.2.0/24"), Secret: []byte(testSecret)},
			{Name: "nas", Prefix: nasHost, Secret: []byte(testSecret)},
			{Name: "six", Prefix: netip.MustParsePrefix("2001:db8::/64"), Secret: []byte(testSecret)},
		}); err != nil {
			t.Fatal(err)
		}
		f(w, w.nas(nasAddr))
		if err := w.server.Close(); err != nil {
			t.Error(err)
		}
		<-w.served
	})
}

// traffic has each of the counters be something else than the others.
func (n *nas) traffic() {
	n.w.t.Helper()
	id := byte(0)
	send := func(times int, f func() []byte) {
		for range times {
			id++
			n.send(f())
			time.Sleep(5 * time.Millisecond)
			n.receive()
		}
	}
	user := func(name string) func() []byte {
		return func() []byte { return access(id, uint64(id), name) }
	}
	send(2, user("1"))
	send(3, user("2"))
	send(4, user("3"))
	send(5, user("silence"))
	again := access(200, 200, "1")
	send(7, func() []byte { return again })
	send(8, func() []byte { return encode(&radius.Packet{Code: radius.CodeAccessRequest, Identifier: id}, "wrong") })
	send(9, func() []byte { return []byte{1, id, 0, 10} })
	send(1, func() []byte { return encode(&radius.Packet{Code: radius.CodeCoARequest, Identifier: id}, testSecret) })
	stop := accounting(201, 2, "s")
	send(11, func() []byte { return stop })
	send(12, func() []byte { return accounting(id, 3, "s") })
	send(13, func() []byte {
		return encode(&radius.Packet{Code: radius.CodeAccountingRequest, Identifier: id}, "wrong")
	})
}

func TestStatisticsAreThoseOfStats(t *testing.T) {
	inStatisticsWorld(t, func(w *world, n *nas) {
		n.traffic()
		st := w.server.Stats()
		want := map[uint32]uint64{
			128: st.AccessRequests, 129: st.AccessAccepts, 130: st.AccessRejects, 131: st.AccessChallenges,
			132: st.AccessAccepts + st.AccessRejects + st.AccessChallenges, 133: 6, 134: st.Malformed, 135: 8, 136: 5, 137: st.WrongCode, 191: 0,
			148: st.AccountingRequests, 149: st.AccountingResponses, 150: 10, 151: 0, 152: 13, 153: 0, 154: 0, 192: 0,
			176: uint64(st.Started.Unix()), 177: uint64(st.Started.Unix()) + 1,
			162: 0, 163: 0, 164: 0, 165: 0, 166: 0, 181: uint64(st.ArrivalRate + 0.5), 182: uint64(st.CompletionRate + 0.5), 183: 0,
			193: 0, 194: uint64(st.Pool.Workers), 195: 2,
		}
		if st.AccessRequests != 15 || st.AccessAccepts != 3 || st.AccessRejects != 3 || st.AccessChallenges != 4 || st.AccountingRequests != 13 || st.Malformed != 9 || st.WrongCode != 1 {
			t.Errorf("the traffic came to something else than was meant: %+v", st)
		}
		_, all, failure := n.status(statusAddr, freeRADIUS(127, u32(0x1f)))
		got := make(map[uint32]uint64)
		for _, a := range all {
			if _, twice := got[a[0]]; twice {
				t.Errorf("attribute %d is there twice", a[0])
			}
			got[a[0]] = uint64(a[1])
		}
		for kind, v := range want {
			if g, ok := got[kind]; !ok || g != v {
				t.Errorf("attribute %d is %d (there: %t), want %d", kind, g, ok, v)
			}
			delete(got, kind)
		}
		for kind := uint32(138); kind <= 161; kind++ { // of proxying: there is none
			if kind >= 148 && kind <= 154 {
				continue
			}
			if v, ok := got[kind]; !ok || v != 0 {
				t.Errorf("attribute %d is %d (there: %t), want 0", kind, v, ok)
			}
			delete(got, kind)
		}
		if len(got) > 0 || failure != "" {
			t.Errorf("more than was asked for: %v, %q", got, failure)
		}
		if after := w.server.Stats(); after.AccessRequests != st.AccessRequests || after.StatusServer != 1 {
			t.Errorf("the question has changed the answer: %+v", after)
		}
	})
}

func TestStatisticsByType(t *testing.T) {
	inStatisticsWorld(t, func(_ *world, n *nas) {
		for _, c := range []struct {
			what    uint32
			numbers int
			failure string
		}{
			{0, 0, ""}, {1, 11, ""}, {2, 8, ""}, {3, 19, ""}, {4, 10, ""}, {8, 7, ""}, {0x10, 13, ""}, {0x1f, 49, ""},
			{0x20, 0, "No such client"}, {0x43, 0, "No statistics of single listeners"}, {0x83, 0, "No such home server"},
			{0xffffff00, 0, ""},
		} {
			p, all, failure := n.status(statusAddr, freeRADIUS(127, u32(c.what)))
			if p.Code != radius.CodeAccessAccept || len(all) != c.numbers || failure != c.failure {
				t.Errorf("type %#x: %v with %d numbers and %q, want an Access-Accept with %d and %q", c.what, p.Code, len(all), failure, c.numbers, c.failure)
			}
		}
		for name, a := range map[string]*radius.AVP{
			"nothing": nil, "too short": freeRADIUS(127, []byte{1}), "another vendor": avp(rfc2865.VendorSpecific_Type, "\x00\x00\x00\x09\x7f\x06\x00\x00\x00\x01"),
			"cut": avp(rfc2865.VendorSpecific_Type, "\x00\x00\x2c\x50\x7f\x09\x00\x00\x00\x01"), "empty": avp(rfc2865.VendorSpecific_Type, ""),
			"length 0": avp(rfc2865.VendorSpecific_Type, "\x00\x00\x2c\x50\x7f\x00\x00\x00\x00\x01"),
		} {
			var more []*radius.AVP
			if a != nil {
				more = append(more, a)
			}
			if p, all, _ := n.status(statusAddr, more...); p.Code != radius.CodeAccessAccept || len(all) != 0 {
				t.Errorf("%s: %v with %d numbers, want an Access-Accept without", name, p.Code, len(all))
			}
		}
		// On a socket without Status a NAS learns that the server lives, and no more.
		if p, all, failure := n.status(authAddr, freeRADIUS(127, u32(0x1f))); p.Code != radius.CodeAccessAccept || len(all) != 0 || failure != "" {
			t.Errorf("a socket without Status: %v with %d numbers, %q", p.Code, len(all), failure)
		}
	})
}

func TestStatisticsOfClients(t *testing.T) {
	inStatisticsWorld(t, func(_ *world, n *nas) {
		n.traffic()
		for name, c := range map[string]struct {
			who  []*radius.AVP
			want [][2]uint32
		}{
			"by address": {[]*radius.AVP{freeRADIUS(167, nasAddr.Addr().AsSlice())},
				[][2]uint32{{167, 0xc000020a}, {128, 15}, {133, 6}, {136, 0}, {148, 13}, {150, 10}, {153, 0}}},
			"by address, of a network": {[]*radius.AVP{freeRADIUS(167, []byte{192, 0, 2, 77})},
				[][2]uint32{{167, 0xc0000200}, {169, 24}, {128, 0}, {133, 0}, {136, 0}, {148, 0}, {150, 0}, {153, 0}}},
			"by number": {[]*radius.AVP{freeRADIUS(168, u32(1))},
				[][2]uint32{{168, 1}, {167, 0xc000020a}, {128, 15}, {133, 6}, {136, 0}, {148, 13}, {150, 10}, {153, 0}}},
			"of IPv6": {[]*radius.AVP{freeRADIUS(188, netip.MustParseAddr("2001:db8::1").AsSlice())},
				[][2]uint32{{188, 0x20010db8}, {169, 64}, {128, 0}, {133, 0}, {136, 0}, {148, 0}, {150, 0}, {153, 0}}},
		} {
			_, all, failure := n.status(statusAddr, append(c.who, freeRADIUS(127, u32(0x23)))...)
			if len(all) != 19+len(c.want) || failure != "" {
				t.Errorf("%s: %v, %q", name, all, failure)
				continue
			}
			for i, want := range c.want {
				if got := all[19+i]; got != want {
					t.Errorf("%s: number %d is %v, want %v", name, i, got, want)
				}
			}
		}
		for name, who := range map[string]*radius.AVP{
			"unknown address": freeRADIUS(167, []byte{10, 0, 0, 1}), "number too high": freeRADIUS(168, u32(3)), "number far too high": freeRADIUS(168, u32(1<<32-1)),
		} {
			if _, all, failure := n.status(statusAddr, who, freeRADIUS(127, u32(0x20))); len(all) != 0 || failure != "No such client" {
				t.Errorf("%s: %v, %q", name, all, failure)
			}
		}
	})
}

// The queue is told as it is, in its parts, while it is long.
func TestStatisticsOfTheQueue(t *testing.T) {
	inStatisticsWorld(t, func(w *world, n *nas) {
		for id := range byte(50) { // two run, 20 and 28 wait
			b := access(id, uint64(id), "1")
			if id >= 22 {
				b = accounting(id, 3, "s")
			}
			n.send(b)
			if id == 1 {
				synctest.Wait()
			}
		}
		synctest.Wait()
		probe := w.nas(netip.AddrPortFrom(nasAddr.Addr(), 41000))
		_, all, _ := probe.status(statusAddr, freeRADIUS(127, u32(0x10)))
		got := make(map[uint32]uint32)
		for _, a := range all {
			got[a[0]] = a[1]
		}
		for kind, want := range map[uint32]uint32{162: 0, 164: 20, 165: 28, 183: 24, 193: 2, 194: 2, 195: 2} {
			if got[kind] != want {
				t.Errorf("attribute %d is %d, want %d (%v)", kind, got[kind], want, all)
			}
		}
		time.Sleep(time.Second)
	})
}
