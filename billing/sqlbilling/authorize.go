package sqlbilling

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"github.com/radpool/radpool/billing"
)

// maxUsers is the most users that one statement asks for.
const maxUsers = 128

// Authorize answers an Access-Request with one statement. See the package comment
// for how the rows are evaluated. The error is a [RowError], or the database's.
func (b *Backend) Authorize(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
	var grants [1]billing.Grant
	var errs [1]error
	b.AuthorizeBatch(ctx, []*billing.AccessRequest{req}, grants[:], errs[:])
	return grants[0], errs[0]
}

// AuthorizeBatch is Authorize for each of reqs, with one statement for every 128
// of them.
func (b *Backend) AuthorizeBatch(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
	for len(reqs) > 0 {
		n := min(len(reqs), maxUsers)
		b.authorizeSome(ctx, reqs[:n], grants[:n], errs[:n])
		reqs, grants, errs = reqs[n:], grants[n:], errs[n:]
	}
}

func (b *Backend) authorizeSome(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
	// A user who asks twice is looked up once.
	names := make([]string, 0, len(reqs))
	place := make(map[string]int, len(reqs))
	for _, req := range reqs {
		if _, there := place[req.UserName]; !there && req.UserName != "" {
			place[req.UserName] = len(names)
			names = append(names, req.UserName)
		}
	}
	subs := make([]subscriber, len(names))
	var restricted []row
	if len(names) > 0 {
		b.stats.queries.Add(1)
		var err error
		if restricted, err = b.lookup(ctx, names, subs); err != nil {
			b.db.Tell(err)
			err = fmt.Errorf("sqlbilling: %s: %w", b.db.Label, err)
			for i := range errs {
				errs[i] = err
			}
			b.stats.unanswered.Add(uint64(len(reqs)))
			return
		}
	}
	for i, req := range reqs {
		e := evaluation{req: req, now: req.Time, loc: b.opts.Location, defaultProfile: b.opts.DefaultProfile, sub: &subscriber{}}
		if e.now.IsZero() { // a request made by hand
			e.now = time.Now()
		}
		if at, there := place[req.UserName]; there {
			e.sub = &subs[at]
		}
		grants[i], errs[i] = e.evaluate(restricted)
		if errs[i] != nil {
			b.stats.unanswered.Add(1)
		} else {
			b.stats.authorized.Add(1)
		}
	}
}

// lookup reads everything about the named users.
func (b *Backend) lookup(ctx context.Context, names []string, subs []subscriber) (restricted []row, err error) {
	if b.readers != nil {
		select {
		case b.readers <- struct{}{}:
			defer func() { <-b.readers }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		ctx = b.db.Context(ctx)
	}
	stmt, arg := b.authorize, any(nil)
	if len(names) == 1 && b.authorizeOne != nil {
		stmt, arg = b.authorizeOne, names[0]
	} else {
		arg = b.d.Names(names)
	}
	rows, err := stmt.QueryContext(ctx, arg, b.opts.DefaultProfile, b.opts.RestrictedGroup)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var raw [10]sql.RawBytes
	dest := make([]any, len(raw))
	for i := range raw {
		dest[i] = &raw[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return nil, err
		}
		r, err := parseResult(&raw)
		if err != nil {
			return nil, err
		}
		switch {
		case r.kind == kindRestricted:
			restricted = append(restricted, r.row)
		case r.user < 0 || r.user >= len(subs):
			return nil, fmt.Errorf("a row of user %d, of %d", r.user, len(subs))
		default:
			subs[r.user].add(&r)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for i := range subs {
		subs[i].sort()
	}
	return sortRows(restricted), nil
}

// parseResult reads a row of the statement Authorize, and copies its text.
func parseResult(raw *[10]sql.RawBytes) (r resultRow, err error) {
	var n [5]int64
	for i, column := range [5]int{0, 1, 3, 4, 6} {
		if n[i], err = strconv.ParseInt(string(raw[column]), 10, 64); err != nil {
			return r, fmt.Errorf("column %d of the answer is not a number", column+1)
		}
	}
	if n[1] < kindCheck || n[1] > kindRestricted {
		return r, fmt.Errorf("a row of kind %d", n[1])
	}
	return resultRow{
		user: int(n[0]), profile: string(raw[2]), priority: n[2], mid: n[3], group: string(raw[5]),
		row: row{kind: int(n[1]), id: n[4], attribute: string(raw[7]), op: string(raw[8]), value: string(raw[9])},
	}, nil
}
