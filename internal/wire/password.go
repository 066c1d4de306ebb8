package wire

// MaxPasswordLength is the longest User-Password, in octets (RFC 2865 section 5.2).
const MaxPasswordLength = 128

// HidePassword appends to dst the value of a User-Password attribute that carries
// password, hidden with secret and the Request Authenticator auth (RFC 2865
// section 5.2), and returns the extended slice. The value is password padded with
// NULs to a multiple of 16 octets, at least 16. It allocates only when the capacity
// of dst does not suffice. The error is a [PasswordLengthError] when password is
// over 128 octets, or [ErrNoSecret]; dst is then returned as it was.
func HidePassword(dst, password []byte, auth [16]byte, secret *Secret) ([]byte, error) {
	k := secret.keyed()
	if k == nil {
		return dst, ErrNoSecret
	}
	if len(password) > MaxPasswordLength {
		return dst, PasswordLengthError(len(password))
	}
	blocks := max(1, (len(password)+digestLength-1)/digestLength)
	dst, out := extend(dst, blocks*digestLength)
	n := copy(out, password)
	clear(out[n:])

	d := getDigester()
	defer putDigester(d)
	d.load(auth[:])
	for ; len(out) > 0; out = out[digestLength:] {
		d.pad(k)
		for i := range d.sum {
			out[i] ^= d.sum[i]
		}
		d.load(out[:digestLength])
	}
	return dst, nil
}

// RevealPassword appends to dst the password that the value hidden of a
// User-Password attribute carries, and returns the extended slice. The NULs at its
// end are padding and go; those inside belong to the password and stay. A value of
// no octets is the empty password. A wrong secret is not noticed here: it reveals
// octets that match no password.
//
// It allocates only when the capacity of dst does not suffice; dst may be
// hidden[:0]. The error is a [PasswordLengthError] when hidden is not a multiple of
// 16 octets or over 128, or [ErrNoSecret]; dst is then returned as it was.
func RevealPassword(dst, hidden []byte, auth [16]byte, secret *Secret) ([]byte, error) {
	return RevealPasswordKey(dst, hidden, auth, secret.Bytes())
}

// RevealPasswordKey is [RevealPassword] for who has the octets of the secret alone.
// Nothing is computed beforehand for this in a [Secret], so it costs no more.
func RevealPasswordKey(dst, hidden []byte, auth [16]byte, key []byte) ([]byte, error) {
	if len(key) == 0 {
		return dst, ErrNoSecret
	}
	k := &secretKey{secret: key}
	if len(hidden) > MaxPasswordLength || len(hidden)%digestLength != 0 {
		return dst, PasswordLengthError(len(hidden))
	}
	start := len(dst)
	dst, out := extend(dst, len(hidden))

	d := getDigester()
	defer putDigester(d)
	d.load(auth[:])
	for ; len(out) > 0; out, hidden = out[digestLength:], hidden[digestLength:] {
		d.pad(k)
		d.load(hidden[:digestLength]) // before out, which may be the same memory
		for i := range d.sum {
			out[i] = d.packet[i] ^ d.sum[i]
		}
	}
	for len(dst) > start && dst[len(dst)-1] == 0 {
		dst = dst[:len(dst)-1]
	}
	return dst, nil
}
