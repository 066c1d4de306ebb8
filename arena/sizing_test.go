package arena_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/radpool/radpool/arena"
)

func TestWantedSize(t *testing.T) {
	type many struct{ octets, requests int }
	for _, tc := range []struct {
		name   string
		config arena.Config
		used   []many
		want   int
	}{
		{"no requests: as configured", arena.Config{ChunkSize: 5000}, nil, 5000},
		{"no requests: default", arena.Config{}, nil, 32768},
		{"all alike", arena.Config{}, []many{{3000, 100}}, 3072},
		{"all at a power of two", arena.Config{}, []many{{4096, 100}}, 4096},
		{"one in a hundred is left out", arena.Config{}, []many{{3000, 99}, {50000, 1}}, 3072},
		{"two in a hundred are not", arena.Config{}, []many{{3000, 98}, {50000, 2}}, 57344},
		{"percentile 100 takes all", arena.Config{Percentile: 100}, []many{{3000, 9999}, {50000, 1}}, 57344},
		{"percentile 50 takes half", arena.Config{Percentile: 50}, []many{{3000, 51}, {50000, 49}}, 3072},
		{"least", arena.Config{}, []many{{0, 100}}, 2048},
		{"greatest", arena.Config{}, []many{{100 << 20, 100}}, 1 << 20},
		{"fixed", arena.Config{ChunkSize: 3333, MinChunkSize: 3333, MaxChunkSize: 3333}, []many{{9000, 100}}, 3333},
		{"the seed's chunk is a step", arena.Config{}, []many{{32768, 100}}, 32768},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var h arena.Histogram
			for _, u := range tc.used {
				h.Add(arena.BucketOf(u.octets), uint64(u.requests))
			}
			if got := arena.WantedSize(&h, tc.config.WithDefaults()); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
}

// TestWantedSizeAgainstSorting checks against a sorted slice that the wanted size holds the percentile, and
// wastes at most a bucket's eighth and a step's quarter.
func TestWantedSizeAgainstSorting(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 2))
	for round := range 300 {
		c := arena.Config{Percentile: 1 + 99*r.Float64()}.WithDefaults()
		var h arena.Histogram
		values := make([]int, 1+r.IntN(300))
		for i := range values {
			values[i] = r.IntN(1 << (8 + r.IntN(14)))
			h.Add(arena.BucketOf(values[i]), 1)
		}
		exact := naivePercentile(values, c.Percentile)
		got := arena.WantedSize(&h, c)
		low := min(max(exact, c.MinChunkSize), c.MaxChunkSize)
		high := min(max(exact+exact/8+8+(exact+exact/8+8)/4+1, c.MinChunkSize), c.MaxChunkSize)
		if got < low || got > high {
			t.Fatalf("seed %d, round %d: percentile %v is %d octets, size is %d, want %d to %d", seed, round, c.Percentile, exact, got, low, high)
		}
	}
}

func TestRoundSize(t *testing.T) {
	for _, tc := range []struct{ octets, want int }{
		{0, 0}, {1, 1}, {4, 4}, {5, 5}, {9, 10}, {1000, 1024}, {1024, 1024}, {1025, 1280}, {1281, 1536},
		{1793, 2048}, {32767, 32768}, {32768, 32768}, {32769, 40960},
	} {
		if got := arena.RoundSize(tc.octets); got != tc.want {
			t.Errorf("%d octets are rounded to %d, want %d", tc.octets, got, tc.want)
		}
	}
}

// TestSizer is the hysteresis as a table: what successive windows want, and the size after each.
func TestSizer(t *testing.T) {
	for _, tc := range []struct {
		name   string
		start  int
		wanted []int
		sizes  []int
	}{
		{"grows at once", 4096, []int{5120, 40960}, []int{5120, 40960}},
		{"shrinks when four agree", 32768, []int{4096, 4096, 4096, 4096}, []int{32768, 32768, 32768, 4096}},
		{"to the most of the four", 32768, []int{4096, 8192, 2048, 4096}, []int{32768, 32768, 32768, 8192}},
		{"one that needs the size starts the count anew", 32768,
			[]int{4096, 4096, 4096, 32768, 4096, 4096, 4096, 4096},
			[]int{32768, 32768, 32768, 32768, 32768, 32768, 32768, 4096}},
		{"a step less is near enough", 4096, []int{3584, 3584, 3584, 3584, 3584, 3584}, []int{4096, 4096, 4096, 4096, 4096, 4096}},
		{"three quarters are not", 4096, []int{3072, 3072, 3072, 3072}, []int{4096, 4096, 4096, 3072}},
		{"a mix that alternates does not flap", 8192, []int{2048, 8192, 2048, 8192, 2048, 8192}, []int{8192, 8192, 8192, 8192, 8192, 8192}},
		{"growth forgets the count", 8192, []int{2048, 2048, 2048, 9000, 2048, 2048, 2048, 2048},
			[]int{8192, 8192, 8192, 9000, 9000, 9000, 9000, 2048}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := arena.NewSizer(tc.start)
			var sizes []int
			for _, wanted := range tc.wanted {
				s = s.Next(wanted, wanted)
				sizes = append(sizes, s.Size())
			}
			if !slices.Equal(sizes, tc.sizes) {
				t.Errorf("wanted %v, sizes %v, want %v", tc.wanted, sizes, tc.sizes)
			}
		})
	}
}

// TestSizerKeepsWhatIsNotEasy checks that a chunk stays while half the allowed share of requests still needs
// its size, and shrinks to what is easy, not to what is just wanted.
func TestSizerKeepsWhatIsNotEasy(t *testing.T) {
	s := arena.NewSizer(8192)
	for range 20 {
		s = s.Next(2048, 8192)
	}
	if s.Size() != 8192 {
		t.Errorf("shrunk to %d while it was needed", s.Size())
	}
	for range arena.ShrinkAfter {
		s = s.Next(2048, 3072)
	}
	if s.Size() != 3072 {
		t.Errorf("shrunk to %d, want 3072", s.Size())
	}
}

// TestSizeDoesNotFlap feeds mixes near the percentile, where each window could decide otherwise.
func TestSizeDoesNotFlap(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 5))
	c := arena.Config{}.WithDefaults()
	for _, share := range []float64{0.002, 0.004, 0.005, 0.006, 0.007, 0.008, 0.01, 0.05, 0.5} {
		var h arena.Histogram
		s := arena.NewSizer(c.ChunkSize)
		resizes := 0
		for range 200 { // windows
			h.Decay()
			for range c.Window {
				octets := 1500 + r.IntN(1000)
				if r.Float64() < share {
					octets = 9000 + r.IntN(1000)
				}
				h.Add(arena.BucketOf(octets), 1)
			}
			before := s.Size()
			s = s.Next(arena.WantedSize(&h, c), arena.EasySize(&h, c))
			if s.Size() != before {
				resizes++
			}
		}
		// It settles once; near the percentile itself chance may move it a little more.
		if resizes > 12 {
			t.Errorf("seed %d: share %v: %d resizes in 200 windows", seed, share, resizes)
		}
	}
}

func TestEasySize(t *testing.T) {
	var h arena.Histogram
	h.Add(arena.BucketOf(3000), 9930)
	h.Add(arena.BucketOf(50_000), 70)
	c := arena.Config{}.WithDefaults()
	if wanted, easy := arena.WantedSize(&h, c), arena.EasySize(&h, c); wanted != 3072 || easy != 57344 {
		t.Errorf("with 0.7 %% of large requests: wanted %d, easy %d; want 3072, 57344", wanted, easy)
	}
}

func TestConfigDefaults(t *testing.T) {
	for _, tc := range []struct {
		name             string
		given            arena.Config
		chunk, low, high int
	}{
		{"zero", arena.Config{}, 32768, 2048, 1 << 20},
		{"small chunk", arena.Config{ChunkSize: 1000}, 1000, 1000, 1 << 20},
		{"large chunk", arena.Config{ChunkSize: 2 << 20}, 2 << 20, 2048, 2 << 20},
		{"low maximum", arena.Config{MaxChunkSize: 1000}, 1000, 1000, 1000},
		{"high minimum", arena.Config{MinChunkSize: 2 << 20}, 2 << 20, 2 << 20, 2 << 20},
	} {
		c := tc.given.WithDefaults()
		if c.ChunkSize != tc.chunk || c.MinChunkSize != tc.low || c.MaxChunkSize != tc.high {
			t.Errorf("%s: chunk %d, %d to %d", tc.name, c.ChunkSize, c.MinChunkSize, c.MaxChunkSize)
		}
		p, err := arena.NewPool(tc.given)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if got := p.Stats().ChunkSize; got != tc.chunk {
			t.Errorf("%s: Stats shows chunk size %d", tc.name, got)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	for _, tc := range []struct {
		config arena.Config
		want   []string // each line of the error
	}{
		{arena.Config{ChunkSize: -1}, []string{"arena: Config.ChunkSize is -1, must be 256 to 16777216"}},
		{arena.Config{ChunkSize: 255}, []string{"arena: Config.ChunkSize is 255, must be 256 to 16777216"}},
		{arena.Config{ChunkSize: 1 << 25}, []string{"arena: Config.ChunkSize is 33554432, must be 256 to 16777216"}},
		{arena.Config{MinChunkSize: 100}, []string{"arena: Config.MinChunkSize is 100, must be 256 to 16777216"}},
		{arena.Config{MaxChunkSize: 1 << 25}, []string{"arena: Config.MaxChunkSize is 33554432, must be 256 to 16777216"}},
		{arena.Config{MinChunkSize: 8192, MaxChunkSize: 4096}, []string{"arena: Config.MinChunkSize is 8192, must be at most MaxChunkSize, 4096"}},
		{arena.Config{ChunkSize: 4096, MinChunkSize: 8192}, []string{"arena: Config.ChunkSize is 4096, must be MinChunkSize to MaxChunkSize, 8192 to 1048576"}},
		{arena.Config{ChunkSize: 4096, MaxChunkSize: 2048}, []string{"arena: Config.ChunkSize is 4096, must be MinChunkSize to MaxChunkSize, 2048 to 2048"}},
		{arena.Config{Percentile: 101}, []string{"arena: Config.Percentile is 101, must be more than 0, at most 100"}},
		{arena.Config{Percentile: math.NaN()}, []string{"arena: Config.Percentile is NaN, must be more than 0, at most 100"}},
		{arena.Config{Window: 15, MaxSlabElements: -3}, []string{
			"arena: Config.Window is 15, must be 16 to 1048576",
			"arena: Config.MaxSlabElements is -3, must be 1 to 65536"}},
	} {
		p, err := arena.NewPool(tc.config)
		if err == nil || p != nil {
			t.Errorf("%+v: no error", tc.config)
			continue
		}
		if got := strings.Split(err.Error(), "\n"); !slices.Equal(got, tc.want) {
			t.Errorf("%+v:\ngot  %q\nwant %q", tc.config, got, tc.want)
		}
	}
}
