package status

import (
	"cmp"
	"slices"
	"time"

	"github.com/radpool/radpool/radpool"
)

// Of more than manyClients what is shown may be as old as clientsAge: there can be a
// million of them to go through.
const (
	manyClients = 10_000
	clientsAge  = 5 * time.Second
)

// clients is what was last seen of the clients.
type clients struct {
	at    time.Time
	list  []Client
	total int
}

// top returns the clients that have asked most, and how many there are.
func (c *clients) top(now time.Time, of *radpool.Clients) ([]Client, int) {
	if of == nil {
		return []Client{}, 0
	}
	if c.total <= manyClients || now.Sub(c.at) >= clientsAge {
		states := of.States()
		c.at, c.list, c.total = now, topOf(states), len(states)
	}
	return c.list, c.total
}

// topOf are the MaxClients with most requests and duplicates; of equal ones those that come first.
func topOf(states []radpool.ClientState) []Client {
	busier := func(a, b *radpool.ClientState) int {
		return cmp.Compare(b.Requests+b.Duplicates, a.Requests+a.Duplicates)
	}
	top := make([]*radpool.ClientState, 0, MaxClients+1)
	for i := range states {
		s := &states[i]
		at := len(top)
		for at > 0 && busier(s, top[at-1]) < 0 {
			at--
		}
		if at == MaxClients {
			continue
		}
		top = slices.Insert(top, at, s)
		top = top[:min(len(top), MaxClients)]
	}
	list := make([]Client, 0, len(top))
	for _, s := range top {
		list = append(list, Client{
			Name: s.Name, Prefix: s.Prefix.String(), Requests: s.Requests, Duplicates: s.Duplicates, Dropped: s.Dropped,
			PatienceSeconds: s.Patience.Seconds(), Signs: s.Signs,
		})
	}
	return list
}
