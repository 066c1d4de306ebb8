package cache_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/radpool/radpool/cache"
)

// distinct is requests of which no two are one, and each differs from some other in a
// single field.
func distinct() []cache.Request {
	base := access
	with := func(change func(*cache.Request)) cache.Request {
		r := base
		change(&r)
		return r
	}
	client := func(addr string, port uint16) cache.Request {
		return with(func(r *cache.Request) {
			r.Client = netip.AddrPortFrom(netip.MustParseAddr(addr), port)
		})
	}
	return []cache.Request{
		base,
		with(func(r *cache.Request) { r.Listener++ }),
		with(func(r *cache.Request) { r.Code++ }),
		with(func(r *cache.Request) { r.Identifier++ }),
		with(func(r *cache.Request) { r.Client = netip.AddrPort{} }),
		with(func(r *cache.Request) { r.Client = netip.AddrPortFrom(netip.Addr{}, 1645) }),
		client("192.0.2.1", 1646),
		client("192.0.2.2", 1645),
		client("::ffff:192.0.2.1", 1645), // what a caller that forgot Unmap gets
		client("::", 1645),
		client("2001:db8::1", 1645),
		client("fe80::1", 1645),
		client("fe80::1%eth0", 1645),
		client("fe80::1%eth1", 1645),
		client("fe80::1%a-zone-whose-name-is-longer-than-any-interface-has", 1645),
	}
}

// No two keys are one, though every hash is the same.
func TestKeysAreComparedWhole(t *testing.T) {
	for _, hash := range []uint64{0, 1<<64 - 1, 0x8000_0000_7fff_ffff} {
		c, err := cache.New(cache.Config{})
		if err != nil {
			t.Fatal(err)
		}
		requests := distinct()
		for i, r := range requests {
			ticket, v, _ := cache.BeginHashed(c, start, &r, nil, hash)
			if v != cache.Fresh {
				t.Fatalf("%+v: %v, want Fresh", r.Key, v)
			}
			ticket.Finish(start, fmt.Append(nil, "reply ", i))
		}
		for i, r := range requests {
			_, v, reply := cache.BeginHashed(c, start, &r, nil, hash)
			if want := fmt.Sprint("reply ", i); v != cache.Replay || string(reply) != want {
				t.Fatalf("%+v: %v %q, want Replay %q", r.Key, v, reply, want)
			}
		}
		c.Expire(start.Add(time.Hour))
		for _, r := range requests {
			if _, v, _ := cache.BeginHashed(c, start, &r, nil, hash); v != cache.Fresh {
				t.Fatalf("%+v: %v after its time, want Fresh", r.Key, v)
			}
		}
	}
}

// The same keys under their own hashes.
func TestDistinctKeys(t *testing.T) {
	s := newScene(t, cache.Config{})
	for _, r := range distinct() {
		s.begin(r, cache.Fresh)
	}
	for _, r := range distinct() {
		s.begin(r, cache.InFlight)
	}
}

// Interfaces come and go: a zone is numbered while an entry is of it, and a
// number that is used again names the new zone alone.
func TestZonesAreForgotten(t *testing.T) {
	s := newScene(t, cache.Config{Shards: 1})
	keep, _ := s.begin(zoned("ppp0"), cache.Fresh)
	for i := 1; i < 1000; i++ {
		ticket, _ := s.begin(zoned(fmt.Sprint("ppp", i)), cache.Fresh)
		s.is("NoReply", ticket.NoReply(s.now), true)
		if n := cache.Zones(s.c); n != 2 {
			t.Fatalf("%d zones are numbered, want 2", n)
		}
		s.begin(zoned(fmt.Sprint("ppp", i)), cache.Silent)
		s.wait(10 * time.Second)
		s.c.Expire(s.now)
	}
	s.begin(zoned("ppp0"), cache.InFlight)
	s.is("Abandon", keep.Abandon(), true)
	if n := cache.Zones(s.c); n != 0 {
		t.Fatalf("%d zones are numbered, want none", n)
	}
}

// Every field of a key takes part in its hash, and so does the cache's seed.
func TestHashCoversTheKey(t *testing.T) {
	c, other := newScene(t, cache.Config{}).c, newScene(t, cache.Config{}).c
	of := map[uint64]cache.Key{}
	for _, r := range distinct() {
		h := cache.Hash(c, r.Key)
		if k, ok := of[h]; ok {
			t.Errorf("%+v and %+v have one hash", k, r.Key)
		}
		of[h] = r.Key
		if h != cache.Hash(c, r.Key) || h == cache.Hash(other, r.Key) {
			t.Errorf("%+v: the hash is not the cache's own", r.Key)
		}
	}
}

func zoned(name string) cache.Request {
	r := access
	r.Client = netip.AddrPortFrom(netip.MustParseAddr("fe80::1").WithZone(name), 1645)
	return r
}
