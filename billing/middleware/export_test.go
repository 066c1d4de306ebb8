package middleware

import "time"

// Buckets are buckets.
type Buckets struct{ b *buckets }

func NewBuckets(most, burst int, interval time.Duration) Buckets {
	return Buckets{newBuckets(most, burst, interval)}
}

func (b Buckets) Take(now time.Time, key string) bool { return b.b.take(now, key) }
func (b Buckets) Len() int                            { return len(b.b.byKey) }
