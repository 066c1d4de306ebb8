package wire_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/wire"
)

func TestPasswordsOfEveryLength(t *testing.T) {
	r := newRand(t)
	for _, key := range secrets {
		secret := wire.NewSecret([]byte(key))
		for n := range 129 {
			auth := randomAuthenticator(r)
			password := []byte(strings.ReplaceAll(randomString(r, n), "\x00", "x"))
			hidden, err := wire.HidePassword(dirty("dst"), password, auth, secret)
			if err != nil {
				t.Fatalf("%d octets: %v", n, err)
			}
			want, err := radius.NewUserPassword(password, []byte(key), auth[:])
			if err != nil {
				t.Fatal(err)
			}
			if string(hidden) != "dst"+string(want) {
				t.Fatalf("%d octets: hidden as %x, layeh has %x", n, hidden[3:], want)
			}
			got, err := wire.RevealPassword(dirty("dst"), hidden[3:], auth, secret)
			if err != nil || string(got) != "dst"+string(password) {
				t.Fatalf("%d octets: revealed %q, %v", n, got, err)
			}
			if !bytes.Equal(hidden[3:], want) {
				t.Fatalf("%d octets: revealing changed the attribute", n)
			}
		}
	}
}

func TestNULsInsidePasswordStay(t *testing.T) {
	secret := wire.NewSecret([]byte(testSecret))
	auth := [16]byte{5}
	for password, want := range map[string]string{
		"":                               "",
		"\x00":                           "",
		"\x00a":                          "\x00a",
		"a\x00b":                         "a\x00b",
		"a\x00b\x00\x00":                 "a\x00b",
		"sixteen octets..":               "sixteen octets..",
		"sixteen octets.\x00and\x00more": "sixteen octets.\x00and\x00more",
		strings.Repeat("\x00", 40) + "z": strings.Repeat("\x00", 40) + "z",
	} {
		hidden, err := wire.HidePassword(nil, []byte(password), auth, secret)
		if err != nil {
			t.Fatal(err)
		}
		got, err := wire.RevealPassword(nil, hidden, auth, secret)
		if err != nil || string(got) != want {
			t.Errorf("%q revealed as %q, %v", password, got, err)
		}
	}
	if got, err := wire.RevealPassword([]byte("x\x00"), nil, auth, secret); err != nil || string(got) != "x\x00" {
		t.Errorf("an attribute without a value: %q, %v", got, err)
	}
}

func TestRevealPasswordInPlace(t *testing.T) {
	secret := wire.NewSecret([]byte(testSecret))
	password := strings.Repeat("correct horse battery staple ", 4)
	hidden, err := wire.HidePassword(nil, []byte(password), [16]byte{7}, secret)
	if err != nil {
		t.Fatal(err)
	}
	got, err := wire.RevealPassword(hidden[:0], hidden, [16]byte{7}, secret)
	if err != nil || string(got) != password || &got[0] != &hidden[0] {
		t.Errorf("%q, %v", got, err)
	}
}

func TestPasswordLengthErrors(t *testing.T) {
	secret := wire.NewSecret([]byte(testSecret))
	dst := []byte("kept")
	for n := range 254 {
		got, err := wire.RevealPassword(dst, make([]byte, n), [16]byte{}, secret)
		var length wire.PasswordLengthError
		if n%16 == 0 && n <= 128 {
			if err != nil {
				t.Errorf("%d octets: %v", n, err)
			}
		} else if !errors.As(err, &length) || int(length) != n || string(got) != "kept" {
			t.Errorf("%d octets: %q, %v", n, got, err)
		}
	}
	password := []byte(strings.Repeat("pssst", 26))[:129]
	got, err := wire.HidePassword(dst, password, [16]byte{}, secret)
	if !errors.Is(err, wire.PasswordLengthError(129)) || string(got) != "kept" {
		t.Fatalf("%q, %v", got, err)
	}
	if err.Error() != "wire: attribute 2 (User-Password): 129 octets" {
		t.Error(err)
	}
}

func TestPasswordsWantSecret(t *testing.T) {
	for _, f := range []func([]byte, []byte, [16]byte, *wire.Secret) ([]byte, error){wire.HidePassword, wire.RevealPassword} {
		for _, secret := range []*wire.Secret{nil, wire.NewSecret(nil)} {
			dst := []byte("kept")
			got, err := f(dst, make([]byte, 16), [16]byte{}, secret)
			if !errors.Is(err, wire.ErrNoSecret) || !slices.Equal(got, dst) {
				t.Errorf("%q, %v", got, err)
			}
		}
	}
}
