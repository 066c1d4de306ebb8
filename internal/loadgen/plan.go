package loadgen

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/radpool/radpool/internal/wire"
)

// plan is what all lanes of a run share. Nothing of it changes but drawn.
type plan struct {
	Config
	lanes   int
	secret  *wire.Secret
	pattern []Kind
	wall    int64  // seconds since 1970 at the start
	prefix  string // of the Acct-Session-Ids of this run
	base    [16]byte
	drawn   atomic.Uint64 // conversations of a closed loop
}

func newPlan(cfg Config, start time.Time) *plan {
	p := &plan{
		Config: cfg.withDefaults(), secret: wire.NewSecret(cfg.Secret), pattern: cfg.Mix.pattern(), wall: start.Unix(),
	}
	p.lanes = p.sockets()
	if cfg.Seed == 0 {
		_, _ = rand.Read(p.base[:]) // never fails
	}
	binary.LittleEndian.PutUint64(p.base[8:], binary.LittleEndian.Uint64(p.base[8:])^cfg.Seed)
	p.prefix = fmt.Sprintf("%08x-%08x-", uint32(start.Unix()), binary.LittleEndian.Uint32(p.base[8:]))
	return p
}

// open reports whether it is an open loop.
func (p *plan) open() bool { return p.Workers == 0 }

// seed is that of the n-th source of random numbers.
func (p *plan) seed(n int) (seed [32]byte) {
	copy(seed[:], p.base[:])
	binary.LittleEndian.PutUint64(seed[16:], uint64(n))
	return seed
}

// length is when the run ends, whatever has been done by then.
func (p *plan) length() time.Duration {
	switch {
	case len(p.Profile) > 0:
		return p.Profile.Duration()
	case p.Duration > 0:
		return p.Duration
	default:
		return never
	}
}
