package wire

import (
	"crypto/subtle"
)

// Verify reports whether a request is what the client that shares secret sent.
// b and s are as for [Parse], which must have found s well-formed. It checks, in
// constant time:
//
//   - the Request Authenticator of an Accounting-Request, CoA-Request and
//     Disconnect-Request, which is a signature (RFC 2866 section 3, RFC 5176
//     section 2.3);
//   - the Message-Authenticator of every request that has one, over the packet as
//     it stands, or with a zeroed Request Authenticator where that is a signature
//     (RFC 3579 section 3.2, RFC 5176 section 3.4);
//   - that there is a Message-Authenticator where the protocol itself wants one,
//     see [Shape.RequiresMessageAuthenticator].
//
// An Access-Request without Message-Authenticator carries nothing to verify and
// is true: whether such a client is acceptable is policy. A packet that is not a
// request is false, see [Shape.IsRequest]. b is only read.
func Verify(b []byte, s *Shape, secret *Secret) bool {
	k := secret.keyed()
	signed := signedRequest(s.Code)
	if k == nil || !signed && !randomRequest(s.Code) {
		return false
	}
	if s.MessageAuthenticator == 0 {
		if s.RequiresMessageAuthenticator() {
			return false
		}
		if !signed {
			return true
		}
	}
	d := getDigester()
	defer putDigester(d)
	d.load(b[:s.Length])
	if signed {
		d.zeroAuthenticator()
		d.signature(k, s.Length)
		if !d.equals(b, authenticatorOffset) {
			return false
		}
	}
	return d.verifyMessageAuthenticator(b, s, k)
}

// VerifyResponse reports whether a reply comes from the server that shares
// secret, and answers the request whose Authenticator field was
// requestAuthenticator. It checks in constant time the Response Authenticator
// (RFC 2865 section 3) and, when there is one, the Message-Authenticator
// (RFC 3579 section 3.2); a reply with EAP-Message and without
// Message-Authenticator is false, and so is a packet that is not a reply. Whether
// a Message-Authenticator must be there, and first, is the client's policy. b and
// s are as for [Parse], which must have found s well-formed; b is only read.
func VerifyResponse(b []byte, s *Shape, requestAuthenticator [16]byte, secret *Secret) bool {
	k := secret.keyed()
	if k == nil || !isReply(s.Code) {
		return false
	}
	if s.MessageAuthenticator == 0 && s.HasEAP() {
		return false
	}
	d := getDigester()
	defer putDigester(d)
	d.load(b[:s.Length])
	copy(d.packet[authenticatorOffset:], requestAuthenticator[:])
	d.signature(k, s.Length)
	return d.equals(b, authenticatorOffset) && d.verifyMessageAuthenticator(b, s, k)
}

// verifyMessageAuthenticator checks the Message-Authenticator of b, if any,
// against the loaded packet, which differs from b in its Authenticator field.
func (d *digester) verifyMessageAuthenticator(b []byte, s *Shape, k *secretKey) bool {
	if s.MessageAuthenticator == 0 {
		return true
	}
	d.messageAuthenticator(k, s.Length, s.MessageAuthenticator)
	return d.equals(b, s.MessageAuthenticator+attributeHeader)
}

// equals compares sum with the digest in b at offset i, in constant time.
func (d *digester) equals(b []byte, i int) bool {
	return subtle.ConstantTimeCompare(d.sum[:], b[i:i+digestLength]) == 1
}
