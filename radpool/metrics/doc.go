// Package metrics names the statistics of radpool's parts, for monitoring systems: each
// metric with what it means, its unit and its labels, in the convention of Prometheus. It
// depends on no monitoring system. How the metrics leave the program is another
// package's:
//
//	radpool.Server  --- metrics.Server ---+
//	billing.Processor -- its Metrics -----+--- radprom (Prometheus), radvar (expvar)
//	your back end ------ metrics.New -----+
//
// # Names
//
// A name begins with radpool_. Times are in seconds, memory is in bytes; what only
// grows ends in _total. The labels have fixed sets of values: their number does
// not grow with clients, subscribers or time. What single clients do is shown by
// [radpool.Clients.States] and [radpool.Server.Waiting].
package metrics
