package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-ldap/ldap/v3"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
)

// fakeDirectory is a directory in memory, of subscribers whose password is their name and "!". It
// takes a second for each bind, and counts.
type fakeDirectory struct {
	mu             sync.Mutex
	names          []string // of the subscribers
	searches       int
	binds          []string // the names
	binding, most  int      // binds at once
	searchedOnBind bool     // on a connection that is for binds
}

// fakeLink is a connection to it.
type fakeLink struct {
	fakeConn
	d     *fakeDirectory
	binds bool // is for them
}

func (l *fakeLink) Search(r *ldap.SearchRequest) (*ldap.SearchResult, error) {
	l.d.mu.Lock()
	defer l.d.mu.Unlock()
	l.d.searches++
	l.d.searchedOnBind = l.d.searchedOnBind || l.binds
	var res ldap.SearchResult
	for _, name := range l.d.names {
		if strings.Contains(r.Filter, "(uid="+name+")") {
			res.Entries = append(res.Entries, ldap.NewEntry("uid="+name, map[string][]string{"uid": {name}, "radiusReplyMessage": {"hello " + name}}))
		}
	}
	return &res, nil
}

func (l *fakeLink) Bind(dn, password string) error {
	name := strings.TrimPrefix(dn, "uid=")
	l.d.mu.Lock()
	l.d.binds = append(l.d.binds, name)
	l.d.binding++
	l.d.most = max(l.d.most, l.d.binding)
	l.d.mu.Unlock()
	time.Sleep(time.Second) // of the bubble
	l.d.mu.Lock()
	l.d.binding--
	l.d.mu.Unlock()
	switch {
	case name == "odd":
		panic("an answer that nobody has thought of")
	case name == "locked":
		return ldap.NewError(ldap.LDAPResultConstraintViolation, errors.New("locked"))
	case password != name+"!":
		return ldap.NewError(ldap.LDAPResultInvalidCredentials, errors.New("wrong"))
	}
	return nil
}

// binder is one whose directory is d.
func (d *fakeDirectory) binder(t *testing.T, conns string) *binder {
	o, err := parseFlags([]string{"-base", "o=x", "-mode", "bind", "-conns", conns}, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	b := newBinder(o.settings)
	dial := func(binds bool) func(context.Context) (conn, error) {
		return func(context.Context) (conn, error) {
			return &fakeLink{fakeConn: fakeConn{ended: make(chan struct{})}, d: d, binds: binds}, nil
		}
	}
	b.binds, b.dir.searches = newPool(o.Conns, o.idle, dial(true)), newPool(o.Conns, o.idle, dial(false))
	t.Cleanup(b.close)
	return b
}

// asked is a request as the back end is asked it.
type asked struct {
	billing.Handler
	req *billing.AccessRequest
}

func (a *asked) Authorize(_ context.Context, req *billing.AccessRequest) (billing.Grant, error) {
	c := *req
	c.Request = req.Request.Clone()
	a.req = &c
	return billing.Grant{Reason: billing.ReasonUnknownUser}, nil
}

func accessRequest(t *testing.T, r billingtest.Request) *billing.AccessRequest {
	t.Helper()
	a := new(asked)
	billingtest.Run(t, &billing.Processor{Handler: a}, r)
	if a.req == nil {
		t.Fatalf("%v: nobody was asked", r)
	}
	return a.req
}

// All who wait are one search, each bind has a connection of its own, there are no more of these
// than -conns, and each request has its own answer.
func TestBindBatch(t *testing.T) {
	d := &fakeDirectory{names: []string{"odd", "locked"}}
	type want struct {
		reason billing.Reason
		told   string // the error
	}
	var (
		reqs  []*billing.AccessRequest
		wants []want
	)
	add := func(r billingtest.Request, w want) {
		reqs, wants = append(reqs, accessRequest(t, r)), append(wants, w)
	}
	for i := range 40 {
		name := fmt.Sprint("user", i)
		d.names = append(d.names, name)
		add(billingtest.PAP(name, name+"!"), want{})
	}
	add(billingtest.PAP("user7", "hunter2"), want{reason: billing.ReasonWrongPassword})
	add(billingtest.PAP("user7", ""), want{reason: billing.ReasonWrongPassword})
	add(billingtest.CHAP("user7", "user7!"), want{reason: billing.ReasonPasswordForm})
	add(billingtest.PAP("nobody", "nobody!"), want{reason: billing.ReasonUnknownUser})
	add(billingtest.PAP("locked", "locked!"), want{reason: billing.ReasonBlocked})
	add(billingtest.PAP("odd", "hunter2"), want{told: "nobody has thought of"})
	const binds, conns = 40 + 1 + 1 + 1, 8 // those with a right and with a wrong password, locked, and odd
	synctest.Test(t, func(t *testing.T) {
		b := d.binder(t, fmt.Sprint(conns))
		grants, errs := make([]billing.Grant, len(reqs)), make([]error, len(reqs))
		began := time.Now()
		b.AuthorizeBatch(t.Context(), reqs, grants, errs)
		if took, rounds := time.Since(began), (binds+conns-1)/conns; took != time.Duration(rounds)*time.Second {
			t.Errorf("it took as long as %v binds", took)
		}
		if d.searches != 1 || len(d.binds) != binds || d.most != conns || d.searchedOnBind {
			t.Errorf("%d searches, %d binds, %d at once, a search as a subscriber: %v", d.searches, len(d.binds), d.most, d.searchedOnBind)
		}
		for i, w := range wants {
			name := reqs[i].UserName
			told := fmt.Sprint(errs[i])
			if grants[i].Reason != w.reason || (errs[i] != nil) != (w.told != "") || !strings.Contains(told, w.told) || strings.Contains(told, "hunter2") {
				t.Errorf("%s: %v, %v, want %v", name, grants[i].Reason, errs[i], w)
			}
			if w == (want{}) && (len(grants[i].Reply) != 1 || string(grants[i].Reply[0].Attribute) != "hello "+name ||
				grants[i].Password.VerifyPAP([]byte(name+"!")) != billing.ReasonNone) {
				t.Errorf("%s: the grant %v is not theirs", name, grants[i].Reply)
			}
		}
	})
}

func TestTogether(t *testing.T) {
	for n := range 5 {
		for most := 1; most < 5; most++ {
			var mu sync.Mutex
			calls := make(map[int]int)
			together(n, most, func(i int) {
				mu.Lock()
				defer mu.Unlock()
				calls[i]++
			})
			for i := range n {
				if calls[i] != 1 || len(calls) != n {
					t.Errorf("%d, %d at once: %v", n, most, calls)
				}
			}
		}
	}
}
