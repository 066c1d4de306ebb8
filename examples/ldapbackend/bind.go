package main

import (
	"context"
	"fmt"

	"github.com/go-ldap/ldap/v3"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/examples/serving"
)

// A binder lets the directory itself say whether a password is right, by binding as
// the subscriber: for directories that show their hashes to nobody, or keep none.
// It needs the password in the clear, so only PAP can be answered. It is no
// billing.BatchHandler, since binds cannot share a round trip: requests are spread
// over the workers instead.
type binder struct {
	dir   *directory
	binds *pool // connections that are bound as whoever came last
}

func newBinder(s settings) *binder {
	b := &binder{dir: newDirectory(s)}
	b.dir.want = append([]string{s.nameAttr}, b.dir.want[2:]...) // the password need not be readable
	b.binds = newPool(s.conns, s.idle, func(ctx context.Context) (conn, error) { return b.dir.dial(ctx, false) })
	return b
}

func (b *binder) close() {
	b.binds.close()
	b.dir.close()
}

// Authorize finds the subscriber's entry and binds as it.
func (b *binder) Authorize(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
	entry, err := b.dir.find(ctx, req.UserName)
	if err != nil || entry == nil {
		return billing.Grant{Reason: billing.ReasonUnknownUser}, err
	}
	switch req.Method {
	case billing.MethodPAP:
	case billing.MethodNone:
		return billing.Grant{Reason: billing.ReasonNoPassword}, nil
	default:
		return billing.Grant{Reason: billing.ReasonPasswordForm}, nil
	}
	given, err := req.Request.UserPassword(nil)
	if err != nil {
		return billing.Grant{Reason: billing.ReasonBadRequest}, nil
	}
	if len(given) == 0 || entry.DN == "" {
		// A bind without a password, or without a name, is one as nobody, which succeeds
		// (RFC 4513 sections 5.1.1 and 5.1.2).
		return billing.Grant{Reason: billing.ReasonWrongPassword}, nil
	}
	reason, err := b.bind(ctx, entry.DN, string(given))
	if err != nil || reason != billing.ReasonNone {
		return billing.Grant{Reason: reason}, err
	}
	g, err := b.dir.profile(entry)
	if err != nil {
		return billing.Grant{}, err
	}
	g.Password, err = serving.Verified(given)
	return g, err
}

// bind reports why the directory does not let the subscriber bind. An error is that it
// could not say.
func (b *binder) bind(ctx context.Context, dn, password string) (reason billing.Reason, err error) {
	err = b.binds.do(ctx, func(c conn) error { return c.Bind(dn, password) })
	if err == nil {
		return billing.ReasonNone, nil
	}
	switch {
	case ldap.IsErrorWithCode(err, ldap.LDAPResultInvalidCredentials):
		return billing.ReasonWrongPassword, nil
	case ldap.IsErrorWithCode(err, ldap.LDAPResultInappropriateAuthentication): // it has no password
		return billing.ReasonNoPassword, nil
	case ldap.IsErrorWithCode(err, ldap.LDAPResultConstraintViolation): // too many wrong ones
		return billing.ReasonBlocked, nil
	}
	return billing.ReasonNone, fmt.Errorf("bind as %q: %w", dn, err)
}
