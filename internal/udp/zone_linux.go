package udp

import (
	"net"
	"strconv"
	"sync"
	"time"
)

const (
	zonesLife = time.Minute // interfaces are renamed and numbered anew, if rarely
	zonesRest = time.Second // the least time between two looks at the system's interfaces, whatever is asked for
)

// zones translates the zones of link-local addresses between the name that netip and the number that sockets
// use. It is a cache of the system's interfaces, shared by readers and writers.
type zones struct {
	mu     sync.Mutex
	loaded time.Time
	names  map[uint32]string
	list   func() ([]net.Interface, error)
}

// name returns the name of an interface, or its number where it has none.
func (z *zones) name(index uint32) string {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.refresh(time.Now(), z.names[index] != "")
	if name := z.names[index]; name != "" {
		return name
	}
	return strconv.FormatUint(uint64(index), 10)
}

// index returns the number of an interface, 0 where there is none of that name. Names are few, and link-local
// clients fewer: a search will do.
func (z *zones) index(name string) uint32 {
	z.mu.Lock()
	defer z.mu.Unlock()
	if index, ok := z.find(name); ok {
		z.refresh(time.Now(), true)
		if z.names[index] == name {
			return index
		}
	}
	z.refresh(time.Now(), false)
	if index, ok := z.find(name); ok {
		return index
	}
	index, _ := strconv.ParseUint(name, 10, 32)
	return uint32(index)
}

func (z *zones) find(name string) (uint32, bool) {
	for index, n := range z.names {
		if n == name {
			return index, true
		}
	}
	return 0, false
}

// refresh looks the interfaces up if what is known of them is too old, or lacks what is asked for.
func (z *zones) refresh(now time.Time, found bool) {
	life := zonesRest
	if found {
		life = zonesLife
	}
	if z.names != nil && now.Sub(z.loaded) < life {
		return
	}
	z.loaded = now
	interfaces, err := z.list()
	if err != nil {
		return // and go on with what was known
	}
	z.names = make(map[uint32]string, len(interfaces))
	for _, i := range interfaces {
		z.names[uint32(i.Index)] = i.Name
	}
}
