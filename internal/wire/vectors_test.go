package wire_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/wire"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The exchanges of RFC 2865 section 7 and RFC 5997 section 6; the secret of all is
// xyzzy5461.
var exchanges = []struct {
	name           string
	request, reply string
	password       string
	requestCode    radius.Code
	replyCode      radius.Code
	attributes     int // of the request
}{
	{
		name: "RFC 2865 section 7.1, telnet with PAP",
		request: `01 00 00 38 0f 40 3f 94 73 97 80 57 bd 83 d5 cb
			98 f4 22 7a 01 06 6e 65 6d 6f 02 12 0d be 70 8d
			93 d4 13 ce 31 96 e4 3f 78 2a 0a ee 04 06 c0 a8
			01 10 05 06 00 00 00 03`,
		reply: `02 00 00 26 86 fe 22 0e 76 24 ba 2a 10 05 f6 bf
			9b 55 e0 b2 06 06 00 00 00 01 0f 06 00 00 00 00
			0e 06 c0 a8 01 03`,
		password: "arctangent", requestCode: 1, replyCode: 2, attributes: 4,
	},
	{
		name: "RFC 2865 section 7.2, framed with CHAP",
		request: `01 01 00 47 2a ee 86 f0 8d 0d 55 96 9c a5 97 8e
			0d 33 67 a2 01 08 66 6c 6f 70 73 79 03 13 16 e9
			75 57 c3 16 18 58 95 f2 93 ff 63 44 07 72 75 04
			06 c0 a8 01 10 05 06 00 00 00 14 06 06 00 00 00
			02 07 06 00 00 00 01`,
		reply: `02 01 00 38 15 ef bc 7d ab 26 cf a3 dc 34 d9 c0
			3c 86 01 a4 06 06 00 00 00 02 07 06 00 00 00 01
			08 06 ff ff ff fe 0a 06 00 00 00 02 0d 06 00 00
			00 01 0c 06 00 00 05 dc`,
		requestCode: 1, replyCode: 2, attributes: 6,
	},
	{
		name: "RFC 2865 section 7.3, challenge",
		request: `01 02 00 39 f3 a4 7a 1f 6a 6d 76 71 0b 94 7a b9
			30 41 a0 39 01 07 6d 6f 70 73 79 02 12 33 65 75
			73 77 82 89 b5 70 88 5e 15 08 48 25 c5 04 06 c0
			a8 01 10 05 06 00 00 00 07`,
		reply: `0b 02 00 4e 36 f3 c8 76 4a e8 c7 11 57 40 3c 0c
			71 ff 9c 45 12 30 43 68 61 6c 6c 65 6e 67 65 20
			33 32 37 36 39 34 33 30 2e 20 20 45 6e 74 65 72
			20 72 65 73 70 6f 6e 73 65 20 61 74 20 70 72 6f
			6d 70 74 2e 18 0a 33 32 37 36 39 34 33 30`,
		password: "challenge", requestCode: 1, replyCode: 11, attributes: 4,
	},
	{
		name: "RFC 2865 section 7.3, response",
		request: `01 03 00 43 b1 22 55 6d 42 8a 13 d0 d6 25 38 07
			c4 57 ec f0 01 07 6d 6f 70 73 79 02 12 69 2c 1f
			20 5f c0 81 b9 19 b9 51 95 f5 61 a5 81 04 06 c0
			a8 01 10 05 06 00 00 00 07 18 0a 33 32 37 36 39
			34 33 30`,
		reply: `03 03 00 14 a4 2f 4f ca 45 91 6c 4e 09 c8 34 0f
			9e 74 6a a0`,
		password: "99101462", requestCode: 1, replyCode: 3, attributes: 5,
	},
	{
		name: "RFC 5997 section 6.1, Status-Server to the authentication port",
		request: `0c da 00 26 8a 54 f4 68 6f b3 94 c5 28 66 e3 02
			18 5d 06 23 50 12 5a 66 5e 2e 1e 84 11 f3 e2 43
			82 20 97 c8 4f a3`,
		reply: `02 da 00 14 ef 0d 55 2a 4b f2 d6 93 ec 2b 6f e8
			b5 41 1d 66`,
		requestCode: 12, replyCode: 2, attributes: 1,
	},
	{
		name: "RFC 5997 section 6.2, Status-Server to the accounting port",
		request: `0c b3 00 26 92 5f 6b 66 dd 5f ed 57 1f cb 1d b7
			ad 38 82 60 50 12 e8 d6 ea bd a9 10 87 5c d9 1f
			da de 26 36 78 58`,
		reply: `05 b3 00 14 0f 6f 92 14 5f 10 7e 2f 50 4e 86 0a
			48 60 66 9c`,
		requestCode: 12, replyCode: 5, attributes: 1,
	},
}

func TestExchangesOfTheRFCs(t *testing.T) {
	secret := wire.NewSecret([]byte(testSecret))
	for _, c := range exchanges {
		t.Run(c.name, func(t *testing.T) {
			b := unhex(t, c.request)
			s := mustParse(t, b)
			if s.Code != c.requestCode || s.Attributes != c.attributes {
				t.Errorf("%v with %d attributes", s.Code, s.Attributes)
			}
			if !wire.Verify(b, s, secret) {
				t.Error("request refused")
			}
			if s.HasUserPassword() != (c.password != "") {
				t.Errorf("HasUserPassword: %v", s.HasUserPassword())
			}
			if c.password != "" {
				p, err := radius.Parse(b, nil)
				if err != nil {
					t.Fatal(err)
				}
				checkPassword(t, c.password, p.Get(2), wire.Authenticator(b), secret)
			}
			reply := unhex(t, c.reply)
			rs := mustParse(t, reply)
			if rs.Code != c.replyCode || !wire.VerifyResponse(reply, rs, wire.Authenticator(b), secret) {
				t.Errorf("%v refused", rs.Code)
			}
			reply[len(reply)-1] ^= 1
			if wire.VerifyResponse(reply, rs, wire.Authenticator(b), secret) {
				t.Error("reply accepted though its last octet was changed")
			}
		})
	}
}

// checkPassword checks both directions of one hidden password.
func checkPassword(t *testing.T, password string, hidden []byte, auth [16]byte, secret *wire.Secret) {
	t.Helper()
	got, err := wire.RevealPassword(nil, hidden, auth, secret)
	if err != nil || string(got) != password {
		t.Errorf("revealed %q, %v, want %q", got, err, password)
	}
	again, err := wire.HidePassword(nil, []byte(password), auth, secret)
	if err != nil || string(again) != string(hidden) {
		t.Errorf("hidden %x, %v, want %x", again, err, hidden)
	}
}
