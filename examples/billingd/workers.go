package main

import "github.com/radpool/radpool/radpool"

// Policies of how many workers there are.
const (
	policySpare    = "spare"    // FreeRADIUS's
	policyAdaptive = "adaptive" // what the back end can use
	policyFixed    = "fixed"    // -max-servers always
)

// workers is the policy that the options say.
func (o *options) workers() radpool.Policy {
	c := o.config
	switch o.policy {
	case policyAdaptive:
		return radpool.Adaptive{StartServers: c.StartServers, MaxServers: c.MaxServers}
	case policyFixed:
		return radpool.Fixed(c.MaxServers)
	}
	return radpool.Spare{
		StartServers: c.StartServers, MinSpareServers: c.MinSpareServers, MaxSpareServers: c.MaxSpareServers, MaxServers: c.MaxServers,
	}
}
