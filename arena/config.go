package arena

import (
	"errors"
	"fmt"
	"math"
)

// Defaults and limits of [Config].
const (
	// DefaultChunkSize is the chunk's size in octets before statistics exist. Go's allocator treats 32,768
	// octets as a large object and 32,760 as a small one; measured (BenchmarkChunk), the latter is no cheaper,
	// nor is carving several chunks from one allocation: clearing the memory is what costs.
	DefaultChunkSize = 32 << 10

	// DefaultMinChunkSize is the least chunk in octets, FreeRADIUS's least talloc_pool_size.
	DefaultMinChunkSize = 2 << 10

	// DefaultMaxChunkSize is the largest chunk in octets, FreeRADIUS's largest talloc_pool_size.
	DefaultMaxChunkSize = 1 << 20

	// DefaultPercentile is the share of requests, in per cent, that should fit the chunk.
	DefaultPercentile = 99

	// DefaultWindow is the number of releases between two looks at the statistics.
	DefaultWindow = 1024

	// DefaultMaxSlabElements holds the 200 attributes that a RADIUS packet may have, with room for the reply's.
	DefaultMaxSlabElements = 256

	// LeastChunkSize and GreatestChunkSize bound every size in a Config, in octets.
	LeastChunkSize    = 256
	GreatestChunkSize = 16 << 20

	leastWindow     = 16
	greatestWindow  = 1 << 20
	greatestPerSlab = 1 << 16
)

// Config configures a [Pool]. A zero field means its default. Wrong values are errors of [NewPool], never
// silently corrected.
type Config struct {
	// ChunkSize is the size in octets of an arena's chunk until the pool has statistics of its own.
	// It lies between MinChunkSize and MaxChunkSize. Default: DefaultChunkSize, or the nearer of the two
	// bounds where that lies outside of them.
	ChunkSize int

	// MinChunkSize and MaxChunkSize bound, in octets, what the pool may resize its chunks to. Equal values
	// fix the size. They lie between LeastChunkSize and GreatestChunkSize. Defaults: DefaultMinChunkSize and
	// DefaultMaxChunkSize, widened where a given ChunkSize, or the other bound, lies outside of them.
	MinChunkSize int
	MaxChunkSize int

	// Percentile is the share of recent requests, in per cent, whose octets should fit the chunk: more than 0,
	// at most 100. Default: DefaultPercentile.
	Percentile float64

	// Window is the number of releases after which the pool looks at its statistics and may resize: 16 to
	// 1,048,576. Default: DefaultWindow.
	Window int

	// MaxSlabElements bounds how many elements one arena keeps for each [Slab] from request to request. It
	// keeps as many as requests use, not this many from the start; elements beyond come from the heap and are
	// counted in [Stats].SlabOverflows. 1 to 65,536. Default: DefaultMaxSlabElements.
	MaxSlabElements int
}

// withDefaults returns c with its zero fields filled in.
func (c Config) withDefaults() Config {
	if c.MinChunkSize == 0 {
		c.MinChunkSize = DefaultMinChunkSize
		for _, other := range []int{c.ChunkSize, c.MaxChunkSize} {
			if other != 0 {
				c.MinChunkSize = min(c.MinChunkSize, other)
			}
		}
	}
	if c.MaxChunkSize == 0 {
		c.MaxChunkSize = max(DefaultMaxChunkSize, c.ChunkSize, c.MinChunkSize)
	}
	if c.ChunkSize == 0 {
		c.ChunkSize = min(max(DefaultChunkSize, c.MinChunkSize), c.MaxChunkSize)
	}
	if c.Percentile == 0 {
		c.Percentile = DefaultPercentile
	}
	if c.Window == 0 {
		c.Window = DefaultWindow
	}
	if c.MaxSlabElements == 0 {
		c.MaxSlabElements = DefaultMaxSlabElements
	}
	return c
}

// validate reports every field of a Config without zero fields that is out of its bounds. given is the
// Config as the caller wrote it: a default that was derived from a wrong value is not reported beside it.
func (c Config) validate(given Config) error {
	var errs []error
	within := func(field string, written, value, low, high int) bool {
		if value >= low && value <= high {
			return true
		}
		if written != 0 {
			errs = append(errs, fmt.Errorf("arena: Config.%s is %d, must be %d to %d", field, value, low, high))
		}
		return false
	}
	sizes := within("MinChunkSize", given.MinChunkSize, c.MinChunkSize, LeastChunkSize, GreatestChunkSize)
	sizes = within("MaxChunkSize", given.MaxChunkSize, c.MaxChunkSize, LeastChunkSize, GreatestChunkSize) && sizes
	sizes = within("ChunkSize", given.ChunkSize, c.ChunkSize, LeastChunkSize, GreatestChunkSize) && sizes
	switch {
	case !sizes: // the bounds would only repeat what is already said
	case c.MinChunkSize > c.MaxChunkSize:
		errs = append(errs, fmt.Errorf("arena: Config.MinChunkSize is %d, must be at most MaxChunkSize, %d", c.MinChunkSize, c.MaxChunkSize))
	default:
		if c.ChunkSize < c.MinChunkSize || c.ChunkSize > c.MaxChunkSize {
			errs = append(errs, fmt.Errorf("arena: Config.ChunkSize is %d, must be MinChunkSize to MaxChunkSize, %d to %d",
				c.ChunkSize, c.MinChunkSize, c.MaxChunkSize))
		}
	}
	if math.IsNaN(c.Percentile) || c.Percentile <= 0 || c.Percentile > 100 {
		errs = append(errs, fmt.Errorf("arena: Config.Percentile is %v, must be more than 0, at most 100", c.Percentile))
	}
	within("Window", given.Window, c.Window, leastWindow, greatestWindow)
	within("MaxSlabElements", given.MaxSlabElements, c.MaxSlabElements, 1, greatestPerSlab)
	return errors.Join(errs...)
}
