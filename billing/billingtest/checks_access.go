package billingtest

import (
	"fmt"
	"reflect"
	"strings"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
)

const (
	ruleUnknown = "a user who is not known is a Grant with ReasonUnknownUser and no error"
	ruleKnown   = "a subscriber's Grant must let in who knows the password, and nobody else"
	ruleStable  = "a Grant and its attributes must not change after Authorize has returned"
	ruleName    = "a User-Name is data: it names exactly the subscriber of that name"
)

func checkUnknownUser(s *suite) {
	for _, name := range []string{"nobody", "alic", "alice2", "alice@example.net", "carol"} {
		s.unknown(ruleUnknown, name)
	}
	// A request without User-Name is nobody's, whatever else it has.
	s.unknownRequest(ruleUnknown, "", AccessRequest().CallingStation("02-00-00-00-00-01"))
}

// unknown checks that there is no user of that name.
func (s *suite) unknown(rule, name string) { s.unknownRequest(rule, name, PAP(name, "guess")) }

func (s *suite) unknownRequest(rule, name string, r Request) {
	g, ok, err := s.authorize(s.ctx, s.access(r))
	switch {
	case !ok:
	case err != nil:
		s.fail("Authorize", rule, "user %q: the error %v", name, err)
	case g.Reason != billing.ReasonUnknownUser:
		s.fail("Authorize", rule, "user %q: the Reason is %v", name, g.Reason)
	}
}

func checkKnownUser(s *suite) {
	for _, sub := range subscribers {
		s.known(ruleKnown, sub)
	}
}

// known checks that a subscriber can log in with every method that the form of the
// stored password allows, and with no other password.
func (s *suite) known(rule string, sub Subscriber) {
	g, ok, err := s.authorize(s.ctx, s.access(PAP(sub.UserName, sub.Password)))
	switch {
	case !ok:
		return
	case err != nil:
		s.fail("Authorize", rule, "user %q: the error %v", sub.UserName, err)
		return
	case g.Reason != billing.ReasonNone:
		s.fail("Authorize", rule, "user %q: the Reason is %v, must be %v", sub.UserName, because(g.Reason), billing.ReasonNone)
		return
	}
	form := g.Password.Form()
	s.login(rule, form, "PAP", sub, PAP)
	if form == billing.FormCleartext {
		s.login(rule, form, "CHAP", sub, CHAP)
	}
	if form == billing.FormCleartext || form == billing.FormNT {
		s.login(rule, form, "MS-CHAP", sub, MSCHAP)
		s.login(rule, form, "MS-CHAPv2", sub, MSCHAPv2)
	}
	s.verdict(rule, fmt.Sprintf("user %q without credentials", sub.UserName),
		AccessRequest().User(sub.UserName), radius.CodeAccessReject)
}

func (s *suite) login(rule string, form billing.Form, method string, sub Subscriber, login func(user, password string) Request) {
	how := fmt.Sprintf("user %q with %s against %v", sub.UserName, method, form)
	s.verdict(rule, how, login(sub.UserName, sub.Password), radius.CodeAccessAccept)
	s.verdict(rule, how+" and a wrong password", login(sub.UserName, sub.Password+"x"), radius.CodeAccessReject)
}

// verdict runs r through a Processor before the back end.
func (s *suite) verdict(rule, how string, r Request, want radius.Code) {
	var (
		rec   = Recorder{Handler: s.backend.Handler}
		reply *Reply
		err   error
	)
	if !s.guard("Authorize", func() { reply, err = Do(s.ctx, &billing.Processor{Handler: &rec}, r) }) {
		return
	}
	switch {
	case err != nil:
		s.fail("Authorize", rule, "%s: %v", how, err)
	case reply.Outcome() != want.String():
		reason := ""
		if results := rec.Results(); len(results) > 0 {
			reason = fmt.Sprintf(" (%v)", because(results[0].Reason))
		}
		if reply.Err != nil {
			reason = fmt.Sprintf(" (%v)", reply.Err)
		}
		s.fail("Authorize", rule, "%s: %s%s, must be %v", how, reply.Outcome(), reason, want)
	}
}

// checkStableGrant holds the Grants of all subscribers at the same time.
func checkStableGrant(s *suite) {
	var (
		grants []billing.Grant
		before []string
	)
	for range 2 {
		for _, sub := range subscribers {
			g, ok, err := s.authorize(s.ctx, s.access(PAP(sub.UserName, sub.Password)))
			if !ok || err != nil {
				s.fail("Authorize", ruleKnown, "user %q: the error %v", sub.UserName, orNone(err))
				return
			}
			grants = append(grants, g)
			before = append(before, grantText(g, sub.Password))
		}
	}
	for i, g := range grants {
		sub := subscribers[i%len(subscribers)]
		if after := grantText(g, sub.Password); after != before[i] {
			s.fail("Authorize", ruleStable, "user %q: it was %s, and is %s when others have been asked about", sub.UserName, before[i], after)
		}
	}
}

// grantText is a Grant in words, for comparing: all but OpenSessions, which may
// change meanwhile. Of the password it has the form and whether it is right.
func grantText(g billing.Grant, password string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "reason %v, password %v", g.Reason, g.Password.Form())
	if g.Password.VerifyPAP([]byte(password)) == billing.ReasonNone {
		b.WriteString(" (right)")
	}
	if g.NoPassword {
		b.WriteString(", no password needed")
	}
	if g.AnyPassword {
		b.WriteString(", any password will do")
	}
	if g.Message != "" {
		fmt.Fprintf(&b, ", message %q", g.Message)
	}
	if g.CallingStationID != "" {
		fmt.Fprintf(&b, ", from %q", g.CallingStationID)
	}
	if !g.Expires.IsZero() {
		fmt.Fprintf(&b, ", expires %v", moment(g.Expires))
	}
	if g.SimultaneousUse != 0 {
		fmt.Fprintf(&b, ", %d sessions", g.SimultaneousUse)
	}
	for _, list := range []struct {
		name string
		radius.Attributes
	}{{"reply", g.Reply}, {"restricted", g.Restricted}} {
		if list.Attributes == nil {
			continue
		}
		fmt.Fprintf(&b, ", %s [", list.name)
		for _, a := range list.Attributes {
			fmt.Fprintf(&b, " %d=%x", a.Type, []byte(a.Attribute))
		}
		b.WriteString(" ]")
	}
	return b.String()
}

// strangeSubscribers have names that are awkward to store but can be stored
// anywhere: text of at most 64 octets.
func strangeSubscribers() []Subscriber {
	names := []string{
		"o'brien", `"quoted"`, "a%b", "a_b", "semi;colon--", "`tick`", "$1", "{brace}", "имя@пример.рф", "a=27b",
		strings.Repeat("long.", 12) + "name",
	}
	subs := make([]Subscriber, len(names))
	for i, name := range names {
		subs[i] = Subscriber{name, fmt.Sprintf("pass'word%d", i)}
	}
	return subs
}

// strangeNames are those of nobody: each would be somebody's, or an error, if it
// were anything but data.
func strangeNames() []string {
	return []string{
		"' OR '1'='1", "' OR 1=1 -- ", "alice'--", "alice'; DROP TABLE radcheck; --", `alice" OR ""="`, `\' OR 1=1 -- `,
		"%", "_____", "al%", "alic_", "a*", "axb", // patterns
		"alice\x00", "\x00alice", "alice\x00bob", "\x00", // cut at the NUL, they are alice or nobody
		"alice\n", "\talice", "alice\r\n",
		"\xff\xfe", "alice\xff", "\xc0\xaf", "\xed\xa0\x80", // not UTF-8
		strings.Repeat("x", 253), strings.Repeat("'", 253), strings.Repeat("\xff", 253),
		"%{User-Name}", "${jndi:ldap://x}", "o''brien", "o=27brien",
	}
}

func checkStrangeUsers(s *suite) {
	for _, sub := range strangeSubscribers() {
		how := fmt.Sprintf("user %q", sub.UserName)
		s.verdict(ruleName, how, PAP(sub.UserName, sub.Password), radius.CodeAccessAccept)
		s.verdict(ruleName, how+" and the password of another", PAP(sub.UserName, subscribers[0].Password), radius.CodeAccessReject)
	}
	for _, name := range strangeNames() {
		s.unknown(ruleName, name)
	}
	// Other attributes are data as well, whatever a back end looks up by them.
	for _, strange := range strangeNames() {
		r := PAP("alice", subscribers[0].Password).CallingStation(strange).CalledStation(strange).
			NASIdentifier(strange).String(rfc2865.State_Type, strange)
		g, ok, err := s.authorize(s.ctx, s.access(r))
		if ok && (err != nil || g.Reason != billing.ReasonNone) {
			s.fail("Authorize", "attributes are data: they do not change who the subscriber is",
				"user %q with Calling-Station-Id, Called-Station-Id, NAS-Identifier and State %q: Reason %v, error %v",
				"alice", strange, because(g.Reason), orNone(err))
		}
	}
	s.known(ruleName, subscribers[0]) // they are all still there
}

func checkArguments(s *suite) {
	const rule = "a method must not change its arguments"
	req := s.access(CHAP("alice", subscribers[0].Password).CallingStation("02-00-00-00-00-01").Class("class-1"))
	before := cloneAccess(req)
	if _, ok, _ := s.authorize(s.ctx, req); ok && !reflect.DeepEqual(req, before) {
		s.fail("Authorize", rule, "the AccessRequest, or the Request in it, is not what it was")
	}
	rec := s.record(s.visit("arguments").stop)
	stored := cloneRecord(rec)
	if s.account(rec, describe(rec)) && !reflect.DeepEqual(rec, stored) {
		s.fail("Account", rule, "the AccountingRecord, or the Request in it, is not what it was")
	}
	if b := s.batch(); b != nil {
		s.batchArguments(b, rule)
	}
}

func (s *suite) batchArguments(b billing.BatchHandler, rule string) {
	reqs := []*billing.AccessRequest{s.access(PAP("bob", "x")), s.access(PAP("nobody", "x")), s.access(PAP("alice", "x"))}
	recs := []*billing.AccountingRecord{
		s.record(s.visit("arguments-b").stop), s.record(s.visit("arguments-a").start), s.record(s.visit("arguments-a").stop),
	}
	sameReqs, sameRecs := append([]*billing.AccessRequest{}, reqs...), append([]*billing.AccountingRecord{}, recs...)
	var oldReqs []*billing.AccessRequest
	for _, r := range reqs {
		oldReqs = append(oldReqs, cloneAccess(r))
	}
	var oldRecs []*billing.AccountingRecord
	for _, r := range recs {
		oldRecs = append(oldRecs, cloneRecord(r))
	}
	s.guard("AuthorizeBatch", func() {
		b.AuthorizeBatch(s.ctx, reqs, make([]billing.Grant, len(reqs)), make([]error, len(reqs)))
	})
	s.guard("AccountBatch", func() { b.AccountBatch(s.ctx, recs, make([]error, len(recs))) })
	for i := range reqs {
		if reqs[i] != sameReqs[i] || !reflect.DeepEqual(reqs[i], oldReqs[i]) {
			s.fail("AuthorizeBatch", rule, "request %d of %d is not what it was", i+1, len(reqs))
		}
	}
	for i := range recs {
		if recs[i] != sameRecs[i] || !reflect.DeepEqual(recs[i], oldRecs[i]) {
			s.fail("AccountBatch", rule, "record %d of %d is not what it was", i+1, len(recs))
		}
	}
}
