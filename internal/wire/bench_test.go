package wire_test

import (
	"crypto/hmac"
	"crypto/md5"
	"fmt"
	"hash"
	"sync"
	"testing"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/wire"
)

func BenchmarkCodec(b *testing.B) {
	for _, c := range []struct {
		name        string
		code, reply byte
	}{{"Access", 1, 2}, {"Accounting", 4, 5}} {
		sc := newScene(b, c.code, c.reply)
		s := mustParse(b, sc.b)
		rs := mustParse(b, sc.reply)
		auth := wire.Authenticator(sc.b)
		name := func(step string, octets int) string { return fmt.Sprintf("%s/%s-%d", c.name, step, octets) }

		b.Run(name("Whole", len(sc.b)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if out, err := sc.whole(); out == nil || err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name("Parse", len(sc.b)), func(b *testing.B) {
			for b.Loop() {
				if _, fault := wire.Parse(sc.b, 200); fault != wire.WellFormed {
					b.Fatal(fault)
				}
			}
		})
		b.Run(name("Verify", len(sc.b)), func(b *testing.B) {
			for b.Loop() {
				if !wire.Verify(sc.b, s, sc.secret) {
					b.Fatal("refused")
				}
			}
		})
		b.Run(name("DecodeWithArena", len(sc.b)), func(b *testing.B) {
			for b.Loop() {
				a := sc.pool.Get()
				wire.Decode(a, sc.b, s, &sc.packet)
				a.Release()
			}
		})
		b.Run(name("Encode", len(sc.reply)), func(b *testing.B) {
			for b.Loop() {
				if _, err := wire.Encode(sc.dst, &sc.resp, sc.b, s, sc.secret); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name("VerifyResponse", len(sc.reply)), func(b *testing.B) {
			for b.Loop() {
				if !wire.VerifyResponse(sc.reply, rs, auth, sc.secret) {
					b.Fatal("refused")
				}
			}
		})
	}
}

func BenchmarkRevealPassword(b *testing.B) {
	secret := wire.NewSecret([]byte(testSecret))
	dst := make([]byte, 0, 128)
	for _, n := range []int{16, 128} {
		hidden := make([]byte, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := wire.RevealPassword(dst, hidden, [16]byte{}, secret); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLayeh is what the steps cost there: the bar.
func BenchmarkLayeh(b *testing.B) {
	sc := newScene(b, 4, 5)
	key := []byte(testSecret)
	b.Run("IsAuthenticRequest", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			radius.IsAuthenticRequest(sc.b, key)
		}
	})
	b.Run("Parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = radius.Parse(sc.b, key)
		}
	})
	b.Run("Encode", func(b *testing.B) {
		b.ReportAllocs()
		resp := sc.resp
		resp.Secret = key
		for b.Loop() {
			_, _ = resp.Encode()
		}
	})
}

// BenchmarkDigest holds the alternatives that lost, for whoever wants to ask again
// with another Go or another CPU: ways to verify one Message-Authenticator. All
// work on a copy of the packet, as the package does.
func BenchmarkDigest(b *testing.B) {
	key := []byte(testSecret)
	request := sign(packet(1, 1, [16]byte{}, ma0, avp(1, string(make([]byte, 75)))), testSecret)
	s := mustParse(b, request)
	scratch := make([]byte, 64+wire.MaxPacketLength)
	prepare := func(at int) []byte {
		n := copy(scratch[at:], request)
		clear(scratch[at+22 : at+38])
		return scratch[:at+n]
	}
	check := func(b *testing.B, sum []byte) {
		if !hmac.Equal(sum, request[22:38]) {
			b.Fatal("wrong digest")
		}
	}
	var sum [md5.Size]byte
	b.Run("NewHMAC", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			h := hmac.New(md5.New, key)
			h.Write(prepare(0))
			check(b, h.Sum(sum[:0]))
		}
	})
	b.Run("KeptHMAC", func(b *testing.B) {
		b.ReportAllocs()
		pool := sync.Pool{New: func() any { return hmac.New(md5.New, key) }}
		for b.Loop() {
			h := pool.Get().(hash.Hash)
			h.Reset()
			h.Write(prepare(0))
			check(b, h.Sum(sum[:0]))
			pool.Put(h)
		}
	})
	b.Run("ByHand", func(b *testing.B) {
		b.ReportAllocs()
		var inner, outer [64]byte
		copy(inner[:], key)
		copy(outer[:], key)
		for i := range inner {
			inner[i] ^= 0x36
			outer[i] ^= 0x5c
		}
		for b.Loop() {
			copy(scratch, inner[:])
			sum = md5.Sum(prepare(64))
			copy(scratch, outer[:])
			copy(scratch[64:], sum[:])
			sum = md5.Sum(scratch[:80])
			check(b, sum[:])
		}
	})
	b.Run("SavedState", func(b *testing.B) {
		b.ReportAllocs()
		secret := wire.NewSecret(key)
		for b.Loop() {
			if !wire.Verify(request, s, secret) {
				b.Fatal("refused")
			}
		}
	})
}
