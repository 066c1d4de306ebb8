package sqlbilling

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
	"github.com/radpool/radpool/billing/sqlbilling/internal/item"
)

// Authorize answers an Access-Request with one statement, which it may share with
// others that are waiting; on MariaDB, MySQL and PostgreSQL a User-Profile needs one
// more where a group sets it, or where radcheck does and nobody had one lately. See
// the package comment for how the rows are evaluated.
// The error is a [RowError], or the database's.
func (b *Backend) Authorize(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
	var grants [1]billing.Grant
	var errs [1]error
	b.AuthorizeBatch(ctx, []*billing.AccessRequest{req}, grants[:], errs[:])
	return grants[0], errs[0]
}

// AuthorizeBatch is Authorize for each of reqs, with one statement for as many of
// them as is good for the database: 128 for SQLite, 256 for the others.
func (b *Backend) AuthorizeBatch(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
	for len(reqs) > 0 {
		n := min(len(reqs), b.db.Batch)
		b.authorizeSome(ctx, reqs[:n], grants[:n], errs[:n])
		reqs, grants, errs = reqs[n:], grants[n:], errs[n:]
	}
}

func (b *Backend) authorizeSome(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
	// A user who asks twice is looked up once.
	q := &question{ctx: ctx, names: make([]string, 0, len(reqs))}
	place := make(map[string]int, len(reqs))
	for _, req := range reqs {
		if _, there := place[req.UserName]; !there && req.UserName != "" {
			place[req.UserName] = len(q.names)
			q.names = append(q.names, b.nameInDB(req.UserName))
		}
	}
	if len(q.names) > 0 {
		err := ctx.Err()
		if err == nil {
			err = b.lookups.find(q)
		}
		if err != nil {
			err = b.named(err)
			for i := range errs {
				errs[i] = err
			}
			b.stats.unanswered.Add(uint64(len(reqs)))
			return
		}
	}
	for i, req := range reqs {
		e := b.evaluation(req, &subscriber{})
		if e.now.IsZero() { // a request made by hand
			e.now = time.Now()
		}
		if at, there := place[req.UserName]; there {
			e.sub = &q.subs[at]
		}
		grants[i], errs[i] = e.evaluate(q.common.restricted)
		if errs[i] != nil {
			b.stats.unanswered.Add(1)
		} else {
			b.stats.authorized.Add(1)
		}
	}
}

// evaluation is one of a request, by the rows of sub.
func (b *Backend) evaluation(req *billing.AccessRequest, sub *subscriber) evaluation {
	return evaluation{
		req: req, now: req.Time, loc: b.opts.Location, dict: b.dict, defaultProfile: b.opts.DefaultProfile, sub: sub,
		groupsByFallThrough: b.opts.GroupsByFallThrough, profilesByFallThrough: b.opts.ProfilesByFallThrough,
	}
}

// nameInDB is a user name as the database is to be asked for it.
func (b *Backend) nameInDB(name string) string {
	if b.opts.EscapeNames {
		return dialect.Escape(name)
	}
	return name
}

// errNoUser is an answer that a Lookup must not give.
var errNoUser = errors.New("a row of a user who was not asked for")

// ask reads everything about the named users, again where the tables have changed.
func (b *Backend) ask(ctx context.Context, names []string, subs []subscriber) (common, error) {
	f := b.now()
	c, err := b.askOn(ctx, f, names, subs)
	if err == nil {
		return c, nil
	}
	next, again := b.renew(ctx, f, err)
	if !again {
		return c, err
	}
	clear(subs)
	return b.askOn(ctx, next, names, subs)
}

// askOn is ask on the tables of f.
func (b *Backend) askOn(ctx context.Context, f *found, names []string, subs []subscriber) (common, error) {
	var c common
	if err := b.findRows(ctx, f, dialect.Everything, names, collect(subs, &c)); err != nil {
		return c, err
	}
	for i := range subs {
		for name, list := range c.profiles {
			subs[i].setProfile(name, list)
		}
	}
	if !f.lookup.Whole() {
		if err := b.askProfiles(ctx, f, names, subs); err != nil {
			return c, err
		}
	}
	for i := range subs {
		subs[i].sort()
	}
	c.restricted = sortRows(c.restricted)
	return c, nil
}

// askProfiles asks for the groups of profiles that rows name, where they are not known
// yet, all at once, and after that for the sessions of those whose limit stands in such
// a group.
func (b *Backend) askProfiles(ctx context.Context, f *found, names []string, subs []subscriber) error {
	var profiles []string
	at := make(map[string]int)
	for i := range subs {
		for name := range subs[i].profilesNamed() {
			_, known := subs[i].profiles[name]
			if _, there := at[name]; !there && !known && name != b.opts.DefaultProfile {
				at[name] = len(profiles)
				profiles = append(profiles, name)
			}
		}
	}
	if len(profiles) > 0 {
		found := make([]subscriber, len(profiles))
		if err := b.findRows(ctx, f, dialect.Groups, profiles, collect(found, new(common))); err != nil {
			return err
		}
		for i := range subs {
			for name := range subs[i].profilesNamed() {
				if p, there := at[name]; there {
					subs[i].setProfile(name, found[p].groups)
				}
			}
		}
	}
	var limited []string
	var who []int
	for i := range subs {
		if !subs[i].counted && subs[i].limitedByProfile() {
			limited, who = append(limited, names[i]), append(who, i)
		}
	}
	if len(limited) == 0 {
		return nil
	}
	return b.findRows(ctx, f, dialect.Open, limited, func(r *dialect.Row) error {
		if r.User < 0 || r.User >= len(who) {
			return errNoUser
		}
		subs[who[r.User]].add(r)
		return nil
	})
}

// findRows is Find, counted.
func (b *Backend) findRows(ctx context.Context, f *found, what dialect.What, names []string, each func(*dialect.Row) error) error {
	b.stats.queries.Add(1)
	return f.lookup.Find(ctx, what, names, each)
}

// setProfile gives s the groups of a profile, which others may have as well.
func (s *subscriber) setProfile(name string, groups []*membership) {
	if s.profiles == nil {
		s.profiles = make(map[string][]*membership)
	}
	s.profiles[name] = groups
}

// profilesNamed goes through the values of User-Profile in the rows of s.
func (s *subscriber) profilesNamed() func(yield func(string) bool) {
	return func(yield func(string) bool) {
		some := func(rows []row) bool {
			for i := range rows {
				if !strings.EqualFold(blanksOff(rows[i].attribute), "User-Profile") {
					continue
				}
				if name, err := item.Unquote(rows[i].value); err == nil && name != "" && !yield(name) {
					return false
				}
			}
			return true
		}
		if !some(s.check) {
			return
		}
		for _, m := range s.groups {
			if !some(m.check) {
				return
			}
		}
	}
}

// limitedByProfile reports whether a profile of s holds a Simultaneous-Use.
func (s *subscriber) limitedByProfile() bool {
	for _, list := range s.profiles {
		for _, m := range list {
			for i := range m.check {
				if strings.EqualFold(blanksOff(m.check[i].attribute), "Simultaneous-Use") {
					return true
				}
			}
		}
	}
	return false
}
