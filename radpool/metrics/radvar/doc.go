// Package radvar gives the metrics of package metrics to expvar, for those who have no
// Prometheus.
//
//	metrics.Source, ... --- Func --- expvar.Publish --- GET /debug/vars
//
// To import it is to import expvar, which serves /debug/vars on
// http.DefaultServeMux, with the arguments of the program in it: where secrets are among those,
// serve this variable on a mux of one's own instead.
package radvar
