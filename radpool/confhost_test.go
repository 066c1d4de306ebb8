package radpool_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/radpool/radpool/radpool"
)

// hosts is a resolver that knows these.
type hosts map[string]string

func (h hosts) LookupNetIP(_ context.Context, network, host string) ([]netip.Addr, error) {
	var addrs []netip.Addr
	for text := range strings.FieldsSeq(h[host]) {
		if a := netip.MustParseAddr(text); network == "ip" || a.Is4() == (network == "ip4") {
			addrs = append(addrs, a)
		}
	}
	if len(addrs) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return addrs, nil
}

func clientsInWords(conf *radpool.Conf) []string {
	var words []string
	for _, c := range conf.Clients {
		words = append(words, fmt.Sprintf("%v %s %s %v", c.Prefix, c.Name, c.Secret, c.MessageAuthenticator))
	}
	return words
}

// For ipaddr IPv4 is preferred, the other fields take their own kind, and all that is said
// of a client holds for its addresses.
func TestConfHosts(t *testing.T) {
	conf := readConf(t, `
client both { ipaddr = both.example
	secret = hunter2 }
client numbers { ipaddr = 192.0.2.7
	secret = n }
client four { ipv4addr = "dual.example"
	secret = s4
	shortname = bras
	require_message_authenticator = no }
client six { ipv6addr = dual.example.
	secret = s6 }
client only6 { ipaddr = six.example
	secret = o6 }
client net { ipaddr = net.example
	netmask = 24
	secret = sn }
security { require_message_authenticator = yes }
`)
	if len(conf.Hosts) != 5 || len(conf.Clients) != 1 {
		t.Fatalf("%d hosts, %d clients before", len(conf.Hosts), len(conf.Clients))
	}
	if shown := fmt.Sprintf("%v %+v %#v", conf.Hosts[0], conf.Hosts, conf.Hosts[0]); strings.Contains(shown, "hunter2") || !strings.Contains(shown, "client both: ipaddr both.example") {
		t.Errorf("shown as %s", shown)
	}
	known := hosts{
		"both.example": "2001:db8::1 192.0.2.2 192.0.2.1", "dual.example": "192.0.2.3 2001:db8::3", "dual.example.": "192.0.2.3 2001:db8::3",
		"six.example": "2001:db8::6", "net.example": "198.51.100.1 198.51.100.2",
	}
	if err := conf.Resolve(t.Context(), known); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"192.0.2.7/32 numbers n yes", "192.0.2.1/32 both hunter2 yes", "192.0.2.2/32 both hunter2 yes", "192.0.2.3/32 bras s4 no",
		"2001:db8::3/128 six s6 yes", "2001:db8::6/128 only6 o6 yes", "198.51.100.0/24 net sn yes",
	}
	if got := clientsInWords(conf); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if conf.Hosts != nil {
		t.Errorf("left: %v", conf.Hosts)
	}
	if err := conf.Resolve(t.Context(), nil); err != nil || len(conf.Clients) != len(want) {
		t.Errorf("once more: %v, %d clients", err, len(conf.Clients))
	}
}

// What cannot be resolved is an error with file, line and field, and changes nothing.
func TestWrongConfHosts(t *testing.T) {
	known := hosts{"a.example": "192.0.2.1", "b.example": "192.0.2.1 192.0.2.9", "six.example": "2001:db8::6"}
	const client = "client x { ipaddr = 192.0.2.9\n secret = hunter2 }\nclient a { ipaddr = a.example\n secret = hunter2 }\n"
	for text, want := range map[string]string{
		"client c { ipaddr = c.example\n secret = hunter2 }":                 `radiusd.conf:5: client c has ipaddr "c.example", which does not resolve: lookup c.example: no such host`,
		"\nclient c { ipv4addr = six.example\n secret = hunter2 }":           `radiusd.conf:6: client c has ipv4addr "six.example", which does not resolve: lookup six.example: no such host`,
		"client b { ipaddr = b.example\n secret = hunter2 }":                 "radiusd.conf:5: client b is 192.0.2.1/32, which is a client already: radiusd.conf:3",
		"client c { ipaddr = a.example\n netmask = 33\n secret = hunter2 }":  `radiusd.conf:5: client c has ipaddr "a.example" with netmask 33: must be 0 to 32`,
		"client c { ipaddr = a.example\n netmask = 31\n secret = hunter2 }":  "",
		"client d { ipv6addr = six.example\n netmask=0\n secret = hunter2 }": "",
	} {
		conf := readConf(t, client+text)
		err := conf.Resolve(t.Context(), known)
		if want == "" {
			if err != nil || len(conf.Clients) != 3 {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		var ce *radpool.ConfError
		if !errors.As(err, &ce) || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		if len(conf.Clients) != 1 || len(conf.Hosts) != 2 {
			t.Errorf("%s: %d clients, %d hosts after the error", text, len(conf.Clients), len(conf.Hosts))
		}
	}
	made := &radpool.Conf{Clients: []radpool.Client{{Prefix: netip.MustParsePrefix("192.0.2.1/32")}}, Hosts: []radpool.ConfHost{{Name: "a.example", Netmask: -1}}}
	if err := made.Resolve(t.Context(), known); err == nil || !strings.Contains(err.Error(), "is 192.0.2.1/32, which is a client already") {
		t.Errorf("got %v", err)
	}
}

type hanging struct{ now, most atomic.Int32 }

func (h *hanging) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	if n := h.now.Add(1); n > h.most.Load() {
		h.most.Store(n)
	}
	<-ctx.Done()
	h.now.Add(-1)
	return nil, ctx.Err()
}

// A resolver that hangs holds nobody longer than ResolveTime, however many names there are.
func TestResolveEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		for i := range 100 {
			fmt.Fprintf(&text, "client c%d { ipaddr = nas%d.example\n secret = s }\n", i, i)
		}
		conf := readConf(t, text.String())
		began := time.Now()
		h := new(hanging)
		err := conf.Resolve(t.Context(), h)
		if took := time.Since(began); took != radpool.ResolveTime || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v after %v", err, took)
		}
		if n := h.most.Load(); n != 16 {
			t.Errorf("%d at once", n)
		}
		if n := strings.Count(err.Error(), "\n") + 1; n != radpool.MaxConfErrors {
			t.Errorf("%d errors", n)
		}
	})
}
