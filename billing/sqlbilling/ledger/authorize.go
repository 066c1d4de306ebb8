package ledger

import (
	"context"
	"fmt"
	"strings"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/coa"
	"github.com/radpool/radpool/billing/internal/reply"
	"github.com/radpool/radpool/billing/rating"
	"github.com/radpool/radpool/billing/sqlbilling/internal/acct"
	"github.com/radpool/radpool/internal/dict"
)

// A SubscriberError is something in the database that cannot be understood, of one
// subscriber or what belongs to it. It is a billing.ErrSubscriber. It never holds a
// value.
type SubscriberError struct {
	UserName string
	Where    string // the table, and the row or column in it
	Err      error
}

// Error names the subscriber, the place and the reason.
func (e *SubscriberError) Error() string {
	return fmt.Sprintf("ledger: subscriber %q: %s: %v", e.UserName, e.Where, e.Err)
}

// Unwrap returns the reason, and billing.ErrSubscriber.
func (e *SubscriberError) Unwrap() []error { return []error{e.Err, billing.ErrSubscriber} }

// Authorize answers an Access-Request with one statement. The error is a
// [SubscriberError], or the database's.
func (b *Backend) Authorize(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
	var grants [1]billing.Grant
	var errs [1]error
	b.AuthorizeBatch(ctx, []*billing.AccessRequest{req}, grants[:], errs[:])
	return grants[0], errs[0]
}

// AuthorizeBatch is Authorize for each of reqs, with one statement for as many of
// them as is good for the database.
func (b *Backend) AuthorizeBatch(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
	for len(reqs) > 0 {
		n := min(len(reqs), b.batch())
		b.authorizeSome(ctx, reqs[:n], grants[:n], errs[:n])
		reqs, grants, errs = reqs[n:], grants[n:], errs[n:]
	}
}

// batch is how many subscribers one statement is good for.
func (b *Backend) batch() int {
	if b.d.ListLength > 0 {
		return min(b.db.Batch, b.d.ListLength)
	}
	return b.db.Batch
}

func (b *Backend) authorizeSome(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
	var names, nases []string
	now := time.Now()
	for _, req := range reqs {
		if possible(req.UserName) {
			names = append(names, req.UserName)
		}
		nases = append(nases, acct.AddrText(req.NASAddr))
		if !req.Time.IsZero() && req.Time.Before(now) {
			now = req.Time
		}
	}
	found := &answer{}
	err := ctx.Err()
	if err == nil && len(names) > 0 {
		b.queries.Add(1)
		found, err = b.ask(ctx, distinct(names), distinct(nases), now)
	}
	if err != nil {
		err = b.named(err)
		for i := range errs {
			errs[i] = err
		}
		b.unanswered.Add(uint64(len(reqs)))
		return
	}
	for i, req := range reqs {
		at := req.Time
		if at.IsZero() { // a request made by hand
			at = now
		}
		var mode coa.Mode
		if grants[i], mode, errs[i] = found.grant(req, at); errs[i] != nil {
			b.unanswered.Add(1)
			continue
		}
		b.authorized.Add(1)
		if b.opts.Control {
			tell(&grants[i], mode)
		}
	}
}

// named is an error of the database with its name.
func (b *Backend) named(err error) error { return b.db.Named("ledger", err) }

// grant decides what a subscriber gets, and which mode of a session that is.
func (a *answer) grant(req *billing.AccessRequest, now time.Time) (g billing.Grant, mode coa.Mode, err error) {
	s := a.subscribers[req.UserName]
	if s == nil {
		return billing.Grant{Reason: billing.ReasonUnknownUser}, coa.Ended, nil
	}
	fail := func(where string, err error) (billing.Grant, coa.Mode, error) {
		return billing.Grant{}, coa.Unknown, &SubscriberError{req.UserName, where, err}
	}
	if err := s.credentials(&g); err != nil {
		return fail("radpool_subscriber, password", err)
	}
	if s.tariff.err != nil {
		return fail("radpool_tariff", s.tariff.err)
	}
	g.CallingStationID = s.station
	g.SimultaneousUse, g.OpenSessions = int(s.simultaneous), int(s.open)
	if s.expires != 0 {
		g.Expires = time.Unix(s.expires, 0)
	}
	if s.blocked != 0 {
		g.Reason = billing.ReasonBlocked
		return g, coa.Ended, nil
	}
	standing := s.standing(now)
	vendor := a.vendors[acct.AddrText(req.NASAddr)]
	if standing.OutOfMoney {
		g.Reason = billing.ReasonNoMoney
		if g.Restricted, g.RestrictedHidden, err = a.attributes(vendor, s.tariff.restricted); err != nil {
			return fail("radpool_profile, "+s.tariff.restricted, err)
		}
		if g.Restricted == nil {
			return g, coa.Ended, nil
		}
		return g, coa.Restricted, nil
	}
	if !standing.Until.IsZero() && (g.Expires.IsZero() || standing.Until.Before(g.Expires)) {
		g.Expires = standing.Until
	}
	profile, mode := s.tariff.profileAt(standing)
	if g.Reply, g.Hidden, err = a.attributes(vendor, profile, s.profile); err != nil {
		return fail("radpool_profile, "+profile+" or "+s.profile, err)
	}
	return g, mode, nil
}

// standing is how it stands with s.
func (s *subscriber) standing(now time.Time) rating.Standing {
	return s.tariff.Standing(now, rating.Account{
		Balance: rating.Money(s.balance), Credit: rating.Money(s.credit), Used: uint64(max(s.used[s.tariff.Month(now.Unix())], 0)),
	})
}

// credentials sets the password. The form None lets in by name alone, as IPoE does.
func (s *subscriber) credentials(g *billing.Grant) (err error) {
	if strings.EqualFold(s.form, "None") {
		g.NoPassword = true
		return nil
	}
	form, ok := billing.ParseForm(s.form)
	if !ok {
		return fmt.Errorf("%.32q is no form of a password that is supported", s.form)
	}
	if s.password != "" {
		g.Password, err = billing.ParsePassword(form, s.password)
	}
	return err
}

// profileAt is the profile of a subscriber who has money, and which mode that is.
func (t *tariff) profileAt(s rating.Standing) (string, coa.Mode) {
	switch {
	case s.OverQuota && t.quota != "":
		return t.quota, coa.OverQuota
	case s.Interval >= 0 && t.profiles[s.Interval] != "":
		return t.profiles[s.Interval], coa.Full
	}
	return t.profile, coa.Full
}

// attributes are those of some profiles that are for all NASes, or for those of this
// vendor. nil: there are none.
func (a *answer) attributes(vendor string, profiles ...string) (attrs radius.Attributes, hidden []billing.Hidden, err error) {
	for _, p := range profiles {
		for _, row := range a.profiles[p] {
			if row.vendor != "" && !strings.EqualFold(row.vendor, vendor) {
				continue
			}
			ref, value, err := a.attributeOf(&row)
			if err != nil {
				return nil, nil, fmt.Errorf("position %d: %w", row.position, err)
			}
			if attrs, hidden, err = reply.Append(attrs, hidden, ref, value); err != nil {
				return nil, nil, fmt.Errorf("position %d: %w", row.position, err)
			}
		}
	}
	return attrs, hidden, nil
}

// attributeOf is a row of radpool_profile as an attribute of a reply.
func (a *answer) attributeOf(row *attribute) (ref dict.Ref, value []byte, err error) {
	if ref, err = a.dict.Lookup(row.name); err != nil {
		return ref, nil, err
	}
	if value, err = ref.Parse(row.value, time.UTC); err != nil {
		return ref, nil, err
	}
	if ref.Internal() {
		return ref, nil, fmt.Errorf("%s is not for the wire", ref.Name)
	}
	return ref, value, nil
}
