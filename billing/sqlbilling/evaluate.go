package sqlbilling

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc3576"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/internal/reply"
	"github.com/radpool/radpool/billing/rating"
)

// evaluate decides what a request is granted from the rows of its subscriber: a
// pure function, in the order of FreeRADIUS's SQL module.
//
//  1. radcheck, in order of id. No rows: radreply is not looked at. A check item
//     that does not match: neither is, but the groups are.
//  2. radreply. Its Fall-Through decides: No ends here, Yes or none goes on; with
//     groupsByFallThrough none leaves the groups out.
//  3. The groups by priority. One whose radgroupcheck does not match is skipped;
//     after one that matches only its own Fall-Through = Yes goes on.
//  4. If nothing said No (with profilesByFallThrough: if Yes was said): the groups
//     of the profile (User-Profile, else the default one), in the same way.
func (e *evaluation) evaluate(restricted []row) (billing.Grant, error) {
	if e.req.Request != nil && e.req.Request.Packet != nil {
		e.attrs = e.req.Request.Attributes
		if e.attrs == nil {
			e.attrs = radius.Attributes{}
		}
	}
	fall, err := e.own()
	if err != nil {
		return billing.Grant{}, err
	}
	switch {
	case fall == fallNo:
		e.trace.note("radusergroup", "is not looked at: Fall-Through = No")
	case fall == fallDefault && e.groupsByFallThrough:
		e.trace.note("radusergroup", "is not looked at: there is no Fall-Through = Yes")
	default:
		if fall, err = e.walk(e.sub.groups, fall); err != nil {
			return billing.Grant{}, err
		}
	}
	if fall == fallYes || fall == fallDefault && !e.profilesByFallThrough {
		profile := e.defaultProfile
		if p := first(e.control, "User-Profile"); p != nil {
			profile = string(p.value)
		}
		if profile != "" {
			e.trace.enterProfile(profile)
			if _, err = e.walk(e.sub.profiles[profile], fall); err != nil {
				return billing.Grant{}, err
			}
		}
	}
	if !e.found {
		if e.failed != nil {
			return billing.Grant{Reason: mismatch(e.failed)}, nil
		}
		return billing.Grant{Reason: billing.ReasonUnknownUser}, nil
	}
	return e.grant(restricted)
}

// Whether to go on after a table of replies.
type fallThrough uint8

const (
	fallDefault fallThrough = iota // nothing was said
	fallNo
	fallYes
)

// own evaluates the user's own rows.
func (e *evaluation) own() (fallThrough, error) {
	if len(e.sub.check) == 0 {
		e.trace.note("radcheck", "has no row of this user, so that radreply is not looked at")
		return fallDefault, nil
	}
	e.found = true
	matched, err := e.check(e.sub.check)
	if err == nil && !matched {
		e.trace.note("radreply", "is not looked at: radcheck does not match")
	}
	if err != nil || !matched || len(e.sub.reply) == 0 {
		return fallDefault, err
	}
	return e.answer(e.sub.reply)
}

// walk evaluates groups in order. before is what the user's own replies said.
func (e *evaluation) walk(groups []*membership, before fallThrough) (fallThrough, error) {
	if len(groups) == 0 {
		return fallDefault, nil
	}
	fall := before
	for i, g := range groups {
		e.trace.enterGroup(g.group)
		if len(g.check) > 0 {
			matched, err := e.check(g.check)
			if err != nil {
				return fall, err
			}
			if !matched {
				e.trace.note("radgroupreply", "is not looked at: radgroupcheck does not match")
				continue
			}
		}
		e.found = true
		var err error
		if fall, err = e.answer(g.reply); err != nil {
			return fall, err
		}
		if fall != fallYes {
			if i+1 < len(groups) {
				e.trace.note("radusergroup", "goes no further: this group says no Fall-Through = Yes")
			}
			break
		}
	}
	return fall, nil
}

// check compares a table of check items, and merges it if it matches.
func (e *evaluation) check(rows []row) (matched bool, err error) {
	pairs, err := parseRows(rows, e.dict, e.loc)
	if err != nil {
		return false, err
	}
	failed, err := e.match(pairs)
	if err != nil {
		return false, err
	}
	e.trace.compared(pairs, failed)
	if failed != nil {
		if e.failed == nil {
			e.failed = failed
		}
		return false, nil
	}
	e.control = e.merge(e.control, pairs)
	return true, nil
}

// answer merges a table of replies, and reports its Fall-Through.
func (e *evaluation) answer(rows []row) (fallThrough, error) {
	pairs, err := parseRows(rows, e.dict, e.loc)
	if err != nil {
		return fallDefault, err
	}
	fall := fallDefault
	if p := first(pairs, "Fall-Through"); p != nil && len(p.value) == 4 {
		fall = fallNo
		if binary.BigEndian.Uint32(p.value) != 0 {
			fall = fallYes
		}
	}
	e.reply = e.merge(e.reply, pairs)
	return fall, nil
}

// merge is the function merge, and tells the trace of it.
func (e *evaluation) merge(to, from []pair) []pair {
	if e.trace == nil {
		return merge(to, from)
	}
	before := slices.Clone(to) // which merge may overwrite
	after := merge(to, from)
	e.trace.merged(before, from, after)
	return after
}

// first finds the first pair of an attribute.
func first(pairs []pair, name string) *pair {
	for i := range pairs {
		if pairs[i].ref.Name == name {
			return &pairs[i]
		}
	}
	return nil
}

// grant turns the lists into a Grant.
func (e *evaluation) grant(restricted []row) (billing.Grant, error) {
	var g billing.Grant
	var err error
	if g.Reply, g.Hidden, err = encode(e.reply); err != nil {
		return billing.Grant{}, err
	}
	if err := e.credentials(&g); err != nil {
		return billing.Grant{}, err
	}
	if p := first(e.control, "Expiration"); p != nil {
		g.Expires = time.Unix(int64(binary.BigEndian.Uint32(p.value)), 0)
	}
	if p := first(e.control, "Simultaneous-Use"); p != nil {
		if !e.sub.counted {
			return billing.Grant{}, p.row.error("the sessions were not counted for it: its name must be Simultaneous-Use and nothing else")
		}
		g.SimultaneousUse = int(binary.BigEndian.Uint32(p.value))
		g.OpenSessions = e.sub.open
		if g.SimultaneousUse == 0 && g.Reason == billing.ReasonNone {
			g.Reason = billing.ReasonTooManySessions // not even one
		}
	}
	if p := first(e.control, "Pool-Name"); p != nil {
		g.Pool = string(p.value)
	}
	if err := e.loginTime(&g); err != nil {
		return billing.Grant{}, err
	}
	if err := e.money(&g, restricted); err != nil {
		return billing.Grant{}, err
	}
	if g.Reason == billing.ReasonNone && g.Password.IsZero() && !g.NoPassword && e.failed != nil {
		// Without the items that did not match there is no password.
		g.Reason = mismatch(e.failed)
	}
	return g, nil
}

// credentials sets what the control list says of passwords and of Auth-Type.
func (e *evaluation) credentials(g *billing.Grant) error {
	if p := first(e.control, "Radpool-Blocked"); p != nil && binary.BigEndian.Uint32(p.value) != 0 {
		g.Reason = billing.ReasonBlocked
	}
	if p := first(e.control, "Auth-Type"); p != nil {
		method := e.req.Method
		var wrong bool
		switch strings.ToLower(string(p.value)) {
		case "reject":
			wrong = true
			g.RejectReply = ofReject(g.Reply)
		case "accept":
			g.NoPassword, g.AnyPassword = true, true
		case "local":
		case "pap":
			wrong = method != billing.MethodPAP
		case "chap":
			wrong = method != billing.MethodCHAP
		case "mschap", "ms-chap":
			wrong = method != billing.MethodMSCHAP && method != billing.MethodMSCHAPv2
		case "eap":
			wrong = method != billing.MethodEAP && method != billing.MethodEAPMD5 && method != billing.MethodEAPMSCHAPv2
		default:
			return p.row.error("this Auth-Type is not supported (Accept, Reject, Local, PAP, CHAP, MS-CHAP and EAP are)")
		}
		if wrong && g.Reason == billing.ReasonNone {
			g.Reason = billing.ReasonRejected
		}
	}
	best, rank := (*pair)(nil), math.MaxInt
	var form billing.Form
	for i := range e.control {
		p := &e.control[i]
		if f, r := passwordForm(p.ref.Name); r < rank {
			best, rank, form = p, r, f
		}
	}
	switch {
	case best == nil:
		return nil
	case form == billing.FormNone:
		return best.row.error("passwords of this form are not supported")
	}
	var err error
	if g.Password, err = billing.ParsePassword(form, string(best.value)); err != nil {
		return best.row.error(err.Error())
	}
	return nil
}

// ofReject are the attributes of a reply that FreeRADIUS leaves in an Access-Reject,
// less State, which has no place there (RFC 2865 section 5.44). nil: none.
func ofReject(attrs radius.Attributes) (left radius.Attributes) {
	for _, avp := range attrs {
		if avp.Type == rfc2865.ReplyMessage_Type || avp.Type == rfc3576.ErrorCause_Type {
			left = append(left, avp)
		}
	}
	return left
}

// passwordForm is the form of a password attribute, and its rank among several:
// the one that answers more methods comes first. A form that is not supported is
// FormNone and comes last.
func passwordForm(name string) (billing.Form, int) {
	switch name {
	case "User-Password": // set with :=, an old way to write Cleartext-Password
		return billing.FormCleartext, 1
	case "LM-Password", "NS-MTA-MD5-Password":
		return billing.FormNone, 5
	case "SHA1-Password":
		return billing.FormSHA, 4
	case "SSHA1-Password":
		return billing.FormSSHA, 4
	}
	form, ok := billing.ParseForm(name)
	switch {
	case !ok:
		return billing.FormNone, math.MaxInt
	case form == billing.FormCleartext:
		return form, 0
	case form == billing.FormWithHeader:
		return form, 2
	case form == billing.FormNT:
		return form, 3
	}
	return form, 4
}

// loginTime applies Login-Time: outside it the request is rejected, and within it
// the session must end when it does.
func (e *evaluation) loginTime(g *billing.Grant) error {
	p := first(e.control, "Login-Time")
	if p == nil {
		return nil
	}
	h, err := parseHours(string(p.value))
	if err != nil {
		return p.row.error(err.Error())
	}
	in, until := h.at(e.now.In(e.loc))
	switch {
	case !in && g.Reason == billing.ReasonNone:
		g.Reason = billing.ReasonNotNow
	case in && !until.IsZero() && (g.Expires.IsZero() || until.Before(g.Expires)):
		g.Expires = until
	}
	return nil
}

// money applies Radpool-Balance and Radpool-Credit, in millionths of a unit of
// currency. Without a balance the subscriber is not billed here, credit or not.
func (e *evaluation) money(g *billing.Grant, restricted []row) error {
	p := first(e.control, "Radpool-Balance")
	if p == nil {
		return nil
	}
	balance, err := amount(p)
	if err != nil {
		return err
	}
	var credit rating.Money
	if p := first(e.control, "Radpool-Credit"); p != nil {
		if credit, err = amount(p); err != nil {
			return err
		}
	}
	if rating.Add(balance, credit) > 0 || g.Reason != billing.ReasonNone {
		return nil
	}
	g.Reason = billing.ReasonNoMoney
	if len(restricted) == 0 {
		return nil
	}
	pairs, err := parseRows(restricted, e.dict, e.loc)
	if err != nil {
		return err
	}
	e.trace.enterProfile("")
	e.trace.enterGroup("the restricted profile")
	g.Restricted, g.RestrictedHidden, err = encode(e.merge(nil, pairs))
	return err
}

func amount(p *pair) (rating.Money, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(string(p.value)), 10, 64)
	if err != nil {
		return 0, p.row.error("not a whole number of millionths")
	}
	return rating.Money(n), nil
}

// encode makes the attributes of an Access-Accept. Internal attributes and empty
// values are left out, as FreeRADIUS leaves them out.
func encode(pairs []pair) (attrs radius.Attributes, hidden []billing.Hidden, err error) {
	attrs = make(radius.Attributes, 0, len(pairs))
	for i := range pairs {
		p := &pairs[i]
		if p.ref.Internal() || len(p.value) == 0 {
			continue
		}
		if attrs, hidden, err = reply.Append(attrs, hidden, p.ref, p.value); err != nil {
			return nil, nil, p.row.error(err.Error())
		}
	}
	return attrs, hidden, nil
}
