package radpool_test

import (
	"context"
	"net/netip"
	"sync"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"
	"layeh.com/radius/rfc3576"

	"github.com/radpool/radpool/radpool"
)

var coaAddr = netip.MustParseAddrPort("192.0.2.1:3799")

// sessions is a NAS's, by Acct-Session-Id.
type sessions struct {
	mu   sync.Mutex
	live map[string]bool
	runs int
}

func (s *sessions) Handle(_ context.Context, req *radpool.Request, resp *radpool.Response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs++
	id := rfc2866.AcctSessionID_GetString(req.Packet)
	if !s.live[id] {
		resp.NAK(rfc3576.ErrorCause_Value_SessionContextNotFound)
		return
	}
	if req.Code == radius.CodeDisconnectRequest {
		delete(s.live, id)
	}
	resp.ACK()
}

// dynamicRequest is a CoA-Request or Disconnect-Request of a billing system.
func dynamicRequest(code radius.Code, id byte, session string, more ...*radius.AVP) []byte {
	p := &radius.Packet{Code: code, Identifier: id}
	p.Add(rfc2866.AcctSessionID_Type, radius.Attribute(session))
	p.Attributes = append(p.Attributes, more...)
	return encode(p, testSecret)
}

func stamp(at time.Time) *radius.AVP {
	return &radius.AVP{Type: rfc2869.EventTimestamp_Type, Attribute: radius.NewInteger(uint32(at.Unix()))}
}

func TestCoAAndDisconnect(t *testing.T) {
	s := &sessions{live: map[string]bool{"s1": true}}
	inWorld(t, &radpool.Server{Handler: s}, func(w *world) {
		w.serve(coaAddr, radpool.CoA)
		n := w.nas(nasAddr)
		for i, c := range []struct {
			code    radius.Code
			session string
			want    radius.Code
			cause   rfc3576.ErrorCause
		}{
			{radius.CodeCoARequest, "s1", radius.CodeCoAACK, 0},
			{radius.CodeCoARequest, "s2", radius.CodeCoANAK, 503},
			{radius.CodeDisconnectRequest, "s2", radius.CodeDisconnectNAK, 503},
			{radius.CodeDisconnectRequest, "s1", radius.CodeDisconnectACK, 0},
			{radius.CodeDisconnectRequest, "s1", radius.CodeDisconnectNAK, 503},
		} {
			request := dynamicRequest(c.code, byte(i), c.session, avp(rfc2865.ProxyState_Type, "proxy"))
			n.sendTo(request, coaAddr)
			p := n.reply(request)
			if p == nil || p.Code != c.want || rfc3576.ErrorCause_Get(p) != c.cause || rfc2865.ProxyState_GetString(p) != "proxy" {
				t.Errorf("%v for %s: got %v, want %v with Error-Cause %d", c.code, c.session, p, c.want, c.cause)
			}
			// A retransmission gets the same answer, and changes nothing.
			n.sendTo(request, coaAddr)
			if again := n.reply(request); again == nil || again.Code != c.want {
				t.Errorf("%v for %s, again: %v", c.code, c.session, again)
			}
		}
		st := w.server.Stats()
		if s.runs != 5 || st.CoARequests != 2 || st.DisconnectRequests != 3 || st.ACKs != 2 || st.NAKs != 3 || st.Replayed != 5 {
			t.Errorf("the handler ran %d times; %+v", s.runs, st)
		}
		w.server.Close()
		<-w.served
	})
}

// Nothing but a verified request from a client, of now, on a socket for it, reaches the Handler.
func TestDynamicRequestsThatChangeNothing(t *testing.T) {
	good := func(more ...*radius.AVP) []byte {
		return dynamicRequest(radius.CodeDisconnectRequest, 7, "s1", more...)
	}
	ago := func(d time.Duration) func() []byte {
		return func() []byte { return good(stamp(time.Now().Add(-d))) }
	}
	forged := func() []byte {
		b := good()
		b[len(b)-1] ^= 1
		return b
	}
	auth := radpool.Auth | radpool.Acct
	for _, c := range []struct {
		name     string
		datagram func() []byte
		services radpool.Services
		rule     radpool.Requirement
		want     radpool.Outcome
	}{
		{"good", func() []byte { return good() }, radpool.CoA, radpool.Auto, radpool.Replied},
		{"good, on a socket for all", func() []byte { return good() }, radpool.CoA | auth, radpool.Auto, radpool.Replied},
		{"on a socket for others", func() []byte { return good() }, auth, radpool.Auto, radpool.WrongCode},
		{"forged", forged, radpool.CoA, radpool.Auto, radpool.Unauthentic},
		{"forged, timestamps not looked at", forged, radpool.CoA, radpool.No, radpool.Unauthentic},
		{"another secret", func() []byte {
			return encode(&radius.Packet{Code: radius.CodeDisconnectRequest}, "other")
		}, radpool.CoA, radpool.Auto, radpool.Unauthentic},
		{"Access-Request", func() []byte { return access(1, 1, "alice") }, radpool.CoA, radpool.Auto, radpool.WrongCode},
		{"Status-Server", func() []byte { return encode(&radius.Packet{Code: 12}, testSecret) }, radpool.CoA, radpool.Auto, radpool.WrongCode},
		{"of 300 s ago", ago(300 * time.Second), radpool.CoA, radpool.Auto, radpool.Replied},
		{"of 301 s ago", ago(301 * time.Second), radpool.CoA, radpool.Auto, radpool.Stale},
		{"of 301 s ahead", ago(-301 * time.Second), radpool.CoA, radpool.Yes, radpool.Stale},
		{"of 301 s ago, not looked at", ago(301 * time.Second), radpool.CoA, radpool.No, radpool.Replied},
		{"no time, one is required", func() []byte { return good() }, radpool.CoA, radpool.Yes, radpool.Stale},
		{"no time that can be told", func() []byte { return good(avp(rfc2869.EventTimestamp_Type, "abc")) }, radpool.CoA, radpool.Auto, radpool.Stale},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &sessions{live: map[string]bool{"s1": true}}
			var told []radpool.DropInfo
			server := &radpool.Server{
				Handler: s,
				Hooks:   radpool.Hooks{Drop: func(i radpool.DropInfo) { told = append(told, i) }},
				Clients: clients(t, radpool.Client{Prefix: netip.MustParsePrefix("192.0.2.0/24"), Secret: []byte(testSecret), EventTimestamp: c.rule}),
			}
			inWorld(t, server, func(w *world) {
				w.serve(coaAddr, c.services)
				n := w.nas(nasAddr)
				n.sendTo(c.datagram(), coaAddr)
				answered := n.receive() != nil
				st := w.server.Stats()
				if st.Outcome(c.want) != 1 || answered != (c.want == radpool.Replied) || s.live["s1"] == answered {
					t.Errorf("answered: %v, session lives: %v, want %v: %+v", answered, s.live["s1"], c.want, st)
				}
				if c.want == radpool.Stale && (len(told) != 1 || told[0].Detail == "") {
					t.Errorf("told %+v", told)
				}
				w.server.Close()
				<-w.served
			})
		})
	}
}

// ACK and NAK are for requests that can be answered so.
func TestACKAndNAKOfOtherRequests(t *testing.T) {
	resp := radpool.NewResponse(radpool.NewRequest(&radius.Packet{Code: radius.CodeAccessRequest}, nil))
	resp.ACK()
	resp.NAK(rfc3576.ErrorCause_Value_InvalidRequest)
	if resp.Code != 0 || len(resp.Attributes) != 0 {
		t.Errorf("%v with %d attributes", resp.Code, len(resp.Attributes))
	}
}
