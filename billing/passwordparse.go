package billing

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// maxStored bounds what is looked at of a stored value: no form is longer.
const maxStored = 1024

// A digestRule says of which length the digest of a form is.
type digestRule struct {
	min    int  // octets of the (shortest) digest
	salted bool // more octets follow: the salt
}

var digestRules = [numForms]digestRule{
	FormNT:        {min: 16},
	FormMD5:       {min: 16},
	FormSMD5:      {min: 16, salted: true},
	FormSHA:       {min: 20},
	FormSSHA:      {min: 20, salted: true},
	FormSHA2:      {min: 28},
	FormSSHA2_224: {min: 28, salted: true},
	FormSSHA2_256: {min: 32, salted: true},
	FormSSHA2_384: {min: 48, salted: true},
	FormSSHA2_512: {min: 64, salted: true},
}

// ParsePassword reads a password that is stored in the given form, as radcheck
// holds it. A digest may be in hexadecimal, in base64 or in binary, which is told
// apart as FreeRADIUS's rlm_pap does: hexadecimal if every character is one and
// there are enough of them, else base64 if it decodes to enough octets, else
// binary.
//
// Slow hashes are bounded by what one comparison may cost: see MaxBcryptCost and
// its neighbours. An error names the form, never the value.
func ParsePassword(form Form, value string) (Password, error) {
	p, err := parsePassword(form, value)
	if err != nil {
		return Password{}, fmt.Errorf("billing: %s: %w", form, err)
	}
	return p, nil
}

func parsePassword(form Form, value string) (Password, error) {
	if len(value) > maxStored {
		return Password{}, fmt.Errorf("%d octets, the most is %d", len(value), maxStored)
	}
	switch form {
	case FormCleartext:
		if len(value) > MaxPasswordLength {
			return Password{}, fmt.Errorf("%d octets, the most is %d", len(value), MaxPasswordLength)
		}
		return Cleartext(value), nil
	case FormWithHeader:
		return parseWithHeader(value, true)
	case FormCrypt:
		return parseCrypt(value)
	case FormPBKDF2:
		return parsePBKDF2(value)
	case FormNone:
		return Password{}, errors.New("no form given")
	}
	if form >= numForms {
		return Password{}, errors.New("no such form")
	}
	return parseDigest(form, value)
}

// parseDigest reads a digest of known length.
func parseDigest(form Form, value string) (Password, error) {
	rule := digestRules[form]
	b := normalise(value, rule.min)
	switch {
	case form == FormSHA2:
		if n := len(b); n != 28 && n != 32 && n != 48 && n != 64 {
			return Password{}, fmt.Errorf("%d octets after decoding, want 28, 32, 48 or 64", n)
		}
	case rule.salted && len(b) <= rule.min:
		return Password{}, fmt.Errorf("%d octets after decoding, want more than %d", len(b), rule.min)
	case !rule.salted && len(b) != rule.min:
		return Password{}, fmt.Errorf("%d octets after decoding, want %d", len(b), rule.min)
	}
	return Password{form: form, value: b}, nil
}

// normalise undoes hexadecimal or base64, when s is one of them and gives at
// least least octets, and else leaves s alone (rlm_pap's normalise option).
func normalise(s string, least int) string {
	if len(s)%2 == 0 && len(s) >= 2*least {
		if b, err := hex.DecodeString(s); err == nil {
			return string(b)
		}
	}
	if len(s)*3 >= least*4 {
		if b, ok := decodeBase64(s); ok && len(b) >= least {
			return string(b)
		}
	}
	return s
}

// decodeBase64 decodes with padding or without.
func decodeBase64(s string) ([]byte, bool) {
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	return b, err == nil
}

// headers are those of LDAP's userPassword that have a form here, in lower case,
// as rlm_pap has them and a few that directories write besides.
var headers = map[string]Form{
	"clear": FormCleartext, "cleartext": FormCleartext,
	"md5": FormMD5, "base64_md5": FormMD5, "smd5": FormSMD5,
	"crypt": FormCrypt, "argon2": FormCrypt, "blf-crypt": FormCrypt, "bcrypt": FormCrypt,
	"sha": FormSHA, "ssha": FormSSHA,
	"sha2": FormSHA2, "sha224": FormSHA2, "sha256": FormSHA2, "sha384": FormSHA2, "sha512": FormSHA2,
	"ssha224": FormSSHA2_224, "ssha256": FormSSHA2_256, "ssha384": FormSSHA2_384, "ssha512": FormSSHA2_512,
	"md4": FormNT, "nt": FormNT, "nthash": FormNT, "x-nthash": FormNT, "x- orclntv": FormNT,
	"x-pbkdf2": FormPBKDF2, "pbkdf2": FormPBKDF2, "pbkdf2-sha1": FormPBKDF2, "pbkdf2-sha224": FormPBKDF2,
	"pbkdf2-sha256": FormPBKDF2, "pbkdf2-sha384": FormPBKDF2, "pbkdf2-sha512": FormPBKDF2,
}

// ParsePasswordWithHeader reads a password with its form in front, in braces and
// of any case: {clear}, {md5}, {smd5}, {crypt}, {sha}, {ssha}, {sha2}, {sha224} to
// {sha512}, {ssha224} to {ssha512}, {nt}, {nthash}, {x-nthash}, {md4},
// {x-pbkdf2}, {pbkdf2-sha256} and the like. All of it may be in base64, as LDIF
// has it. Without a header it is a password in cleartext.
//
// A header that is not known is an error. FreeRADIUS takes such a value for the
// cleartext, which would make a hash that leaked a password that works.
func ParsePasswordWithHeader(value string) (Password, error) {
	return ParsePassword(FormWithHeader, value)
}

func parseWithHeader(value string, mayDecode bool) (Password, error) {
	header, rest, found := cutHeader(value)
	if !found {
		if mayDecode {
			if b, ok := decodeBase64(value); ok {
				if _, _, inside := cutHeader(string(b)); inside {
					return parseWithHeader(string(b), false)
				}
			}
		}
		return parsePassword(FormCleartext, value)
	}
	header = strings.ToLower(header)
	form, known := headers[header]
	if !known {
		// Only the name of a hash may be shown: what stands in braces might be
		// the beginning of a password.
		return Password{}, errors.New("the header in braces is not one that is supported")
	}
	if form == FormPBKDF2 && strings.HasPrefix(header, "pbkdf2") && !strings.HasPrefix(rest, "$") {
		rest = "$" + header + "$" + rest // {PBKDF2-SHA256}rounds$salt$hash
	}
	p, err := parsePassword(form, rest)
	if err != nil {
		return Password{}, fmt.Errorf("%s: %w", form, err)
	}
	return p, nil
}

// cutHeader cuts "{name}rest".
func cutHeader(value string) (header, rest string, found bool) {
	if !strings.HasPrefix(value, "{") {
		return "", "", false
	}
	return strings.Cut(value[1:], "}")
}
