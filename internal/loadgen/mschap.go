package loadgen

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"unicode/utf8"

	"layeh.com/radius/rfc2759"
)

// mschapv2 is one user's MS-CHAPv2: what is sent, and what the server must answer to show that it knows the password too.
type mschapv2 struct {
	user      int // -1: nothing is computed
	challenge [16]byte
	response  [50]byte // Ident, Flags, Peer-Challenge, Reserved, Response (RFC 2548 section 2.3.2)
	success   [42]byte // "S=" and 40 digits (RFC 2759 section 8.7)
}

// mschapUsers is how many users' responses a lane keeps: three DES keys and their hashes take longer than all the rest of a
// request. A challenge is drawn anew whenever another user has taken the place in between.
const mschapUsers = 4096

// mschapCache holds what was computed for users, each at the place of its number.
type mschapCache []mschapv2

func newMSCHAPCache(users int) mschapCache {
	c := make(mschapCache, min(users, mschapUsers))
	for i := range c {
		c[i].user = -1
	}
	return c
}

// of returns what user i is to send. It stays as it is until the next call.
func (c mschapCache) of(u *Users, i int, random *rand.ChaCha8) (*mschapv2, error) {
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
	m.user = i
	return m, nil
}

// withoutDomain leaves a Windows domain in front of the name out, as clients do.
func withoutDomain(name []byte) []byte {
	return name[bytes.IndexByte(name, '\\')+1:]
}
