package billingtest

import "time"

// SetPatience shortens how long the suite waits for a method that hangs, and
// returns what it was.
func SetPatience(d time.Duration) (old time.Duration) {
	old, patience = patience, d
	return old
}

// The subscriber's side of MS-CHAP, for the vectors of RFC 2759.
var (
	NTHash                = ntHash
	ChallengeHash         = challengeHash
	ChallengeResponse     = challengeResponse
	AuthenticatorResponse = authenticatorResponse
)

// Datagram is what r sends.
func Datagram(r Request) ([]byte, error) {
	s, err := r.encode()
	if err != nil {
		return nil, err
	}
	return s.datagram, nil
}
