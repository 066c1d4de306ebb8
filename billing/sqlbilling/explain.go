package sqlbilling

import (
	"context"
	"errors"
	"fmt"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling/internal/item"
)

// A Trace is how an Access-Request comes to its answer. It holds no password.
type Trace struct {
	// Steps are the rows in the order in which they were looked at.
	Steps []Step

	// Row is the row that cannot be used, which is why everything is rejected; nil:
	// there is none.
	Row *RowError

	// Accepted says that the subscriber is let in by whoever gives the right
	// credentials, Restricted that this is with the restricted profile, and Reason
	// why they are not, or why restricted.
	Accepted, Restricted bool
	Reason               billing.Reason

	// Password is the form of the password that decides; FormNone where there is
	// none. NoPassword says that none is needed by a request that carries none.
	Password   billing.Form
	NoPassword bool

	// Sessions and Limit are how many sessions are open and how many may be, where
	// there is a Simultaneous-Use.
	Sessions, Limit int

	// Pool is the pool of which the reply gets its Framed-IP-Address; empty: none.
	// Explain leases nothing, so that it is not in Reply.
	Pool string

	// Reply are the attributes of the Access-Accept or Access-Reject, as
	// Name = Value in order.
	Reply []string
}

// Explain says how an Access-Request of user is answered, and what each row has to do
// with it. It looks things up and decides as Authorize and a billing.Processor do, but
// takes the password for right, and changes nothing. attributes are those of the
// request beside User-Name, that check items compare, each as "Name=Value" or
// "Name = Value"; without NAS-IP-Address the request comes from 127.0.0.1. Credentials
// among them are left out. An error is an attribute that cannot be sent, the
// database's, or ctx's.
func (b *Backend) Explain(ctx context.Context, user string, attributes ...string) (*Trace, error) {
	x := &explainer{b: b}
	reply, err := item.Ask(ctx, b.dict, x, user, attributes, b.opts.Location)
	if err != nil {
		return nil, fmt.Errorf("sqlbilling: %w", err)
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
	trace Trace
	err   error
}

// Authorize is Backend.Authorize of one request, traced. What it grants needs no
// password where there is one: the Processor is to decide on all the rest.
func (x *explainer) Authorize(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
	q := &question{ctx: ctx, names: []string{x.b.nameInDB(req.UserName)}}
	if req.UserName == "" { // nobody is looked up by it
		q.subs = make([]subscriber, 1)
	} else if x.err = ctx.Err(); x.err == nil {
		x.err = x.b.lookups.find(q)
	}
	if x.err != nil {
		x.err = x.b.named(x.err)
		return billing.Grant{}, x.err
	}
	t := &tracer{}
	e := x.b.evaluation(req, &q.subs[0])
	e.trace = t
	g, err := e.evaluate(q.common.restricted)
	x.trace.Steps = t.steps
	if err != nil {
		if row, ok := errors.AsType[*RowError](err); ok {
			x.trace.Row = row
		} else {
			x.err = err
		}
		return g, err
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

// LeaseAddresses hears of the pool, and leases nothing.
func (x *explainer) LeaseAddresses(_ context.Context, leases []*billing.AddressLease) {
	for _, l := range leases {
		x.trace.Pool = l.Pool
	}
}
