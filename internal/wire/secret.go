package wire

import (
	"bytes"
	"crypto/md5"
	"encoding"
	"fmt"
	"slices"
)

// Secret is the secret shared with one client or server, with what can be
// computed of it beforehand: the two HMAC-MD5 states after the padded key, so
// that no packet pays for the key schedule. It is immutable, so safe for
// concurrent use; copies share the key.
//
// No formatting verb, marshaller or logger that asks a value for its text gets
// to see the key, not even through a struct that holds a Secret in an unexported
// field.
//
// The zero value, a nil *Secret and the secret of an empty key authenticate
// nothing: Verify and VerifyResponse are false, the encoders and the password
// functions return [ErrNoSecret]. RFC 2865 section 3 forbids empty secrets, since
// anyone could forge packets under them.
type Secret struct {
	// A function, because package fmt prints the unexported fields of an enclosing
	// struct without asking their methods; it even follows a pointer there when
	// the verb does not fit it. Of a function it has only the address to show.
	key func() *secretKey
}

type secretKey struct {
	secret       []byte
	inner, outer []byte // marshalled MD5 states after key^ipad and key^opad
}

// NewSecret makes a Secret of a copy of key.
func NewSecret(key []byte) *Secret {
	if len(key) == 0 {
		return &Secret{}
	}
	padded := make([]byte, md5.BlockSize)
	if len(key) > md5.BlockSize { // RFC 2104 section 2
		sum := md5.Sum(key)
		copy(padded, sum[:])
	} else {
		copy(padded, key)
	}
	k := &secretKey{
		secret: bytes.Clone(key),
		inner:  stateAfter(padded, 0x36),
		outer:  stateAfter(padded, 0x5c),
	}
	return &Secret{key: func() *secretKey { return k }}
}

// stateAfter is the marshalled MD5 state after one block: key with each octet
// xored with pad.
func stateAfter(key []byte, pad byte) []byte {
	block := make([]byte, len(key))
	for i, c := range key {
		block[i] = c ^ pad
	}
	h := md5.New()
	if _, err := h.Write(block); err != nil {
		panic("wire: no MD5, so no RADIUS: " + err.Error())
	}
	state, err := h.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		panic("wire: MD5 state cannot be saved: " + err.Error())
	}
	return state
}

// Empty reports whether there is no key.
func (s *Secret) Empty() bool { return s.keyed() == nil }

// Bytes is the key, for the Secret field of a layeh radius.Packet. The memory is the
// Secret's own and must not be written; append moves it.
func (s *Secret) Bytes() []byte {
	k := s.keyed()
	if k == nil {
		return nil
	}
	return slices.Clip(k.secret)
}

func (s *Secret) keyed() *secretKey {
	if s == nil || s.key == nil {
		return nil
	}
	return s.key()
}

const redacted = "[secret]"

// String is a placeholder, never the key.
func (s Secret) String() string { return redacted }

// GoString is a placeholder, never the key.
func (s Secret) GoString() string { return redacted }

// Format writes a placeholder for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// MarshalText returns a placeholder, never the key.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
