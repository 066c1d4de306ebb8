package loadgen

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"unicode/utf8"

	"layeh.com/radius/rfc2759"
)

// mschap1 is one user's MS-CHAP of version 1: what is sent, and what the server's answer holds if it knows the password too.
type mschap1 struct {
	challenge [8]byte
	response  [50]byte // Ident, Flags, LM-Response, NT-Response (RFC 2548 section 2.1.3)
	key       [16]byte // the NT key of MS-CHAP-MPPE-Keys (RFC 2548 section 2.4.1, RFC 3079 section 2.3)
}

// mschap2 is that of version 2.
type mschap2 struct {
	challenge [16]byte
	response  [50]byte // Ident, Flags, Peer-Challenge, Reserved, Response (RFC 2548 section 2.3.2)
	success   [42]byte // "S=" and 40 digits (RFC 2759 section 8.7)
}

// mschapUsers is how many users' responses a lane keeps: three DES keys and their hashes take longer than all the rest of a
// request. A challenge is drawn anew whenever another user has taken the place in between.
const mschapUsers = 4096

// mschapCache holds what was computed for users, in one version, each at the place of its number. The zero value is empty.
type mschapCache[M mschap1 | mschap2] []struct {
	user int
	done bool // it is computed
	what M
}

// of returns what user i is to send, and has it computed if need be. It stays as it is until the next call.
func (c *mschapCache[M]) of(u *Users, i int, random *rand.ChaCha8, compute func(m *M, u *Users, i int, password []byte, random *rand.ChaCha8) error) (*M, error) {
	if *c == nil {
		*c = make(mschapCache[M], min(u.Len(), mschapUsers))
	}
	place := &(*c)[i%len(*c)]
	if place.done && place.user == i {
		return &place.what, nil
	}
	place.done = false
	password := u.appendPassword(nil, i)
	if !utf8.Valid(password) {
		return nil, errors.New("the password is not UTF-8, so MS-CHAP has no hash of it")
	}
	if err := compute(&place.what, u, i, password, random); err != nil {
		return nil, err
	}
	place.user, place.done = i, true
	return &place.what, nil
}

// compute is of RFC 2433 appendix A. The LM response is left out, as everybody does.
func (m *mschap1) compute(_ *Users, i int, password []byte, random *rand.ChaCha8) error {
	utf16, err := rfc2759.ToUTF16(password)
	if err != nil {
		return err
	}
	const useNTResponse = 1
	hash := rfc2759.NTPasswordHash(utf16)
	_, _ = random.Read(m.challenge[:]) // never fails
	m.response = [50]byte{byte(i), useNTResponse}
	copy(m.response[26:], rfc2759.ChallengeResponse(m.challenge[:], hash))
	copy(m.key[:], rfc2759.NTPasswordHash(hash))
	return nil
}

// compute is of RFC 2759 section 8.
func (m *mschap2) compute(u *Users, i int, password []byte, random *rand.ChaCha8) error {
	name := withoutDomain(u.appendName(nil, i))
	_, _ = random.Read(m.challenge[:]) // never fails
	m.response = [50]byte{byte(i)}
	peer := m.response[2:18]
	_, _ = random.Read(peer)
	nt, err := rfc2759.GenerateNTResponse(m.challenge[:], peer, name, password)
	if err != nil {
		return err
	}
	copy(m.response[26:], nt)
	success, err := rfc2759.GenerateAuthenticatorResponse(m.challenge[:], peer, nt, name, password)
	if err != nil {
		return err
	}
	copy(m.success[:], success)
	return nil
}

// withoutDomain leaves a Windows domain in front of the name out, as clients do.
func withoutDomain(name []byte) []byte {
	return name[bytes.IndexByte(name, '\\')+1:]
}
