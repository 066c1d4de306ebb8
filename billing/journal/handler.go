package journal

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing"
)

// A handler is a Journal as a billing.Handler.
type handler struct{ j *Journal }

// A batchHandler is one whose back end takes batches.
type batchHandler struct{ handler }

var (
	_ billing.BatchHandler = batchHandler{}
	_ billing.PostAuther   = handler{}

	_ billing.AddressPooler = handler{}
)

// PostAuth tells the back end, if it wants to hear.
func (h handler) PostAuth(res *billing.AuthResult) {
	billing.TellPostAuth(h.j.backend, res)
}

// LeaseAddresses asks the back end, if it has pools. While it is away there is no
// address for anybody, also not for those who are let in with their last good Grant.
func (h handler) LeaseAddresses(ctx context.Context, leases []*billing.AddressLease) {
	j := h.j
	if j.pooler == nil {
		return
	}
	c, err := j.admitAccess(ctx)
	if err != nil {
		j.stats.unanswered.Add(uint64(len(leases)))
		for _, l := range leases {
			l.Err = err
		}
		return
	}
	defer c.end()
	j.pooler.LeaseAddresses(c.ctx, leases)
	for _, l := range leases {
		c.judge(l.Err, billing.ErrSubscriber)
		if l.Err != nil {
			j.stats.unanswered.Add(1)
		}
	}
}

// Authorize asks the back end, or, while that is away, answers with the last good
// Grant or with an error.
func (h handler) Authorize(ctx context.Context, req *billing.AccessRequest) (g billing.Grant, err error) {
	j := h.j
	c, err := j.admitAccess(ctx)
	if err != nil {
		return j.instead(req, err)
	}
	defer c.end()
	g, err = j.backend.Authorize(c.ctx, req)
	c.judge(err, billing.ErrSubscriber)
	c.end()
	return j.answered(ctx, req, g, err)
}

// AuthorizeBatch is Authorize for each of reqs, with one question to the back end.
func (h batchHandler) AuthorizeBatch(ctx context.Context, reqs []*billing.AccessRequest, grants []billing.Grant, errs []error) {
	j := h.j
	c, err := j.admitAccess(ctx)
	if err != nil {
		for i, req := range reqs {
			grants[i], errs[i] = j.instead(req, err)
		}
		return
	}
	defer c.end()
	j.batch.AuthorizeBatch(c.ctx, reqs, grants, errs)
	for _, err := range errs[:len(reqs)] {
		c.judge(err, billing.ErrSubscriber)
	}
	c.end()
	for i, req := range reqs {
		grants[i], errs[i] = j.answered(ctx, req, grants[i], errs[i])
	}
}

// admitAccess begins a call, or says why the back end is not asked.
func (j *Journal) admitAccess(ctx context.Context) (call, error) {
	now := time.Now()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return call{}, ErrClosed
	}
	probe, ok := j.access.Allow(now)
	if !ok {
		return call{}, j.access.refusal()
	}
	return j.newCall(ctx, now, &j.access, probe, j.o.Timeout), nil
}

// answered learns from what the back end said, and makes the best of an error.
func (j *Journal) answered(ctx context.Context, req *billing.AccessRequest, g billing.Grant, err error) (billing.Grant, error) {
	theirs := errors.Is(err, billing.ErrSubscriber)
	switch {
	case err != nil && !theirs && ctx.Err() != nil:
		return g, err // nobody waits any more
	case err != nil && !theirs:
		return j.instead(req, err)
	}
	if j.last != nil {
		j.memory.Lock()
		defer j.memory.Unlock()
		if theirs {
			j.last.Forget(req.UserName)
		} else {
			j.last.Answered(time.Now(), req, &g)
		}
	}
	return g, err
}

// instead is the last good Grant, if there is one, and the error otherwise.
func (j *Journal) instead(req *billing.AccessRequest, err error) (billing.Grant, error) {
	if j.last != nil && !errors.Is(err, ErrClosed) {
		j.memory.Lock()
		g, at, ok := j.last.Find(time.Now(), req)
		j.memory.Unlock()
		if ok {
			j.stats.remembered.Add(1)
			j.o.Logger.Debug("journal: answered with the last good Grant", zap.String("user", req.UserName), zap.Time("of", at))
			return g, nil
		}
	}
	j.stats.unanswered.Add(1)
	return billing.Grant{}, err
}
