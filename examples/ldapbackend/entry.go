package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-ldap/ldap/v3"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/attrs"
)

// entryOf returns the entry of a name among those that were found, or nil. The
// directory compares loosely: it drops control characters, and blanks at the ends,
// and so "alice\n" finds alice. Only case is not looked at here, since names in a
// directory have none.
func (d *directory) entryOf(all []*ldap.Entry, name string) (*ldap.Entry, error) {
	var found *ldap.Entry
	for _, e := range all {
		for _, value := range e.GetEqualFoldAttributeValues(d.nameAttr) {
			if !strings.EqualFold(value, name) {
				continue
			}
			if found != nil && found.DN != e.DN {
				return nil, fmt.Errorf("%w: entries %q and %q have the same %s", billing.ErrSubscriber, found.DN, e.DN, d.nameAttr)
			}
			found = e
		}
	}
	return found, nil
}

// grant is what an entry grants, with the password that is stored in it.
func (d *directory) grant(e *ldap.Entry) (billing.Grant, error) {
	g, err := d.profile(e)
	if err != nil {
		return billing.Grant{}, err
	}
	g.Password, err = d.storedPassword(e)
	return g, err
}

// profile is all of a grant but the password.
func (d *directory) profile(e *ldap.Entry) (billing.Grant, error) {
	var g billing.Grant
	if d.accessAttr != "" {
		values := e.GetEqualFoldAttributeValues(d.accessAttr)
		// Values have no order: one that forbids is enough.
		no := func(v string) bool { return v == "" || strings.EqualFold(v, "false") }
		if len(values) == 0 || slices.ContainsFunc(values, no) {
			g.Reason = billing.ReasonBlocked
		}
	}
	for _, m := range d.mappings {
		for _, value := range e.GetEqualFoldAttributeValues(m.from) {
			if err := m.to.Add(&g, value); err != nil {
				return g, fmt.Errorf("%w: entry %q: %s: %w", billing.ErrSubscriber, e.DN, m.from, err)
			}
		}
	}
	if d.pairsAttr == "" {
		return g, nil
	}
	for _, pair := range e.GetEqualFoldAttributeValues(d.pairsAttr) {
		if err := attrs.AddPair(&g, pair); err != nil {
			return g, fmt.Errorf("%w: entry %q: %s: %w", billing.ErrSubscriber, e.DN, d.pairsAttr, err)
		}
	}
	return g, nil
}

// storedPassword is the first of an entry's passwords that can be used; one in
// cleartext goes before a hash, since it answers every method.
func (d *directory) storedPassword(e *ldap.Entry) (billing.Password, error) {
	var (
		best billing.Password
		why  error
	)
	for _, value := range e.GetEqualFoldAttributeValues(d.passwordAttr) {
		p, err := billing.ParsePasswordWithHeader(value)
		switch {
		case err != nil:
			why = err
		case best.IsZero() || p.Form() == billing.FormCleartext && best.Form() != billing.FormCleartext:
			best = p
		}
	}
	switch {
	case !best.IsZero():
		return best, nil
	case why != nil:
		return best, fmt.Errorf("%w: entry %q: %s: %w", billing.ErrSubscriber, e.DN, d.passwordAttr, why)
	}
	return best, fmt.Errorf("%w: entry %q has no %s, or %q may not read it", billing.ErrSubscriber, e.DN, d.passwordAttr, d.bindDN)
}
