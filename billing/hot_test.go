package billing_test

import (
	"context"
	"fmt"
	"testing"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"

	"github.com/radpool/radpool/arena"
	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/radpool"
)

// hot is a request that is run again and again, in an arena as in the server.
type hot struct {
	pool      *arena.Pool
	processor radpool.Handler
	packet    *radius.Packet
	want      radius.Code
}

func (h *hot) run(tb testing.TB) {
	a := h.pool.Get()
	r := radpool.NewRequest(h.packet, a)
	resp := radpool.NewResponse(r)
	h.processor.Handle(context.Background(), r, resp)
	if resp.Code != h.want {
		tb.Fatalf("%v, %v", resp.Code, resp.Err())
	}
	a.Release()
}

func hotRequests(tb testing.TB) map[string]*hot {
	pool, err := arena.NewPool(arena.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	m := billing.NewMemory(0)
	m.Put("alice", billing.Grant{
		Password: billing.Cleartext("right"),
		Reply:    radius.Attributes{attr(rfc2865.FilterID_Type, "10mbit"), intAttr(rfc2865.SessionTimeout_Type, 86400)},
	})
	p := &billing.Processor{Handler: m}
	full := func(packet *radius.Packet) *radius.Packet {
		packet.Attributes = append(packet.Attributes, attr(rfc2865.CallingStationID_Type, "02:00:00:00:00:01"),
			attr(rfc2865.CalledStationID_Type, "service1"), attr(rfc2865.NASIPAddress_Type, "\xc0\x00\x02\x01"),
			attr(rfc2865.NASIdentifier_Type, "bras1"), intAttr(rfc2865.NASPort_Type, 7),
			intAttr(rfc2865.NASPortType_Type, 15), intAttr(rfc2865.ServiceType_Type, 2))
		return packet
	}
	interim := full(accounting(intAttr(rfc2866.AcctStatusType_Type, 3), attr(rfc2866.AcctSessionID_Type, "8000001F"),
		attr(rfc2865.UserName_Type, "alice"), intAttr(rfc2866.AcctInputOctets_Type, 1), intAttr(rfc2866.AcctSessionTime_Type, 60)))
	return map[string]*hot{
		"PAP":       {pool, p, full(withPAP(request("alice"), "right")), radius.CodeAccessAccept},
		"CHAP":      {pool, p, full(withCHAP(request("alice"), "right", nil)), radius.CodeAccessAccept},
		"MS-CHAPv2": {pool, p, full(withMSCHAPv2(request("alice"), "alice", "right")), radius.CodeAccessAccept},
		"reject":    {pool, p, full(withPAP(request("alice"), "wrong")), radius.CodeAccessReject},
		"Interim":   {pool, p, interim, radius.CodeAccountingResponse},
	}
}

func BenchmarkProcessor(b *testing.B) {
	hots := hotRequests(b)
	for _, name := range []string{"PAP", "CHAP", "MS-CHAPv2", "reject", "Interim"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				hots[name].run(b)
			}
		})
	}
}

func BenchmarkReservations(b *testing.B) {
	m := billing.NewMemory(0)
	var packets []*radius.Packet
	for i := range 1024 {
		user := fmt.Sprint("user", i)
		m.Put(user, billing.Grant{Password: billing.Cleartext("right"), SimultaneousUse: 1})
		packets = append(packets, login(user, "02:00:00:00:00:01"))
	}
	p := &billing.Processor{Handler: m}
	i := 0
	for b.Loop() {
		handle(p, packets[i%len(packets)])
		i++
	}
}
