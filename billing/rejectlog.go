package billing

import (
	"net/netip"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// rejectLog writes at most one line a second for each reason, which says how many
// more there were, so that a password guesser does not fill the disk.
type rejectLog struct {
	log      *zap.Logger
	epoch    time.Time
	reasons  [NumReasons]throttle
	failures throttle
	discards throttle
	fulls    throttle
}

// A throttle lets one line a second through.
type throttle struct {
	next       atomic.Int64 // nanoseconds since epoch
	suppressed atomic.Uint64
}

func (l *rejectLog) init(log *zap.Logger, now time.Time) {
	if log == nil {
		log = zap.NewNop()
	}
	l.log, l.epoch = log, now
}

// allow reports whether a line may be written now, and how many were not since the
// last.
func (l *rejectLog) allow(t *throttle, now time.Time) (suppressed uint64, ok bool) {
	at := int64(now.Sub(l.epoch))
	next := t.next.Load()
	if at < next || !t.next.CompareAndSwap(next, at+int64(time.Second)) {
		t.suppressed.Add(1)
		return 0, false
	}
	return t.suppressed.Swap(0), true
}

func nasFields(name string, addr netip.Addr, suppressed uint64) []zap.Field {
	return []zap.Field{
		zap.String("user", name),
		zap.Stringer("nas", addr),
		zap.Uint64("suppressed", suppressed),
	}
}

// reject tells of an Access-Reject. Nothing of the credentials is written.
func (l *rejectLog) reject(now time.Time, a *access, reason Reason) {
	if !l.log.Core().Enabled(zap.InfoLevel) {
		return
	}
	suppressed, ok := l.allow(&l.reasons[reason], now)
	if !ok {
		return
	}
	fields := append(nasFields(a.UserName, a.NASAddr, suppressed),
		zap.Stringer("reason", reason),
		zap.Stringer("method", a.Method),
		zap.String("calling_station_id", a.CallingStationID))
	if a.problem != "" {
		fields = append(fields, zap.String("attribute", a.problem))
	}
	if err := a.eap.result.Err; err != nil && reason == ReasonEAP {
		fields = append(fields, zap.String("eap", err.Error()))
	}
	l.log.Info("access rejected", fields...)
}

// failure tells why the back end could not answer, where the NAS gets a reject for
// it; else the server tells.
func (l *rejectLog) failure(now time.Time, a *access, err error) {
	if suppressed, ok := l.allow(&l.failures, now); ok {
		l.log.Error("authorize failed", append(nasFields(a.UserName, a.NASAddr, suppressed), zap.Error(err))...)
	}
}

// discard tells of an Accounting-Request that gets no answer.
func (l *rejectLog) discard(now time.Time, r *record) {
	if suppressed, ok := l.allow(&l.discards, now); ok {
		l.log.Warn("accounting discarded: attribute missing or malformed",
			append(nasFields(r.UserName, r.NASAddr, suppressed), zap.String("attribute", r.problem))...)
	}
}

// poolFull tells that there was no address for somebody who was let in.
func (l *rejectLog) poolFull(now time.Time, a *access, pool string) {
	if suppressed, ok := l.allow(&l.fulls, now); ok {
		l.log.Warn("the pool has no address left", append(nasFields(a.UserName, a.NASAddr, suppressed), zap.String("pool", pool))...)
	}
}
