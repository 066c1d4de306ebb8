package main

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/go-ldap/ldap/v3"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/examples/serving"
)

// A binder lets the directory itself say whether a password is right, by binding as
// the subscriber: for directories that show their hashes to nobody, or keep none.
// It needs the password in the clear, so only PAP can be answered. The subscribers who
// wait are found with one search. Binds cannot share a round trip, nor a connection at
// the same time (RFC 4511 section 4.2.1), so each has one of its own.
type binder struct {
	dir   *directory
	binds *pool // connections that are bound as whoever came last; nothing is searched on them
}

func newBinder(s settings) *binder {
	b := &binder{dir: newDirectory(s)}
	b.dir.want = append([]string{s.nameAttr}, b.dir.want[2:]...) // the password need not be readable
	b.binds = newPool(s.Conns, s.idle, func(ctx context.Context) (conn, error) { return b.dir.dial(ctx, false) })
	return b
}

func (b *binder) close() {
	b.binds.close()
	b.dir.close()
}

// Authorize finds the subscriber's entry and binds as it.
func (b *binder) Authorize(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
	grants, errs := make([]billing.Grant, 1), make([]error, 1)
	b.AuthorizeBatch(ctx, []*billing.AccessRequest{req}, grants, errs)
	return grants[0], errs[0]
}

// A login is a bind to be made.
type login struct {
	at    int // the place of its request
	entry *ldap.Entry
	given []byte
}

// AuthorizeBatch finds all of them with one search, and then binds as each.
func (b *binder) AuthorizeBatch(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
	var logins []login
	b.dir.findAll(ctx, reqs, func(i int, entry *ldap.Entry, err error) {
		grants[i], errs[i] = billing.Grant{}, err
		if err != nil {
			return
		}
		// Here and not beside the other binds: the memory of a request is one goroutine's.
		given, reason := passwordFor(entry, reqs[i])
		if grants[i].Reason = reason; reason == billing.ReasonNone {
			logins = append(logins, login{i, entry, given})
		}
	})
	together(len(logins), b.dir.Conns, func(k int) {
		l := logins[k]
		grants[l.at], errs[l.at] = b.login(ctx, l)
	})
}

// passwordFor is what to bind with as entry, or why it need not be tried.
func passwordFor(entry *ldap.Entry, req *billing.AccessRequest) ([]byte, billing.Reason) {
	switch {
	case entry == nil:
		return nil, billing.ReasonUnknownUser
	case req.Method == billing.MethodNone:
		return nil, billing.ReasonNoPassword
	case req.Method != billing.MethodPAP:
		return nil, billing.ReasonPasswordForm
	}
	given, err := req.Request.UserPassword(nil)
	switch {
	case err != nil:
		return nil, billing.ReasonBadRequest
	case len(given) == 0 || entry.DN == "":
		// A bind without a password, or without a name, is one as nobody, which succeeds
		// (RFC 4513 sections 5.1.1 and 5.1.2).
		return nil, billing.ReasonWrongPassword
	}
	return given, billing.ReasonNone
}

// login binds, and is what the entry grants if that is right. A panic, such as of the LDAP
// library at an answer that nobody has thought of, is an error of this login alone: on
// another goroutine than the worker's it would end the program.
func (b *binder) login(ctx context.Context, l login) (g billing.Grant, err error) {
	defer func() {
		if v := recover(); v != nil {
			g, err = billing.Grant{}, fmt.Errorf("bind as %q: panic: %v\n%s", l.entry.DN, v, debug.Stack())
		}
	}()
	reason, err := b.bind(ctx, l.entry.DN, string(l.given))
	if err != nil || reason != billing.ReasonNone {
		return billing.Grant{Reason: reason}, err
	}
	if g, err = b.dir.profile(l.entry); err != nil {
		return billing.Grant{}, err
	}
	g.Password, err = serving.Verified(l.given)
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
