package middleware_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/radpool/radpool/billing/middleware"
)

// naiveBucket is a token bucket as books have it, counted in nanoseconds: it fills with
// time, and a token is an interval's worth.
type naiveBucket struct {
	level time.Duration
	at    time.Time
}

func (b *naiveBucket) take(now time.Time, burst int, interval time.Duration) bool {
	b.level = min(b.level+now.Sub(b.at), time.Duration(burst)*interval)
	b.at = now
	if b.level < interval {
		return false
	}
	b.level -= interval
	return true
}

// Each octet is an attempt: of one of four keys, after some time.
func FuzzBuckets(f *testing.F) {
	f.Add(uint8(3), []byte{0, 0, 0, 0, 1, 1, 255, 0})
	f.Fuzz(func(t *testing.T, burst uint8, attempts []byte) {
		if burst == 0 || len(attempts) > 4096 {
			return
		}
		const interval = 100 * time.Millisecond
		b := middleware.NewBuckets(4, int(burst), interval)
		now := time.Unix(1_700_000_000, 0)
		naive := make(map[byte]*naiveBucket)
		for i, a := range attempts {
			key := a % 4
			now = now.Add(time.Duration(a/4) * 7 * time.Millisecond)
			if naive[key] == nil {
				naive[key] = &naiveBucket{time.Duration(burst) * interval, now}
			}
			if got, want := b.Take(now, fmt.Sprint(key)), naive[key].take(now, int(burst), interval); got != want {
				t.Fatalf("attempt %d: %v, want %v", i, got, want)
			}
		}
	})
}

func TestBucketsAreBounded(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	b := middleware.NewBuckets(3, 1, time.Hour)
	for i := range 10 {
		if !b.Take(now, fmt.Sprint(i)) {
			t.Errorf("%d has no token at first", i)
		}
		if b.Take(now, "0") != (i == 0) && i > 0 { // asks again and again, so it is not forgotten
			t.Errorf("after %d: 0 has a token again", i)
		}
	}
	if b.Len() != 3 {
		t.Errorf("%d are remembered", b.Len())
	}
	if !b.Take(now, "5") || b.Take(now, "9") {
		t.Error("the one that was quiet for the longest is not the one that was forgotten")
	}
}
