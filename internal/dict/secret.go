package dict

import (
	"regexp"
	"strings"
)

// microsoft is the vendor that has what MS-CHAP exchanges (RFC 2548).
const microsoft = 311

// secretNames are parts of the names of what must not be printed, in lower case.
var secretNames = []string{
	"password", "passwd", "passphrase", "-pw", "secret", "key", "psk", "pmk", "msk", "sim-ki", "credential", "community",
	"sso-token", "cp-token", "digest-response", "digest-ha1",
}

// secretAttributes are those without a vendor that no part of the name tells of.
var secretAttributes = map[string]bool{
	"CHAP-Password": true, "CHAP-Challenge": true, "EAP-Message": true, "Message-Authenticator": true, "ARAP-Features": true,
	"ARAP-Challenge-Response": true, "ARAP-Security-Data": true, "Keying-Material": true,
}

// Secret reports whether the value of a is not to be seen by those who look on: a password,
// what one could be guessed from, or a key. A dictionary of one's own may
// call an attribute something else: what is secret by its number stays so.
func Secret(a *Attr) bool {
	standard := ByNumber(a.Vendor, a.Code)
	if standard == nil {
		digest := a.Vendor == 0 && (a.Code == 103 || a.Code == 121) // Digest-Response, Digest-HA1 (RFC 5090)
		return digest || a.Vendor == microsoft || a.Encrypt != 0 || hasSecretName(a.Name)
	}
	for _, a := range []*Attr{a, standard} {
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
var secretPair = regexp.MustCompile(`(?is)((?:pass(?:word|wd|phrase|code)?|pwd|secret|psk|key|token|community|\bpw|\bpin)\s*[=:]).*`)

// HidePairs is a text with instead in place of a password, where the text is one that may hold
// several pairs, as that of Cisco-AVPair does.
func HidePairs(text, instead string) string {
	return secretPair.ReplaceAllStringFunc(text, func(pair string) string {
		return secretPair.FindStringSubmatch(pair)[1] + instead
	})
}
