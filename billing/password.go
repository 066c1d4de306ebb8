package billing

import (
	"fmt"
	"strings"
)

// A Form is the way in which a password is stored, named as FreeRADIUS names the
// attributes that hold it.
type Form uint8

// Forms of a stored password. The zero Form is none.
const (
	FormNone       Form = iota
	FormCleartext       // Cleartext-Password: the password itself; answers every method
	FormNT              // NT-Password: MD4 of the password in UTF-16LE; answers PAP and MS-CHAP
	FormCrypt           // Crypt-Password: crypt(3), "$id$..." or traditional; PAP only, as all that follow
	FormMD5             // MD5-Password
	FormSMD5            // SMD5-Password: MD5 with a salt behind
	FormSHA             // SHA-Password: SHA-1
	FormSSHA            // SSHA-Password: SHA-1 with a salt behind
	FormSHA2            // SHA2-Password: SHA-224, 256, 384 or 512, told apart by length
	FormSSHA2_224       // SSHA2-224-Password
	FormSSHA2_256       // SSHA2-256-Password
	FormSSHA2_384       // SSHA2-384-Password
	FormSSHA2_512       // SSHA2-512-Password
	FormPBKDF2          // PBKDF2-Password
	FormWithHeader      // Password-With-Header: the form stands in front, "{SSHA}..."
	numForms
)

var formNames = [numForms]string{
	"none", "Cleartext-Password", "NT-Password", "Crypt-Password", "MD5-Password", "SMD5-Password",
	"SHA-Password", "SSHA-Password", "SHA2-Password", "SSHA2-224-Password", "SSHA2-256-Password",
	"SSHA2-384-Password", "SSHA2-512-Password", "PBKDF2-Password", "Password-With-Header",
}

// String returns the name of FreeRADIUS's attribute: "SSHA-Password".
func (f Form) String() string {
	if f >= numForms {
		return "invalid"
	}
	return formNames[f]
}

// ParseForm returns the Form of an attribute's name, whatever its case:
// "Cleartext-Password", "NT-Password" and so on, as radcheck has them. ok is
// false for a name that is not a password, or of a form that is not supported
// (LM-Password, NS-MTA-MD5-Password).
func ParseForm(name string) (f Form, ok bool) {
	for f := FormCleartext; f < numForms; f++ {
		if strings.EqualFold(name, formNames[f]) {
			return f, true
		}
	}
	return FormNone, false
}

// MaxPasswordLength is the most octets of a password in cleartext: what fits into
// an attribute. (PAP itself carries at most 128.)
const MaxPasswordLength = 253

// A Password is a subscriber's password as it is stored: in cleartext or as a
// hash. It is an immutable value, so it may be copied, kept and used by several
// goroutines at once. The zero Password lets nobody in.
//
// It never shows what it holds: every way of formatting or encoding it gives the
// name of the form and no more.
type Password struct {
	form  Form
	value string  // the cleartext, or the digest with its salt behind, in binary
	slow  matcher // FormCrypt and FormPBKDF2
}

// A matcher compares a password with a hash that is made to be slow.
type matcher interface {
	MatchBytes(given []byte) bool
}

// Cleartext is a password in cleartext, the only form that answers CHAP. One that
// is empty, or longer than MaxPasswordLength, lets nobody in.
func Cleartext(password string) Password {
	return Password{form: FormCleartext, value: password}
}

// NTHash is a password as its NT hash: MD4 of the password in UTF-16LE.
func NTHash(hash [16]byte) Password {
	return Password{form: FormNT, value: string(hash[:])}
}

// Form is the form in which the password is stored. FormNone: there is none.
func (p Password) Form() Form { return p.form }

// IsZero reports whether there is no password at all.
func (p Password) IsZero() bool { return p.form == FormNone }

// String returns the form alone, never the password.
func (p Password) String() string { return "[" + p.form.String() + "]" }

// GoString returns the form alone, never the password.
func (p Password) GoString() string { return "billing.Password{" + p.form.String() + "}" }

// Format writes the form alone, whatever the verb.
func (p Password) Format(f fmt.State, verb rune) {
	if verb == 'v' && f.Flag('#') {
		_, _ = f.Write([]byte(p.GoString()))
		return
	}
	_, _ = f.Write([]byte(p.String()))
}

// MarshalJSON encodes the form alone.
func (p Password) MarshalJSON() ([]byte, error) { return []byte(`"` + p.String() + `"`), nil }

// MarshalText encodes the form alone.
func (p Password) MarshalText() ([]byte, error) { return []byte(p.String()), nil }
