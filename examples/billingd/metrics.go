package main

import (
	"expvar"
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/radpool/radpool/radpool/metrics"
	"github.com/radpool/radpool/radpool/metrics/radprom"
	"github.com/radpool/radpool/radpool/metrics/radvar"
)

// maxScrapes is how many may be made at once: a scrape costs some locks.
const maxScrapes = 4

// addMetrics serves what the sources say at /metrics, for Prometheus, and at
// /debug/vars, as expvar does.
func (w *web) addMetrics(sources ...metrics.Source) error {
	if w == nil {
		return nil
	}
	registry := prometheus.NewRegistry()
	for _, c := range []prometheus.Collector{
		radprom.New(sources...), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	} {
		if err := registry.Register(c); err != nil {
			return fmt.Errorf("-http: %w", err)
		}
	}
	w.mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes}))
	// Not expvar.Handler: it shows the arguments of the program, and -secret and -db may be
	// among them.
	all := radvar.Func(sources...)
	w.mux.HandleFunc("GET /debug/vars", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json; charset=utf-8")
		// Who does not read the answer to its end has no use for it.
		_, _ = fmt.Fprintf(rw, "{\n\"radpool\": %s,\n\"memstats\": %s\n}\n", all, expvar.Get("memstats"))
	})
	return nil
}
