package simnet

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Defaults and bounds of [Config].
const (
	DefaultCapacity = 1024  // datagrams in a receive buffer
	DefaultInFlight = 65536 // datagrams on their way
	DefaultMTU      = 65507 // octets: the longest UDP payload over IPv4 (65,535 less 20 of IP and 8 of UDP)
	maxCapacity     = 1 << 20
	maxInFlight     = 1 << 20
	maxMTU          = 65527 // octets: the longest UDP payload over IPv6 without jumbograms
	maxDelay        = time.Hour
)

// Config says how a [Network] treats datagrams. The zero value is a perfect network: nothing is lost, and
// what is sent has arrived when the write returns.
type Config struct {
	// Seed starts the generator from which every decision is drawn. Zero is a seed like any other.
	Seed uint64

	// Loss is the probability, from 0 to 1, that a datagram vanishes on its way.
	Loss float64

	// Duplicate is the probability, from 0 to 1, that a datagram that was not lost arrives twice. The second
	// copy has a delay of its own.
	Duplicate float64

	// Reorder is the probability, from 0 to 1, that a datagram is held back at its receiver's door until the next one
	// for the same receiver has passed it. When none comes it goes in by itself after 10 ms, or after MaxDelay
	// where that is longer.
	Reorder float64

	// MinDelay and MaxDelay bound the time on the way, drawn evenly between the two for each datagram.
	// Delays that differ reorder by themselves. A zero MaxDelay means MinDelay: the same delay for all.
	// At most one hour.
	MinDelay, MaxDelay time.Duration

	// Capacity is the number of datagrams that a socket's receive buffer holds; what arrives while it is full is
	// dropped and counted in [Stats.Overflowed]. From 1 to 1,048,576; zero means [DefaultCapacity].
	Capacity int

	// InFlight is the number of datagrams that may be on their way at once (delayed or held back); what is sent
	// beyond that is dropped and counted in [Stats.Overflowed]. From 1 to 1,048,576; zero means [DefaultInFlight].
	InFlight int

	// MTU is the longest payload in octets; writing a longer one fails with EMSGSIZE, as it does where
	// fragmentation is forbidden. From 1 to 65,527; zero means [DefaultMTU].
	MTU int
}

// Validate returns nil, or an error that names each field that is out of its bounds.
func (c Config) Validate() error {
	return errors.Join(
		checkProbability("Loss", c.Loss),
		checkProbability("Duplicate", c.Duplicate),
		checkProbability("Reorder", c.Reorder),
		checkDelay("MinDelay", c.MinDelay),
		checkDelay("MaxDelay", c.MaxDelay),
		checkDelayOrder(c.MinDelay, c.MaxDelay),
		checkCount("Capacity", c.Capacity, maxCapacity),
		checkCount("InFlight", c.InFlight, maxInFlight),
		checkCount("MTU", c.MTU, maxMTU),
	)
}

func (c Config) withDefaults() Config {
	c.MaxDelay = cmp.Or(c.MaxDelay, c.MinDelay)
	c.Capacity = cmp.Or(c.Capacity, DefaultCapacity)
	c.InFlight = cmp.Or(c.InFlight, DefaultInFlight)
	c.MTU = cmp.Or(c.MTU, DefaultMTU)
	return c
}

func checkProbability(field string, p float64) error {
	if p >= 0 && p <= 1 { // written so that NaN fails
		return nil
	}
	return fmt.Errorf("simnet: Config.%s is %v: must be from 0 to 1", field, p)
}

func checkDelay(field string, d time.Duration) error {
	if d >= 0 && d <= maxDelay {
		return nil
	}
	return fmt.Errorf("simnet: Config.%s is %v: must be from 0 to %v", field, d, maxDelay)
}

func checkDelayOrder(shortest, longest time.Duration) error {
	if longest == 0 || longest >= shortest {
		return nil
	}
	return fmt.Errorf("simnet: Config.MaxDelay is %v: must be at least MinDelay, %v", longest, shortest)
}

func checkCount(field string, n, bound int) error {
	if n >= 0 && n <= bound {
		return nil
	}
	return fmt.Errorf("simnet: Config.%s is %d: must be from 1 to %d, or 0 for the default", field, n, bound)
}
