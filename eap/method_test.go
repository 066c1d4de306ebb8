package eap_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/radpool/radpool/eap"
)

// long is a method as those with TLS are: a message of the peer in fragments, each
// acknowledged, a message of the server in fragments as long as the MTU allows, a
// password out of a tunnel, and 64 octets of keys.
type long struct{ closed *int }

func (long) Type() eap.Type { return 99 }
func (l long) Begin(p eap.Peer) eap.Exchange {
	return &longExchange{closed: l.closed, mtu: p.MTU, out: bytes.Repeat([]byte("certificate "), 500)}
}

type longExchange struct {
	closed  *int
	mtu     int
	in, out []byte
	sent    int
}

func (x *longExchange) Start(uint8) ([]byte, error) { return []byte("start"), nil }

func (x *longExchange) Respond(_ uint8, data []byte) eap.Step {
	switch {
	case len(data) > 0: // a fragment of the peer
		x.in = append(x.in, data...)
		return eap.Continue(nil)
	case x.sent < len(x.out):
		n := min(x.mtu-5, len(x.out)-x.sent)
		x.sent += n
		return eap.Continue(x.out[x.sent-n : x.sent])
	}
	return eap.Ask()
}

func (x *longExchange) Verify(c eap.Credentials) eap.Step {
	if !c.Password(x.in) {
		return eap.Step{}
	}
	return eap.Succeed(bytes.Repeat([]byte{7}, 64))
}

func (x *longExchange) Close() {
	if x.closed != nil {
		*x.closed++
	}
}

// TestLongMethod goes through a method of many rounds.
func TestLongMethod(t *testing.T) {
	closed := 0
	v, last := begin(t, &eap.Config{Methods: []eap.Method{long{&closed}}})
	for _, fragment := range []string{"pass", "word"} {
		last = parse(t, v.Receive(answer(last, 99, []byte(fragment)...)))
	}
	var got []byte
	r := v.Receive(answer(last, 99))
	for r.Verdict == eap.Request {
		last = parse(t, r)
		if len(r.Packet) > 1400 {
			t.Fatalf("a packet of %d octets", len(r.Packet))
		}
		got = append(got, last.Data...)
		r = v.Receive(answer(last, 99))
	}
	if r.Verdict != eap.Verify || len(got) != 6000 {
		t.Fatalf("%+v after %d octets", r, len(got))
	}
	if r = v.Verify(all(true)); r.Verdict != eap.Success || len(r.MSK) != 64 {
		t.Errorf("%+v", r)
	}
	v.Close()
	v.Close()
	if closed != 1 {
		t.Errorf("closed %d times", closed)
	}
}

// TestCloseAtNAK: a method that the peer does not want is closed.
func TestCloseAtNAK(t *testing.T) {
	closed := 0
	v, last := begin(t, &eap.Config{Methods: []eap.Method{long{&closed}, eap.MD5{}}})
	if r := v.Receive(answer(last, eap.TypeNAK, 4)); r.Verdict != eap.Request || closed != 1 {
		t.Errorf("%+v, closed %d times", r, closed)
	}
	v.Close()
	if closed != 1 {
		t.Errorf("closed %d times", closed)
	}
}

// broken cannot begin.
type broken struct{ eap.MD5 }

func (broken) Type() eap.Type              { return 98 }
func (broken) Begin(eap.Peer) eap.Exchange { return brokenExchange{} }

type brokenExchange struct{}

func (brokenExchange) Start(uint8) ([]byte, error)     { return nil, errors.New("no certificate") }
func (brokenExchange) Respond(uint8, []byte) eap.Step  { return eap.Ask() }
func (brokenExchange) Verify(eap.Credentials) eap.Step { return eap.Ask() } // again and again
func (brokenExchange) Close()                          {}

// odd has a type that is no method's.
type odd struct{ eap.MD5 }

func (odd) Type() eap.Type { return eap.TypeNAK }

// huge sends more than a packet holds.
type huge struct{ eap.MD5 }

func (huge) Begin(eap.Peer) eap.Exchange { return hugeExchange{} }

type hugeExchange struct{ brokenExchange }

func (hugeExchange) Start(uint8) ([]byte, error) { return make([]byte, 4092), nil }

func TestBrokenMethods(t *testing.T) {
	if v, r := eap.Begin(&eap.Config{Methods: []eap.Method{broken{}}}, identity("a"), 0); v != nil || r.Verdict != eap.Failure {
		t.Errorf("%+v", r)
	}
	if v, r := eap.Begin(&eap.Config{Methods: []eap.Method{huge{}}}, identity("a"), 0); v != nil || !errors.Is(r.Err, eap.ErrRequestTooLong) {
		t.Errorf("%+v", r)
	}
}
