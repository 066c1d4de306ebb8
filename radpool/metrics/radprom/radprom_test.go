package radprom_test

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/billing/coa"
	"github.com/radpool/radpool/radpool"
	"github.com/radpool/radpool/radpool/metrics"
	"github.com/radpool/radpool/radpool/metrics/radprom"
)

// registry has what the sources collect.
func registry(t *testing.T, sources ...metrics.Source) *prometheus.Registry {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	if err := r.Register(radprom.New(sources...)); err != nil {
		t.Fatal(err)
	}
	return r
}

// The linter that promtool check metrics has.
func TestNamesAreInTheConvention(t *testing.T) {
	r := registry(t, metrics.Server(new(radpool.Server)), new(billing.Processor).Metrics(), new(coa.Controller).Metrics())
	problems, err := testutil.GatherAndLint(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// values are all values of r, as name{label,label}.
func values(t *testing.T, r prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]float64)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			labels := make([]string, 0, 2)
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			key := f.GetName() + "{" + strings.Join(labels, ",") + "}"
			switch {
			case m.GetHistogram() != nil:
				all[key+" count"] = float64(m.GetHistogram().GetSampleCount())
				all[key+" sum"] = m.GetHistogram().GetSampleSum()
				for _, b := range m.GetHistogram().GetBucket() {
					all[fmt.Sprintf("%s le %v", key, b.GetUpperBound())] = float64(b.GetCumulativeCount())
				}
			case m.GetCounter() != nil:
				all[key] = m.GetCounter().GetValue()
			default:
				all[key] = m.GetGauge().GetValue()
			}
		}
	}
	return all
}

// ask has each of so many NASes of 10.0.0.0/8, a client each, ask the server twice: for a
// subscriber and for a stranger.
func ask(t *testing.T, s *radpool.Server, nases int) {
	t.Helper()
	network, err := billingtest.NewNetwork(billingtest.NetworkConfig{})
	if err != nil {
		t.Fatal(err)
	}
	list := make([]radpool.Client, nases)
	for i := range list {
		addr := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		list[i] = radpool.Client{Prefix: netip.PrefixFrom(addr, 32), Secret: []byte("testing123")}
	}
	if s.Clients, err = radpool.NewClients(list...); err != nil {
		t.Fatal(err)
	}
	at := netip.MustParseAddrPort("192.0.2.1:1812")
	conn, err := network.Listen(at)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error)
	go func() { served <- s.Serve(conn) }()
	for _, c := range list {
		nas, err := network.Listen(netip.AddrPortFrom(c.Prefix.Addr(), 40000))
		if err != nil {
			t.Fatal(err)
		}
		for i, user := range []string{"ivan", "stranger"} {
			p := radius.New(radius.CodeAccessRequest, c.Secret)
			p.Identifier = byte(i)
			if err := errors.Join(rfc2865.UserName_SetString(p, user), rfc2865.UserPassword_SetString(p, "secret")); err != nil {
				t.Fatal(err)
			}
			b, err := p.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := nas.WriteTo(b, net.UDPAddrFromAddrPort(at)); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		_ = nas.Close()
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	<-served
	_ = network.Close()
}

func newServer() (*radpool.Server, *billing.Processor) {
	memory := billing.NewMemory(0)
	memory.Put("ivan", billing.Grant{Password: billing.Cleartext("secret")})
	p := &billing.Processor{Handler: memory}
	return &radpool.Server{Handler: p, Config: radpool.Config{RunInReader: radpool.No}}, p
}

// What a scrape shows does not grow with the clients, and is what Stats has.
func TestTenThousandClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := newServer()
		r := registry(t, metrics.Server(s), p.Metrics())
		before := values(t, r)
		const nases = 10000
		ask(t, s, nases)
		got := values(t, r)
		if len(got) != len(before) || len(got) > 400 {
			t.Errorf("%d values with %d clients, and %d with none: want the same, and at most 400", len(got), nases, len(before))
		}
		st := s.Stats()
		if st.AccessAccepts != nases || len(s.Clients.States()) != nases {
			t.Fatalf("%d were accepted, want %d", st.AccessAccepts, nases)
		}
		check(t, got, &st)
		for name, want := range map[string]uint64{"decisions_total{accepted}": nases, "decisions_total{rejected}": nases, "rejects_total{unknown-user}": nases} {
			if got["radpool_billing_"+name] != float64(want) {
				t.Errorf("%s is %v, want %d", name, got["radpool_billing_"+name], want)
			}
		}
	})
}

// check compares what was scraped with what the server says.
func check(t *testing.T, got map[string]float64, st *radpool.Stats) {
	t.Helper()
	want := map[string]float64{
		"radpool_datagrams_received_total{}":           float64(st.Received),
		"radpool_requests_total{access}":               float64(st.AccessRequests),
		"radpool_requests_total{accounting}":           float64(st.AccountingRequests),
		"radpool_replies_total{access-accept}":         float64(st.AccessAccepts),
		"radpool_replies_total{access-reject}":         float64(st.AccessRejects),
		"radpool_in_flight_requests{}":                 float64(st.InFlight),
		"radpool_response_seconds{access} count":       float64(st.AccessTimes.Count()),
		"radpool_response_seconds{access} sum":         st.AccessTimes.Sum.Seconds(),
		"radpool_response_seconds{accounting} count":   0,
		"radpool_response_seconds{access} le 10":       float64(st.AccessTimes.Count()),
		"radpool_queue_max_requests{}":                 float64(st.Pool.MaxQueueSize),
		"radpool_workers_high_water{}":                 float64(st.Pool.WorkersHighWater),
		"radpool_queue_submitted_total{access}":        float64(st.Pool.Classes[radpool.ClassAccess].Submitted),
		"radpool_cache_lookups_total{new}":             float64(st.Cache.Begun),
		"radpool_arena_gets_total{}":                   float64(st.Arena.Gets),
		"radpool_start_time_seconds{}":                 float64(st.Started.Unix()),
		"radpool_datagrams_total{status-server,other}": float64(st.StatusServer),
		"radpool_queue_dropped_total{access,expired}":  0,
		"radpool_queue_oldest_seconds{interim}":        0,
		"radpool_socket_receive_buffer_bytes{}":        float64(st.ReceiveBuffer),
		"radpool_workers{busy}":                        float64(st.Pool.Busy),
		"radpool_cache_entries{answered}":              float64(st.Cache.Retained),
	}
	for name, v := range want {
		if g, ok := got[name]; !ok || g != v {
			t.Errorf("%s is %v (there: %t), want %v", name, g, ok, v)
		}
	}
	var datagrams float64
	for o := range radpool.Outcome(radpool.NumOutcomes) {
		n := got["radpool_datagrams_total{"+o.String()+",access}"] + got["radpool_datagrams_total{"+o.String()+",accounting}"] +
			got["radpool_datagrams_total{"+o.String()+",other}"]
		if n != float64(st.Outcome(o)) {
			t.Errorf("%v: %v datagrams, want %d", o, n, st.Outcome(o))
		}
		datagrams += n
	}
	if datagrams+got["radpool_in_flight_requests{}"] != float64(st.Received) {
		t.Errorf("the outcomes add up to %v, want %d", datagrams, st.Received)
	}
}

// The bounds that Prometheus gets are some of those that the server has, so that nothing
// is in the wrong bucket.
func TestResponseBounds(t *testing.T) {
	var times radpool.ResponseTimes
	for i := range times.Buckets {
		times.Buckets[i] = 1
	}
	h := metrics.Responses(&times)
	var below uint64
	for i, bound := range h.Bounds {
		below += h.Counts[i]
		var want uint64
		exact := false
		for j := range times.Buckets {
			if b := radpool.ResponseTimeBound(j).Seconds(); b <= bound {
				want++
				exact = exact || b == bound
			}
		}
		if below != want || !exact {
			t.Errorf("up to %v s: %d, want %d; a bound of the server's: %t", bound, below, want, exact)
		}
	}
	if h.Count != uint64(len(times.Buckets)) || h.Bounds[0] != 1e-5 || h.Bounds[len(h.Bounds)-1] != 10 {
		t.Errorf("%d in all with bounds from %v to %v", h.Count, h.Bounds[0], h.Bounds[len(h.Bounds)-1])
	}
}

// wrong is a source that does not keep to what it says.
type wrong struct{ desc, other metrics.Desc }

func (w *wrong) Descs() []*metrics.Desc { return []*metrics.Desc{&w.desc} }

func (w *wrong) Collect(emit func(metrics.Sample)) {
	d := &w.desc
	if w.other.Name != "" {
		d = &w.other
	}
	emit(metrics.Sample{Desc: d, LabelValues: []string{"a", "b"}})
}

// A source that is wrong is an error of the scrape that names the metric, and no panic.
func TestWrongSources(t *testing.T) {
	for name, w := range map[string]*wrong{
		"labels":    {desc: metrics.Desc{Name: "radpool_x", Help: "x", Labels: []string{"one"}}},
		"histogram": {desc: metrics.Desc{Name: "radpool_x", Help: "x", Kind: metrics.KindHistogram}},
		"unknown":   {desc: metrics.Desc{Name: "radpool_y", Help: "y"}, other: metrics.Desc{Name: "radpool_x"}},
	} {
		if _, err := registry(t, w).Gather(); err == nil || !strings.Contains(err.Error(), "radpool_x") {
			t.Errorf("%s: %v, want an error that names radpool_x", name, err)
		}
	}
	one := new(billing.Processor).Metrics()
	if _, err := registry(t, one, new(billing.Processor).Metrics()).Gather(); err == nil || !strings.Contains(err.Error(), "radpool_billing") {
		t.Errorf("two sources with the same names: %v", err)
	}
}
