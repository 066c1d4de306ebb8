package radclient_test

import (
	"crypto/hmac"
	"crypto/md5"
	"errors"
	"testing"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2869"

	"github.com/radpool/radpool/internal/simnet"
	"github.com/radpool/radpool/radclient"
)

// Nothing that does not verify is believed, and what comes after it is.
func TestRepliesThatAreNotBelieved(t *testing.T) {
	unsigned := func(b []byte, in *incoming) []byte { // without Message-Authenticator, rightly signed
		p := &radius.Packet{Code: radius.Code(b[0]), Identifier: b[1], Authenticator: in.packet.Authenticator, Secret: in.secret.Bytes()}
		out, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	// moved has its Message-Authenticator at the end, rightly computed.
	moved := func(b []byte, in *incoming) []byte {
		p := &radius.Packet{Code: radius.Code(b[0]), Identifier: b[1], Authenticator: in.packet.Authenticator, Secret: in.secret.Bytes()}
		p.Add(rfc2865.ReplyMessage_Type, radius.Attribute("hello"))
		p.Add(rfc2869.MessageAuthenticator_Type, make(radius.Attribute, 16))
		plain, err := p.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		mac := hmac.New(md5.New, in.secret.Bytes())
		mac.Write(plain)
		p.Set(rfc2869.MessageAuthenticator_Type, mac.Sum(nil))
		out, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, c := range []struct {
		name       string
		protection radclient.Protection
		spoil      func(good []byte, in *incoming) []byte
		want       radclient.Discards
		believed   bool
	}{
		{name: "good", spoil: func(b []byte, _ *incoming) []byte { return b }, believed: true},
		{name: "Response Authenticator", spoil: func(b []byte, _ *incoming) []byte { b[7] ^= 1; return b }, want: radclient.Discards{Unauthentic: 1}},
		{name: "Message-Authenticator", spoil: func(b []byte, _ *incoming) []byte { b[25] ^= 1; return b }, want: radclient.Discards{Unauthentic: 1}},
		{name: "another Identifier", spoil: func(b []byte, _ *incoming) []byte { b[1]++; return b }, want: radclient.Discards{Unexpected: 1}},
		{name: "another code", spoil: func(b []byte, _ *incoming) []byte { b[0] = byte(radius.CodeAccountingResponse); return b }, want: radclient.Discards{WrongCode: 1}},
		{name: "cut", spoil: func(b []byte, _ *incoming) []byte { return b[:30] }, want: radclient.Discards{Malformed: 1}},
		{name: "without Message-Authenticator", spoil: unsigned, want: radclient.Discards{Unprotected: 1}},
		{name: "without, first wanted", protection: radclient.RequireMessageAuthenticatorFirst, spoil: unsigned, want: radclient.Discards{Unprotected: 1}},
		{name: "without, allowed", protection: radclient.AllowUnprotected, spoil: unsigned, believed: true},
		{name: "not first", spoil: moved, believed: true},
		{name: "not first, first wanted", protection: radclient.RequireMessageAuthenticatorFirst, spoil: moved, want: radclient.Discards{Unprotected: 1}},
		{name: "first", protection: radclient.RequireMessageAuthenticatorFirst, spoil: func(b []byte, _ *incoming) []byte { return b }, believed: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, simnet.Config{}, func(t *testing.T, w *world) {
				copies := 0
				w.serve(serverA, func(in *incoming) [][]byte {
					good := in.reply(radius.CodeAccessAccept)
					if copies++; copies > 1 {
						return [][]byte{good}
					}
					return [][]byte{c.spoil(good, in)}
				})
				client := w.client(radclient.Config{Servers: []radclient.Server{{Addr: serverA, Secret: secretOf(serverA), Protection: c.protection}}})
				r, err := client.Do(t.Context(), access("alice"))
				if err != nil {
					t.Fatal(err)
				}
				if (r.Copies == 1) != c.believed {
					t.Errorf("answered after %d copies", r.Copies)
				}
				client.Close()
				if st := check(t, client); st.Discarded != c.want {
					t.Errorf("discarded %+v, want %+v", st.Discarded, c.want)
				}
			})
		})
	}
}

// The error says what came, so that a wrong secret is found out.
func TestTimeoutTellsOfDiscardedReplies(t *testing.T) {
	inWorld(t, simnet.Config{}, func(t *testing.T, w *world) {
		w.serve(serverA, func(in *incoming) [][]byte {
			b := in.reply(radius.CodeAccessAccept)
			b[5] ^= 1
			return [][]byte{b}
		})
		c := w.client(radclient.Config{}, serverA)
		_, err := c.Do(t.Context(), access("alice"))
		var timeout *radclient.TimeoutError
		if !errors.As(err, &timeout) || timeout.Discarded.Unauthentic != uint64(timeout.Copies) {
			t.Errorf("got %v", err)
		}
		c.Close()
	})
}

// A datagram from elsewhere is no reply, whatever it says.
func TestReplyFromAnotherAddress(t *testing.T) {
	inWorld(t, simnet.Config{}, func(t *testing.T, w *world) {
		other, err := w.net.Listen(serverB)
		if err != nil {
			t.Fatal(err)
		}
		w.serve(serverA, func(in *incoming) [][]byte {
			other.WriteToUDPAddrPort(in.reply(radius.CodeAccessAccept), in.from)
			return nil
		})
		c := w.client(radclient.Config{Retransmission: radclient.Retransmission{MRC: 1}}, serverA)
		if _, err := c.Do(t.Context(), access("alice")); !errors.Is(err, radclient.ErrNoReply) {
			t.Errorf("got %v", err)
		}
		if st := c.Stats(); st.Discarded.Unexpected != 1 {
			t.Errorf("%+v", st)
		}
		c.Close()
	})
}
