package coa

import (
	"context"
	"time"

	"go.uber.org/zap"
)

// consider does what is due for one session: it claims it, and has its NAS asked in the
// background. It waits while MaxInFlight NASes are being asked.
func (c *Controller) consider(it *Item) {
	now := time.Now()
	ask, next, wait := it.State.Decide(now, it.Session.Seen, it.Want, c.config.Timing)
	if ask == Nothing {
		if next != it.State { // what was wanted is not any more
			_ = c.save(it, next)
		}
		if wait > 0 {
			c.wakeAt(it.Session.UserName, now.Add(wait))
		}
		return
	}
	if until := c.silentUntil(it, now); !until.IsZero() {
		c.deferred.Add(1)
		c.wakeAt(it.Session.UserName, until)
		return
	}
	select {
	case c.asking <- struct{}{}:
	case <-c.ctx.Done():
		return
	}
	if !c.save(it, next) {
		<-c.asking
		return
	}
	item := *it
	c.all.Go(func() {
		defer func() { <-c.asking }()
		c.ask(&item, ask)
	})
}

// save saves a State, and reports whether it did.
func (c *Controller) save(it *Item, s State) bool {
	saved, err := c.config.Store.Save(c.ctx, it.Session.Key, s)
	switch {
	case err != nil:
		c.fail("the state of a session was not saved", err)
		c.wakeAt(it.Session.UserName, time.Now().Add(c.config.Timing.Backoff))
		return false
	case !saved:
		c.late.Add(1)
		return false
	}
	s.Version++
	it.State = s
	return true
}

// ask asks the NAS of a session that was claimed, and saves how that ended.
func (c *Controller) ask(it *Item, ask Request) {
	ctx, cancel := context.WithTimeout(c.ctx, c.config.AskTime)
	defer cancel()
	var err error
	if ask == Disconnect {
		err = c.config.NAS.Disconnect(ctx, &it.Session)
	} else {
		err = c.config.NAS.Change(ctx, &it.Session, it.Want.Attributes)
	}
	if c.ctx.Err() != nil && err != nil {
		return // the claim ends by itself, and then it is asked again
	}
	now := time.Now()
	o := outcomeOf(err)
	c.count(it, ask, o, err, now)
	next := it.State.After(now, it.Session.Seen, ask, o, it.Want.Fallback, c.config.Timing)
	if c.save(it, next) && (next.Phase == NoReply || next.Phase == Refused || next.Phase == Confirmed) {
		c.wakeAt(it.Session.UserName, now.Add(max(next.Next.Sub(now), c.config.Linger)))
	}
}

// count counts and logs how a request ended.
func (c *Controller) count(it *Item, ask Request, o Outcome, err error, now time.Time) {
	s := &it.Session
	fields := []zap.Field{
		zap.String("user", s.UserName), zap.String("session", s.SessionID), zap.Stringer("nas", s.NASAddr),
		zap.Stringer("wanted", it.Want.Mode), zap.Bool("disconnect", ask == Disconnect),
	}
	switch o {
	case ACK:
		if ask == Disconnect {
			c.disconnects.Add(1)
		} else {
			c.changes.Add(1)
		}
		c.config.Logger.Info("a session in progress was changed", fields...)
		return
	case NAK:
		c.refused.Add(1)
	case NotFound:
		c.notFound.Add(1)
	case Unreachable:
		c.unreachable.Add(1)
	default:
		c.silence.Add(1)
		c.mu.Lock()
		if len(c.silent) < maxSilent {
			c.silent[s.NASAddr] = now.Add(c.config.Timing.Backoff)
		}
		c.mu.Unlock()
	}
	if it.State.Tries == 1 { // the same again says nothing new
		c.config.Logger.Warn("a session in progress was not changed", append(fields, zap.Error(err))...)
	}
}

// maxSilent is how many NASes are remembered to be silent.
const maxSilent = 1 << 16

// silentUntil is until when the session's NAS is not asked, since it was silent a moment
// ago: one that is away must not hold up all the others.
func (c *Controller) silentUntil(it *Item, now time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	nas := it.Session.NASAddr
	until, there := c.silent[nas]
	if there && !now.Before(until) {
		delete(c.silent, nas)
		return time.Time{}
	}
	return until
}
