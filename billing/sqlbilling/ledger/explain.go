package ledger

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/coa"
	"github.com/radpool/radpool/billing/rating"
	"github.com/radpool/radpool/billing/sqlbilling"
	"github.com/radpool/radpool/billing/sqlbilling/internal/acct"
	"github.com/radpool/radpool/billing/sqlbilling/internal/item"
)

// Explain says how an Access-Request of user is answered now, and why: the tariff, the
// interval that holds, the balance, the quota, and which profile that makes. It decides as
// Authorize and a billing.Processor do, but takes the password for right, and changes
// nothing. attributes are those of the request beside User-Name, each as "Name=Value": of
// use is NAS-IP-Address, without which it comes from 127.0.0.1. An error is an attribute
// that cannot be sent, the database's, or ctx's.
func (b *Backend) Explain(ctx context.Context, user string, attributes ...string) (*sqlbilling.Trace, error) {
	x := &explainer{b: b}
	reply, err := item.Ask(ctx, b.dict, x, user, attributes, time.UTC)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	if x.err != nil {
		return nil, x.err
	}
	x.trace.Reply = reply
	return &x.trace, nil
}

// An explainer is the back end behind a Processor that decides on one request.
type explainer struct {
	b     *Backend
	trace sqlbilling.Trace
	err   error
}

// tell adds a step.
func (x *explainer) tell(table, format string, args ...any) {
	x.trace.Steps = append(x.trace.Steps, sqlbilling.Step{Table: table + ":", Effect: sqlbilling.Told, Note: fmt.Sprintf(format, args...)})
}

// Authorize is Backend.Authorize of one request, told. What it grants needs no password:
// the Processor is to decide on all the rest.
func (x *explainer) Authorize(ctx context.Context, req *billing.AccessRequest) (g billing.Grant, err error) {
	found := &answer{}
	if possible(req.UserName) {
		if found, x.err = x.b.ask(ctx, []string{req.UserName}, []string{acct.AddrText(req.NASAddr)}, req.Time); x.err != nil {
			x.err = x.b.named(x.err)
			return g, x.err
		}
	}
	x.steps(found, req)
	g, mode, err := found.grant(req, req.Time)
	if sub, ok := errors.AsType[*SubscriberError](err); ok {
		table, place, _ := strings.Cut(sub.Where, ", ")
		x.trace.Row = &sqlbilling.RowError{Table: table, Attribute: place, Reason: sub.Err.Error()}
		return g, err
	}
	if x.b.opts.Control {
		tell(&g, mode)
	}
	x.trace.Password, x.trace.NoPassword = g.Password.Form(), g.NoPassword
	x.trace.Sessions, x.trace.Limit = g.OpenSessions, g.SimultaneousUse
	item.TakeForRight(&g)
	return g, nil
}

// Account is never called.
func (x *explainer) Account(context.Context, *billing.AccountingRecord) error { return ErrClosed }

// PostAuth hears how it ended.
func (x *explainer) PostAuth(res *billing.AuthResult) {
	x.trace.Accepted, x.trace.Restricted, x.trace.Reason = res.Accepted, res.Restricted, res.Reason
}

// steps tells what was found.
func (x *explainer) steps(a *answer, req *billing.AccessRequest) {
	s := a.subscribers[req.UserName]
	if s == nil {
		x.tell("radpool_subscriber", "there is no %.64q; names compare octet by octet", req.UserName)
		return
	}
	own := ""
	if s.profile != "" {
		own = ", profile of their own " + s.profile
	}
	x.tell("radpool_subscriber", "%s: tariff %s%s, password in the form %s", req.UserName, s.tariffName, own, s.form)
	if s.blocked != 0 {
		x.tell("radpool_subscriber", "blocked")
	}
	if s.expires != 0 {
		x.tell("radpool_subscriber", "the subscription ends %s", time.Unix(s.expires, 0).In(time.UTC).Format(time.RFC3339))
	}
	if s.tariff.err != nil {
		return // the RowError says it
	}
	standing := s.standing(req.Time)
	x.interval(s, standing, req.Time)
	x.money(s, standing)
	x.quota(s, standing, req.Time)
	nas := acct.AddrText(req.NASAddr)
	if vendor := a.vendors[nas]; vendor != "" {
		x.tell("radpool_nas", "%s is of the vendor %s: attributes for it, and those for all", nas, vendor)
	} else {
		x.tell("radpool_nas", "%s is of no vendor that is known: attributes for all alone", nas)
	}
	x.profile(s, standing)
}

func (x *explainer) interval(s *subscriber, st rating.Standing, now time.Time) {
	t := &s.tariff
	clock := now.In(t.Location)
	prices := t.Prices
	if st.Interval >= 0 {
		iv := &t.Intervals[st.Interval]
		prices = iv.Prices
		x.tell("radpool_interval", "it is %s in %s: number %d holds, %02d:%02d to %02d:%02d", clock.Format("Mon 15:04"), t.Location, st.Interval+1,
			iv.From/60, iv.From%60, iv.To/60, iv.To%60)
	} else if len(t.Intervals) > 0 {
		x.tell("radpool_interval", "it is %s in %s: none of %d holds", clock.Format("Mon 15:04"), t.Location, len(t.Intervals))
	}
	x.tell("radpool_tariff", "%s: a megabyte (%d octets) from the subscriber costs %v, to it %v; an hour %v, a day %v",
		s.tariffName, t.MB, prices.InputMB, prices.OutputMB, prices.Hour, t.Day)
	if !st.Until.IsZero() {
		x.tell("radpool_tariff", "the session has to end %s, when another interval begins or the money is used up by the hour", st.Until.In(t.Location).Format(time.RFC3339))
	}
}

func (x *explainer) money(s *subscriber, st rating.Standing) {
	verdict := "there is money"
	if st.OutOfMoney {
		verdict = "out of money"
	}
	x.tell("radpool_balance", "%v, and a credit of %v: %s", rating.Money(s.balance), rating.Money(s.credit), verdict)
}

func (x *explainer) quota(s *subscriber, st rating.Standing, now time.Time) {
	month := s.tariff.Month(now.Unix())
	switch {
	case s.tariff.Quota == 0:
		x.tell("radpool_usage", "%d octets in %d; there is no quota", s.used[month], month)
	case st.OverQuota:
		x.tell("radpool_usage", "%d octets in %d of a quota of %d: it is used up", s.used[month], month, s.tariff.Quota)
	default:
		x.tell("radpool_usage", "%d octets in %d of a quota of %d", s.used[month], month, s.tariff.Quota)
	}
}

// profile tells what decided.
func (x *explainer) profile(s *subscriber, st rating.Standing) {
	if st.OutOfMoney {
		x.tell("radpool_profile", "the money decides: restricted_profile %q", s.tariff.restricted)
		return
	}
	profile, mode := s.tariff.profileAt(st)
	why := "the tariff decides: profile"
	switch {
	case mode == coa.OverQuota:
		why = "the quota decides: quota_profile"
	case st.Interval >= 0 && s.tariff.profiles[st.Interval] != "":
		why = "the interval decides: its profile"
	}
	x.tell("radpool_profile", "%s %q, then the subscriber's own %q", why, profile, s.profile)
}
