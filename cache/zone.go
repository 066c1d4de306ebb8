package cache

import "strings"

// zones numbers the IPv6 zones that a shard's entries name, so that an entry
// needs no string. A zone is forgotten with its last entry: interfaces come and
// go on an access concentrator.
type zones struct {
	numbers map[string]uint32
	names   []zone
	unused  []uint32
}

type zone struct {
	name    string
	entries uint32
}

// number returns the scope of a zone, or false when no entry is of it.
func (z *zones) number(name string) (scope uint32, ok bool) {
	scope, ok = z.numbers[name]
	return scope, ok
}

// hold returns the scope of a zone for one more entry.
func (z *zones) hold(name string) uint32 {
	scope, ok := z.numbers[name]
	if !ok {
		if n := len(z.unused); n > 0 {
			scope = z.unused[n-1]
			z.unused = z.unused[:n-1]
		} else {
			scope = scopeZone + uint32(len(z.names))
			z.names = append(z.names, zone{})
		}
		if z.numbers == nil {
			z.numbers = make(map[string]uint32)
		}
		// A copy, so that a request which is looked up need not live on the heap.
		own := strings.Clone(name)
		z.numbers[own] = scope
		z.names[scope-scopeZone].name = own
	}
	z.names[scope-scopeZone].entries++
	return scope
}

// drop takes one entry from a scope. Scopes without a zone are ignored.
func (z *zones) drop(scope uint32) {
	if scope < scopeZone {
		return
	}
	held := &z.names[scope-scopeZone]
	held.entries--
	if held.entries == 0 {
		delete(z.numbers, held.name)
		*held = zone{}
		z.unused = append(z.unused, scope)
	}
}
