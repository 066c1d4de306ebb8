package ledger_test

import (
	"encoding/hex"
	"testing"

	"github.com/radpool/radpool/billing/coa"
	"github.com/radpool/radpool/billing/sqlbilling/ledger"
)

// Whatever a NAS sends as Class, it tells of a mode only if it is one that a login gives.
func FuzzModeOf(f *testing.F) {
	for _, class := range []string{"", "0x", "0xzz", "0x" + hex.EncodeToString([]byte(class1)), "0x" + hex.EncodeToString([]byte(class3)), "0x" + hex.EncodeToString([]byte("radpool-mode=4")), class1} {
		f.Add(class)
	}
	f.Fuzz(func(t *testing.T, class string) {
		got := ledger.ModeOf(class)
		octets, err := hex.DecodeString(class[min(len(class), 2):])
		given := err == nil && len(class) > 2 && class[:2] == "0x" && len(octets) == len(ledger.ClassPrefix)+1 && string(octets[:len(octets)-1]) == ledger.ClassPrefix
		switch {
		case got == coa.Unknown:
			if given && octets[len(octets)-1] >= '1' && octets[len(octets)-1] <= '3' {
				t.Errorf("%q is not known", class)
			}
		case got > coa.Restricted:
			t.Errorf("%q gives %v", class, got)
		case given && string(octets) != ledger.ClassPrefix+string('0'+rune(got)):
			t.Errorf("%q gives %v", class, got)
		}
	})
}
