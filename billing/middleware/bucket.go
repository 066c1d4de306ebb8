package middleware

import (
	"container/list"
	"strings"
	"time"
)

// buckets are token buckets, one for each key: bounded in number. They have no clock and no
// lock.
//
// A bucket of burst tokens that gets one back each interval is kept as the one moment at
// which it will be full again: that is GCRA, the virtual scheduling of ITU-T I.371. One that
// is full is the same as none.
type buckets struct {
	most     int
	burst    time.Duration // how long an empty bucket takes to be full
	interval time.Duration // how long one token takes
	byKey    map[string]*list.Element
	oldest   *list.List // of *bucket, the longest untouched first
	evicted  uint64     // that were not full
}

type bucket struct {
	key  string
	full time.Time // when it will be
}

func newBuckets(most, burst int, interval time.Duration) *buckets {
	return &buckets{
		most: most, burst: time.Duration(burst) * interval, interval: interval,
		byKey: make(map[string]*list.Element), oldest: list.New(),
	}
}

// take takes a token, if there is one.
func (b *buckets) take(now time.Time, key string) bool {
	e := b.byKey[key]
	if e == nil {
		b.makeRoom(now)
		key = strings.Clone(key) // not the memory of the whole request, of which it may be a part
		b.byKey[key] = b.oldest.PushBack(&bucket{key, now.Add(b.interval)})
		return true
	}
	b.oldest.MoveToBack(e)
	k := e.Value.(*bucket)
	full := k.full
	if full.Before(now) {
		full = now
	}
	if full = full.Add(b.interval); full.Sub(now) > b.burst {
		return false
	}
	k.full = full
	return true
}

// makeRoom takes out the bucket that was untouched the longest, where there are as many as
// there may be.
func (b *buckets) makeRoom(now time.Time) {
	if len(b.byKey) < b.most {
		return
	}
	e := b.oldest.Front()
	k := e.Value.(*bucket)
	if k.full.After(now) {
		b.evicted++
	}
	b.oldest.Remove(e)
	delete(b.byKey, k.key)
}
