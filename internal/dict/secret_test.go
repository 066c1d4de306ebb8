package dict_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/radpool/radpool/internal/dict"
)

// suspicious are names that may be those of a password, a key, or what is as good.
var suspicious = regexp.MustCompile(`(?i)pass[-_]?(word|wd|phrase|code)|passwd|pwd|[-_]pw([-_]|$)|psk|[me]?msk|pmk|key|secret|credential|community|token|cipher|digest-(ha1|response)|sim-ki`)

// harmless are those that are not: who looked at what their vendors say of them found a version, a state, or a name.
var harmless = []string{"CL-Token-Version", "Configuration-Token", "Fortinet-FAC-Token-ID", "TLS-Session-Cipher-Suite"}

// Of all vendors' attributes in text or octets none is shown whose name says that it is
// secret, but for those that somebody has looked at.
func TestSecretOfAllVendors(t *testing.T) {
	looked := 0
	for a := range dict.Default().Attrs() {
		if a.Type != dict.TypeString && a.Type != dict.TypeOctets || !suspicious.MatchString(a.Name) {
			continue
		}
		looked++
		if dict.Secret(a) == slices.Contains(harmless, a.Name) {
			t.Errorf("%s (vendor %d, %d): secret: %t", a.Name, a.Vendor, a.Code, dict.Secret(a))
		}
	}
	if looked < 100 {
		t.Errorf("only %d attributes were looked at", looked)
	}
}

// What everybody needs to see is seen.
func TestNotSecret(t *testing.T) {
	for _, name := range []string{
		"User-Name", "NAS-Port", "Framed-IP-Address", "Reply-Message", "State", "Class", "Cisco-AVPair", "Mikrotik-Rate-Limit",
		"MS-CHAP-Error", "MS-CHAP-Domain", "MS-MPPE-Encryption-Policy", "Ascend-Token-Expiry", "Filter-Id", "Acct-Session-Id",
	} {
		ref, err := dict.Lookup(name)
		if err != nil || dict.Secret(ref.Attr) {
			t.Errorf("%s: secret, or %v", name, err)
		}
	}
}

// A password in a text of several pairs is hidden to the end of the text.
func TestHidePairs(t *testing.T) {
	for text, want := range map[string]string{
		"shell:priv-lvl=15":                   "shell:priv-lvl=15",
		"psk=hunter2":                         "psk=*",
		"cisco-avpair Password : hunter2 x=y": "cisco-avpair Password :*",
		"leap:session-key=hunter2":            "leap:session-key=*",
		"vpdn:l2tp-tunnel-password=hunter2":   "vpdn:l2tp-tunnel-password=*",
		"pwd=hunter2":                         "pwd=*",
		"passcode=hunter2\nnext":              "passcode=*",
		"auth-token=hunter2":                  "auth-token=*",
		"snmp community=hunter2":              "snmp community=*",
		"PASS=":                               "PASS=*",
		"pw=hunter2":                          "pw=*",
		"x:pin=1234":                          "x:pin=*",
		"spin=1":                              "spin=1",
		"keyed":                               "keyed",
	} {
		if got := dict.HidePairs(text, "*"); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
