package radpool_test

import (
	"context"
	"encoding/binary"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"

	"github.com/radpool/radpool/cache"
	"github.com/radpool/radpool/radpool"
)

var (
	nasHost   = netip.MustParsePrefix("192.0.2.10/32")
	nasSubnet = netip.MustParsePrefix("192.0.2.0/24")
)

func change(b []byte, f func([]byte)) []byte {
	f(b)
	return b
}

// Each kind of bad datagram: no answer, no state changed, one counter up, told
// to the hook, and the handler not called.
func TestBadDatagrams(t *testing.T) {
	const (
		malformed   = radpool.Malformed
		unknown     = radpool.UnknownClient
		wrongCode   = radpool.WrongCode
		unauthentic = radpool.Unauthentic
	)
	good := func() []byte { return access(1, 1, "ivan") }
	eap := avp(rfc2869.EAPMessage_Type, "\x02\x00\x00\x06\x01a")
	stranger := netip.MustParseAddrPort("198.51.100.1:40000")
	for name, c := range map[string]struct {
		datagram []byte
		from     netip.AddrPort
		want     radpool.Outcome
	}{
		"empty":                        {[]byte{}, nasAddr, malformed},
		"three octets":                 {good()[:3], nasAddr, malformed},
		"header cut":                   {good()[:19], nasAddr, malformed},
		"truncated":                    {good()[:len(good())-1], nasAddr, malformed},
		"Length 19":                    {change(good(), func(b []byte) { binary.BigEndian.PutUint16(b[2:], 19) }), nasAddr, malformed},
		"Length 4097":                  {append(change(good(), func(b []byte) { binary.BigEndian.PutUint16(b[2:], 4097) }), make([]byte, 4096)...), nasAddr, malformed},
		"code 0":                       {change(good(), func(b []byte) { b[0] = 0 }), nasAddr, malformed},
		"code 200":                     {change(good(), func(b []byte) { b[0] = 200 }), nasAddr, malformed},
		"attribute type 0":             {change(good(), func(b []byte) { b[20] = 0 }), nasAddr, malformed},
		"attribute length 1":           {change(good(), func(b []byte) { b[21] = 1 }), nasAddr, malformed},
		"attribute overrun":            {change(good(), func(b []byte) { b[21] = 255 }), nasAddr, malformed},
		"second Message-Authenticator": {append(change(good(), func(b []byte) { b[3] += 18 }), good()[20:38]...), nasAddr, malformed},
		"EAP and password":             {access(1, 1, "ivan", eap, avp(rfc2865.UserPassword_Type, "0123456789abcdef")), nasAddr, malformed},
		"unknown client":               {good(), stranger, unknown},
		"wrong secret":                 {encode(&radius.Packet{Code: 1}, "other"), nasAddr, unauthentic},
		"accounting, wrong secret":     {encode(&radius.Packet{Code: 4}, "other"), nasAddr, unauthentic},
		"forged Message-Authenticator": {change(good(), func(b []byte) { b[22] ^= 1 }), nasAddr, unauthentic},
		"changed attribute":            {change(good(), func(b []byte) { b[len(b)-1] ^= 1 }), nasAddr, unauthentic},
		"changed Identifier":           {change(good(), func(b []byte) { b[1] ^= 1 }), nasAddr, unauthentic},
		"EAP, unsigned":                {unsigned(access(1, 1, "ivan", eap)), nasAddr, unauthentic},
		"Proxy-State, unsigned":        {unsigned(access(1, 1, "ivan", avp(rfc2865.ProxyState_Type, "p"))), nasAddr, unauthentic},
		"Status-Server, unsigned":      {unsigned(encode(&radius.Packet{Code: 12}, testSecret)), nasAddr, unauthentic},
		"reply":                        {change(good(), func(b []byte) { b[0] = 2 }), nasAddr, wrongCode},
		"CoA-Request":                  {encode(&radius.Packet{Code: 43}, testSecret), nasAddr, wrongCode},
	} {
		t.Run(name, func(t *testing.T) {
			var told []radpool.DropInfo
			s := &radpool.Server{
				Hooks: radpool.Hooks{Drop: func(i radpool.DropInfo) { told = append(told, i) }},
				Handler: radpool.HandlerFunc(func(context.Context, *radpool.Request, *radpool.Response) {
					t.Error("the handler was called")
				}),
			}
			inWorld(t, s, func(w *world) {
				n := w.nas(c.from)
				n.send(c.datagram)
				if b := n.receive(); b != nil {
					t.Errorf("answered: % x", b)
				}
				st := w.server.Stats()
				if st.Received != 1 || st.Outcome(c.want) != 1 {
					t.Errorf("not counted as %v: %+v", c.want, st)
				}
				if st.Cache != (cache.Stats{}) && (st.Cache.InFlight != 0 || st.Cache.Retained != 0) {
					t.Errorf("it reached the cache: %+v", st.Cache)
				}
				if len(told) != 1 || told[0].Outcome != c.want || told[0].RemoteAddr != c.from {
					t.Errorf("the hook was told %+v", told)
				}
			})
		})
	}
}

func TestPortServesItsCodesOnly(t *testing.T) {
	inWorld(t, &radpool.Server{Handler: radpool.HandlerFunc(accept)}, func(w *world) {
		auth, acct := netip.MustParseAddrPort("192.0.2.1:11812"), netip.MustParseAddrPort("192.0.2.1:11813")
		w.serve(auth, radpool.Auth)
		w.serve(acct, radpool.Acct)
		n := w.nas(nasAddr)
		n.sendTo(accounting(1, 1, "s"), auth)
		n.sendTo(access(1, 1, "ivan"), acct)
		if n.receive() != nil {
			t.Error("answered")
		}
		if st := w.server.Stats(); st.WrongCode != 2 {
			t.Errorf("got %+v", st)
		}
	})
}

// RFC 5080 section 2.2.2: what does not verify must not touch what is known.
func TestForgeryDoesNotDisturbALiveRequest(t *testing.T) {
	s := &radpool.Server{Handler: radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
		time.Sleep(time.Second)
		accept(ctx, req, resp)
	})}
	inWorld(t, s, func(w *world) {
		n := w.nas(nasAddr)
		for name, request := range bothKinds {
			live := request(1, 1)
			n.send(live)
			synctest.Wait()
			n.send(change(request(1, 2), func(b []byte) { b[len(b)-1] ^= 1 })) // another authenticator, badly signed
			n.send(change(request(1, 1), func(b []byte) { b[len(b)-1] ^= 1 })) // the same, changed
			time.Sleep(2 * time.Second)
			if n.reply(live) == nil {
				t.Errorf("%s: a forgery has cost the live request its reply", name)
			}
		}
		if st := w.server.Stats(); st.Unauthentic != 4 || st.Superseded != 0 || st.Duplicate != 0 {
			t.Errorf("got %+v", st)
		}
	})
}

// Auto requires a Message-Authenticator from a single address that has shown
// one, but only a verified one counts.
func TestMessageAuthenticatorIsLearned(t *testing.T) {
	for name, c := range map[string]struct {
		client  radpool.Client
		teach   []byte
		answers bool // whether an unsigned request is answered after that
	}{
		"host, unsigned":      {radpool.Client{Prefix: nasHost}, unsigned(access(1, 1, "a")), true},
		"host, verified":      {radpool.Client{Prefix: nasHost}, access(1, 1, "a"), false},
		"host, forged":        {radpool.Client{Prefix: nasHost}, change(access(1, 1, "a"), func(b []byte) { b[30] ^= 1 }), true},
		"host, accounting":    {radpool.Client{Prefix: nasHost}, accounting(1, 1, "a"), true},
		"subnet, verified":    {radpool.Client{Prefix: nasSubnet}, access(1, 1, "a"), true},
		"host set to no":      {radpool.Client{Prefix: nasHost, MessageAuthenticator: radpool.No}, access(1, 1, "a"), true},
		"subnet set to yes":   {radpool.Client{Prefix: nasSubnet, MessageAuthenticator: radpool.Yes}, unsigned(access(1, 1, "a")), false},
		"host, Status-Server": {radpool.Client{Prefix: nasHost}, encode(&radius.Packet{Code: 12}, testSecret), true},
	} {
		t.Run(name, func(t *testing.T) {
			c.client.Secret = []byte(testSecret)
			list := clients(t, c.client)
			inWorld(t, &radpool.Server{Handler: radpool.HandlerFunc(accept), Clients: list}, func(w *world) {
				n := w.nas(nasAddr)
				n.send(c.teach)
				n.receive()
				if got := n.ask(unsigned(access(2, 2, "b"))) != nil; got != c.answers {
					t.Errorf("an unsigned request was answered: %v, want %v", got, c.answers)
				}
				proof := name == "host, verified" || name == "host set to no"
				if signs := list.States()[0].Signs; signs != proof {
					t.Errorf("Signs is %v, want %v", signs, proof)
				}
				if n.ask(access(3, 3, "c")) == nil {
					t.Error("a signed request was not answered")
				}
				list.Forget(c.client.Prefix)
				if got := n.ask(unsigned(access(4, 4, "d"))) != nil; got != (c.client.MessageAuthenticator != radpool.Yes) {
					t.Errorf("after Forget an unsigned request was answered: %v", got)
				}
			})
		})
	}
}

func TestLimitProxyStateCanBeLifted(t *testing.T) {
	list := clients(t, radpool.Client{Prefix: nasHost, Secret: []byte(testSecret), LimitProxyState: radpool.No})
	inWorld(t, &radpool.Server{Handler: radpool.HandlerFunc(accept), Clients: list}, func(w *world) {
		if w.nas(nasAddr).ask(unsigned(access(1, 1, "a", avp(rfc2865.ProxyState_Type, "p")))) == nil {
			t.Error("not answered")
		}
	})
}

// A flood of bad packets is one line a second in the log, and no secret is in
// any.
func TestFloodIsOneLogLineASecond(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	s := &radpool.Server{Handler: radpool.HandlerFunc(accept), Logger: zap.New(core)}
	inWorld(t, s, func(w *world) {
		n := w.nas(nasAddr)
		for range 3 {
			for range 100 {
				n.send(encode(&radius.Packet{Code: 1}, "other"))
				synctest.Wait()
			}
			time.Sleep(time.Second)
		}
		lines := logs.FilterMessage("request dropped").All()
		if len(lines) != 3 {
			t.Fatalf("%d lines for 300 packets in 3 s, want 3", len(lines))
		}
		if got := lines[1].ContextMap()["suppressed"]; got != uint64(99) {
			t.Errorf("the second line says that %v were suppressed, want 99", got)
		}
		if got := lines[0].ContextMap()["detail"]; got != "Message-Authenticator is wrong: is the secret the same on both sides?" {
			t.Errorf("detail: %v", got)
		}
	})
}

func TestPanickingHooksAreRecovered(t *testing.T) {
	var replies atomic.Int32
	oh := func(int) { panic("oh") }
	s := &radpool.Server{
		Handler: radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
			if replies.Add(1) == 1 {
				panic("oh")
			}
			accept(ctx, req, resp)
		}),
		Hooks: radpool.Hooks{
			Drop:        func(radpool.DropInfo) { panic("oh") },
			Panic:       func(radpool.PanicInfo) { panic("oh") },
			WorkerStart: oh, WorkerStop: oh,
		},
	}
	inWorld(t, s, func(w *world) {
		n := w.nas(nasAddr)
		n.send([]byte("not RADIUS"))
		n.ask(access(1, 1, "ivan"))
		if n.ask(accounting(2, rfc2866.AcctStatusType_Value_Start, "s")) == nil {
			t.Error("no answer after panics in hooks")
		}
		if st := w.server.Stats(); st.HookPanics < 3 || st.Panics != 1 {
			t.Errorf("%d panics of hooks and %d of the handler counted", st.HookPanics, st.Panics)
		}
	})
}
