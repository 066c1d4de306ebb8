package wire_test

import (
	"crypto/fips140"
	"os"
	"os/exec"
	"testing"

	"github.com/radpool/radpool/internal/wire"
)

// MD5 is not an approved algorithm: the codec must go on working in a process that
// runs with the FIPS 140-3 module on, and say at once that it cannot where nothing
// else is allowed. The mode is chosen at start, so the tests run themselves anew.
func TestCodecInFIPSModes(t *testing.T) {
	if fips140.Enforced() {
		defer func() {
			if recover() == nil {
				t.Error("NewSecret did not panic though MD5 is forbidden")
			}
		}()
		wire.NewSecret([]byte(testSecret))
		return
	}
	if fips140.Enabled() {
		return // the tests beside this one are what matters
	}
	for mode, tests := range map[string]string{
		"on":   "^(TestExchangesOfTheRFCs|TestReplyToEveryRequest|TestCodecDoesNotAllocate|TestCodecInFIPSModes)$",
		"only": "^TestCodecInFIPSModes$",
	} {
		cmd := exec.Command(os.Args[0], "-test.run="+tests)
		cmd.Env = append(os.Environ(), "GODEBUG=fips140="+mode)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("fips140=%s: %v\n%s", mode, err, out)
		}
	}
}
