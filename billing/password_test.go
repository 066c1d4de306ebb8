package billing_test

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/radpool/radpool/billing"
)

const thePassword = "correct horse"

func digest(sum []byte, salt string) string { return string(sum) + salt }

func sumOf(form billing.Form, salt string) string {
	in := []byte(thePassword + salt)
	switch form {
	case billing.FormMD5, billing.FormSMD5:
		s := md5.Sum(in)
		return digest(s[:], salt)
	case billing.FormSHA, billing.FormSSHA:
		s := sha1.Sum(in)
		return digest(s[:], salt)
	case billing.FormSSHA2_224:
		s := sha256.Sum224(in)
		return digest(s[:], salt)
	case billing.FormSHA2, billing.FormSSHA2_256:
		s := sha256.Sum256(in)
		return digest(s[:], salt)
	case billing.FormSSHA2_384:
		s := sha512.Sum384(in)
		return digest(s[:], salt)
	case billing.FormSSHA2_512:
		s := sha512.Sum512(in)
		return digest(s[:], salt)
	case billing.FormNT:
		h, _ := billing.NTHashOf(thePassword)
		return string(h[:])
	}
	panic("no digest of " + form.String())
}

// slowHashes of thePassword were made by libxcrypt's crypt(3) and by Python's
// hashlib.
var slowHashes = []struct {
	form  billing.Form
	value string
}{
	{billing.FormCrypt, "XylJt/8b2k7dE"},
	{billing.FormCrypt, "$1$saltsalt$NuzA7WTAelpl95xgBGWN60"},
	{billing.FormCrypt, "$5$saltstring$vc6YOOogU4kWVvwga8e9zTFgKcy4tb5LaPxIiPJzqEC"},
	{billing.FormCrypt, "$6$rounds=2000$saltstring$CWO3pnVxqUMtdDqk7gJ84eEXL8QmMHeR9YxuP4Paplo1mBQb5V0Ln8er866OPJvzQPpjkyb5T.TzFaWTZL7yx/"},
	{billing.FormCrypt, "$2b$05$CCCCCCCCCCCCCCCCCCCCC.WrAwgFxicHZ3kL7zMvXYXHKosDn8ot2"},
	{billing.FormCrypt, "$2y$10$CCCCCCCCCCCCCCCCCCCCC.LSSonPiE1aTkKoxVQga.MJ5lMAE1RoO"},
	{billing.FormCrypt, "$y$j75$F5Jx5fExrKuPp53xLKQ..1$aEFV0VcEI5Jx.rzUhLbfRgipTKSbuNF0ldHPkDpnco3"},
	{billing.FormCrypt, "$y$j9T$F5Jx5fExrKuPp53xLKQ..1$zwtVrjrUCmXcyLTs6oxLTQlzifSUkF8RHJ./tK5KU79"},
	{billing.FormCrypt, "$sha1$1000$saltsalt$ouns5uP5ckp8yJ3a80IEZtEDXjoB"},
	{billing.FormCrypt, "$scrypt$ln=10,r=8,p=1$c2FsdHNhbHRzYWx0c2FsdA$A9lBa6RTbfBovWqamVIqXKovIl4Vk6OZyVojLJmYmSI"},
	{billing.FormCrypt, "$pbkdf2-sha256$1000$c2FsdHNhbHRzYWx0$F7o7.5VTVzFAO998X6s3AHrDsJVdMiIlgndIMe19NvY"},
	{billing.FormPBKDF2, "$pbkdf2-sha256$1000$c2FsdHNhbHRzYWx0$F7o7.5VTVzFAO998X6s3AHrDsJVdMiIlgndIMe19NvY"},
	{billing.FormPBKDF2, "HMACSHA2+256:AAAD6A==:c2FsdHNhbHRzYWx0:F7o7+5VTVzFAO998X6s3AHrDsJVdMiIlgndIMe19NvY="},
	{billing.FormWithHeader, "{PBKDF2-SHA512}1000$c2FsdHNhbHRzYWx0$oSKce4SGrSKsJabCWZfpe2MmVOPtl4paOjoD1njLdjo3le9sMBwq0q7ivJFcrXSTMQ0HjlOn/J48J9WZe4uR0g"},
	{billing.FormWithHeader, "{x-pbkdf2}HMACSHA2+256:AAAD6A==:c2FsdHNhbHRzYWx0:F7o7+5VTVzFAO998X6s3AHrDsJVdMiIlgndIMe19NvY="},
	{billing.FormWithHeader, "{CRYPT}$5$saltstring$vc6YOOogU4kWVvwga8e9zTFgKcy4tb5LaPxIiPJzqEC"},
}

// TestSlowHashes compares crypt(3) and PBKDF2 with what other programs make.
func TestSlowHashes(t *testing.T) {
	for _, c := range slowHashes {
		p, err := billing.ParsePassword(c.form, c.value)
		if err != nil {
			t.Errorf("%s: %v", c.value, err)
			continue
		}
		if r := p.VerifyPAP([]byte(thePassword)); r != billing.ReasonNone {
			t.Errorf("%s: the right password: %v", c.value, r)
		}
		for _, wrong := range []string{"x", "x" + thePassword, thePassword[1:], "\x00" + thePassword} {
			if r := p.VerifyPAP([]byte(wrong)); r != billing.ReasonWrongPassword {
				t.Errorf("%s: %q: %v, want wrong-password", c.value, wrong, r)
			}
		}
		if r := p.VerifyPAP(nil); r != billing.ReasonNoPassword {
			t.Errorf("%s: no password: %v, want no-password", c.value, r)
		}
	}
}

// TestArgon2 has its hash from the README of the reference implementation.
func TestArgon2(t *testing.T) {
	p, err := billing.ParsePassword(billing.FormCrypt,
		"$argon2i$v=19$m=65536,t=2,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b+dWRWJTmaaJObG")
	if err != nil {
		t.Fatal(err)
	}
	if r := p.VerifyPAP([]byte("password")); r != billing.ReasonNone {
		t.Errorf("the right password: %v", r)
	}
	if r := p.VerifyPAP([]byte("passwort")); r != billing.ReasonWrongPassword {
		t.Errorf("a wrong password: %v", r)
	}
}

// TestDigestEncodings reads each digest in binary, hexadecimal and base64.
func TestDigestEncodings(t *testing.T) {
	salted := map[billing.Form]string{
		billing.FormSMD5: "salz", billing.FormSSHA: "\x00\xff\x01", billing.FormSSHA2_224: "s",
		billing.FormSSHA2_256: "saltsaltsalt", billing.FormSSHA2_384: "salzig", billing.FormSSHA2_512: "12345678",
	}
	for _, form := range []billing.Form{
		billing.FormNT, billing.FormMD5, billing.FormSMD5, billing.FormSHA, billing.FormSSHA, billing.FormSHA2,
		billing.FormSSHA2_224, billing.FormSSHA2_256, billing.FormSSHA2_384, billing.FormSSHA2_512,
	} {
		raw := sumOf(form, salted[form])
		for name, value := range map[string]string{
			"binary":             raw,
			"hexadecimal":        hex.EncodeToString([]byte(raw)),
			"HEXADECIMAL":        strings.ToUpper(hex.EncodeToString([]byte(raw))),
			"base64":             base64.StdEncoding.EncodeToString([]byte(raw)),
			"base64, no padding": base64.RawStdEncoding.EncodeToString([]byte(raw)),
		} {
			p, err := billing.ParsePassword(form, value)
			if err != nil {
				t.Errorf("%s in %s: %v", form, name, err)
				continue
			}
			if r := p.VerifyPAP([]byte(thePassword)); r != billing.ReasonNone {
				t.Errorf("%s in %s: the right password: %v", form, name, r)
			}
			if r := p.VerifyPAP([]byte("wrong")); r != billing.ReasonWrongPassword {
				t.Errorf("%s in %s: a wrong password: %v", form, name, r)
			}
		}
	}
	for _, sum := range [][]byte{
		func() []byte { s := sha256.Sum224([]byte(thePassword)); return s[:] }(),
		func() []byte { s := sha512.Sum384([]byte(thePassword)); return s[:] }(),
		func() []byte { s := sha512.Sum512([]byte(thePassword)); return s[:] }(),
	} {
		p, err := billing.ParsePassword(billing.FormSHA2, hex.EncodeToString(sum))
		if err != nil || p.VerifyPAP([]byte(thePassword)) != billing.ReasonNone {
			t.Errorf("SHA2-Password of %d octets: %v", len(sum), err)
		}
	}
}

func TestHeaders(t *testing.T) {
	b64 := func(form billing.Form, salt string) string {
		return base64.StdEncoding.EncodeToString([]byte(sumOf(form, salt)))
	}
	for value, form := range map[string]billing.Form{
		"{clear}" + thePassword:                          billing.FormCleartext,
		"{ClearText}" + thePassword:                      billing.FormCleartext,
		thePassword:                                      billing.FormCleartext,
		"{MD5}" + b64(billing.FormMD5, ""):               billing.FormMD5,
		"{SMD5}" + b64(billing.FormSMD5, "abcd"):         billing.FormSMD5,
		"{sha}" + b64(billing.FormSHA, ""):               billing.FormSHA,
		"{SSHA}" + b64(billing.FormSSHA, "abcd"):         billing.FormSSHA,
		"{sha256}" + b64(billing.FormSHA2, ""):           billing.FormSHA2,
		"{SSHA512}" + b64(billing.FormSSHA2_512, "abcd"): billing.FormSSHA2_512,
		"{nt}" + b64(billing.FormNT, ""):                 billing.FormNT,
		"{x-nthash}" + b64(billing.FormNT, ""):           billing.FormNT,
		base64.StdEncoding.EncodeToString([]byte("{SSHA}" + b64(billing.FormSSHA, "abcd"))): billing.FormSSHA,
	} {
		p, err := billing.ParsePasswordWithHeader(value)
		if err != nil {
			t.Errorf("%s: %v", value, err)
			continue
		}
		if p.Form() != form {
			t.Errorf("%s: the form is %v, want %v", value, p.Form(), form)
		}
		if r := p.VerifyPAP([]byte(thePassword)); r != billing.ReasonNone {
			t.Errorf("%s: %v", value, r)
		}
	}
}

// TestParseErrors wants errors that name the form and show nothing of the value.
func TestParseErrors(t *testing.T) {
	const mark = "SeCrEtMaRk"
	for _, c := range []struct {
		form  billing.Form
		value string
		want  string
	}{
		{billing.FormNone, mark, "none: no form given"},
		{billing.Form(200), mark, "invalid: no such form"},
		{billing.FormMD5, mark, "MD5-Password: 10 octets after decoding, want 16"},
		{billing.FormSMD5, strings.Repeat("ab", 16), "SMD5-Password: 16 octets after decoding, want more than 16"},
		{billing.FormNT, mark, "NT-Password: 10 octets after decoding, want 16"},
		{billing.FormSHA2, mark, "SHA2-Password: 10 octets after decoding, want 28, 32, 48 or 64"},
		{billing.FormSHA2, strings.Repeat("ab", 40), "SHA2-Password: 40 octets after decoding"},
		{billing.FormCleartext, strings.Repeat(mark, 26), "Cleartext-Password: 260 octets, the most is 253"},
		{billing.FormMD5, strings.Repeat(mark, 200), "MD5-Password: 2000 octets, the most is 1024"},
		{billing.FormCrypt, mark, "Crypt-Password: not of the form"},
		{billing.FormCrypt, "$" + mark + "$salt$hash", "Crypt-Password: the hash between the first two $"},
		{billing.FormCrypt, "$1$salt", "Crypt-Password: not of the form"},
		{billing.FormCrypt, "$1$salt$$" + mark, "Crypt-Password: 1: the wrong number of fields"},
		{billing.FormCrypt, "$2b$31$CCCCCCCCCCCCCCCCCCCCC.WrAwgFxicHZ3kL7zMvXYXHKosDn8ot2", "cost is 31, must be 4 to 14"},
		{billing.FormCrypt, "$2b$" + mark + "$x", "Crypt-Password: 2b: cost is not a number"},
		{billing.FormCrypt, "$2b$10$" + mark, "Crypt-Password: 2b: the salt or the hash is malformed"},
		{billing.FormCrypt, "$6$rounds=999999999$salt$" + mark, "rounds is 999999999, must be 1000 to 1000000"},
		{billing.FormCrypt, "$6$" + mark + "$salt$x", "Crypt-Password: 6: no rounds where they are expected"},
		{billing.FormCrypt, "$sha1$2000000$salt$" + mark, "rounds is 2000000, must be 1 to 1000000"},
		{billing.FormCrypt, "$y$jFT$salt$" + mark, "the cost is not one of"},
		{billing.FormCrypt, "$scrypt$ln=20,r=8,p=1$salt$" + mark, "costs more than"},
		{billing.FormCrypt, "$scrypt$ln=10,r=8$salt$" + mark, "a parameter is missing"},
		{billing.FormCrypt, "$argon2id$v=19$m=4194304,t=2,p=1$salt$" + mark, "costs more than"},
		{billing.FormCrypt, "$argon2id$v=19$m=4096,t=0,p=1$salt$" + mark, "t is 0, must be 1"},
		{billing.FormCrypt, "$argon2id$v=19$m=4096,t=1,x=1$salt$" + mark, "an unknown parameter"},
		{billing.FormPBKDF2, mark, "PBKDF2-Password: not of the form"},
		{billing.FormPBKDF2, "$pbkdf2-sha256$99999999$c2FsdA$" + mark, "rounds is 99999999, must be 1 to 1000000"},
		{billing.FormPBKDF2, "$pbkdf2-md5$1000$c2FsdA$" + mark, "the digest is not one"},
		{billing.FormPBKDF2, "HMACSHA1:" + mark + ":c2FsdA==:c2FsdA==", "rounds are not 4 octets"},
		{billing.FormPBKDF2, "HMACSHA1://///w==:c2FsdA==:c2FsdA==", "must be 1 to 1000000"},
		{billing.FormPBKDF2, "$pbkdf2-sha256$1000$c2FsdA$" + mark, "the salt or the hash is malformed"},
		{billing.FormWithHeader, "{SSHA}" + mark, "Password-With-Header: SSHA-Password: 10 octets after decoding"},
		{billing.FormWithHeader, "{" + mark + "}x", "Password-With-Header: the header in braces is not one"},
	} {
		p, err := billing.ParsePassword(c.form, c.value)
		if err == nil {
			t.Errorf("%s of %q: no error", c.form, c.value)
			continue
		}
		if !strings.HasPrefix(err.Error(), "billing: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %q: %q, want %q in it", c.form, c.value, err, c.want)
		}
		if strings.Contains(err.Error(), mark) {
			t.Errorf("%s: the error shows the value: %q", c.form, err)
		}
		if !p.IsZero() {
			t.Errorf("%s of %q: a password beside the error", c.form, c.value)
		}
	}
}

func TestParseForm(t *testing.T) {
	for f := billing.FormCleartext; f <= billing.FormWithHeader; f++ {
		if got, ok := billing.ParseForm(strings.ToUpper(f.String())); !ok || got != f {
			t.Errorf("%v: %v, %t", f, got, ok)
		}
	}
	for _, name := range []string{"", "none", "LM-Password", "User-Password", "Simultaneous-Use"} {
		if _, ok := billing.ParseForm(name); ok {
			t.Errorf("%q is a form", name)
		}
	}
}

// TestPasswordIsNeverShown formats and encodes a password in every way that a
// program is likely to, alone and inside a Grant.
func TestPasswordIsNeverShown(t *testing.T) {
	const shown = "hunter2secret"
	for _, p := range []billing.Password{
		billing.Cleartext(shown),
		mustParse(t, billing.FormCrypt, "$2b$05$CCCCCCCCCCCCCCCCCCCCC.WrAwgFxicHZ3kL7zMvXYXHKosDn8ot2"),
	} {
		g := billing.Grant{Password: p}
		var out bytes.Buffer
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T"} {
			fmt.Fprintf(&out, verb+verb+verb+verb, p, &p, g, []billing.Password{p})
		}
		for _, v := range []any{p, &p, g, map[string]billing.Password{"x": p}, map[billing.Password]int{p: 1}} {
			b, err := json.Marshal(v)
			if err != nil {
				t.Errorf("json.Marshal(%T): %v", v, err)
			}
			out.Write(b)
		}
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "p", p, "g", g)
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "p", p, "g", g)
		core := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(&out), zap.DebugLevel)
		zap.New(core).Info("x", zap.Any("p", p), zap.Any("g", g), zap.Reflect("r", p))
		for _, leak := range []string{shown, hex.EncodeToString([]byte(shown)), "CCCCCC", "WrAwgFx"} {
			if strings.Contains(strings.ToLower(out.String()), strings.ToLower(leak)) {
				t.Errorf("%v: shown: %s", p.Form(), out.String())
			}
		}
		if !strings.Contains(out.String(), p.Form().String()) {
			t.Errorf("the form is not shown: %s", out.String())
		}
	}
}

func mustParse(t testing.TB, form billing.Form, value string) billing.Password {
	t.Helper()
	p, err := billing.ParsePassword(form, value)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestEmptyPasswords never match, so that an empty field lets nobody in.
func TestEmptyPasswords(t *testing.T) {
	emptySum := md5.Sum(nil)
	emptyNT, _ := billing.NTHashOf("")
	for name, p := range map[string]billing.Password{
		"none": {}, "cleartext": billing.Cleartext(""), "NT": billing.NTHash(emptyNT),
		"MD5": mustParse(t, billing.FormMD5, hex.EncodeToString(emptySum[:])),
	} {
		if r := p.VerifyPAP(nil); r != billing.ReasonNoPassword {
			t.Errorf("%s: PAP: %v", name, r)
		}
		sum := md5.Sum(append([]byte{1}, challenge16...))
		if r := p.VerifyCHAP(1, challenge16, sum[:]); r == billing.ReasonNone {
			t.Errorf("%s: CHAP with the empty password passes", name)
		}
		response := billing.NTResponse([8]byte(challenge8), emptyNT)
		if r := p.VerifyMSCHAP(challenge8, response[:]); r == billing.ReasonNone {
			t.Errorf("%s: MS-CHAP with the empty password passes", name)
		}
	}
}

// TestCleartextBoundaries compares passwords of every length that matters.
func TestCleartextBoundaries(t *testing.T) {
	for _, n := range []int{1, 15, 16, 17, 31, 32, 127, 128, 252, 253} {
		password := strings.Repeat("p", n)
		p := billing.Cleartext(password)
		if r := p.VerifyPAP([]byte(password)); r != billing.ReasonNone {
			t.Errorf("%d octets: %v", n, r)
		}
		for _, wrong := range []string{password + "p", password + "\x00", password[1:] + "q", "q" + password[1:], "\x00" + password} {
			if r := p.VerifyPAP([]byte(wrong)); r != billing.ReasonWrongPassword {
				t.Errorf("%d octets, %q: %v", n, wrong, r)
			}
		}
	}
	if r := billing.Cleartext(strings.Repeat("p", 254)).VerifyPAP(bytes.Repeat([]byte("p"), 254)); r != billing.ReasonWrongPassword {
		t.Errorf("254 octets: %v", r)
	}
}

func FuzzParsePassword(f *testing.F) {
	for _, c := range slowHashes {
		f.Add(uint8(c.form), c.value)
	}
	f.Add(uint8(billing.FormWithHeader), "{SSHA}bUAHuN4YxHbFxXEqNaQmzpCF4ExzYWx0")
	f.Add(uint8(billing.FormMD5), "5f4dcc3b5aa765d61d8327deb882cf99")
	f.Fuzz(func(t *testing.T, form uint8, value string) {
		p, err := billing.ParsePassword(billing.Form(form), value)
		if err != nil {
			if !p.IsZero() || !strings.HasPrefix(err.Error(), "billing: ") {
				t.Fatalf("%v beside %v", p, err)
			}
			return
		}
		if p.Form() == billing.FormNone || p.Form() == billing.FormWithHeader {
			t.Fatalf("a password of form %v", p.Form())
		}
		if p.Form() != billing.FormCrypt && p.Form() != billing.FormPBKDF2 {
			p.VerifyPAP([]byte("x")) // the slow ones would make it a slow test
			p.VerifyCHAP(1, []byte("x"), []byte("x"))
			p.VerifyMSCHAP(challenge8, []byte("x"))
		}
	})
}
