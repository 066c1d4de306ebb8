package billing

import (
	"crypto/des"  //nolint:gosec // what MS-CHAP is made of
	"crypto/sha1" //nolint:gosec // as above
	"encoding/hex"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/crypto/md4" //nolint:staticcheck,gosec // as above
)

// The functions of RFC 2759 section 8 and RFC 3079 section 3. layeh's packages of
// these numbers start from the cleartext in most functions, and a subscriber of
// whom only the NT hash is stored has none; they also need golang.org/x/text.

// ntHash is NtPasswordHash (RFC 2759 section 8.3) of a password in UTF-8. One that
// is not UTF-8 has none.
func ntHash(password []byte) (hash [16]byte, ok bool) {
	if !utf8.Valid(password) {
		return hash, false
	}
	var units [MaxPasswordLength]uint16
	var octets [2 * MaxPasswordLength]byte
	u, b := units[:0], octets[:0]
	for rest := password; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		u = utf16.AppendRune(u, r)
		rest = rest[n:]
	}
	for _, unit := range u {
		b = append(b, byte(unit), byte(unit>>8))
	}
	return md4Sum(b), true
}

// md4Sum hashes octets, and hashes a hash: HashNtPasswordHash (section 8.4).
func md4Sum(b []byte) (sum [16]byte) {
	h := md4.New()
	_, _ = h.Write(b) // a hash never fails
	h.Sum(sum[:0])
	return sum
}

// sha1Sum hashes the parts one behind the other.
func sha1Sum(parts ...string) [sha1.Size]byte {
	var buf [256]byte
	in := buf[:0]
	for _, p := range parts {
		in = append(in, p...)
	}
	return sha1.Sum(in)
}

// challengeHash is ChallengeHash (RFC 2759 section 8.2).
func challengeHash(peerChallenge, authChallenge []byte, userName string) (challenge [8]byte) {
	sum := sha1Sum(string(peerChallenge), string(authChallenge), userName)
	copy(challenge[:], sum[:])
	return challenge
}

// challengeResponse is ChallengeResponse (RFC 2759 section 8.5): the challenge
// encrypted with each third of the hash.
func challengeResponse(challenge [8]byte, hash [16]byte) (response [24]byte) {
	var padded [21]byte
	copy(padded[:], hash[:])
	for i := range 3 {
		key := desKey([7]byte(padded[7*i:]))
		block, err := des.NewCipher(key[:])
		if err != nil {
			panic("billing: DES refuses a key of 8 octets: " + err.Error())
		}
		block.Encrypt(response[8*i:], challenge[:])
	}
	return response
}

// desKey spreads 56 bits over 8 octets. The lowest bit of each is for parity,
// which crypto/des does not look at.
func desKey(k [7]byte) (key [8]byte) {
	var bits uint64
	for _, b := range k {
		bits = bits<<8 | uint64(b)
	}
	for i := range key {
		key[i] = byte(bits>>(49-7*i)) << 1
	}
	return key
}

const (
	authenticatorMagic1 = "Magic server to client signing constant"
	authenticatorMagic2 = "Pad to make it do more than one iteration"
)

// authenticatorResponse appends GenerateAuthenticatorResponse (RFC 2759 section
// 8.7), which proves to the client that the server knows the password: "S=" and
// 40 hexadecimal digits.
func authenticatorResponse(dst []byte, hash [16]byte, ntResponse []byte, challenge [8]byte) []byte {
	hashHash := md4Sum(hash[:])
	digest := sha1Sum(string(hashHash[:]), string(ntResponse), authenticatorMagic1)
	digest = sha1Sum(string(digest[:]), string(challenge[:]), authenticatorMagic2)
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

const (
	mppeMagic1 = "This is the MPPE Master Key"
	mppeMagic2 = "On the client side, this is the send key; on the server side, it is the receive key."
	mppeMagic3 = "On the client side, this is the receive key; on the server side, it is the send key."
)

var mppePad1, mppePad2 = string(make([]byte, 40)), pad(0xf2, 40)

func pad(b byte, n int) string {
	s := make([]byte, n)
	for i := range s {
		s[i] = b
	}
	return string(s)
}

// mppeKeys are the 128-bit start keys of MPPE after MS-CHAPv2 (RFC 3079 section
// 3.3), from the side of the NAS, which is the server.
func mppeKeys(hash [16]byte, ntResponse []byte) (send, recv [16]byte) {
	hashHash := md4Sum(hash[:])
	master := sha1Sum(string(hashHash[:]), string(ntResponse), mppeMagic1)
	key := string(master[:16])
	s := sha1Sum(key, mppePad1, mppeMagic3, mppePad2)
	r := sha1Sum(key, mppePad1, mppeMagic2, mppePad2)
	return [16]byte(s[:]), [16]byte(r[:])
}
