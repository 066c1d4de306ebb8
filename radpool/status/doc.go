// Package status shows a radpool server while it works: a page for browsers, and the
// same as JSON for programs.
//
//	page, err := status.New(server, status.Options{Title: "radius1", Clients: clients})
//	defer page.Close()
//	err = http.ListenAndServe("127.0.0.1:8812", page)
//
//	radpool.Server  --- Stats, Waiting ---+
//	radpool.Clients ------- States -------+--- Page ---+--- HTML, for people
//	the back end ---------- Figures ------+      |      '--- status.json, for programs
//	                                   a sample every Interval, 15 minutes of them
//
// The page follows the way of a request: what was received and verified, the cache, the
// queue by class and age, the workers with their spare band, response times, how
// datagrams ended, the clients that ask most, memory, and what the billing system says of
// itself. It says in words what somebody should look at, gives [radpool.Stats.Advice], and
// plots the last 15 minutes, which were sampled whether somebody looked or not.
//
// # The page
//
// It is one HTML page with a style sheet and a script, all from this package: nothing is
// loaded from elsewhere, and its Content-Security-Policy allows nothing else. With JavaScript
// it renews itself every two seconds, and can be paused; without, a browser loads it again
// every ten, unless asked for with ?refresh=off. It is light or dark as the system is.
//
// # status.json
//
// Beside the page is status.json: a [Snapshot] as it is, whose fields are described
// there. Fields may be added. Counts never go back while the server runs, so that a program can
// take differences:
//
//	curl -s http://127.0.0.1:8812/status.json | jq '.received, .queue.waiting, .alerts'
//
// # healthz
//
// Also beside the page is healthz, for load balancers: 200 and "ok" while the server serves and
// Options.Health finds nothing wrong, else 503 and one word, "starting" before the server
// serves. Status-Server (RFC 5997) asks the RADIUS port itself, and no back end.
//
//	curl -f http://127.0.0.1:8812/healthz
//
// # What it tells, and to whom
//
// There is no secret, no password and no name of a subscriber on it, but the addresses and
// names of clients, so it should not be seen by everybody. It is served on a loopback address
// best, or behind a proxy that asks who is there. Only GET and HEAD do anything, and nothing
// can be changed by it. On a loopback address it is answered only to those who ask for an IP
// address, localhost, or one of Options.Hosts: see [GuardHost].
//
// # What it costs
//
// One goroutine, which New starts and [Page.Close] ends, takes a sample every Interval; 15
// minutes of them, at 5 s, are less than a megabyte. However many look, a picture is made
// once a second at most. The number of connections is for the [net/http.Server] to bound.
//
// # Limits
//
//	Interval      5 s   between samples, from 1 s to 1 min
//	HistoryTime  15 min of samples
//	MaxClients   10     clients, and NASes that wait, in the tables; with more than 10,000 clients, what is shown of them is 5 s old at most
//	MaxFigures   64     of the billing system
package status
