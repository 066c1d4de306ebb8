package eap_test

import (
	"testing"

	"github.com/radpool/radpool/eap"
)

// FuzzConversation sends a conversation what the fuzzer thinks of, some of it made to
// fit: it neither panics nor goes on for ever, whatever is sent is well formed, and
// nobody succeeds who was not verified.
func FuzzConversation(f *testing.F) {
	f.Add([]byte("\x04\x00"), false)
	f.Add([]byte("\x14\x10\x10\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10"), true)
	f.Add(append(append([]byte{0x3b}, msResponse(201, "alice")...), 1, 3), true)
	f.Add([]byte("\x01\x03\x01\x04\x02\x07\x00"), true)
	f.Fuzz(func(t *testing.T, script []byte, right bool) {
		v, r := eap.Begin(&eap.Config{MaxRounds: 20}, identity("alice"), 0)
		defer v.Close()
		verified := false
		for rounds := 0; r.Verdict == eap.Request || r.Verdict == eap.Ignore; rounds++ {
			if rounds > 20 {
				t.Fatal("no end")
			}
			last, err := eap.Parse(r.Packet)
			if err != nil || last.Code != eap.CodeRequest {
				t.Fatalf("%x: %v", r.Packet, err)
			}
			n := 0
			if len(script) > 0 {
				n, script = min(int(script[0]), len(script)-1), script[1:]
			}
			in := answer(last, last.Type, script[:n]...)
			script = script[n:]
			if n > 0 {
				switch in.Data[0] {
				case 200: // the fuzzer's own packet
					if in, err = eap.Parse(in.Data[1:]); err != nil {
						return
					}
				case 201:
					in.Type = eap.TypeNAK
				}
			}
			if r = v.Receive(in); r.Verdict == eap.Verify {
				verified = right
				if r = v.Verify(all(right)); r.Verdict == eap.Verify {
					t.Fatal("it asks again")
				}
			}
		}
		if r.Verdict == eap.Success && !verified {
			t.Fatalf("%+v without a password", r)
		}
	})
}
