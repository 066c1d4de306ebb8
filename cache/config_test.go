package cache_test

import (
	"strings"
	"testing"
	"time"

	"github.com/radpool/radpool/cache"
)

func TestConfigBounds(t *testing.T) {
	tests := []struct {
		config cache.Config
		want   []string // parts of the error; none: valid
	}{
		{cache.Config{}, nil},
		{cache.Config{MaxRequests: 1}, nil},
		{cache.Config{MaxRequests: cache.MaxMaxRequests, Shards: cache.MaxShards}, nil},
		{cache.Config{CleanupDelay: time.Millisecond, MaxAge: time.Millisecond, MaxRequestTime: time.Millisecond}, nil},
		{cache.Config{CleanupDelay: cache.MaxDuration, MaxAge: cache.MaxDuration, MaxRequestTime: cache.MaxDuration}, nil},
		{cache.Config{CleanupDelay: 30 * time.Second}, nil},
		{cache.Config{MaxRequests: -1}, []string{"MaxRequests is -1", "from 1 to 33554432"}},
		{cache.Config{MaxRequests: cache.MaxMaxRequests + 1}, []string{"MaxRequests is 33554433", "from 1 to 33554432"}},
		{cache.Config{CleanupDelay: -1}, []string{"CleanupDelay is -1ns", "from 1ms to 10m0s"}},
		{cache.Config{CleanupDelay: 31 * time.Second}, []string{"CleanupDelay is 31s", "MaxAge", "30s"}},
		{cache.Config{MaxAge: 9 * time.Second}, []string{"CleanupDelay is 10s", "MaxAge", "9s"}},
		{cache.Config{MaxAge: cache.MaxDuration + 1}, []string{"MaxAge is 10m0.000000001s", "from 1ms to 10m0s"}},
		{cache.Config{MaxRequestTime: time.Microsecond}, []string{"MaxRequestTime is 1µs", "from 1ms to 10m0s"}},
		{cache.Config{Shards: -1}, []string{"Shards is -1", "from 1 to 1024"}},
		{cache.Config{Shards: cache.MaxShards + 1}, []string{"Shards is 1025", "from 1 to 1024"}},
		{cache.Config{MaxRequests: 3, Shards: 4}, []string{"Shards is 4", "from 1 to 3"}},
		{cache.Config{MaxRequests: -5, MaxRequestTime: -6}, []string{"MaxRequests is -5", "MaxRequestTime is -6ns"}},
	}
	for _, test := range tests {
		c, err := cache.New(test.config)
		if (err != nil) != (test.want != nil) || (c == nil) != (err != nil) {
			t.Errorf("New(%+v): %v", test.config, err)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "cache: ") {
				t.Errorf("New(%+v): %q does not say %q", test.config, err, want)
			}
		}
	}
}

func TestDefaultConfig(t *testing.T) {
	s := newScene(t, cache.Config{})
	if got := s.c.Stats(); got != (cache.Stats{MaxRequests: 2_097_152}) {
		t.Fatalf("an empty cache: %+v", got)
	}
}

func TestDefaultShards(t *testing.T) {
	for _, test := range []struct{ maxRequests, procs, want int }{
		{1, 64, 1},
		{256, 64, 1},
		{16_383, 64, 1},
		{16_384, 64, 2},
		{cache.DefaultMaxRequests, 1, 4},
		{cache.DefaultMaxRequests, 2, 8},
		{cache.DefaultMaxRequests, 6, 32},
		{cache.DefaultMaxRequests, 256, 64},
	} {
		if got := cache.DefaultShards(test.maxRequests, test.procs); got != test.want {
			t.Errorf("%d entries and %d processors: %d shards, want %d", test.maxRequests, test.procs, got, test.want)
		}
	}
}

func TestVerdictString(t *testing.T) {
	for v, want := range map[cache.Verdict]string{
		0: "Verdict(0)", cache.Fresh: "Fresh", cache.InFlight: "InFlight", cache.Replay: "Replay",
		cache.Silent: "Silent", cache.Superseded: "Superseded", cache.Full: "Full", 7: "Verdict(7)",
	} {
		if got := v.String(); got != want {
			t.Errorf("%d is %q, want %q", uint8(v), got, want)
		}
	}
}
