package radpool_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/radpool/radpool/radpool"
)

func prefix(s string) netip.Prefix { return netip.MustParsePrefix(s) }

// Against the obvious way: look at all, keep the longest that contains it.
func TestLookupFindsTheLongestPrefix(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	var list []radpool.Client
	seen := map[netip.Prefix]bool{}
	for range 300 {
		p := netip.PrefixFrom(randomAddr(rng), 0)
		p = netip.PrefixFrom(p.Addr(), rng.IntN(p.Addr().BitLen()+1)).Masked()
		if !seen[p] {
			seen[p] = true
			list = append(list, radpool.Client{Prefix: p, Secret: []byte("s")})
		}
	}
	c := clients(t, list...)
	for range 5000 {
		addr := randomAddr(rng)
		best := netip.Prefix{}
		for _, cl := range list {
			if cl.Prefix.Contains(addr) && (!best.IsValid() || cl.Prefix.Bits() > best.Bits()) {
				best = cl.Prefix
			}
		}
		got, ok := c.Lookup(addr)
		if ok != best.IsValid() || got.Prefix != best {
			t.Fatalf("seed %d: %v belongs to %v, want %v", seed, addr, got.Prefix, best)
		}
	}
}

// randomAddr draws from few enough addresses that prefixes nest.
func randomAddr(rng *rand.Rand) netip.Addr {
	if rng.IntN(2) == 0 {
		return netip.AddrFrom4([4]byte{10, byte(rng.IntN(3)), byte(rng.IntN(3)), byte(rng.IntN(8))})
	}
	return netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, byte(rng.IntN(3)), 15: byte(rng.IntN(8))})
}

func TestLookupUnmapsAndIgnoresZones(t *testing.T) {
	c := clients(t,
		radpool.Client{Prefix: prefix("::ffff:192.0.2.0/120"), Name: "mapped", Secret: []byte("s")},
		radpool.Client{Prefix: prefix("fe80::1/128"), Name: "link", Secret: []byte("s")})
	for addr, want := range map[string]string{"192.0.2.7": "mapped", "::ffff:192.0.2.7": "mapped", "fe80::1%eth0": "link"} {
		if got, _ := c.Lookup(netip.MustParseAddr(addr)); got.Name != want {
			t.Errorf("%s belongs to %q, want %q", addr, got.Name, want)
		}
	}
}

func TestClientErrors(t *testing.T) {
	good := radpool.Client{Prefix: prefix("10.0.0.0/8"), Secret: []byte("hidden")}
	for want, bad := range map[string]radpool.Client{
		"Prefix is not valid":                                    {Secret: []byte("hidden")},
		"Secret is empty":                                        {Prefix: prefix("10.0.0.1/32")},
		"MessageAuthenticator is none of auto, no, yes":          {Prefix: prefix("10.0.0.1/32"), Secret: []byte("hidden"), MessageAuthenticator: 3},
		"LimitProxyState is none of auto, no, yes":               {Prefix: prefix("10.0.0.1/32"), Secret: []byte("hidden"), LimitProxyState: 9},
		"EventTimestamp is none of auto, no, yes":                {Prefix: prefix("10.0.0.1/32"), Secret: []byte("hidden"), EventTimestamp: 9},
		"(10.0.0.0/8): the same prefix stands in the list twice": good,
	} {
		_, err := radpool.NewClients(good, bad)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "radpool: client 1 (") || strings.Contains(err.Error(), "hidden") {
			t.Errorf("got %v, want %q of client 1", err, want)
		}
	}
}

func TestReplaceKeepsTheOldOnesAfterAnError(t *testing.T) {
	c := clients(t, radpool.Client{Prefix: prefix("10.0.0.0/8"), Name: "old", Secret: []byte("s")})
	if err := c.Replace([]radpool.Client{{}}); err == nil {
		t.Error("no error")
	}
	if got, _ := c.Lookup(netip.MustParseAddr("10.1.1.1")); got.Name != "old" {
		t.Errorf("got %q", got.Name)
	}
}

// Look-ups go on while the table is replaced, and see one table or the other.
func TestReplaceWhileInUse(t *testing.T) {
	c := new(radpool.Clients)
	if _, ok := c.Lookup(netip.MustParseAddr("10.0.0.1")); ok || len(c.States()) != 0 {
		t.Error("the zero Clients have a client")
	}
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			for n := range 100 {
				name := fmt.Sprint(i, n)
				if err := c.Replace([]radpool.Client{
					{Prefix: prefix("10.0.0.0/8"), Name: name, Secret: []byte("s")},
					{Prefix: prefix("10.0.0.1/32"), Name: name, Secret: []byte("s")},
				}); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for range 1000 {
				if s := c.States(); len(s) == 2 && s[0].Name != s[1].Name {
					t.Errorf("two tables at once: %v", s)
				}
				c.Forget(prefix("10.0.0.1/32"))
				c.Lookup(netip.MustParseAddr("10.0.0.1"))
			}
		})
	}
	wg.Wait()
}

// However a Client, a Conf or a database of it is printed, no secret is shown.
func TestSecretsAreNotPrinted(t *testing.T) {
	client := radpool.Client{Name: "bras1", Prefix: netip.MustParsePrefix("192.0.2.1/32"), Secret: []byte("s3cret")}
	conf := radpool.Conf{
		Clients: []radpool.Client{client},
		SQL:     []radpool.ConfSQL{{Name: "sql", Driver: "mysql", Server: "db", Database: "radius", Password: "s3cret"}},
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		for _, v := range []any{client, &client, conf, &conf, struct{ C *radpool.Client }{&client}} {
			text := fmt.Sprintf(verb, v)
			for _, secret := range []string{"s3cret", fmt.Sprint([]byte("s3cret")), fmt.Sprintf("%#v", []byte("s3cret")), fmt.Sprintf("%x", "s3cret")} {
				if strings.Contains(text, strings.Trim(secret, "[]")) {
					t.Errorf("%s of %T: %s", verb, v, text)
				}
			}
		}
	}
	if got := fmt.Sprintf("%v %v", client, radpool.Client{Prefix: client.Prefix}); got != "bras1 (192.0.2.1/32) 192.0.2.1/32" {
		t.Error(got)
	}
}
