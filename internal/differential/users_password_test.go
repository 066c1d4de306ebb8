package differential_test

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// The password "pw" in the forms of rlm_pap. A salted digest is of password and
// salt, with the salt behind it.
var (
	salt      = []byte("salt")
	md5of     = func(b string) []byte { d := md5.Sum([]byte(b)); return d[:] }
	sha1of    = func(b string) []byte { d := sha1.Sum([]byte(b)); return d[:] }
	sha224of  = func(b string) []byte { d := sha256.Sum224([]byte(b)); return d[:] }
	sha256of  = func(b string) []byte { d := sha256.Sum256([]byte(b)); return d[:] }
	sha384of  = func(b string) []byte { d := sha512.Sum384([]byte(b)); return d[:] }
	sha512of  = func(b string) []byte { d := sha512.Sum512([]byte(b)); return d[:] }
	inHex     = hex.EncodeToString
	inBase64  = base64.StdEncoding.EncodeToString
	withSalt  = func(hash func(string) []byte) []byte { return append(hash("pw"+string(salt)), salt...) }
	ntOfPw    = "8cc19b6a8cfeac299c2871c86b38de28"
	md5Crypt  = "$1$saltsalt$6SNdNaZLKst2LlSm7oPPL1"
	eachTried = []string{"pap pw", "pap wrong", "chap pw", "mschapv2 pw"}
)

var passwordUsers = []*user{
	of("pass-clear", plain, hello).ask("pap pw", "pap wrong", "pap PW", "pap pw ", "chap pw", "chap wrong", "mschap pw", "mschap wrong", "mschapv2 pw", "mschapv2 wrong", "none"),
	of("pass-clear-long", "check Cleartext-Password := "+strings.Repeat("0123456789", 12), hello).
		ask("pap "+strings.Repeat("0123456789", 12), "chap "+strings.Repeat("0123456789", 12), "pap "+strings.Repeat("0123456789", 11)),
	of("pass-clear-utf8", "check Cleartext-Password := пароль", hello).ask("pap пароль", "chap пароль", "mschapv2 пароль", "pap парол"),
	of("pass-clear-quoted", `check Cleartext-Password := "p w"`, hello).ask("pap p w", `pap "p w"`),
	of("pass-clear-quote", `check Cleartext-Password := p"w`, hello).ask(`pap p"w`),
	of("pass-clear-backslash", `check Cleartext-Password := p\w`, hello).ask(`pap p\w`, "pap pw"),
	of("pass-clear-backslashes", `check Cleartext-Password := p\\w`, hello).ask(`pap p\w`, `pap p\\w`),
	of("pass-clear-percent", `check Cleartext-Password := p%{w}`, hello).ask(`pap p%{w}`),
	of("pass-clear-space", "check Cleartext-Password :=  pw ", hello).ask("pap  pw ", "pap pw"),
	of("pass-clear-hexlike", "check Cleartext-Password := 0x7077", hello).ask("pap 0x7077", "pap pw"),
	of("pass-empty", "check Cleartext-Password := ", hello).ask("pap ", "pap x", "chap ", "none"),
	of("pass-empty-given", plain, hello).ask("pap ", "chap ", "mschapv2 "),
	of("pass-user-password", "check User-Password := pw", hello).ask("pap pw", "pap wrong", "chap pw"),

	of("pass-nt", "check NT-Password := "+ntOfPw, hello).ask("pap pw", "pap wrong", "mschap pw", "mschapv2 pw", "mschapv2 wrong", "chap pw"),
	of("pass-nt-hex", "check NT-Password := 0x"+ntOfPw, hello).ask("pap pw", "mschap pw", "mschapv2 pw"),
	of("pass-nt-upper", "check NT-Password := "+strings.ToUpper(ntOfPw), hello).ask("pap pw", "mschapv2 pw"),
	of("pass-crypt-des", "check Crypt-Password := abzlUXK5ed5rs", hello).ask("pap pw", "pap wrong"),
	of("pass-crypt-md5", "check Crypt-Password := "+md5Crypt, hello).ask(eachTried...),
	of("pass-crypt-sha512", "check Crypt-Password := $6$saltsalt$pauPrmdmG4BTE9h2HPmywiw152IFch6BJCEsaY6D.PLTfpV8sqvXwWdyfsgVgozkYH9B80bAip/08R2BPH2xk/", hello).ask("pap pw", "pap wrong"),
	of("pass-crypt-assign", "check Crypt-Password = "+md5Crypt, hello).ask("pap pw", "pap wrong"),
	of("pass-crypt-equal", "check Crypt-Password == "+md5Crypt, hello).ask("pap pw", "pap wrong"),
	of("pass-md5", "check MD5-Password := "+inHex(md5of("pw")), hello).ask(eachTried...),
	of("pass-md5-base64", "check MD5-Password := "+inBase64(md5of("pw")), hello).ask("pap pw", "pap wrong"),
	of("pass-md5-0x", "check MD5-Password := 0x"+inHex(md5of("pw")), hello).ask("pap pw", "pap wrong"),
	of("pass-md5-equal", "check MD5-Password == "+inHex(md5of("pw")), hello).ask("pap pw"),
	of("pass-smd5", "check SMD5-Password := "+inHex(withSalt(md5of)), hello).ask("pap pw", "pap wrong"),
	of("pass-smd5-base64", "check SMD5-Password := "+inBase64(withSalt(md5of)), hello).ask("pap pw", "pap wrong"),
	of("pass-sha", "check SHA-Password := "+inHex(sha1of("pw")), hello).ask("pap pw", "pap wrong"),
	of("pass-sha-base64", "check SHA-Password := "+inBase64(sha1of("pw")), hello).ask("pap pw", "pap wrong"),
	of("pass-sha1", "check SHA1-Password := "+inHex(sha1of("pw")), hello).ask("pap pw", "pap wrong"),
	of("pass-ssha", "check SSHA-Password := "+inHex(withSalt(sha1of)), hello).ask("pap pw", "pap wrong"),
	of("pass-ssha-base64", "check SSHA-Password := "+inBase64(withSalt(sha1of)), hello).ask("pap pw", "pap wrong"),
	of("pass-sha2-224", "check SHA2-Password := "+inHex(sha224of("pw")), hello).ask("pap pw", "pap wrong"),
	of("pass-sha2-256", "check SHA2-Password := "+inHex(sha256of("pw")), hello).ask("pap pw", "pap wrong"),
	of("pass-sha2-384", "check SHA2-Password := "+inHex(sha384of("pw")), hello).ask("pap pw", "pap wrong"),
	of("pass-sha2-512", "check SHA2-Password := "+inHex(sha512of("pw")), hello).ask("pap pw", "pap wrong"),
	of("pass-ssha2-224", "check SSHA2-224-Password := "+inHex(withSalt(sha224of)), hello).ask("pap pw", "pap wrong"),
	of("pass-ssha2-256", "check SSHA2-256-Password := "+inBase64(withSalt(sha256of)), hello).ask("pap pw", "pap wrong"),
	of("pass-ssha2-384", "check SSHA2-384-Password := "+inHex(withSalt(sha384of)), hello).ask("pap pw", "pap wrong"),
	of("pass-ssha2-512", "check SSHA2-512-Password := "+inBase64(withSalt(sha512of)), hello).ask("pap pw", "pap wrong"),

	of("header-clear", "check Password-With-Header := {clear}pw", hello).ask(eachTried...),
	of("header-cleartext", "check Password-With-Header := {cleartext}pw", hello).ask("pap pw", "chap pw"),
	of("header-upper", "check Password-With-Header := {CLEAR}pw", hello).ask("pap pw", "pap wrong"),
	of("header-crypt", "check Password-With-Header := {crypt}"+md5Crypt, hello).ask("pap pw", "pap wrong"),
	of("header-md5", "check Password-With-Header := {MD5}"+inBase64(md5of("pw")), hello).ask("pap pw", "pap wrong"),
	of("header-md5-hex", "check Password-With-Header := {md5}"+inHex(md5of("pw")), hello).ask("pap pw", "pap wrong"),
	of("header-smd5", "check Password-With-Header := {SMD5}"+inBase64(withSalt(md5of)), hello).ask("pap pw", "pap wrong"),
	of("header-sha", "check Password-With-Header := {SHA}"+inBase64(sha1of("pw")), hello).ask("pap pw", "pap wrong"),
	of("header-ssha", "check Password-With-Header := {SSHA}"+inBase64(withSalt(sha1of)), hello).ask("pap pw", "pap wrong"),
	of("header-sha256", "check Password-With-Header := {sha256}"+inBase64(sha256of("pw")), hello).ask("pap pw", "pap wrong"),
	of("header-sha512", "check Password-With-Header := {sha512}"+inHex(sha512of("pw")), hello).ask("pap pw", "pap wrong"),
	of("header-ssha256", "check Password-With-Header := {ssha256}"+inBase64(withSalt(sha256of)), hello).ask("pap pw", "pap wrong"),
	of("header-ssha512", "check Password-With-Header := {SSHA512}"+inBase64(withSalt(sha512of)), hello).ask("pap pw", "pap wrong"),
	of("header-nt", "check Password-With-Header := {nt}"+ntOfPw, hello).ask("pap pw", "mschapv2 pw"),
	of("header-nthash", "check Password-With-Header := {nthash}"+ntOfPw, hello).ask("pap pw", "mschapv2 pw"),
	of("header-none", "check Password-With-Header := pw", hello).ask("pap pw", "chap pw"),
	of("header-unknown", "check Password-With-Header := {nosuch}pw", hello).ask("pap pw", "pap {nosuch}pw"),
	of("header-base64", "check Password-With-Header := "+inBase64([]byte("{clear}pw")), hello).ask("pap pw"),
}
