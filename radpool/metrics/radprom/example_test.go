package radprom_test

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/radpool/radpool/radpool"
	"github.com/radpool/radpool/radpool/metrics"
	"github.com/radpool/radpool/radpool/metrics/radprom"
)

func ExampleNew() {
	server := new(radpool.Server) // with a Handler and Clients, serving

	registry := prometheus.NewRegistry()
	registry.MustRegister(radprom.New(metrics.Server(server)))

	// mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{})), or by hand:
	families, err := registry.Gather()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range families {
		if f.GetName() == "radpool_in_flight_requests" {
			fmt.Println(f.GetName(), f.GetMetric()[0].GetGauge().GetValue())
		}
	}
	// Output: radpool_in_flight_requests 0
}
