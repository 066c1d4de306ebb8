package billing

import "github.com/radpool/radpool/eap"

// eapCredentials are the subscriber's for a method of EAP: what the method says goes
// the way of all credentials, so that a Grant means the same with each.
type eapCredentials struct {
	a *access
	g *Grant
}

func methodOfEAP(t eap.Type) Method {
	switch t {
	case eap.TypeMD5:
		return MethodEAPMD5
	case eap.TypeMSCHAPv2:
		return MethodEAPMSCHAPv2
	}
	return MethodEAP
}

// verify checks the credentials of the request as those of this method.
func (c *eapCredentials) verify(m Method) bool {
	own := c.a.Method
	c.a.Method = m
	reason := c.a.check(c.g)
	c.a.Method = own
	c.a.eap.session.verified = reason
	return reason == ReasonNone
}

func (c *eapCredentials) MD5(identifier uint8, challenge, response []byte) bool {
	cred := &c.a.cred
	cred.ident, cred.challenge, cred.response = identifier, challenge, response
	return c.verify(MethodEAPMD5)
}

func (c *eapCredentials) MSCHAPv2(challenge, peerChallenge []byte, name string, ntResponse []byte) (proof eap.MSCHAPv2Proof, ok bool) {
	cred := &c.a.cred
	cred.challenge, cred.peerChallenge, cred.response = challenge, peerChallenge, ntResponse
	user := c.a.UserName
	c.a.UserName = name // the response is over this one
	defer func() { c.a.UserName = user }()
	if !c.verify(MethodEAPMSCHAPv2) {
		return proof, false
	}
	hash, reason := c.provenPassword().ntHash()
	if reason != ReasonNone {
		c.a.eap.session.verified = reason
		return proof, false
	}
	over := challengeHash(peerChallenge, challenge, withoutDomain(name))
	proof.Response = string(authenticatorResponse(nil, hash, ntResponse, over))
	proof.SendKey, proof.RecvKey = mppeKeys(hash, ntResponse)
	return proof, true
}

// provenPassword is the password that the response was right for.
func (c *eapCredentials) provenPassword() Password {
	own := c.a.Method
	c.a.Method = MethodEAPMSCHAPv2
	defer func() { c.a.Method = own }()
	return c.a.provenPassword(c.g)
}

func (c *eapCredentials) Password(password []byte) bool {
	c.a.cred.given = password
	defer func() { c.a.cred.given = nil }() // what came through a tunnel is for nobody else
	return c.verify(MethodPAP)
}
