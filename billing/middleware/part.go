package middleware

import (
	"context"

	"github.com/radpool/radpool/billing"
)

// askPart asks about those of a batch that stand at these places, in one call, and puts the
// answers there.
func askPart(ctx context.Context, at []int, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error, next billing.AuthorizeFunc) {
	switch len(at) {
	case 0:
		return
	case len(reqs):
		next(ctx, reqs, grants, errs)
		return
	}
	rs, gs, es := make([]*billing.AccessRequest, len(at)), make([]billing.Grant, len(at)), make([]error, len(at))
	for k, i := range at {
		rs[k] = reqs[i]
	}
	next(ctx, rs, gs, es)
	for k, i := range at {
		grants[i], errs[i] = gs[k], es[k]
	}
}

func fill(errs []error, err error) {
	for i := range errs {
		errs[i] = err
	}
}
