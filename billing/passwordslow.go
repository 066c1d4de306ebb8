package billing

import (
	"crypto/pbkdf2"
	"crypto/sha1" //nolint:gosec // a form in which passwords are stored
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"strconv"
	"strings"

	"github.com/go-crypt/crypt/algorithm"
	"github.com/go-crypt/crypt/algorithm/argon2"
	"github.com/go-crypt/crypt/algorithm/bcrypt"
	"github.com/go-crypt/crypt/algorithm/md5crypt"
	"github.com/go-crypt/crypt/algorithm/scrypt"
	"github.com/go-crypt/crypt/algorithm/sha1crypt"
	"github.com/go-crypt/crypt/algorithm/shacrypt"

	"github.com/radpool/radpool/internal/descrypt"
)

// Bounds on what one comparison with a slow hash may cost. An attacker does not
// choose the hash, but an operator may err, and each worker pays the price for
// each login. The bounds are about a second of one core and 64 MiB.
const (
	MaxBcryptCost   = 14        // 2^14 rounds
	MaxCryptRounds  = 1_000_000 // of SHA-crypt ($5$, $6$) and sha1crypt
	MaxPBKDF2Rounds = 1_000_000
	MaxArgon2Memory = 64 << 10 // KiB
	MaxArgon2Passes = 10
	MaxScryptMemory = 64 << 20 // octets: 128 * N * r
)

// A cryptScheme is one kind of crypt(3) hash.
type cryptScheme struct {
	decode algorithm.DecodeFunc
	check  func(fields []string) error // bounds the cost; fields are what stands between the $ after the name
}

var cryptSchemes = map[string]cryptScheme{
	"1":        {md5crypt.DecodeVariant(md5crypt.VariantStandard), fieldCount(2)},
	"2a":       {bcrypt.DecodeVariant(bcrypt.VariantStandard), checkBcrypt},
	"2b":       {bcrypt.DecodeVariant(bcrypt.VariantStandard), checkBcrypt},
	"2y":       {bcrypt.DecodeVariant(bcrypt.VariantStandard), checkBcrypt},
	"5":        {shacrypt.DecodeVariant(shacrypt.VariantSHA256), checkSHACrypt},
	"6":        {shacrypt.DecodeVariant(shacrypt.VariantSHA512), checkSHACrypt},
	"sha1":     {sha1crypt.Decode, checkSHA1Crypt},
	"y":        {scrypt.DecodeVariant(scrypt.VariantYescrypt), checkYescrypt},
	"scrypt":   {scrypt.DecodeVariant(scrypt.VariantScrypt), checkScrypt},
	"argon2i":  {argon2.DecodeVariant(argon2.VariantI), checkArgon2},
	"argon2d":  {argon2.DecodeVariant(argon2.VariantD), checkArgon2},
	"argon2id": {argon2.DecodeVariant(argon2.VariantID), checkArgon2},
}

// parseCrypt reads a crypt(3) hash. Its errors are of our own words, since those
// of the decoders quote what they read.
func parseCrypt(value string) (Password, error) {
	if des, err := descrypt.Parse(value); err == nil {
		return Password{form: FormCrypt, slow: des}, nil
	}
	fields := strings.Split(value, "$")
	if len(fields) < 4 || fields[0] != "" {
		return Password{}, errors.New("not of the form $id$salt$hash, nor the 13 characters of a traditional hash (DES)")
	}
	if strings.HasPrefix(fields[1], "pbkdf2") {
		return parsePBKDF2(value)
	}
	scheme, ok := cryptSchemes[fields[1]]
	if !ok {
		return Password{}, errors.New("the hash between the first two $ is not one that is supported")
	}
	if err := scheme.check(fields[2:]); err != nil {
		return Password{}, fmt.Errorf("%s: %w", fields[1], err)
	}
	digest, err := scheme.decode(value)
	if err != nil {
		return Password{}, fmt.Errorf("%s: the salt or the hash is malformed", fields[1])
	}
	return Password{form: FormCrypt, slow: digest}, nil
}

func fieldCount(n int) func([]string) error {
	return func(fields []string) error {
		if len(fields) != n {
			return errors.New("the wrong number of fields")
		}
		return nil
	}
}

// bounded reads a decimal number and checks it against its bounds. The number is
// a parameter, not a secret, so the error may show it.
func bounded(what, s string, lo, hi int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, fmt.Errorf("%s is not a number", what)
	}
	if n < lo || n > hi {
		return 0, fmt.Errorf("%s is %d, must be %d to %d", what, n, lo, hi)
	}
	return n, nil
}

func checkBcrypt(fields []string) error {
	if len(fields) != 2 {
		return errors.New("the wrong number of fields")
	}
	_, err := bounded("cost", fields[0], 4, MaxBcryptCost)
	return err
}

func checkSHACrypt(fields []string) error {
	if len(fields) == 2 {
		return nil // rounds omitted: 5000
	}
	if len(fields) != 3 {
		return errors.New("the wrong number of fields")
	}
	rounds, ok := strings.CutPrefix(fields[0], "rounds=")
	if !ok {
		return errors.New("no rounds where they are expected")
	}
	_, err := bounded("rounds", rounds, 1000, MaxCryptRounds)
	return err
}

func checkSHA1Crypt(fields []string) error {
	if len(fields) != 3 {
		return errors.New("the wrong number of fields")
	}
	_, err := bounded("rounds", fields[0], 1, MaxCryptRounds)
	return err
}

// checkYescrypt knows the settings that crypt_gensalt writes for its cost factors
// 1 to 7, up to 64 MiB; 5, "j9T", is what passwd writes.
func checkYescrypt(fields []string) error {
	if len(fields) != 3 {
		return errors.New("the wrong number of fields")
	}
	switch fields[0] {
	case "j75", "j85", "j7T", "j8T", "j9T", "jAT", "jBT":
		return nil
	}
	return errors.New("the cost is not one of crypt_gensalt's factors 1 to 7")
}

// parameters reads "a=1,b=2" and gives each to its variable, all of which must be
// there.
func parameters(s string, want map[string]*int) error {
	seen := 0
	for pair := range strings.SplitSeq(s, ",") {
		name, number, _ := strings.Cut(pair, "=")
		v := want[name]
		if v == nil {
			return errors.New("an unknown parameter")
		}
		n, err := bounded(name, number, 1, 1<<30)
		if err != nil {
			return err
		}
		*v = n
		seen++
	}
	if seen != len(want) {
		return errors.New("a parameter is missing or there twice")
	}
	return nil
}

func checkScrypt(fields []string) error {
	if len(fields) != 3 {
		return errors.New("the wrong number of fields")
	}
	var ln, r, p int
	if err := parameters(fields[0], map[string]*int{"ln": &ln, "r": &r, "p": &p}); err != nil {
		return err
	}
	if ln > 24 || r > 64 || p > 4 || 128*r<<ln > MaxScryptMemory {
		return fmt.Errorf("ln=%d,r=%d,p=%d costs more than %d octets or p=4", ln, r, p, MaxScryptMemory)
	}
	return nil
}

func checkArgon2(fields []string) error {
	if len(fields) != 4 {
		return errors.New("the wrong number of fields")
	}
	var m, t, p int
	if err := parameters(fields[1], map[string]*int{"m": &m, "t": &t, "p": &p}); err != nil {
		return err
	}
	if m > MaxArgon2Memory || t > MaxArgon2Passes || p > 64 {
		return fmt.Errorf("m=%d,t=%d,p=%d costs more than m=%d, t=%d or p=64", m, t, p, MaxArgon2Memory, MaxArgon2Passes)
	}
	return nil
}

// pbkdf2Hash is a PBKDF2 hash (RFC 8018).
type pbkdf2Hash struct {
	hash   func() hash.Hash
	rounds int
	salt   []byte
	key    []byte
}

// MatchBytes reports whether given is the password.
func (h *pbkdf2Hash) MatchBytes(given []byte) bool {
	key, err := pbkdf2.Key(h.hash, string(given), h.salt, h.rounds, len(h.key))
	return err == nil && subtle.ConstantTimeCompare(key, h.key) == 1
}

var pbkdf2Hashes = map[string]func() hash.Hash{
	"pbkdf2": sha1.New, "pbkdf2-sha1": sha1.New, "pbkdf2-sha224": sha256.New224,
	"pbkdf2-sha256": sha256.New, "pbkdf2-sha384": sha512.New384, "pbkdf2-sha512": sha512.New,
	"hmacsha1": sha1.New, "hmacsha2+224": sha256.New224, "hmacsha2+256": sha256.New,
	"hmacsha2+384": sha512.New384, "hmacsha2+512": sha512.New,
}

// parsePBKDF2 reads "$pbkdf2-sha256$rounds$salt$hash", as Python's passlib and
// OpenLDAP write it, and "HMACSHA2+256:rounds:salt:hash" with all three in base64
// (the rounds as 4 octets), as FreeRADIUS does.
func parsePBKDF2(value string) (Password, error) {
	var fields []string
	own := !strings.HasPrefix(value, "$")
	if own {
		fields = strings.Split(value, ":")
	} else {
		fields = strings.Split(value[1:], "$")
	}
	if len(fields) != 4 {
		return Password{}, errors.New("not of the form $pbkdf2-digest$rounds$salt$hash or digest:rounds:salt:hash")
	}
	newHash := pbkdf2Hashes[strings.ToLower(fields[0])]
	if newHash == nil {
		return Password{}, errors.New("the digest is not one that is supported")
	}
	h := &pbkdf2Hash{hash: newHash}
	var err error
	if own {
		b, ok := decodeBase64(fields[1])
		if !ok || len(b) != 4 {
			return Password{}, errors.New("rounds are not 4 octets in base64")
		}
		h.rounds = int(binary.BigEndian.Uint32(b))
		_, err = bounded("rounds", strconv.Itoa(h.rounds), 1, MaxPBKDF2Rounds)
	} else {
		h.rounds, err = bounded("rounds", fields[1], 1, MaxPBKDF2Rounds)
	}
	if err != nil {
		return Password{}, err
	}
	var saltOK, keyOK bool
	h.salt, saltOK = decodeAdaptedBase64(fields[2])
	h.key, keyOK = decodeAdaptedBase64(fields[3])
	if !saltOK || !keyOK || len(h.key) < 16 || len(h.key) > 64 {
		return Password{}, errors.New("the salt or the hash is malformed")
	}
	return Password{form: FormPBKDF2, slow: h}, nil
}

// decodeAdaptedBase64 decodes base64 with or without padding, also with the '.'
// that passlib writes for '+'.
func decodeAdaptedBase64(s string) ([]byte, bool) {
	s = strings.ReplaceAll(strings.TrimRight(s, "="), ".", "+")
	b, err := base64.RawStdEncoding.DecodeString(s)
	return b, err == nil
}
