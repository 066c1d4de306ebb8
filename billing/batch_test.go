package billing_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/radpool"
)

// randomPacket is a request of any kind, good or bad.
func randomPacket(rnd *rand.Rand) *radius.Packet {
	user := []string{"alice", "bob", "carol", "nobody", "down", "broke"}[rnd.IntN(6)]
	password := []string{"right", "wrong"}[rnd.IntN(2)]
	switch rnd.IntN(9) {
	case 0:
		return withPAP(request(user), password)
	case 1:
		return withCHAP(request(user), password, nil)
	case 2:
		return withMSCHAPv2(request(user), user, password)
	case 3:
		return request(user)
	case 4:
		return radius.New(radius.CodeStatusServer, []byte(secret))
	case 5:
		p := request(user)
		p.Add(rfc2865.UserPassword_Type, radius.Attribute("bad"))
		return p
	case 6:
		return accounting(attr(rfc2866.AcctSessionID_Type, "no status"))
	}
	return accounting(intAttr(rfc2866.AcctStatusType_Type, uint32(1+rnd.IntN(3))),
		attr(rfc2866.AcctSessionID_Type, fmt.Sprint(rnd.IntN(50))), attr(rfc2865.UserName_Type, user),
		intAttr(rfc2866.AcctInputOctets_Type, rnd.Uint32()))
}

func backEnd() *fake {
	down := errors.New("down")
	return &fake{
		grant: func(r *billing.AccessRequest) (billing.Grant, error) {
			g := billing.Grant{
				Password: billing.Cleartext("right"),
				Reply:    radius.Attributes{attr(rfc2865.FilterID_Type, r.UserName)},
			}
			switch r.UserName {
			case "nobody":
				return billing.Grant{Reason: billing.ReasonUnknownUser}, nil
			case "down":
				return g, down
			case "broke":
				g.Reason, g.Restricted = billing.ReasonNoMoney, radius.Attributes{attr(rfc2865.FilterID_Type, "garden")}
			case "carol":
				g.SimultaneousUse = 2
			}
			return g, nil
		},
		account: func(r *billing.AccountingRecord) error {
			if r.UserName == "down" {
				return down
			}
			return nil
		},
	}
}

// outcome is what can be compared of a response: everything but what is random.
func outcome(resp *radpool.Response) string {
	var b strings.Builder
	fmt.Fprint(&b, resp.Code, resp.Err())
	for _, avp := range resp.Attributes {
		if avp.Type == rfc2865.VendorSpecific_Type {
			fmt.Fprint(&b, " vsa ", avp.Attribute[4], len(avp.Attribute)) // salts and challenges
			continue
		}
		fmt.Fprint(&b, " ", avp.Type, avp.Attribute)
	}
	return b.String()
}

func exchanges(packets []*radius.Packet) []*radpool.Exchange {
	batch := make([]*radpool.Exchange, len(packets))
	for i, p := range packets {
		req := radpool.NewRequest(p, nil)
		req.Received = someTime()
		batch[i] = &radpool.Exchange{Ctx: context.Background(), Request: req, Response: radpool.NewResponse(req)}
	}
	return batch
}

// TestBatchEqualsLoop gives the same mixed batches to a back end that takes
// batches, to one that does not, and request by request.
func TestBatchEqualsLoop(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	batched := &batchFake{Handler: backEnd()}
	inBatches := &billing.Processor{Handler: batched}
	looped := &billing.Processor{Handler: backEnd()}
	alone := &billing.Processor{Handler: backEnd()}
	for round := range 200 {
		packets := make([]*radius.Packet, 1+rnd.IntN(20))
		for i := range packets {
			packets[i] = randomPacket(rnd)
		}
		a, b, c := exchanges(packets), exchanges(packets), exchanges(packets)
		inBatches.HandleBatch(a)
		looped.HandleBatch(b)
		for _, e := range c {
			alone.Handle(e.Ctx, e.Request, e.Response)
		}
		for i := range packets {
			want := outcome(c[i].Response)
			if got := outcome(a[i].Response); got != want {
				t.Fatalf("seed %d, round %d, %d of %d: in a batch %s, alone %s", seed, round, i, len(packets), got, want)
			}
			if got := outcome(b[i].Response); got != want {
				t.Fatalf("seed %d, round %d, %d of %d: looped %s, alone %s", seed, round, i, len(packets), got, want)
			}
		}
	}
	got, want := inBatches.Stats(), alone.Stats()
	// A Start takes a reservation away. A batch asks for its Access-Requests
	// first, so a Start that came before the login in one batch takes what it
	// would not have found.
	got.Reservations, want.Reservations = 0, 0
	if got != want {
		t.Errorf("seed %d: Stats %+v, want %+v", seed, got, want)
	}
	if slices.Max(batched.access) < 2 || slices.Max(batched.account) < 2 {
		t.Errorf("no batch of more than one: %v %v", batched.access, batched.account)
	}
}

// TestBatchContext asks with the context that lasts longest.
func TestBatchContext(t *testing.T) {
	b := &batchFake{Handler: backEnd()}
	p := &billing.Processor{Handler: b}
	batch := exchanges([]*radius.Packet{request("alice"), request("bob"), request("carol")})
	var ctxs []context.Context
	for i, d := range []time.Duration{time.Hour, 3 * time.Hour, 2 * time.Hour} {
		ctx, cancel := context.WithTimeout(context.Background(), d)
		defer cancel()
		batch[i].Ctx = ctx
		ctxs = append(ctxs, ctx)
	}
	p.HandleBatch(batch)
	if len(b.ctx) != 1 || b.ctx[0] != ctxs[1] {
		t.Errorf("%v", b.ctx)
	}
	p.HandleBatch(append(batch, exchanges([]*radius.Packet{request("dave")})...))
	if b.ctx[1] != context.Background() {
		t.Errorf("one without a deadline: %v", b.ctx[1])
	}
}

// TestLoopedPanic fails the request that panics, and answers its neighbours.
func TestLoopedPanic(t *testing.T) {
	p := &billing.Processor{Handler: &fake{grant: func(r *billing.AccessRequest) (billing.Grant, error) {
		if r.UserName == "bob" {
			panic("boom")
		}
		return billing.Grant{NoPassword: true}, nil
	}}}
	batch := exchanges([]*radius.Packet{request("alice"), request("bob"), request("carol")})
	p.HandleBatch(batch)
	for i, want := range []radius.Code{radius.CodeAccessAccept, 0, radius.CodeAccessAccept} {
		if got := batch[i].Response; got.Code != want || (got.Err() == nil) != (want != 0) {
			t.Errorf("%d: %v, %v", i, got.Code, got.Err())
		}
	}
	if err := batch[1].Response.Err(); err != nil && !strings.Contains(err.Error(), "boom") {
		t.Errorf("%v", err)
	}
}

// FuzzProcessor gives the Processor attributes of any kind, as the server would
// that has checked their shape, and wants an answer or silence, never a panic.
func FuzzProcessor(f *testing.F) {
	add := func(p *radius.Packet) {
		b, err := p.MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(p.Code), b[20:])
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		add(randomPacket(rnd))
	}
	add(withMSCHAP(request("User"), "right"))
	add(accounting(intAttr(rfc2866.AcctStatusType_Type, 1), attr(rfc2866.AcctSessionID_Type, "s"),
		attr(rfc2865.Class_Type, "ai:0123456789abcdef0123456789ABCDEF"), attr(97, "\x00\x40\x20\x01\x0d\xb8\x00\x01\x00\x02")))
	f.Fuzz(func(t *testing.T, code uint8, attributes []byte) {
		attrs, err := radius.ParseAttributes(attributes)
		if err != nil || len(attributes) > radius.MaxPacketLength-20 {
			return // not what a server would hand on
		}
		packet := &radius.Packet{Code: radius.Code(code), Secret: []byte(secret), Attributes: attrs}
		before := slices.Clone(attributes)
		back := backEnd()
		p := &billing.Processor{Handler: back}
		resp := handle(p, packet)
		if after, err := packet.MarshalBinary(); err != nil || !bytes.Equal(after[20:], before) {
			t.Fatalf("the request was changed: %v", err)
		}
		switch resp.Code {
		case radius.CodeAccessAccept, radius.CodeAccessReject:
			if code != uint8(radius.CodeAccessRequest) || len(back.results) != 1 {
				t.Fatalf("%v to code %d, PostAuth %d times", resp.Code, code, len(back.results))
			}
		case radius.CodeAccountingResponse:
			if code != uint8(radius.CodeAccountingRequest) || len(back.records[0].UniqueID) != 32 {
				t.Fatalf("%v to code %d", resp.Code, code)
			}
		case 0:
		default:
			t.Fatalf("%v", resp.Code)
		}
		if _, err := resp.Packet.MarshalBinary(); err != nil {
			t.Fatalf("the response cannot be encoded: %v", err)
		}
	})
}
