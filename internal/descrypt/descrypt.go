// Package descrypt is the traditional crypt(3) of Unix: 25 times DES (FIPS 46-3)
// with a salt. It is for passwords that old databases hold, and for nothing new: of
// a password only the first 8 octets count, and of each only 7 bits, and whoever has
// the hash finds it by trial within hours.
package descrypt

import (
	"crypto/subtle"
	"errors"
	"strings"
)

const alphabet = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// A Hash is a hash with its salt.
type Hash struct {
	salt [2]byte
	text [13]byte
}

// Parse reads a hash: 13 characters, the first two of them the salt. The error does
// not quote it.
func Parse(text string) (*Hash, error) {
	if len(text) != 13 || strings.Trim(text, alphabet) != "" {
		return nil, errors.New("not 13 letters, digits, dots and slashes")
	}
	return &Hash{[2]byte{text[0], text[1]}, [13]byte([]byte(text))}, nil
}

// MatchBytes reports whether given is the password, in constant time.
func (h *Hash) MatchBytes(given []byte) bool {
	hash := Crypt(given, h.salt)
	return subtle.ConstantTimeCompare(hash[:], h.text[:]) == 1
}

// Crypt returns the hash of a password. A salt is two characters of those that
// Parse takes.
func Crypt(password []byte, salt [2]byte) (hash [13]byte) {
	var key [64]byte // a bit each
	for i, c := range password[:min(len(password), 8)] {
		if c == 0 {
			break // as in C
		}
		for j := range 7 {
			key[8*i+j] = c >> (6 - j) & 1
		}
	}
	keys := schedule(&key)
	expand := expansion
	for i, c := range salt {
		value := strings.IndexByte(alphabet, c)
		for j := range 6 {
			if value>>j&1 != 0 {
				a := 6*i + j
				expand[a], expand[a+24] = expand[a+24], expand[a]
			}
		}
	}
	var block [66]byte // of which the last two stay zero
	for range 25 {
		encrypt((*[64]byte)(block[:64]), &keys, &expand)
	}
	copy(hash[:], salt[:])
	for i := range 11 {
		value := 0
		for _, bit := range block[6*i : 6*i+6] {
			value = value<<1 | int(bit)
		}
		hash[2+i] = alphabet[value]
	}
	return hash
}

// schedule makes the 16 keys of the rounds.
func schedule(key *[64]byte) (keys [16][48]byte) {
	var cd [56]byte
	for i, from := range choice1 {
		cd[i] = key[from-1]
	}
	for round, shift := range shifts {
		var turned [56]byte
		for i := range 28 {
			turned[i] = cd[(i+shift)%28]
			turned[28+i] = cd[28+(i+shift)%28]
		}
		cd = turned
		for i, from := range choice2 {
			keys[round][i] = cd[from-1]
		}
	}
	return keys
}

// encrypt is DES on one block.
func encrypt(block *[64]byte, keys *[16][48]byte, expand *[48]byte) {
	var lr [64]byte
	for i := range lr {
		lr[i] = block[initial(i)]
	}
	l, r := [32]byte(lr[:32]), [32]byte(lr[32:])
	for round := range keys {
		key := &keys[round]
		var f [32]byte
		for box := range boxes {
			var in [6]byte
			for i := range in {
				in[i] = r[expand[6*box+i]-1] ^ key[6*box+i]
			}
			row, column := in[0]<<1|in[5], in[1]<<3|in[2]<<2|in[3]<<1|in[4]
			out := hexDigit(boxes[box][16*row+column])
			for i := range 4 {
				f[4*box+i] = out >> (3 - i) & 1
			}
		}
		next := l
		for i, from := range permutation {
			next[i] ^= f[from-1]
		}
		l, r = r, next
	}
	for i := range 32 { // the halves the other way round
		block[initial(i)], block[initial(32+i)] = r[i], l[i]
	}
}

func hexDigit(c byte) byte {
	if c >= 'a' {
		return c - 'a' + 10
	}
	return c - '0'
}

// initial is the initial permutation IP: the bit of the block, from 0, that bit i of
// the result is.
func initial(i int) int {
	row := i / 8
	if row < 4 {
		return 57 + 2*row - 8*(i%8)
	}
	return 56 + 2*(row-4) - 8*(i%8)
}

// The tables of FIPS 46-3, whose bits are numbered from 1.
var (
	shifts = [16]int{1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1}

	// PC-1
	choice1 = [56]byte{
		57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44, 36,
		63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20, 12, 4,
	}
	// PC-2
	choice2 = [48]byte{
		14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2,
		41, 52, 31, 37, 47, 55, 30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
	}
	// E
	expansion = [48]byte{
		32, 1, 2, 3, 4, 5, 4, 5, 6, 7, 8, 9, 8, 9, 10, 11, 12, 13, 12, 13, 14, 15, 16, 17,
		16, 17, 18, 19, 20, 21, 20, 21, 22, 23, 24, 25, 24, 25, 26, 27, 28, 29, 28, 29, 30, 31, 32, 1,
	}
	// P
	permutation = [32]byte{
		16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10, 2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4, 25,
	}
	// S1 to S8, each four rows of 16, in hexadecimal.
	boxes = [8]string{
		"e4d12fb83a6c5907" + "0f74e2d1a6cb9538" + "41e8d62bfc973a50" + "fc8249175b3ea06d",
		"f18e6b34972dc05a" + "3d47f28ec01a69b5" + "0e7ba4d158c6932f" + "d8a13f42b67c05e9",
		"a09e63f51dc7b428" + "d709346a285ecbf1" + "d6498f30b12c5ae7" + "1ad069874fe3b52c",
		"7de3069a1285bc4f" + "d8b56f03472c1ae9" + "a690cb7df13e5284" + "3f06a1d8945bc72e",
		"2c417ab6853fd0e9" + "eb2c47d150fa3986" + "421bad78f9c5630e" + "b8c71e2d6f09a453",
		"c1af92680d34e75b" + "af427c9561de0b38" + "9ef528c3704a1db6" + "432c95fabe17608d",
		"4b2ef08d3c975a61" + "d0b7491ae35c2f86" + "14bdc37eaf680592" + "6bd814a7950fe23c",
		"d2846fb1a93e50c7" + "1fd8a374c56b0e92" + "7b419ce206adf358" + "21e74a8dfc90356b",
	}
)
