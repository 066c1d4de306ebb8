package arena

// What tests need of the inside: the pure parts, and the count of slabs of this process.

type (
	Histogram = histogram
	Sizer     = sizer
)

const (
	NumBuckets  = numBuckets
	ShrinkAfter = shrinkAfter
	ShrinkUses  = shrinkUses
	LeastBlock  = leastBlock
)

var (
	BucketOf   = bucketOf
	BucketTop  = bucketTop
	RoundSize  = roundSize
	WantedSize = wantedSize
	EasySize   = easySize
)

func (h *histogram) Add(bucket int, requests uint64)  { h.add(bucket, requests) }
func (h *histogram) Decay()                           { h.decay() }
func (h *histogram) Percentile(p float64) (int, bool) { return h.percentile(p) }
func (c Config) WithDefaults() Config                 { return c.withDefaults() }
func NewSizer(size int) sizer                         { return sizer{size: size} }
func (s sizer) Next(wanted, easy int) sizer           { return s.next(wanted, easy) }
func (s sizer) Size() int                             { return s.size }

// Retained returns how many elements a keeps for s, handed out or not.
func (s *Slab[T]) Retained(a *Arena) int { return len(s.block(a).elems) }

// ChunkLen returns the size of the chunk that a holds, also after Release.
func (a *Arena) ChunkLen() int { return len(a.chunk) }

// UseUpSlabs takes every index that is left for Slabs; the returned function gives them back.
func UseUpSlabs() (restore func()) {
	slabCount.Lock()
	defer slabCount.Unlock()
	before := slabCount.n
	slabCount.n = MaxSlabs
	return func() {
		slabCount.Lock()
		defer slabCount.Unlock()
		slabCount.n = before
	}
}
