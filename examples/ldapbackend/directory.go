package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-ldap/ldap/v3"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/attrs"
	"github.com/radpool/radpool/examples/serving"
)

// A mapping is an attribute of an entry that goes into the reply.
type mapping struct {
	from string // the attribute of the directory
	to   attrs.Attribute
}

// settings are what a directory is made of.
type settings struct {
	url      string
	startTLS bool
	bindDN   string // empty: anonymous
	password string

	base         string
	filter       string // with %u for the User-Name
	nameAttr     string // has the User-Name in an entry
	passwordAttr string
	accessAttr   string // an entry without it, or with "false", may not log in; empty: all may
	pairsAttr    string // has "Framed-IP-Address := 10.0.0.1"; empty: none has
	mappings     []mapping

	serving.Upstream
	idle time.Duration
}

// A directory finds subscribers in LDAP. It is the half of a billing.Handler that
// authorizes, and asks once for all requests that wait.
type directory struct {
	settings
	want     []string // attributes to ask for
	searches *pool    // bound as the service
}

func newDirectory(s settings) *directory {
	d := &directory{settings: s, want: []string{s.nameAttr, s.passwordAttr}}
	for _, name := range []string{s.accessAttr, s.pairsAttr} {
		if name != "" {
			d.want = append(d.want, name)
		}
	}
	for _, m := range s.mappings {
		d.want = append(d.want, m.from)
	}
	d.searches = newPool(s.Conns, s.idle, func(ctx context.Context) (conn, error) { return d.dial(ctx, true) })
	return d
}

func (d *directory) close() { d.searches.close() }

// check asks for the entry under which all are, so that what is wrong with the
// configuration is told when the program starts.
func (d *directory) check(ctx context.Context) error {
	_, err := d.search(ctx, d.base, ldap.ScopeBaseObject, "(objectClass=*)", []string{"1.1"})
	if ldap.IsErrorAnyOf(err, ldap.LDAPResultNoSuchObject, ldap.LDAPResultInvalidDNSyntax, ldap.LDAPResultInsufficientAccessRights) {
		return fmt.Errorf("%w to show -base %q to %q: there is no such entry, or it may not be read: %w", errRefused, d.base, d.bindDN, err)
	}
	return err
}

// Authorize finds the subscriber; the Processor compares the password.
func (d *directory) Authorize(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
	return d.answer(d.find(ctx, req.UserName))
}

// AuthorizeBatch finds all of them with one search.
func (d *directory) AuthorizeBatch(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
	d.findAll(ctx, reqs, func(i int, entry *ldap.Entry, err error) {
		grants[i], errs[i] = d.answer(entry, err)
	})
}

// answer is what the entry that was found grants, or why none was.
func (d *directory) answer(entry *ldap.Entry, err error) (billing.Grant, error) {
	if err != nil || entry == nil {
		return billing.Grant{Reason: billing.ReasonUnknownUser}, err
	}
	return d.grant(entry)
}

// findAll finds the entries of the subscribers who ask with one search. It calls found
// for each request, with the entry or nil if there is none.
func (d *directory) findAll(ctx context.Context, reqs []*billing.AccessRequest, found func(i int, entry *ldap.Entry, err error)) {
	names := make([]string, len(reqs))
	for i, req := range reqs {
		names[i] = req.UserName
	}
	all, err := d.searchFor(ctx, names)
	answered := len(reqs) > 1 && errors.As(err, new(*ldap.Error)) && !broken(err)
	for i, name := range names {
		var entry *ldap.Entry
		whose := err
		switch {
		case answered:
			// The directory does not take the search as a whole, such as for a limit on
			// entries: one by one, so that one request's failure is its own.
			entry, whose = d.find(ctx, name)
		case err == nil:
			entry, whose = d.entryOf(all, name)
		}
		found(i, entry, whose)
	}
}

// find returns the entry of a name, or nil if there is none.
func (d *directory) find(ctx context.Context, name string) (*ldap.Entry, error) {
	all, err := d.searchFor(ctx, []string{name})
	if err != nil {
		return nil, err
	}
	return d.entryOf(all, name)
}

// searchFor returns the entries of some names, and maybe of others that the directory
// takes for the same. It does not ask about nobody.
func (d *directory) searchFor(ctx context.Context, names []string) ([]*ldap.Entry, error) {
	var filter strings.Builder
	n := 0
	asked := make(map[string]bool, len(names))
	for _, name := range names {
		if name == "" || asked[name] {
			continue
		}
		asked[name] = true
		filter.WriteString(strings.ReplaceAll(d.filter, "%u", ldap.EscapeFilter(name)))
		n++
	}
	switch n {
	case 0:
		return nil, ctx.Err()
	case 1:
		return d.search(ctx, d.base, ldap.ScopeWholeSubtree, filter.String(), d.want)
	}
	return d.search(ctx, d.base, ldap.ScopeWholeSubtree, "(|"+filter.String()+")", d.want)
}

func (d *directory) search(ctx context.Context, base string, scope int, filter string, want []string) (entries []*ldap.Entry, err error) {
	seconds := max(1, int(d.Timeout/time.Second))
	err = d.searches.do(ctx, func(c conn) error {
		res, err := c.Search(ldap.NewSearchRequest(base, scope, ldap.NeverDerefAliases, 0, seconds, false, filter, want, nil))
		if err == nil {
			entries = res.Entries
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return entries, nil
}
