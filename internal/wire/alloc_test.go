package wire_test

import (
	"bytes"
	"testing"

	"layeh.com/radius"

	"github.com/radpool/radpool/arena"
	"github.com/radpool/radpool/internal/wire"
)

// scene is a typical request and its reply.
type scene struct {
	pool   *arena.Pool
	secret *wire.Secret
	b      []byte // the request
	reply  []byte // its encoded reply
	packet radius.Packet
	resp   radius.Packet
	dst    []byte
}

func newScene(t testing.TB, code, reply byte) *scene {
	b := sign(packet(code, 7, [16]byte{1, 2, 3},
		avp(80, string(make([]byte, 16))), avp(1, "subscriber-1234"), avp(2, string(make([]byte, 16))),
		avp(4, "\x0a\x00\x00\x01"), avp(5, "\x00\x00\x00\x07"), avp(31, "00-11-22-33-44-55"), avp(33, "proxy")), testSecret)
	sc := &scene{
		pool:   newPool(t),
		secret: wire.NewSecret([]byte(testSecret)),
		b:      b,
		resp: radius.Packet{Code: radius.Code(reply), Attributes: radius.Attributes{
			{Type: 8, Attribute: radius.Attribute("\x0a\x01\x02\x03")},
			{Type: 27, Attribute: radius.NewInteger(3600)},
			{Type: 25, Attribute: radius.Attribute("session-0001")},
		}},
		dst: make([]byte, 0, wire.MaxPacketLength),
	}
	sc.reply, _ = sc.whole()
	if sc.reply == nil {
		t.Fatal("the request has no reply")
	}
	sc.reply = bytes.Clone(sc.reply)
	return sc
}

// whole takes the request the whole way through the codec.
func (sc *scene) whole() ([]byte, error) {
	s, fault := wire.Parse(sc.b, 200)
	if fault != wire.WellFormed || !wire.Verify(sc.b, &s, sc.secret) {
		return nil, nil
	}
	a := sc.pool.Get()
	defer a.Release()
	wire.Decode(a, sc.b, &s, &sc.packet)
	return wire.Encode(sc.dst, &sc.resp, sc.b, &s, sc.secret)
}
