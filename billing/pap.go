package billing

import "crypto/md5" //nolint:gosec // RFC 2865 section 5.2

// maxPAP is the longest User-Password, in octets.
const maxPAP = 128

// revealPassword appends to dst the password that a User-Password attribute hides
// (RFC 2865 section 5.2). The NULs at its end are padding; those inside are part of
// the password. ok is false when hidden is not whole blocks of 16 octets, at most
// 128, or there is no secret. A wrong secret shows only as a password that does
// not match.
func revealPassword(dst, hidden, secret, authenticator []byte) (password []byte, ok bool) {
	if len(hidden) > maxPAP || len(hidden)%md5.Size != 0 || len(secret) == 0 {
		return dst, false
	}
	start := len(dst)
	var buf [256]byte
	in := append(buf[:0], secret...)
	last := authenticator
	for len(hidden) > 0 {
		in = append(in[:len(secret)], last...)
		sum := md5.Sum(in)
		last, hidden = hidden[:md5.Size], hidden[md5.Size:]
		for i, c := range last {
			dst = append(dst, c^sum[i])
		}
	}
	for len(dst) > start && dst[len(dst)-1] == 0 {
		dst = dst[:len(dst)-1]
	}
	return dst, true
}
