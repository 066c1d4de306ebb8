package billing

import (
	"net/netip"
	"time"
)

// ParseMAC is parseMAC.
func ParseMAC(s string) (uint64, bool) { return parseMAC(s) }

// MPPEKeys is mppeKeys.
func MPPEKeys(hash [16]byte, ntResponse []byte) (send, recv [16]byte) {
	return mppeKeys(hash, ntResponse)
}

// HashHash is hashHash.
func HashHash(hash [16]byte) [16]byte { return hashHash(hash) }

// AuthenticatorResponse is authenticatorResponse.
func AuthenticatorResponse(hash [16]byte, ntResponse, peer, auth []byte, user string) string {
	return string(authenticatorResponse(nil, hash, ntResponse, challengeHash(peer, auth, user)))
}

// NTResponse is the response of a client that knows hash.
func NTResponse(challenge [8]byte, hash [16]byte) [24]byte { return challengeResponse(challenge, hash) }

// ChallengeHash is challengeHash.
func ChallengeHash(peer, auth []byte, user string) [8]byte { return challengeHash(peer, auth, user) }

// NTHashOf is ntHash.
func NTHashOf(password string) ([16]byte, bool) { return ntHash([]byte(password)) }

// StrangerText is strangerText.
const StrangerText = strangerText

// Reservations is reservations.
type Reservations struct{ r reservations }

// NewReservations is newReservations.
func NewReservations(ttl time.Duration, most int) *Reservations {
	return &Reservations{newReservations(ttl, most)}
}

// Reserve is reservations.reserve for a device that is told by its port.
func (r *Reservations) Reserve(now, asOf time.Time, user, port string, open, limit int) bool {
	return r.r.reserve(now, asOf, sessionID{user, deviceOf("", netip.Addr{}, port)}, open, limit)
}

// End is reservations.end.
func (r *Reservations) End(now time.Time, user, port string) {
	r.r.end(now, sessionID{user, deviceOf("", netip.Addr{}, port)})
}

// Count is how many reservations there are, how many users have one, and how many
// logins found no room.
func (r *Reservations) Count() (all, users int, full uint64) {
	return r.r.count, len(r.r.users), r.r.full
}
