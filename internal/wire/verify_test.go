package wire_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/radpool/radpool/internal/wire"
)

const testSecret = "xyzzy5461"

var secrets = []string{"s", testSecret, strings.Repeat("k", 64), strings.Repeat("long", 50), "nul\x00inside"}

func TestVerifyAcceptsWhatReferenceSigned(t *testing.T) {
	r := newRand(t)
	for _, code := range []byte{1, 4, 12, 40, 43} {
		for _, key := range secrets {
			secret := wire.NewSecret([]byte(key))
			for range 50 {
				b := sign(randomPacket(r, code, code == 12 || r.IntN(2) == 0), key)
				padded := append(slices.Clone(b), "padding"...)
				s := mustParse(t, padded)
				if !wire.Verify(padded, s, secret) {
					t.Fatalf("code %d, secret %q: %x refused", code, key, b)
				}
				if !bytes.Equal(padded[:len(b)], b) {
					t.Fatalf("code %d: datagram changed", code)
				}
				if s.HasMessageAuthenticator() || code != 1 {
					if wire.Verify(b, s, wire.NewSecret([]byte(key+"x"))) {
						t.Fatalf("code %d: %x accepted with the wrong secret", code, b)
					}
				}
			}
		}
	}
}

func TestVerifyRefusesEverySingleBitFlipped(t *testing.T) {
	secret := wire.NewSecret([]byte(testSecret))
	name := avp(1, "nemo")
	for _, b := range [][]byte{
		packet(1, 9, [16]byte{1, 2}, name, ma0),
		packet(12, 9, [16]byte{1, 2}, ma0),
		packet(4, 9, [16]byte{}, name),
		packet(4, 9, [16]byte{}, name, ma0),
		packet(40, 9, [16]byte{}, name),
		packet(43, 9, [16]byte{}, ma0, name),
	} {
		b = sign(b, testSecret)
		for bit := range 8 * len(b) {
			forged := slices.Clone(b)
			forged[bit/8] ^= 1 << (bit % 8)
			s, fault := wire.Parse(forged, 0)
			if fault != wire.WellFormed {
				continue
			}
			if s.MessageAuthenticator == 0 && forged[0] == 1 {
				continue // it now claims to have nothing to verify
			}
			if wire.Verify(forged, &s, secret) {
				t.Errorf("%x accepted with bit %d flipped", b, bit)
			}
		}
	}
}

// A request that signs itself needs both: neither the signature nor the
// Message-Authenticator stands in for the other.
func TestVerifyChecksBothAuthenticators(t *testing.T) {
	secret := wire.NewSecret([]byte(testSecret))
	b := sign(packet(4, 1, [16]byte{}, ma0, avp(1, "nemo")), testSecret)

	badMAC := slices.Clone(b)
	badMAC[25] ^= 1
	sum := refSignature(badMAC, [16]byte{}, testSecret)
	copy(badMAC[4:], sum[:])
	if wire.Verify(badMAC, mustParse(t, badMAC), secret) {
		t.Error("wrong Message-Authenticator under a right Request Authenticator accepted")
	}

	badSignature := slices.Clone(b)
	badSignature[4] ^= 1
	if wire.Verify(badSignature, mustParse(t, badSignature), secret) {
		t.Error("wrong Request Authenticator beside a right Message-Authenticator accepted")
	}
}

func TestVerifyWantsMessageAuthenticatorWhereProtocolDoes(t *testing.T) {
	secret := wire.NewSecret([]byte(testSecret))
	for _, c := range []struct {
		name string
		b    []byte
		want bool
	}{
		{"Access-Request with nothing to verify", packet(1, 1, [16]byte{}, avp(1, "nemo")), true},
		{"Status-Server without", packet(12, 1, [16]byte{}), false},
		{"Status-Server with", packet(12, 1, [16]byte{}, ma0), true},
		{"EAP without", packet(1, 1, [16]byte{}, avp(79, "e")), false},
		{"EAP with", packet(1, 1, [16]byte{}, avp(79, "e"), ma0), true},
		{"signed EAP without", packet(4, 1, [16]byte{}, avp(79, "e")), false},
	} {
		b := sign(c.b, testSecret)
		if got := wire.Verify(b, mustParse(t, b), secret); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestVerifyRefusesWhatIsNoRequest(t *testing.T) {
	secret := wire.NewSecret([]byte(testSecret))
	for _, code := range []byte{2, 3, 5, 11, 13, 41, 42, 44, 45, 52} {
		b := sign(packet(code, 1, [16]byte{}, ma0), testSecret)
		if wire.Verify(b, mustParse(t, b), secret) {
			t.Errorf("code %d accepted", code)
		}
	}
}

func TestNothingIsAuthenticWithoutSecret(t *testing.T) {
	for _, secret := range []*wire.Secret{nil, {}, wire.NewSecret(nil), wire.NewSecret([]byte{})} {
		for _, code := range []byte{1, 4, 12, 40, 43} {
			b := sign(packet(code, 1, [16]byte{}, ma0), "")
			if wire.Verify(b, mustParse(t, b), secret) {
				t.Errorf("code %d accepted without a secret", code)
			}
		}
		b := packet(1, 1, [16]byte{}) // not even when there is nothing to verify
		if wire.Verify(b, mustParse(t, b), secret) {
			t.Error("Access-Request accepted without a secret")
		}
		reply := packet(2, 1, [16]byte{})
		sum := refSignature(reply, [16]byte{}, "")
		copy(reply[4:], sum[:])
		if wire.VerifyResponse(reply, mustParse(t, reply), [16]byte{}, secret) {
			t.Error("reply accepted without a secret")
		}
	}
}

// signReply fills in the authenticators of a reply to a request.
func signReply(b []byte, requestAuthenticator [16]byte, secret string) []byte {
	copy(b[4:], requestAuthenticator[:])
	mac := refMessageAuthenticator(b, requestAuthenticator, secret)
	for i := 20; i < len(b); i += int(b[i+1]) {
		if b[i] == 80 {
			copy(b[i+2:], mac)
		}
	}
	sum := refSignature(b, requestAuthenticator, secret)
	copy(b[4:], sum[:])
	return b
}

func TestVerifyResponse(t *testing.T) {
	r := newRand(t)
	secret := wire.NewSecret([]byte(testSecret))
	for _, code := range []byte{2, 3, 5, 11, 41, 42, 44, 45, 52} {
		for range 20 {
			authenticator := randomAuthenticator(r)
			b := signReply(randomPacket(r, code, r.IntN(2) == 0), authenticator, testSecret)
			padded := append(slices.Clone(b), 1, 2, 3)
			s := mustParse(t, padded)
			if !wire.VerifyResponse(padded, s, authenticator, secret) {
				t.Fatalf("%x refused", b)
			}
			if !bytes.Equal(padded[:len(b)], b) {
				t.Fatal("datagram changed")
			}
			if wire.VerifyResponse(b, s, randomAuthenticator(r), secret) {
				t.Fatalf("%x accepted as the reply to another request", b)
			}
			if wire.VerifyResponse(b, s, authenticator, wire.NewSecret([]byte("other"))) {
				t.Fatalf("%x accepted with the wrong secret", b)
			}
			i := r.IntN(len(b))
			b[i] ^= 1 << r.IntN(8)
			if s, fault := wire.Parse(b, 0); fault == wire.WellFormed && wire.VerifyResponse(b, &s, authenticator, secret) {
				t.Fatalf("%x accepted though octet %d was changed", b, i)
			}
		}
	}
}

func TestVerifyResponseRefuses(t *testing.T) {
	secret := wire.NewSecret([]byte(testSecret))
	authenticator := [16]byte{1, 2, 3}
	wrongMAC := signReply(packet(2, 1, [16]byte{}, ma0), authenticator, testSecret)
	wrongMAC[25] ^= 1
	sum := refSignature(wrongMAC, authenticator, testSecret)
	copy(wrongMAC[4:], sum[:])
	for name, b := range map[string][]byte{
		"wrong Message-Authenticator under a right signature": wrongMAC,
		"EAP-Message without Message-Authenticator":           signReply(packet(11, 1, [16]byte{}, avp(79, "e")), authenticator, testSecret),
		"a request": signReply(packet(1, 1, [16]byte{}), authenticator, testSecret),
	} {
		if wire.VerifyResponse(b, mustParse(t, b), authenticator, secret) {
			t.Errorf("%s accepted", name)
		}
	}
}

func TestVerifyIsSafeForConcurrentUse(t *testing.T) {
	secret := wire.NewSecret([]byte(testSecret))
	b := sign(packet(4, 1, [16]byte{}, ma0, avp(1, "nemo")), testSecret)
	s := mustParse(t, b)
	done := make(chan bool)
	for range 8 {
		go func() {
			ok := true
			for range 200 {
				ok = wire.Verify(b, s, secret) && ok
			}
			done <- ok
		}()
	}
	for range 8 {
		if !<-done {
			t.Error("a concurrent Verify refused an authentic request")
		}
	}
}
