package billing_test

import (
	"fmt"
	"testing"

	"github.com/radpool/radpool/billing"
)

// What a PostAuther logs with fmt has no password.
func TestAuthResultIsPrintedWithoutPassword(t *testing.T) {
	access := &billing.AccessRequest{UserName: "alice\n", Method: billing.MethodPAP}
	for want, r := range map[string]billing.AuthResult{
		`"alice\n" accepted (PAP)`:                                       {Access: access, Accepted: true, Password: []byte("hunter2")},
		`"alice\n" accepted with the restricted profile: no-money (PAP)`: {Access: access, Accepted: true, Restricted: true, Reason: billing.ReasonNoMoney, Password: []byte("hunter2")},
		`"alice\n" rejected: wrong-password (PAP)`:                       {Access: access, Reason: billing.ReasonWrongPassword, Password: []byte("hunter2")},
		`"" rejected: none (none)`:                                       {Password: []byte("hunter2")},
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x"} {
			if got := fmt.Sprintf(verb, r); got != want {
				t.Errorf("%s: %s, want %s", verb, got, want)
			}
			if got := fmt.Sprintf(verb, &r); got != want {
				t.Errorf("%s: %s, want %s", verb, got, want)
			}
		}
	}
}
