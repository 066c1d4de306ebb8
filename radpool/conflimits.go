package radpool

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/radpool/radpool/internal/radiusconf"
)

// confPlace is where a field of Config is said, and how.
type confPlace struct {
	at    radiusconf.Pos
	name  string // in the text
	value string
	unit  string
}

// confWhole reads a whole number. One that an int does not hold is out of any bound.
func confWhole(value string) (n int, ok bool) {
	n, err := strconv.Atoi(value)
	if errors.Is(err, strconv.ErrRange) {
		return math.MaxInt, true
	}
	return n, err == nil
}

// confCount takes a whole number for the field of Config of that name. A zero that would
// mean the default there is not one here: it is out of bounds, as is -1.
func confCount(field string, dst func(*Config) *int) confTake {
	return func(r *confReader, p *radiusconf.Pair, value string) string {
		n, ok := confWhole(value)
		if !ok {
			return fmt.Sprintf("is %.32q: must be a whole number", value)
		}
		r.limits[field] = confPlace{p.Pos, p.Name, value, ""}
		if n == 0 && field != "MaxRequestsPerServer" {
			n = -1
		}
		*dst(&r.conf.Config) = n
		return ""
	}
}

// confSeconds is confCount for a time in seconds.
func confSeconds(field string, dst func(*Config) *time.Duration) confTake {
	return func(r *confReader, p *radiusconf.Pair, value string) string {
		n, ok := confWhole(value)
		if !ok {
			return fmt.Sprintf("is %.32q: must be a whole number of seconds", value)
		}
		r.limits[field] = confPlace{p.Pos, p.Name, value, " seconds"}
		if n == 0 {
			n = -1
		}
		*dst(&r.conf.Config) = time.Duration(max(-1, min(n, math.MaxInt32))) * time.Second
		return ""
	}
}

// confMaxAttributes is confCount, but that 0 means any number.
func confMaxAttributes(r *confReader, p *radiusconf.Pair, value string) string {
	if value == "0" {
		r.conf.Config.MaxAttributes = 2038 // as many as fit
		return ""
	}
	return confCount("MaxAttributes", func(c *Config) *int { return &c.MaxAttributes })(r, p, value)
}

// confReceiveBuffer takes recv_buff, which each listener says for itself: the greatest is
// that of all.
func confReceiveBuffer(r *confReader, p *radiusconf.Pair, value string) string {
	before, place := r.conf.Config.ReceiveBuffer, r.limits["ReceiveBuffer"]
	problem := confCount("ReceiveBuffer", func(c *Config) *int { return &c.ReceiveBuffer })(r, p, value)
	if n := r.conf.Config.ReceiveBuffer; problem == "" && n >= 0 && before > n {
		r.conf.Config.ReceiveBuffer, r.limits["ReceiveBuffer"] = before, place
	}
	return problem
}

// settleLimits lets Config judge what was taken, and says its errors in the words of the
// text.
func (r *confReader) settleLimits() {
	err := r.conf.Config.Validate()
	if err == nil {
		return
	}
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, err := range all {
		var ce *ConfigError
		if !errors.As(err, &ce) {
			continue
		}
		if place, ok := r.limits[ce.Field]; ok {
			r.fail(place.at, place.name, fmt.Sprintf("is %.32s%s: must be %s", place.value, place.unit, ce.Bound))
		}
	}
}
