package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"layeh.com/radius"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/attrs"
	"github.com/radpool/radpool/examples/serving"
)

// Authorize implements billing.Handler.
func (r *remote) Authorize(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
	grants, errs := make([]billing.Grant, 1), make([]error, 1)
	r.AuthorizeBatch(ctx, []*billing.AccessRequest{req}, grants, errs)
	return grants[0], errs[0]
}

// AuthorizeBatch implements billing.BatchHandler: one POST for all.
func (r *remote) AuthorizeBatch(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
	var asked []int
	for i, req := range reqs {
		if req.UserName == "" || !utf8.ValidString(req.UserName) {
			// JSON has no way to say such a name: nobody has it.
			grants[i], errs[i] = billing.Grant{Reason: billing.ReasonUnknownUser}, nil
			continue
		}
		asked = append(asked, i)
	}
	for len(asked) > 0 {
		n := min(len(asked), maxBatch)
		r.authorize(ctx, asked[:n], reqs, grants, errs)
		asked = asked[n:]
	}
}

// authorize asks about those of reqs that are at the places in at.
func (r *remote) authorize(ctx context.Context, at []int, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
	var (
		out   authorizeRequest
		in    authorizeResponse
		given = make([]*string, len(at))
	)
	for k, i := range at {
		given[k] = r.passwordOf(reqs[i])
		out.Requests = append(out.Requests, question(reqs[i], given[k]))
	}
	err := r.post(ctx, "/authorize", out, &in)
	if err == nil && len(in.Answers) != len(at) {
		err = fmt.Errorf("POST /authorize: %d answers to %d requests", len(in.Answers), len(at))
	}
	for k, i := range at {
		if err != nil {
			grants[i], errs[i] = billing.Grant{}, err
			continue
		}
		grants[i], errs[i] = in.Answers[k].grant(given[k])
	}
}

// passwordOf is the password to send, or nil.
func (r *remote) passwordOf(req *billing.AccessRequest) *string {
	if !r.sendPasswords || req.Method != billing.MethodPAP {
		return nil
	}
	given, err := req.Request.UserPassword(nil)
	if err != nil || !utf8.Valid(given) {
		return nil
	}
	s := string(given)
	return &s
}

// grant is what an answer says. given is the password that was sent, or nil.
func (a *answer) grant(given *string) (billing.Grant, error) {
	if a.Error != "" {
		return billing.Grant{}, fmt.Errorf("the remote says %s", told(a.Error))
	}
	g := billing.Grant{
		Message: a.Message, NoPassword: a.NoPassword, CallingStationID: a.CallingStation,
		SimultaneousUse: a.SimultaneousUse, OpenSessions: a.OpenSessions,
	}
	if err := a.fill(&g, given); err != nil {
		return billing.Grant{}, err
	}
	return g, nil
}

// fill reads the parts of an answer that may be wrong.
func (a *answer) fill(g *billing.Grant, given *string) (err error) {
	if g.Reason, err = reasonOf(a.Reject); err != nil {
		return err
	}
	if a.SimultaneousUse < 0 || a.OpenSessions < 0 {
		return errors.New("simultaneous_use and open_sessions must not be negative")
	}
	if g.Password, err = a.password(given); err != nil {
		return err
	}
	if a.Expires != "" {
		if g.Expires, err = time.Parse(time.RFC3339, a.Expires); err != nil {
			return errors.New("expires must be a time as in RFC 3339, such as 2026-12-31T23:59:59Z")
		}
	}
	for _, p := range a.Reply {
		if err := add(attrs.Attribute.Add, g, p); err != nil {
			return fmt.Errorf("reply: %w", err)
		}
	}
	if a.Restricted != nil {
		g.Restricted = radius.Attributes{} // which is a profile, if an empty one
	}
	for _, p := range a.Restricted {
		if err := add(attrs.Attribute.AddRestricted, g, p); err != nil {
			return fmt.Errorf("restricted: %w", err)
		}
	}
	return nil
}

func add(to func(attrs.Attribute, *billing.Grant, string) error, g *billing.Grant, p pair) error {
	a, err := attrs.Find(p.name)
	if err != nil {
		return err
	}
	return to(a, g, p.value)
}

// password is what the Processor compares with.
func (a *answer) password(given *string) (billing.Password, error) {
	said := 0
	for _, is := range []bool{a.Cleartext != "", a.Hash != "", a.Verified} {
		if is {
			said++
		}
	}
	switch {
	case said > 1:
		return billing.Password{}, errors.New("only one of cleartext, hash and verified may be there")
	case a.Cleartext != "":
		return billing.ParsePassword(billing.FormCleartext, a.Cleartext)
	case a.Hash != "":
		if !strings.HasPrefix(a.Hash, "{") {
			return billing.Password{}, errors.New("hash must begin with its form in braces, such as {SSHA}")
		}
		return billing.ParsePasswordWithHeader(a.Hash)
	case !a.Verified:
		return billing.Password{}, nil
	case given == nil:
		return billing.Password{}, errors.New("verified, but no password was sent to it")
	}
	return serving.Verified([]byte(*given))
}

// reasonOf finds a Reason by its name. Only those that a back end may give are there.
func reasonOf(name string) (billing.Reason, error) {
	if name == "" {
		return billing.ReasonNone, nil
	}
	for r := billing.ReasonNone + 1; int(r) < billing.NumReasons; r++ {
		if r.String() == name {
			return r, nil
		}
	}
	return billing.ReasonNone, fmt.Errorf("reject is %s, which is no reason of the list", told(name))
}
