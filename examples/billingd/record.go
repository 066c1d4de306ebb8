package main

import (
	"fmt"

	"go.uber.org/zap"

	"github.com/radpool/radpool/radpool"
	"github.com/radpool/radpool/radpool/record"
)

// recorded is h with -record before it, and what ends that when nothing is answered any
// more.
func recorded(h radpool.Handler, o *options, log *zap.Logger) (radpool.Handler, func(), error) {
	if o.record == "" {
		return h, func() {}, nil
	}
	r, err := record.Create(o.record, record.Options{})
	if err != nil {
		return nil, nil, fmt.Errorf("-record: %w", err)
	}
	return r.Middleware(h), func() {
		s := r.Stats()
		fields := []zap.Field{
			zap.String("file", o.record), zap.Uint64("cases", s.Cases), zap.Uint64("skipped", s.Skipped), zap.Uint64("dropped", s.Dropped),
		}
		if err := r.Close(); err != nil || s.Err != nil {
			log.Error("recorded, and not everything could be written", append(fields, zap.NamedError("write", s.Err), zap.Error(err))...)
			return
		}
		log.Info("recorded", fields...)
	}, nil
}
