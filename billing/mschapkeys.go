package billing

import (
	"crypto/sha1" //nolint:gosec // what MS-CHAP is made of
	"encoding/hex"
	"slices"
	"unicode/utf8"

	"layeh.com/radius/rfc2759"
	"layeh.com/radius/rfc3079"
)

// ntHash is NtPasswordHash (RFC 2759 section 8.3) of a password in UTF-8. One that
// is not UTF-8 has none.
func ntHash(password []byte) (hash [16]byte, ok bool) {
	if !utf8.Valid(password) {
		return hash, false
	}
	utf16, err := rfc2759.ToUTF16(password)
	if err != nil {
		return hash, false
	}
	return [16]byte(rfc2759.NTPasswordHash(utf16)), true
}

// hashHash is HashNtPasswordHash (RFC 2759 section 8.4).
func hashHash(hash [16]byte) [16]byte { return [16]byte(rfc2759.NTPasswordHash(hash[:])) }

// challengeHash is ChallengeHash (RFC 2759 section 8.2).
func challengeHash(peerChallenge, authChallenge []byte, userName string) [8]byte {
	return [8]byte(rfc2759.ChallengeHash(peerChallenge, authChallenge, []byte(userName)))
}

// challengeResponse is ChallengeResponse (RFC 2759 section 8.5).
func challengeResponse(challenge [8]byte, hash [16]byte) [24]byte {
	return [24]byte(rfc2759.ChallengeResponse(challenge[:], hash[:]))
}

const (
	authenticatorMagic1 = "Magic server to client signing constant"
	authenticatorMagic2 = "Pad to make it do more than one iteration"
)

// authenticatorResponse appends GenerateAuthenticatorResponse (RFC 2759 section
// 8.7), which proves to the client that the server knows the password: "S=" and
// 40 hexadecimal digits. rfc2759's own starts from the cleartext, and of some
// subscribers only the NT hash is stored.
func authenticatorResponse(dst []byte, hash [16]byte, ntResponse []byte, challenge [8]byte) []byte {
	hh := hashHash(hash)
	digest := sha1.Sum(slices.Concat(hh[:], ntResponse, []byte(authenticatorMagic1)))
	digest = sha1.Sum(slices.Concat(digest[:], challenge[:], []byte(authenticatorMagic2)))
	return appendUpperHex(append(dst, "S="...), digest[:])
}

func appendUpperHex(dst, b []byte) []byte {
	start := len(dst)
	dst = hex.AppendEncode(dst, b)
	for i := start; i < len(dst); i++ {
		if dst[i] >= 'a' {
			dst[i] -= 'a' - 'A'
		}
	}
	return dst
}

// mppeKeys are the 128-bit start keys of MPPE after MS-CHAPv2 (RFC 3079 section
// 3.3), from the side of the NAS, which is the server.
func mppeKeys(hash [16]byte, ntResponse []byte) (send, recv [16]byte) {
	hh := hashHash(hash)
	master := rfc3079.GetMasterKey(hh[:], ntResponse)
	return startKey(master, true), startKey(master, false)
}

func startKey(master []byte, send bool) [16]byte {
	key, err := rfc3079.GetAsymmetricStartKey(master, rfc3079.KeyLength128Bit, send)
	if err != nil {
		panic("billing: rfc3079 refuses a master key of its own: " + err.Error())
	}
	return [16]byte(key)
}
