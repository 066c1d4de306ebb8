package loadgen_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2759"

	"github.com/radpool/radpool/internal/loadgen"
	"github.com/radpool/radpool/internal/simnet"
)

// Each wrong reply is found, and counted as what it is.
func TestWrongReplies(t *testing.T) {
	mschap := loadgen.Mix{{Kind: loadgen.Kind{Method: loadgen.MethodMSCHAPv2}, Weight: 1}}
	mschap1 := loadgen.Mix{{Kind: loadgen.Kind{Method: loadgen.MethodMSCHAP}, Weight: 1}}
	for name, tc := range map[string]struct {
		reply  func(*testing.T, request) []byte
		change func(*loadgen.Config)
		count  func(*loadgen.Counters) uint64
		lost   bool
	}{
		"authenticator": {
			reply: func(t *testing.T, r request) []byte { b := accept(t, r); b[4] ^= 1; return b },
			count: func(c *loadgen.Counters) uint64 { return c.BadSignature }, lost: true,
		},
		"message authenticator": {
			reply: func(t *testing.T, r request) []byte {
				b := accept(t, r)
				b[22] ^= 1
				return resign(b, r)
			},
			count: func(c *loadgen.Counters) uint64 { return c.BadSignature }, lost: true,
		},
		"identifier": {
			reply: func(t *testing.T, r request) []byte { b := accept(t, r); b[1]++; return b },
			count: func(c *loadgen.Counters) uint64 { return c.BadSignature }, lost: true,
		},
		"shape": {
			reply: func(t *testing.T, r request) []byte { return accept(t, r)[:19] },
			count: func(c *loadgen.Counters) uint64 { return c.Malformed }, lost: true,
		},
		"code": {
			reply: func(_ *testing.T, r request) []byte {
				b := append([]byte{5, r.Identifier, 0, 20}, r.octets[4:20]...)
				return resign(b, r)
			},
			count: func(c *loadgen.Counters) uint64 { return c.BadCode },
		},
		"unexpected": {
			reply:  func(t *testing.T, r request) []byte { return sign(t, r, radius.CodeAccessReject) },
			change: func(c *loadgen.Config) { c.Expect = radius.CodeAccessAccept },
			count:  func(c *loadgen.Counters) uint64 { return c.Unexpected },
		},
		"unprotected": {
			reply: func(_ *testing.T, r request) []byte {
				return resign(append([]byte{2, r.Identifier, 0, 20}, r.octets[4:20]...), r)
			},
			change: func(c *loadgen.Config) { c.RequireMessageAuthenticator = true },
			count:  func(c *loadgen.Counters) uint64 { return c.Unprotected },
		},
		"no MS-CHAP2-Success": {
			reply:  func(t *testing.T, r request) []byte { return accept(t, r) },
			change: func(c *loadgen.Config) { c.Mix = mschap },
			count:  func(c *loadgen.Counters) uint64 { return c.UnprovenMSCHAP2 },
		},
		"MS-CHAP-MPPE-Keys of another": {
			reply: func(_ *testing.T, r request) []byte {
				return resign(withKeys(r, []byte("01234567another's NT key.")), r)
			},
			change: func(c *loadgen.Config) { c.Mix = mschap1 },
			count:  func(c *loadgen.Counters) uint64 { return c.WrongMSCHAPKeys },
		},
		"MS-CHAP-MPPE-Keys too short": {
			reply:  func(_ *testing.T, r request) []byte { return resign(withKeys(r, []byte("short")), r) },
			change: func(c *loadgen.Config) { c.Mix = mschap1 },
			count:  func(c *loadgen.Counters) uint64 { return c.WrongMSCHAPKeys },
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := config(t)
				cfg.Requests = 3
				if tc.change != nil {
					tc.change(&cfg)
				}
				n := network(t, &cfg, simnet.Config{})
				script(func(r request, answer func([]byte)) { answer(tc.reply(t, r)) }).serve(t, n, auth)
				r := run(t, cfg)
				if tc.count(&r.Counters) != 3 || r.Wrong() != 3 || r.Good() != 0 || (r.Lost == 3) != tc.lost {
					t.Errorf("%+v", r.Counters)
				}
			})
		})
	}
}

// withKeys is an Access-Accept, not signed, with that as MS-CHAP-MPPE-Keys.
func withKeys(r request, keys []byte) []byte {
	hidden, err := radius.NewUserPassword(keys, secret, r.octets[4:20])
	if err != nil {
		panic(err)
	}
	b := append([]byte{2, r.Identifier, 0, byte(28 + len(hidden))}, r.octets[4:20]...)
	b = append(b, 26, byte(8+len(hidden)), 0, 0, 1, 55, 12, byte(2+len(hidden)))
	return append(b, hidden...)
}

// An NT key whose last octets are NUL is as right as any, and so is an Access-Accept without keys.
func TestRightMSCHAPKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := together(t, "mschap")
		// This one's key ends in NUL.
		cfg.Users, _ = loadgen.ReadUsers(strings.NewReader("alice " + passwordWithNUL(t) + "\n"))
		n := network(t, &cfg, simnet.Config{})
		script(func(r request, answer func([]byte)) {
			if r.Identifier%2 == 0 {
				answer(accept(t, r))
				return
			}
			answer(resign(withKeys(r, append([]byte("LM key.."), ntKey(t, passwordWithNUL(t))...)), r))
		}).serve(t, n, auth)
		if r := run(t, cfg); r.Wrong() != 0 || r.Accepts != 400 {
			t.Errorf("%+v", r.Counters)
		}
	})
}

func ntKey(t *testing.T, password string) []byte {
	t.Helper()
	utf16, err := rfc2759.ToUTF16([]byte(password))
	if err != nil {
		t.Fatal(err)
	}
	return rfc2759.NTPasswordHash(rfc2759.NTPasswordHash(utf16))
}

func passwordWithNUL(t *testing.T) string {
	t.Helper()
	for i := range 100_000 {
		if password := strconv.Itoa(i); ntKey(t, password)[15] == 0 {
			return password
		}
	}
	t.Fatal("there is none")
	return ""
}

// resign puts the right Response Authenticator into b.
func resign(b []byte, r request) []byte {
	p := radius.Packet{Code: radius.Code(b[0]), Identifier: b[1], Authenticator: [16]byte(r.octets[4:20]), Secret: secret}
	parsed, err := radius.Parse(b, secret)
	if err != nil {
		panic(err)
	}
	p.Attributes = parsed.Attributes
	out, err := p.Encode() // signs, as a response does, what Authenticator holds
	if err != nil {
		panic(err)
	}
	return out
}

// What comes after a request was given up is late, not wrong.
func TestLateReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(t)
		cfg.Requests, cfg.Timeout, cfg.Retries = 4, time.Second, 1
		n := network(t, &cfg, simnet.Config{})
		script(func(r request, answer func([]byte)) {
			reply := accept(t, r)
			time.AfterFunc(2500*time.Millisecond, func() { answer(reply) })
		}).serve(t, n, auth)
		r := run(t, cfg)
		if r.Lost != 4 || r.Answered != 0 || r.Wrong() != 0 || r.Extra == 0 || r.Extra != r.Replies {
			t.Errorf("%+v", r.Counters)
		}
	})
}

func TestNoSecretInResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(t)
		n := network(t, &cfg, simnet.Config{})
		script(func(r request, answer func([]byte)) { answer(accept(t, r)) }).serve(t, n, auth)
		r := run(t, cfg)
		b, err := json.Marshal(r)
		if err != nil || len(b) == 0 {
			t.Fatal(err)
		}
		var again loadgen.Result
		if err := json.Unmarshal(b, &again); err != nil || again.Counters != r.Counters || again.Latency != r.Latency {
			t.Errorf("%s is read as %+v, %v", b, again, err)
		}
	})
}
