package loadgen

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"unicode/utf8"

	"layeh.com/radius/rfc2759"
)

// mschap is one user's MS-CHAP of both versions: what is sent, and what the server's answer holds if it knows the password too.
type mschap struct {
	user int // -1: nothing is computed

	challenge [16]byte
	response  [50]byte // Ident, Flags, Peer-Challenge, Reserved, Response (RFC 2548 section 2.3.2)
	success   [42]byte // "S=" and 40 digits (RFC 2759 section 8.7)

	challenge1 [8]byte
	response1  [50]byte // Ident, Flags, LM-Response, NT-Response (RFC 2548 section 2.1.3)
	key1       [16]byte // the NT key of MS-CHAP-MPPE-Keys (RFC 2548 section 2.4.1, RFC 3079 section 2.3)
}

// mschapUsers is how many users' responses a lane keeps: three DES keys and their hashes take longer than all the rest of a
// request. A challenge is drawn anew whenever another user has taken the place in between.
const mschapUsers = 4096

// mschapCache holds what was computed for users, each at the place of its number.
type mschapCache []mschap

func newMSCHAPCache(users int) mschapCache {
	c := make(mschapCache, min(users, mschapUsers))
	for i := range c {
		c[i].user = -1
	}
	return c
}

// of returns what user i is to send. It stays as it is until the next call.
func (c mschapCache) of(u *Users, i int, random *rand.ChaCha8) (*mschap, error) {
	m := &c[i%len(c)]
	if m.user == i {
		return m, nil
	}
	m.user = -1
	password := u.appendPassword(nil, i)
	if !utf8.Valid(password) {
		return nil, errors.New("the password is not UTF-8, so MS-CHAP has no hash of it")
	}
	name := withoutDomain(u.appendName(nil, i))
	_, _ = random.Read(m.challenge[:]) // never fails
	m.response = [50]byte{byte(i)}
	peer := m.response[2:18]
	_, _ = random.Read(peer)
	nt, err := rfc2759.GenerateNTResponse(m.challenge[:], peer, name, password)
	if err != nil {
		return nil, err
	}
	copy(m.response[26:], nt)
	success, err := rfc2759.GenerateAuthenticatorResponse(m.challenge[:], peer, nt, name, password)
	if err != nil {
		return nil, err
	}
	copy(m.success[:], success)
	if err := m.first(i, password, random); err != nil {
		return nil, err
	}
	m.user = i
	return m, nil
}

// first computes what is of version 1 (RFC 2433 appendix A). The LM response is left out, as everybody does.
func (m *mschap) first(i int, password []byte, random *rand.ChaCha8) error {
	utf16, err := rfc2759.ToUTF16(password)
	if err != nil {
		return err
	}
	const useNTResponse = 1
	hash := rfc2759.NTPasswordHash(utf16)
	_, _ = random.Read(m.challenge1[:]) // never fails
	m.response1 = [50]byte{byte(i), useNTResponse}
	copy(m.response1[26:], rfc2759.ChallengeResponse(m.challenge1[:], hash))
	copy(m.key1[:], rfc2759.NTPasswordHash(hash))
	return nil
}

// withoutDomain leaves a Windows domain in front of the name out, as clients do.
func withoutDomain(name []byte) []byte {
	return name[bytes.IndexByte(name, '\\')+1:]
}
