package radpool

import (
	"net/netip"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// dropLog writes what was dropped, and what else datagrams can bring about, to
// the log: one line a second for each Outcome or other cause, which says how many
// more there were, so that a flood does not become a flood of the log.
type dropLog struct {
	log        *zap.Logger
	epoch      time.Time
	causes     [numOutcomes]causeLimit
	reads      causeLimit
	writes     causeLimit
	panics     causeLimit
	hookPanics causeLimit
}

// causeLimit lets one line a second through.
type causeLimit struct {
	next       atomic.Int64 // nanoseconds since epoch, from when on a line may be written
	suppressed atomic.Uint64
}

func newDropLog(log *zap.Logger, now time.Time) *dropLog {
	if log == nil {
		log = zap.NewNop()
	}
	return &dropLog{log: log, epoch: now}
}

// allow reports whether a line about o may be written now, and how many were
// not since the last.
func (d *dropLog) allow(now time.Time, o Outcome) (suppressed uint64, ok bool) {
	return d.allowCause(now, &d.causes[o])
}

func (d *dropLog) allowCause(now time.Time, c *causeLimit) (suppressed uint64, ok bool) {
	t := int64(now.Sub(d.epoch))
	next := c.next.Load()
	if t < next || !c.next.CompareAndSwap(next, t+int64(time.Second)) {
		c.suppressed.Add(1)
		return 0, false
	}
	return c.suppressed.Swap(0), true
}

// telling is what is to be done with one drop, decided before anything is
// spent on describing it: in a flood most drops are only counted.
type telling struct {
	engine     *engine
	log        bool
	suppressed uint64
}

// telling decides, and reports whether anything is to be done at all.
func (e *engine) telling(now time.Time, o Outcome) (telling, bool) {
	suppressed, log := e.drops.allow(now, o)
	return telling{e, log, suppressed}, log || e.hooks.Drop != nil
}

func (t telling) tell(i DropInfo) {
	if t.log {
		t.engine.drops.write(i, t.suppressed)
	}
	if hook := t.engine.hooks.Drop; hook != nil {
		defer t.engine.hookPanicked()
		hook(i)
	}
}

// hookPanicked keeps a panic in a hook from ending the goroutine that called
// it. To be deferred.
func (e *engine) hookPanicked() {
	if v := recover(); v != nil {
		e.hookPanics.Add(1)
		if suppressed, ok := e.drops.allowCause(time.Now(), &e.drops.hookPanics); ok {
			e.log.Error("a hook panicked", zap.Any("panic", v), zap.Uint64("suppressed", suppressed), zap.Stack("stack"))
		}
	}
}

// readFailed logs that a socket could not be read.
func (d *dropLog) readFailed(now time.Time, local netip.AddrPort, err error) {
	if suppressed, ok := d.allowCause(now, &d.reads); ok {
		d.log.Error("reading from the socket fails", zap.Stringer("address", local), zap.Uint64("suppressed", suppressed), zap.Error(err))
	}
}

// writeFailed logs that replies could not be sent.
func (d *dropLog) writeFailed(now time.Time, local netip.AddrPort, err error) {
	if suppressed, ok := d.allowCause(now, &d.writes); ok {
		d.log.Error("replies could not be sent", zap.Stringer("from", local), zap.Uint64("suppressed", suppressed), zap.Error(err))
	}
}

func (d *dropLog) write(i DropInfo, suppressed uint64) {
	level := zap.WarnLevel
	switch i.Outcome {
	case Duplicate, Superseded, WrongCode:
		level = zap.InfoLevel // NASes do this every day
	case Failed:
		level = zap.ErrorLevel
	}
	e := d.log.Check(level, "request dropped")
	if e == nil {
		return
	}
	fields := []zap.Field{
		zap.Stringer("outcome", i.Outcome),
		zap.Stringer("from", i.RemoteAddr),
		zap.Uint8("identifier", i.Identifier),
		zap.Uint64("suppressed", suppressed),
	}
	if i.Code != 0 {
		fields = append(fields, zap.Stringer("code", i.Code))
	}
	if i.Client != nil {
		fields = append(fields, zap.String("client", i.Client.Name))
	}
	if i.Detail != "" {
		fields = append(fields, zap.String("detail", i.Detail))
	}
	if i.Err != nil {
		fields = append(fields, zap.Error(i.Err))
	}
	e.Write(fields...)
}
