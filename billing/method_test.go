package billing_test

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"layeh.com/radius"
	"layeh.com/radius/rfc2759"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/radpool"
)

// TestMatrix lets every method meet every form of password, right and wrong.
func TestMatrix(t *testing.T) {
	forms := map[string]billing.Password{
		"cleartext": billing.Cleartext(thePassword),
		"none":      {},
	}
	for _, f := range []billing.Form{
		billing.FormNT, billing.FormMD5, billing.FormSMD5, billing.FormSHA, billing.FormSSHA, billing.FormSHA2,
		billing.FormSSHA2_224, billing.FormSSHA2_256, billing.FormSSHA2_384, billing.FormSSHA2_512,
	} {
		salt := ""
		if strings.HasPrefix(f.String(), "SSHA") || f == billing.FormSMD5 {
			salt = "salt"
		}
		forms[f.String()] = mustParse(t, f, sumOf(f, salt))
	}
	forms["crypt"] = mustParse(t, billing.FormCrypt, slowHashes[0].value)
	forms["pbkdf2"] = mustParse(t, billing.FormPBKDF2, slowHashes[10].value)

	methods := map[string]func(password string) *radius.Packet{
		"PAP":  func(pw string) *radius.Packet { return withPAP(request("User"), pw) },
		"CHAP": func(pw string) *radius.Packet { return withCHAP(request("User"), pw, nil) },
		"CHAP with challenge": func(pw string) *radius.Packet {
			return withCHAP(request("User"), pw, []byte("a challenge of some length"))
		},
		"MS-CHAP":   func(pw string) *radius.Packet { return withMSCHAP(request("User"), pw) },
		"MS-CHAPv2": func(pw string) *radius.Packet { return withMSCHAPv2(request("User"), "User", pw) },
		"MS-CHAPv2 with domain": func(pw string) *radius.Packet {
			return withMSCHAPv2(request(`DOMAIN\User`), "User", pw)
		},
		"none": func(string) *radius.Packet { return request("User") },
	}
	// possible is the whole truth of the table in the package's documentation.
	possible := func(method, form string) bool {
		switch {
		case form == "cleartext" || method == "PAP":
			return true
		case form == "NT-Password":
			return strings.HasPrefix(method, "MS-CHAP")
		}
		return false
	}
	for method, packet := range methods {
		for form, stored := range forms {
			back := granting(billing.Grant{Password: stored})
			p := &billing.Processor{Handler: back}
			for _, right := range []bool{true, false} {
				given := thePassword
				want := billing.ReasonNone
				switch {
				case form == "none" || method == "none":
					want = billing.ReasonNoPassword
				case !possible(method, form):
					want = billing.ReasonPasswordForm
				case !right:
					given, want = "wrong", billing.ReasonWrongPassword
				}
				resp := handle(p, packet(given))
				got := back.last(t)
				if got.Reason != want || got.Accepted != (want == billing.ReasonNone) {
					t.Errorf("%s against %s, right=%t: %v, want %v", method, form, right, got.Reason, want)
				}
				code := radius.CodeAccessReject
				if want == billing.ReasonNone {
					code = radius.CodeAccessAccept
				}
				if resp.Code != code || resp.Err() != nil {
					t.Errorf("%s against %s, right=%t: %v, %v", method, form, right, resp.Code, resp.Err())
				}
			}
		}
	}
}

// reveal is Request.UserPassword of a packet with this User-Password.
func reveal(dst, hidden, secret, authenticator []byte) ([]byte, bool) {
	p := &radius.Packet{Secret: secret, Authenticator: [16]byte(authenticator)}
	p.Add(rfc2865.UserPassword_Type, hidden)
	password, err := radpool.NewRequest(p, nil).UserPassword(dst)
	return password, err == nil
}

// TestPAPBoundaries reveals passwords of every length with NULs in every place,
// against hide, and against layeh's where that one is right.
func TestPAPBoundaries(t *testing.T) {
	p := request("x")
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	for n := 0; n <= 128; n++ {
		for range 4 {
			password := make([]byte, n)
			for i := range password {
				password[i] = byte(rnd.UintN(4)) // many NULs
			}
			if n > 0 {
				password[n-1] |= 1 // one at the end would be padding
			}
			got, ok := reveal(nil, hide(password, p), p.Secret, p.Authenticator[:])
			if !ok || !bytes.Equal(got, password) {
				t.Fatalf("seed %d: %d octets: %x, %t, want %x", seed, n, got, ok, password)
			}
			if theirs, err := radius.NewUserPassword(password, p.Secret, p.Authenticator[:]); err == nil && n > 0 {
				got, ok := reveal([]byte("kept"), theirs, p.Secret, p.Authenticator[:])
				if !ok || string(got) != "kept"+string(password) {
					t.Fatalf("seed %d: %d octets hidden by layeh: %x, %t", seed, n, got, ok)
				}
			}
		}
	}
	for _, n := range []int{1, 15, 17, 127, 144} {
		if _, ok := reveal(nil, make([]byte, n), p.Secret, p.Authenticator[:]); ok {
			t.Errorf("a value of %d octets is taken", n)
		}
	}
	if _, ok := reveal(nil, make([]byte, 16), nil, p.Authenticator[:]); ok {
		t.Error("an empty secret is taken")
	}
	if got, ok := reveal(nil, nil, p.Secret, p.Authenticator[:]); !ok || len(got) != 0 {
		t.Errorf("no octets: %x, %t", got, ok)
	}
}

// TestPAPVector is RFC 2865 section 7.1.
func TestPAPVector(t *testing.T) {
	auth := unhex("0f403f9473978057bd83d5cb98f4227a")
	got, ok := reveal(nil, unhex("0dbe708d93d413ce3196e43f782a0aee"), []byte("xyzzy5461"), auth)
	if !ok || string(got) != "arctangent" {
		t.Errorf("%q, %t", got, ok)
	}
}

// TestCHAPVector is RFC 2865 section 7.2: the Request Authenticator is the
// challenge.
func TestCHAPVector(t *testing.T) {
	p := request("flopsy")
	copy(p.Authenticator[:], unhex("2aee86f08d0d55969ca5978e0d3367a2"))
	p.Add(rfc2865.CHAPPassword_Type, unhex("16e97557c316185895f293ff6344077275"))
	proc := &billing.Processor{Handler: granting(billing.Grant{Password: billing.Cleartext("arctangent")})}
	if resp := handle(proc, p); resp.Code != radius.CodeAccessAccept {
		t.Errorf("%v", resp.Code)
	}
	p.Authenticator[0]++
	if resp := handle(proc, p); resp.Code != radius.CodeAccessReject {
		t.Errorf("with another authenticator: %v", resp.Code)
	}
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

// TestMSCHAPVectors are those of RFC 2433 section B, RFC 2759 section 9.2 and RFC
// 3079 section 3.5.3.
func TestMSCHAPVectors(t *testing.T) {
	myPw, _ := billing.NTHashOf("MyPw")
	if got := hex.EncodeToString(myPw[:]); got != "fc156af7edcd6c0edde3337d427f4eac" {
		t.Errorf("RFC 2433: NtPasswordHash: %s", got)
	}
	v1 := billing.NTResponse([8]byte(challenge8), myPw)
	if got := hex.EncodeToString(v1[:]); got != "4e9d3c8f9cfd385d5bf4d3246791956ca4c351ab409a3d61" {
		t.Errorf("RFC 2433: NtChallengeResponse: %s", got)
	}
	if r := billing.Cleartext("MyPw").VerifyMSCHAP(challenge8, v1[:]); r != billing.ReasonNone {
		t.Errorf("RFC 2433: %v", r)
	}

	hash, _ := billing.NTHashOf("clientPass")
	if got := hex.EncodeToString(hash[:]); got != "44ebba8d5312b8d611474411f56989ae" {
		t.Errorf("RFC 2759: NtPasswordHash: %s", got)
	}
	hashHash := billing.HashHash(hash)
	if got := hex.EncodeToString(hashHash[:]); got != "41c00c584bd2d91c4017a2a12fa59f3f" {
		t.Errorf("RFC 2759: HashNtPasswordHash: %s", got)
	}
	challenge := billing.ChallengeHash(peer16, challenge16, "User")
	if got := hex.EncodeToString(challenge[:]); got != "d02e4386bce91226" {
		t.Errorf("RFC 2759: ChallengeHash: %s", got)
	}
	response := unhex("82309ecd8d708b5ea08faa3981cd83544233114a3d85d6df")
	for _, user := range []string{"User", `DOMAIN\User`} {
		if r := billing.Cleartext("clientPass").VerifyMSCHAPv2(challenge16, peer16, user, response); r != billing.ReasonNone {
			t.Errorf("RFC 2759: %s: %v", user, r)
		}
	}
	if got := billing.AuthenticatorResponse(hash, response, peer16, challenge16, "User"); got != "S=407A5589115FD0D6209F510FE9C04566932CDA56" {
		t.Errorf("RFC 2759: GenerateAuthenticatorResponse: %s", got)
	}
	send, recv := billing.MPPEKeys(hash, response)
	if got := hex.EncodeToString(send[:]); got != "8b7cdc149b993a1ba118cb153f56dccb" {
		t.Errorf("RFC 3079: SendStartKey128: %s", got)
	}
	// The RFC has no vector for the other one; this is its section 3.4 in full.
	master := unhex("fdece3717a8c838cb388e527ae3cdd31")
	h := sha1.New()
	h.Write(master)
	h.Write(make([]byte, 40))
	h.Write([]byte("On the client side, this is the send key; on the server side, it is the receive key."))
	h.Write(bytes.Repeat([]byte{0xf2}, 40))
	if want := h.Sum(nil)[:16]; !bytes.Equal(recv[:], want) {
		t.Errorf("RFC 3079: the receive key: %x, want %x", recv, want)
	}
}

// TestNTHashUnicode hashes what is not ASCII, and refuses what is not UTF-8.
func TestNTHashUnicode(t *testing.T) {
	hash, ok := billing.NTHashOf("пароль𝄞")
	want := [16]byte(rfc2759.NTPasswordHash(unhex("3f04 3004 4004 3e04 3b04 4c04 34d8 1edd")))
	if !ok || hash != want {
		t.Errorf("%x, %t, want %x", hash, ok, want)
	}
	if _, ok := billing.NTHashOf("\xff\xfe"); ok {
		t.Error("octets that are not UTF-8 have an NT hash")
	}
	replacement, _ := billing.NTHashOf("\ufffd")
	if r := billing.NTHash(replacement).VerifyPAP([]byte("\xff")); r != billing.ReasonWrongPassword {
		t.Errorf("an invalid octet counts as U+FFFD: %v", r)
	}
}

// TestMSCHAPv2Reply checks every attribute of the Access-Accept.
func TestMSCHAPv2Reply(t *testing.T) {
	for name, stored := range map[string]billing.Password{
		"cleartext": billing.Cleartext("clientPass"),
		"NT hash":   mustParse(t, billing.FormNT, "44EBBA8D5312B8D611474411F56989AE"),
	} {
		p := &billing.Processor{Handler: granting(billing.Grant{Password: stored})}
		packet := withMSCHAPv2(request("User"), "User", "clientPass")
		resp := handle(p, packet)
		if resp.Code != radius.CodeAccessAccept {
			t.Fatalf("%s: %v", name, resp.Code)
		}
		if got := ms(resp.Packet, 26); len(got) != 1 || string(got[0]) != "\x2aS=407A5589115FD0D6209F510FE9C04566932CDA56" {
			t.Errorf("%s: MS-CHAP2-Success: %q", name, got)
		}
		send, recv := ms(resp.Packet, 16), ms(resp.Packet, 17)
		if len(send) != 1 || len(recv) != 1 {
			t.Fatalf("%s: %d MS-MPPE-Send-Key, %d MS-MPPE-Recv-Key", name, len(send), len(recv))
		}
		wantSend := unhex("8b7cdc149b993a1ba118cb153f56dccb")
		hash, _ := billing.NTHashOf("clientPass")
		_, wantRecv := billing.MPPEKeys(hash, unhex("82309ecd8d708b5ea08faa3981cd83544233114a3d85d6df"))
		key1, salt1, err1 := radius.TunnelPassword(send[0], packet.Secret, packet.Authenticator[:])
		key2, salt2, err2 := radius.TunnelPassword(recv[0], packet.Secret, packet.Authenticator[:])
		if err1 != nil || err2 != nil || !bytes.Equal(key1, wantSend) || !bytes.Equal(key2, wantRecv[:]) {
			t.Errorf("%s: keys %x %x, %v %v", name, key1, key2, err1, err2)
		}
		if bytes.Equal(salt1, salt2) || salt1[0]&0x80 == 0 || salt2[0]&0x80 == 0 {
			t.Errorf("%s: salts %x %x", name, salt1, salt2)
		}
		wantPolicy(t, resp.Packet, 1, 6)
	}
}

func wantPolicy(t *testing.T, p *radius.Packet, policy, types uint32) {
	t.Helper()
	for typ, want := range map[byte]uint32{7: policy, 8: types} {
		got := ms(p, typ)
		if want == 0 && len(got) == 0 {
			continue
		}
		if len(got) != 1 || !bytes.Equal(got[0], radius.NewInteger(want)) {
			t.Errorf("Microsoft's attribute %d: %x, want %d", typ, got, want)
		}
	}
}

// TestMSCHAPReply checks the keys of version 1: the NT key is the hash of the NT
// hash.
func TestMSCHAPReply(t *testing.T) {
	p := &billing.Processor{Handler: granting(billing.Grant{Password: billing.Cleartext("MyPw")})}
	packet := withMSCHAP(request("User"), "MyPw")
	resp := handle(p, packet)
	keys := ms(resp.Packet, 12)
	if len(keys) != 1 || len(keys[0]) != 32 {
		t.Fatalf("MS-CHAP-MPPE-Keys: %x", keys)
	}
	plain, ok := reveal(nil, keys[0], packet.Secret, packet.Authenticator[:])
	hash, _ := billing.NTHashOf("MyPw")
	hashHash := billing.HashHash(hash)
	if want := append(make([]byte, 8), hashHash[:]...); !ok || !bytes.Equal(plain, want) {
		t.Errorf("keys %x, want %x", plain, want)
	}
	if len(ms(resp.Packet, 26)) != 0 || len(ms(resp.Packet, 16)) != 0 {
		t.Error("attributes of MS-CHAPv2 in the answer to MS-CHAP")
	}
	wantPolicy(t, resp.Packet, 1, 6)
}

func TestMPPEPolicies(t *testing.T) {
	for policy, want := range map[billing.MPPEPolicy][2]uint32{
		billing.MPPEAllow: {1, 6}, billing.MPPERequire: {2, 6}, billing.MPPERequireStrong: {2, 4}, billing.MPPEOff: {0, 0},
	} {
		p := &billing.Processor{Handler: granting(billing.Grant{Password: billing.Cleartext("pw")}), MPPE: policy}
		resp := handle(p, withMSCHAPv2(request("User"), "User", "pw"))
		wantPolicy(t, resp.Packet, want[0], want[1])
		if keys := len(ms(resp.Packet, 16)); (keys == 0) != (policy == billing.MPPEOff) {
			t.Errorf("policy %d: %d keys", policy, keys)
		}
		if len(ms(resp.Packet, 26)) != 1 {
			t.Errorf("policy %d: no MS-CHAP2-Success", policy)
		}
	}
	own := radius.Attributes{{Type: rfc2865.VendorSpecific_Type, Attribute: vsa(7, radius.NewInteger(2))}}
	p := &billing.Processor{Handler: granting(billing.Grant{Password: billing.Cleartext("pw"), Reply: own})}
	wantPolicy(t, handle(p, withMSCHAPv2(request("User"), "User", "pw")).Packet, 2, 6)

	// Both in one Vendor-Specific.
	both := append(vsa(7, radius.NewInteger(2)), vsa(8, radius.NewInteger(4))[4:]...)
	own[0].Attribute = both
	for _, avp := range handle(p, withMSCHAPv2(request("User"), "User", "pw")).Packet.Attributes {
		if a := avp.Attribute; avp.Type == rfc2865.VendorSpecific_Type && !bytes.Equal(a, both) && (a[4] == 7 || a[4] == 8) {
			t.Errorf("beside that of the back end: %x", a)
		}
	}
}

// TestMSCHAPError checks what a client of MS-CHAP reads in an Access-Reject.
func TestMSCHAPError(t *testing.T) {
	p := &billing.Processor{Handler: granting(billing.Grant{Password: billing.Cleartext("right")})}
	seen := map[string]bool{}
	for range 2 {
		for digits, packet := range map[int]*radius.Packet{
			16: withMSCHAP(request("User"), "wrong"),
			32: withMSCHAPv2(request("User"), "User", "wrong"),
		} {
			got := ms(handle(p, packet).Packet, 2)
			if len(got) != 1 {
				t.Fatalf("%d MS-CHAP-Errors", len(got))
			}
			want := regexp.MustCompile(fmt.Sprintf(`^\x2aE=691 R=0 C=[0-9A-F]{%d} V=3$`, digits))
			if !want.Match(got[0]) {
				t.Errorf("MS-CHAP-Error %q, want %s", got[0], want)
			}
			if seen[string(got[0])] {
				t.Errorf("the challenge comes twice: %q", got[0])
			}
			seen[string(got[0])] = true
		}
	}
	if got := ms(handle(p, withPAP(request("User"), "wrong")).Packet, 2); len(got) != 0 {
		t.Errorf("MS-CHAP-Error to PAP: %q", got)
	}
}

// TestLMOnly refuses a response without an NT response.
func TestLMOnly(t *testing.T) {
	back := granting(billing.Grant{Password: billing.Cleartext("MyPw")})
	packet := withMSCHAP(request("User"), "MyPw")
	packet.Attributes[2].Attribute[7] = 0 // Flags
	handle(&billing.Processor{Handler: back}, packet)
	if got := back.last(t).Reason; got != billing.ReasonPasswordForm {
		t.Errorf("%v", got)
	}
}
