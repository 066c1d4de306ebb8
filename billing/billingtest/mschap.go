package billingtest

import (
	"crypto/des"  //nolint:gosec // what MS-CHAP is made of
	"crypto/sha1" //nolint:gosec // as above
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/crypto/md4" //nolint:gosec,staticcheck // as above
)

// The subscriber's side of MS-CHAP. It is written apart from the server's, package
// billing, so that a mistake in one shows against the other.

// ntHash is the MD4 of the password in UTF-16LE (RFC 2759 section 8.3).
func ntHash(password string) ([]byte, error) {
	if !utf8.ValidString(password) {
		return nil, errors.New("billingtest: the password is not UTF-8, so MS-CHAP has no hash of it")
	}
	h := md4.New()
	for _, unit := range utf16.Encode([]rune(password)) {
		h.Write(binary.LittleEndian.AppendUint16(nil, unit))
	}
	return h.Sum(nil), nil
}

// challengeResponse encrypts an 8-octet challenge with each third of the hash
// (RFC 2433 section A.5, RFC 2759 section 8.5).
func challengeResponse(challenge, hash []byte) []byte {
	key := make([]byte, 21) // three DES keys of 56 bits
	copy(key, hash)
	response := make([]byte, 24)
	for i := range 3 {
		block, err := des.NewCipher(spread(key[7*i : 7*i+7])) //nolint:gosec // as above
		if err != nil {
			panic("billingtest: a DES key of the wrong size: " + err.Error())
		}
		block.Encrypt(response[8*i:], challenge)
	}
	return response
}

// spread puts 56 bits into the upper 7 bits of 8 octets; the lowest, parity, counts
// for nothing.
func spread(key []byte) []byte {
	var bits uint64
	for _, b := range key {
		bits = bits<<8 | uint64(b)
	}
	out := make([]byte, 8)
	for i := range out {
		out[i] = byte(bits>>(49-7*i)) << 1
	}
	return out
}

// challengeHash is the 8-octet challenge of MS-CHAPv2 (RFC 2759 section 8.2).
func challengeHash(peer, authenticator []byte, user string) []byte {
	sum := sha1.Sum([]byte(string(peer) + string(authenticator) + user)) //nolint:gosec // as above
	return sum[:8]
}

// authenticatorResponse is what the server proves with that it knows the password
// too: "S=" and 40 hexadecimal digits (RFC 2759 section 8.7).
func authenticatorResponse(hash, response, challenge []byte) string {
	h := md4.New()
	h.Write(hash)
	digest := sha1.Sum([]byte(string(h.Sum(nil)) + string(response) + "Magic server to client signing constant"))  //nolint:gosec // as above
	digest = sha1.Sum([]byte(string(digest[:]) + string(challenge) + "Pad to make it do more than one iteration")) //nolint:gosec // as above
	return "S=" + strings.ToUpper(hex.EncodeToString(digest[:]))
}

// withoutDomain cuts a Windows domain off a user name: "DOMAIN\name" (RFC 2759
// section 4).
func withoutDomain(user string) string {
	return user[strings.IndexByte(user, '\\')+1:]
}
