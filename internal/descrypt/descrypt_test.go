package descrypt_test

import (
	"strings"
	"testing"

	"github.com/radpool/radpool/internal/descrypt"
)

// hashes were made by libxcrypt's crypt(3).
var hashes = []struct{ password, hash string }{
	{"", "dHucwM5GiSOwI"},
	{"", "m49DHr5GdpAF6"},
	{"pw", "7AuNJgImPrVqs"},
	{"pw", "i5UyvcszATwUU"},
	{"a", "P2mWmWDbSVKvM"},
	{"a", "9r1iy7cWXwXpk"},
	{"password", "p6cUugZyGjvRM"},
	{"password", "S92NZPNp2lzwI"},
	{"passwordX", "q53zwFqmYUjxY"},
	{"passwordX", "DQkieCL0CoF5."},
	{"p\xc3\xa4ssword", "5mthtJAfWVoMo"},
	{"p\xc3\xa4ssword", "4Q7rviyShBsb."},
	{"0123456789abcdef", "3FsVIC7esolkk"},
	{"0123456789abcdef", "Zpkq/kXzYimBc"},
	{"~!@#$%^&", "GD/IcDZCSo/g."},
	{"~!@#$%^&", "bLeNIiL.hk0oY"},
	{"\x7f\x01", "BMI1ak5YLQB5U"},
	{"\x7f\x01", "jA66fYgzFN7.."},
	{"Unix", "..kGPZq/eqDgM"},
	{"Unix", "zzO8kilPXVRE6"},
}

func TestMatch(t *testing.T) {
	for _, c := range hashes {
		h, err := descrypt.Parse(c.hash)
		if err != nil {
			t.Fatal(err)
		}
		if got := descrypt.Crypt([]byte(c.password), [2]byte{c.hash[0], c.hash[1]}); string(got[:]) != c.hash {
			t.Errorf("%q is %s, want %s", c.password, got, c.hash)
		}
		if !h.MatchBytes([]byte(c.password)) {
			t.Errorf("%q does not match", c.password)
		}
		if h.MatchBytes([]byte("x" + c.password)) {
			t.Errorf("%q matches with an x before it", c.password)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, text := range []string{"", "ab", "abzlUXK5ed5r", "abzlUXK5ed5rsx", "abzlUXK5ed5r$", "_bzlUXK5ed5rs", "abzlUXK5\x00d5rs"} {
		if _, err := descrypt.Parse(text); err == nil || text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
