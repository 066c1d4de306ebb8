package radvar_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/radpool"
	"github.com/radpool/radpool/radpool/metrics"
	"github.com/radpool/radpool/radpool/metrics/radvar"
)

func ExampleFunc() {
	server := new(radpool.Server) // with a Handler and Clients, serving

	v := radvar.Func(metrics.Server(server)) // expvar.Publish("radpool", v)

	var all map[string]any
	if err := json.Unmarshal([]byte(v.String()), &all); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(all["radpool_in_flight_requests"], all["radpool_workers"])
	// Output: 0 map[busy:0 idle:0 starting:0]
}

// Everything that there is is shown, in its form.
func TestAllIsShown(t *testing.T) {
	times := metrics.New(func() int { return 0 }, metrics.Times("x_seconds", "x", []string{"of"}, func(_ *int, add func(metrics.Histogram, ...string)) {
		add(metrics.Histogram{Bounds: []float64{0.5, 1}, Counts: []uint64{3, 4}, Count: 9, Sum: 12.5}, "a")
	}))
	sources := []metrics.Source{metrics.Server(new(radpool.Server)), new(billing.Processor).Metrics(), times}
	var got map[string]any
	if err := json.Unmarshal([]byte(radvar.Func(sources...).String()), &got); err != nil {
		t.Fatal(err)
	}
	for _, d := range metrics.Join(sources...).Descs() {
		v, ok := got[d.Name]
		_, object := v.(map[string]any)
		if !ok || object != (len(d.Labels) > 0) {
			t.Errorf("%s with labels %v is %v (there: %t)", d.Name, d.Labels, v, ok)
		}
		delete(got, d.Name)
		if d.Name == "x_seconds" {
			if s := fmt.Sprint(v); s != "map[a:map[buckets:map[0.5:3 1:7] count:9 sum:12.5]]" {
				t.Errorf("the histogram is %s", s)
			}
		}
	}
	if len(got) > 0 {
		t.Errorf("more than there is: %v", got)
	}
}
