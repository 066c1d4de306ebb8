package simnet_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/radpool/radpool/internal/simnet"
)

func TestConfigValidate(t *testing.T) {
	for _, tc := range []struct {
		name string
		cfg  simnet.Config
		want []string // parts of the error; none: valid
	}{
		{"zero", simnet.Config{}, nil},
		{"bounds", simnet.Config{Loss: 1, Duplicate: 1, Reorder: 1, MinDelay: time.Hour, MaxDelay: time.Hour,
			Capacity: 1 << 20, InFlight: 1 << 20, MTU: 65527}, nil},
		{"one delay", simnet.Config{MinDelay: time.Second}, nil},
		{"loss", simnet.Config{Loss: 1.5}, []string{"Config.Loss is 1.5"}},
		{"NaN", simnet.Config{Duplicate: math.NaN()}, []string{"Config.Duplicate is NaN"}},
		{"negative", simnet.Config{Reorder: -0.1}, []string{"Config.Reorder is -0.1"}},
		{"delays", simnet.Config{MinDelay: -1, MaxDelay: 2 * time.Hour}, []string{"Config.MinDelay", "Config.MaxDelay"}},
		{"delays crossed", simnet.Config{MinDelay: 2, MaxDelay: 1}, []string{"Config.MaxDelay is 1ns: must be at least MinDelay, 2ns"}},
		{"counts", simnet.Config{Capacity: -1, InFlight: 1<<20 + 1, MTU: 65528},
			[]string{"Config.Capacity is -1", "Config.InFlight is 1048577", "Config.MTU is 65528"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := tc.cfg.Validate()
			_, newErr := simnet.New(tc.cfg)
			if (err == nil) != (len(tc.want) == 0) || (newErr == nil) != (err == nil) {
				t.Fatalf("Validate: %v, New: %v", err, newErr)
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not say %q", err, part)
				}
			}
		})
	}
}
