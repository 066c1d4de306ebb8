package serving

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/radpool/radpool/billing"
)

// Verified is the Password of a subscriber whose password somebody else has verified: it is
// what was given, as a hash, so that the Processor, which compares the two, finds it right. It
// answers PAP alone.
func Verified(given []byte) (billing.Password, error) {
	sum := sha256.Sum256(given)
	return billing.ParsePassword(billing.FormSHA2, hex.EncodeToString(sum[:]))
}
