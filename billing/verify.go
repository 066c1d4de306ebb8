package billing

import (
	"crypto/md5"  //nolint:gosec // what RADIUS and the stored forms are made of
	"crypto/sha1" //nolint:gosec // a form in which passwords are stored
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
)

// VerifyPAP compares a password in cleartext. It answers ReasonNone when it is
// right, else ReasonWrongPassword; ReasonNoPassword when either is missing: an
// empty password never matches, so that a blank field in a database lets nobody
// in.
//
// Every comparison is in constant time for passwords of one length. How long the
// hash takes depends on the form: a crypt(3) hash takes milliseconds and more.
func (p Password) VerifyPAP(given []byte) Reason {
	if p.empty() || len(given) == 0 {
		return ReasonNoPassword
	}
	var ok bool
	switch p.form {
	case FormCleartext:
		ok = equalPadded(given, p.value)
	case FormNT:
		hash, valid := ntHash(given)
		ok = valid && equal(hash[:], p.value)
	case FormCrypt, FormPBKDF2:
		ok = p.slow != nil && p.slow.MatchBytes(given)
	default:
		ok = p.matchDigest(given)
	}
	return verdict(ok)
}

// matchDigest compares with the plain digests, salted or not.
func (p Password) matchDigest(given []byte) bool {
	size := digestRules[p.form].min
	if p.form == FormSHA2 {
		size = len(p.value)
	}
	// The salt stands behind the digest. All of this fits in most cases on the
	// stack: a password has at most 128 octets in PAP.
	var buf [256]byte
	in := append(append(buf[:0], given...), p.value[size:]...)
	switch p.form {
	case FormMD5, FormSMD5:
		sum := md5.Sum(in)
		return equal(sum[:], p.value[:size])
	case FormSHA, FormSSHA:
		sum := sha1.Sum(in)
		return equal(sum[:], p.value[:size])
	}
	switch size {
	case sha256.Size224:
		sum := sha256.Sum224(in)
		return equal(sum[:], p.value[:size])
	case sha256.Size:
		sum := sha256.Sum256(in)
		return equal(sum[:], p.value[:size])
	case sha512.Size384:
		sum := sha512.Sum384(in)
		return equal(sum[:], p.value[:size])
	case sha512.Size:
		sum := sha512.Sum512(in)
		return equal(sum[:], p.value[:size])
	}
	return false
}

// VerifyCHAP checks a CHAP response (RFC 1994 section 4.1): ident and response are
// the first octet of CHAP-Password and the 16 that follow. ReasonPasswordForm: the
// password is stored as a hash, and CHAP needs the cleartext.
func (p Password) VerifyCHAP(ident byte, challenge, response []byte) Reason {
	if p.empty() {
		return ReasonNoPassword
	}
	if p.form != FormCleartext {
		return ReasonPasswordForm
	}
	var buf [512]byte
	in := append(buf[:0], ident)
	in = append(in, p.value...)
	in = append(in, challenge...)
	sum := md5.Sum(in)
	return verdict(subtle.ConstantTimeCompare(sum[:], response) == 1)
}

// VerifyMSCHAP checks the NT response of MS-CHAP (RFC 2433 section A.5) to an
// 8-octet challenge. ReasonPasswordForm: the password is neither cleartext nor an
// NT hash.
func (p Password) VerifyMSCHAP(challenge, ntResponse []byte) Reason {
	hash, reason := p.ntHash()
	if reason != ReasonNone {
		return reason
	}
	if len(challenge) != 8 {
		return ReasonBadRequest
	}
	want := challengeResponse([8]byte(challenge), hash)
	return verdict(subtle.ConstantTimeCompare(want[:], ntResponse) == 1)
}

// VerifyMSCHAPv2 checks the NT response of MS-CHAPv2 (RFC 2759 section 8) to the
// two 16-octet challenges. A domain in front of userName ("DOMAIN\name") is left
// out, as clients do. ReasonPasswordForm: the password is neither cleartext nor
// an NT hash.
func (p Password) VerifyMSCHAPv2(authChallenge, peerChallenge []byte, userName string, ntResponse []byte) Reason {
	hash, reason := p.ntHash()
	if reason != ReasonNone {
		return reason
	}
	if len(authChallenge) != 16 || len(peerChallenge) != 16 {
		return ReasonBadRequest
	}
	want := challengeResponse(challengeHash(peerChallenge, authChallenge, withoutDomain(userName)), hash)
	return verdict(subtle.ConstantTimeCompare(want[:], ntResponse) == 1)
}

// emptyNTHash is the NT hash of the empty password.
const emptyNTHash = "\x31\xd6\xcf\xe0\xd1\x6a\xe9\x31\xb7\x3c\x59\xd7\xe0\xc0\x89\xc0"

// empty reports whether there is nothing that could match.
func (p Password) empty() bool {
	switch p.form {
	case FormNone:
		return true
	case FormCleartext:
		return p.value == ""
	case FormNT:
		return p.value == emptyNTHash
	}
	return false
}

// ntHash is the NT hash of the password, where it can be known.
func (p Password) ntHash() (hash [16]byte, reason Reason) {
	if p.empty() {
		return hash, ReasonNoPassword
	}
	switch p.form {
	case FormNT:
		copy(hash[:], p.value)
		return hash, ReasonNone
	case FormCleartext:
		if hash, ok := ntHash([]byte(p.value)); ok {
			return hash, ReasonNone
		}
	}
	return hash, ReasonPasswordForm
}

func verdict(ok bool) Reason {
	if ok {
		return ReasonNone
	}
	return ReasonWrongPassword
}

// equal compares a digest in constant time.
func equal(digest []byte, stored string) bool {
	return subtle.ConstantTimeCompare(digest, []byte(stored)) == 1
}

// equalPadded compares passwords in a time that depends on the given one's length
// alone, and so tells nothing of the stored one's.
func equalPadded(given []byte, stored string) bool {
	var padded [MaxPasswordLength]byte
	if len(given) > len(padded) || len(stored) > len(padded) {
		return false
	}
	copy(padded[:], stored)
	same := subtle.ConstantTimeCompare(given, padded[:len(given)])
	return same&subtle.ConstantTimeEq(int32(len(given)), int32(len(stored))) == 1
}
