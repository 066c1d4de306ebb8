package trace

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/radpool/radpool/internal/dict"
)

// secret stands for what is not printed, as FreeRADIUS has it.
const secret = "<<< secret >>>"

// describe is an attribute as Name = value, without what is secret.
func describe(ref dict.Ref, value []byte) string {
	if ref.Attr == nil {
		return fmt.Sprintf("Vendor-Specific = <<< %d octets that cannot be read >>>", len(value))
	}
	name := ref.Name
	if ref.Tag != 0 {
		name += ":" + strconv.Itoa(int(ref.Tag))
	}
	if hidden(ref.Attr) {
		return name + " = " + secret
	}
	text := ref.Format(value)
	if ref.Type != dict.TypeString {
		return name + " = " + text
	}
	return name + ` = "` + oneLine(hidePairs(text)) + `"`
}

// microsoft is the vendor that has what MS-CHAP exchanges (RFC 2548).
const microsoft = 311

// secretNames are parts of the names of what must not be printed, in lower case.
var secretNames = []string{"password", "passwd", "passphrase", "secret", "key", "-psk", "digest-response", "digest-ha1"}

// secretAttributes are those without a vendor that no part of the name tells of.
var secretAttributes = map[string]bool{
	"CHAP-Password": true, "CHAP-Challenge": true, "EAP-Message": true, "Message-Authenticator": true, "ARAP-Features": true,
	"ARAP-Challenge-Response": true, "ARAP-Security-Data": true, "Keying-Material": true,
}

// hidden reports whether the value of a is not to be seen. A dictionary of one's own may
// call an attribute something else: what is secret by its number stays so.
func hidden(a *dict.Attr) bool {
	standard := dict.ByNumber(a.Vendor, a.Code)
	if standard == nil {
		digest := a.Vendor == 0 && (a.Code == 103 || a.Code == 121) // Digest-Response, Digest-HA1 (RFC 5090)
		return digest || a.Vendor == microsoft || a.Encrypt != 0 || hasSecretName(a.Name)
	}
	for _, a := range []*dict.Attr{a, standard} {
		switch {
		case a.Encrypt != 0, secretAttributes[a.Name], hasSecretName(a.Name):
			return true
		case a.Vendor == microsoft && strings.HasPrefix(a.Name, "MS-CHAP"):
			return a.Name != "MS-CHAP-Error" && a.Name != "MS-CHAP-Domain"
		}
	}
	return false
}

func hasSecretName(name string) bool {
	name = strings.ToLower(name)
	for _, part := range secretNames {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// secretPair is a password in a text that holds several pairs, to the end of the text: what
// ends it nobody says.
var secretPair = regexp.MustCompile(`(?is)((?:pass(?:word|wd|phrase)?|secret|psk|key)\s*[=:]).*`)

func hidePairs(text string) string { return secretPair.ReplaceAllString(text, "${1}"+secret) }

// oneLine is s without what would end the line or steer a terminal.
func oneLine(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for i, w := 0, 0; i < len(s); i += w {
		r, size := utf8.DecodeRuneInString(s[i:])
		w = size
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\%03o`, s[i])
		case !unicode.IsPrint(r):
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// printable reports whether a password can be one that somebody typed.
func printable(b []byte) bool {
	return utf8.Valid(b) && bytes.IndexFunc(b, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}
