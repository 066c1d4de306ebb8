package billing

import (
	"strconv"
	"strings"
	"time"

	"layeh.com/radius/rfc2865"
)

// strangerText is what everybody reads who has not proved to be the subscriber,
// so that unknown users and wrong passwords look the same.
const strangerText = "Invalid user name or password"

// A decision is what becomes of an Access-Request.
type decision struct {
	reason     Reason // ReasonNone: accepted in full
	restricted bool   // accepted with the restricted profile
	proven     bool   // the subscriber is who they say, and may read the reason
}

func (d decision) accepted() bool { return d.reason == ReasonNone || d.restricted }

// verify checks what the request proves against what the Grant wants. What an EAP
// conversation proves was found out on its way.
func (a *access) verify(g *Grant) Reason {
	if a.eap.session != nil {
		return a.eap.session.verified
	}
	return a.check(g)
}

// check checks the credentials against what the Grant wants.
func (a *access) check(g *Grant) Reason {
	if g.AnyPassword && (a.Method == MethodPAP || a.Method == MethodCHAP || a.Method == MethodEAPMD5) {
		return ReasonNone
	}
	var r Reason
	switch c := &a.cred; a.Method {
	case MethodNone:
		if g.NoPassword || g.AnyPassword {
			return ReasonNone
		}
		return ReasonNoPassword
	case MethodPAP:
		if len(c.given) == 0 && g.NoPassword {
			return ReasonNone // an empty password is none
		}
		r = g.Password.VerifyPAP(c.given)
	default:
		r = a.respond(g.Password)
	}
	if r != ReasonNone && g.NoPassword && a.macIsPassword() {
		return ReasonNone
	}
	return r
}

// respond checks a response to a challenge against p.
func (a *access) respond(p Password) Reason {
	c := &a.cred
	switch a.Method {
	case MethodCHAP, MethodEAPMD5:
		return p.VerifyCHAP(c.ident, c.challenge, c.response)
	case MethodMSCHAP:
		if c.lmOnly {
			return ReasonPasswordForm
		}
		return p.VerifyMSCHAP(c.challenge, c.response)
	case MethodMSCHAPv2, MethodEAPMSCHAPv2:
		return p.VerifyMSCHAPv2(c.challenge, c.peerChallenge, a.UserName, c.response)
	}
	return ReasonNoPassword
}

// macIsPassword reports whether the User-Name is a MAC address and the password
// is that address again. Behind a challenge it must be written as in the name;
// in PAP any writing will do.
func (a *access) macIsPassword() bool {
	name, ok := parseMAC(a.UserName)
	if !ok {
		return false
	}
	if a.Method == MethodPAP {
		given, ok := parseMAC(string(a.cred.given))
		return ok && given == name
	}
	return a.respond(Cleartext(a.UserName)) == ReasonNone
}

// decide says what becomes of a request for which the back end answered g. The
// password comes first: who does not know it learns nothing of the account.
func (t *table) decide(a *access, g *Grant, now time.Time) decision {
	// The password is looked at even if the answer is no already, so that a back
	// end that gives one for unknown users makes them take as long as known ones.
	verified := a.verify(g)
	if g.Reason >= numReasons {
		g.Reason = ReasonRejected // not of the list: no is no
	}
	switch {
	case g.Reason == ReasonUnknownUser:
		return decision{reason: ReasonUnknownUser}
	case verified != ReasonNone && g.Reason != ReasonNone && g.Password.IsZero():
		return decision{reason: g.Reason} // nothing to prove it with
	case verified != ReasonNone:
		return decision{reason: verified}
	}
	d := decision{proven: true}
	switch {
	case g.Reason != ReasonNone && g.Reason != ReasonNoMoney:
		d.reason = g.Reason
	case g.CallingStationID != "" && !sameStation(g.CallingStationID, a.CallingStationID):
		d.reason = ReasonCallingStation
	case !g.Expires.IsZero() && !now.Before(g.Expires):
		d.reason = ReasonExpired
	case g.Reason == ReasonNoMoney && g.Restricted == nil:
		d.reason = ReasonNoMoney
	case g.SimultaneousUse > 0 && !t.reserve(a, g, now):
		d.reason = ReasonTooManySessions
	case g.Reason == ReasonNoMoney:
		d.reason, d.restricted = ReasonNoMoney, true
	}
	return d
}

// timed reports whether what becomes of the request depends on when it is decided:
// most do not, and the clock is not read for them.
func (g *Grant) timed() bool { return !g.Expires.IsZero() || g.SimultaneousUse > 0 }

// reserve takes one of the subscriber's sessions until its Start arrives.
func (t *table) reserve(a *access, g *Grant, now time.Time) bool {
	if t.ttl < 0 {
		return g.OpenSessions < g.SimultaneousUse
	}
	user := a.UserName
	attrs := g.Reply
	if g.Reason == ReasonNoMoney {
		attrs = g.Restricted
	}
	if name, ok := attrs.Lookup(rfc2865.UserName_Type); ok {
		user = string(name) // the NAS uses this one in accounting (RFC 2865 section 5.1)
	}
	port := a.NASPortID
	if port == "" && a.hasPort {
		port = strconv.FormatUint(uint64(a.NASPort), 10)
	}
	id := sessionID{user: foldUser(user), device: deviceOf(a.CallingStationID, a.NASAddr, port)}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reservations.reserve(now, a.began, id, g.OpenSessions, g.SimultaneousUse)
}

// started says that the session of rec is in the accounting now.
func (t *table) started(rec *AccountingRecord, now time.Time) {
	switch rec.Status {
	case Start, InterimUpdate, Stop:
	default:
		return
	}
	if t.ttl < 0 {
		return
	}
	id := sessionID{user: foldUser(rec.UserName), device: deviceOf(rec.CallingStationID, rec.NASAddr, rec.NASPort)}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reservations.end(now, id)
}

// foldUser makes one of the user names that a database may take for one: case and
// blanks at the end do not count in MySQL's usual collations. Where they do count
// two subscribers share a limit for half a minute, which harms less than one who
// goes round it.
func foldUser(name string) string {
	return strings.ToLower(strings.TrimRight(name, " "))
}
