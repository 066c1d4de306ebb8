package radpool

import (
	"fmt"
	"sync/atomic"
	"time"
)

// leastPatience is the least that a patience can be: less than the way to a far NAS
// and back takes would have its requests expire before anybody could have answered
// them. Copies of a request that come closer together are the network's, and say
// nothing about the NAS.
const leastPatience = 50 * time.Millisecond

// mostPatience is the most that can be configured: the greatest MaxRequestTime.
const mostPatience = maxMaxRequestTime

// patience is how long a client is known to wait for an answer to what it last
// sent: configured, or learned from when it sends again. It may be used by many at
// once.
type patience struct{ learned atomic.Int64 } // 0: nothing yet

// learn is told of a verified request that was sent again duplicates times in span,
// the last time included, and that the client is believed to wait for now.
func (p *patience) learn(now, span time.Duration, duplicates int, most time.Duration) {
	if duplicates < 1 {
		return
	}
	next := learnPatience(now, span/time.Duration(duplicates), most)
	if next != now {
		p.learned.Store(int64(next)) // of two at once, one is lost: there are more to come
	}
}

// learnPatience moves the patience of a client towards the gap that was seen between
// two copies of a request. It rises eight times as fast as it falls, since what
// differs are NASes behind one prefix and waits that grow from one copy to the next: to
// have a little more is to do some work in vain, to have less is to drop what is
// wanted. Whatever is seen, it stays from leastPatience to most, and one gap alone, such
// as when the copy between was lost, moves it by no more than a quarter of the way.
func learnPatience(patience, gap, most time.Duration) time.Duration {
	if gap < leastPatience {
		return patience
	}
	gap = min(gap, most)
	if gap > patience {
		return patience + (gap-patience)/4
	}
	return patience - (patience-gap)/32
}

// patienceOf is how long the client waits for an answer to what it last sent.
func (e *engine) patienceOf(c *clientEntry) time.Duration {
	if c.Patience != 0 {
		return min(c.Patience, e.config.MaxRequestTime)
	}
	if d := c.shown.patience.learned.Load(); d != 0 {
		return min(time.Duration(d), e.config.MaxRequestTime)
	}
	return e.config.Patience
}

// expiry is until when a request is wanted that came and was last sent at these
// times: for as long as its client waits and a little longer (1/8), since timers
// differ and the next copy, if there is one, is still on its way; but not past
// MaxRequestTime from its arrival.
func (e *engine) expiry(c *clientEntry, arrived, sent time.Duration) time.Time {
	p := e.patienceOf(c)
	return e.epoch.Add(min(sent+p+p/8, arrived+e.config.MaxRequestTime))
}

// renew is asked by the queue about a request whose time has come: a client that
// has sent it again since still wants it. The zero time: it has used the Identifier
// for another request.
func (e *engine) renew(w *waiting) time.Time {
	sent, ok := e.seen(&w.origin)
	if !ok {
		return time.Time{}
	}
	return e.expiry(w.client, time.Duration(w.received), sent)
}

// seen is when a request was last sent, unless it is superseded. What its copies say
// about the client's patience is learned by the way.
func (e *engine) seen(o *origin) (sent time.Duration, ok bool) {
	last, duplicates := o.ticket.Seen()
	if last.IsZero() {
		return 0, false
	}
	if duplicates == 0 {
		return time.Duration(o.received), true // last is when it was read
	}
	sent = last.Sub(e.epoch)
	if o.client.Patience == 0 {
		o.client.shown.patience.learn(e.patienceOf(o.client), sent-time.Duration(o.received), duplicates, e.config.MaxRequestTime)
	}
	return sent, true
}

// checkPatience judges what a Client says.
func checkPatience(d time.Duration) error {
	if d != 0 && (d < leastPatience || d > mostPatience) {
		return fmt.Errorf("Patience is %v: must be 0 (learned) or from %v to %v", d, leastPatience, mostPatience)
	}
	return nil
}
