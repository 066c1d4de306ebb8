// Package radprom gives the metrics of package metrics to Prometheus.
//
//	registry.MustRegister(radprom.New(metrics.Server(server), processor.Metrics()))
//	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
//
//	metrics.Source, ... --- New --- registry --- promhttp --- GET /metrics of Prometheus
//
// A dashboard for Grafana is in examples/grafana.
package radprom
