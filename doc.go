// Package radpool is the root of a module of packages for pooled RADIUS request
// processing, made to be imported: into the tools of an ISP's NAS and BRAS, under
// a billing system, or into the unit tests of a handler. It has no code of its
// own; these packages have, each usable without those above it:
//
//   - [github.com/radpool/radpool/arena]: the memory of one request
//   - [github.com/radpool/radpool/cache]: duplicate detection and retained
//     replies (RFC 5080 section 2.2.2)
//   - [github.com/radpool/radpool/eap]: EAP conversations and methods (RFC 3748), as
//     a state machine
//   - [github.com/radpool/radpool/radpool]: a bounded queue, a policy for spare
//     workers, a pool, and the server that composes them
//   - [github.com/radpool/radpool/radclient]: a client, for NASes and for
//     what billing systems ask of them
//   - [github.com/radpool/radpool/billing]: what a billing system implements, and
//     the Processor that turns it into a RADIUS handler
//   - [github.com/radpool/radpool/billing/sqlbilling]: a billing system on the
//     standard FreeRADIUS SQL schema, and, in ledger below it, one on radpool's own
//   - [github.com/radpool/radpool/billing/journal]: keeps accounting while a
//     database is away
//   - [github.com/radpool/radpool/billing/middleware]: a cache of Grants, a limit for
//     each subscriber, a circuit breaker, tracing
//   - [github.com/radpool/radpool/billing/coa]: changes and ends sessions in progress
//   - [github.com/radpool/radpool/billing/attrs] and
//     [github.com/radpool/radpool/billing/rating]: attributes by name, and what a
//     session costs
//   - [github.com/radpool/radpool/billing/billingtest]: tests of handlers and
//     back ends without a socket
//   - [github.com/radpool/radpool/radpool/status],
//     [github.com/radpool/radpool/radpool/metrics],
//     [github.com/radpool/radpool/radpool/trace] and
//     [github.com/radpool/radpool/radpool/record]: what to look at: a page, figures for
//     Prometheus, requests as radiusd -X prints them, and golden packets of them
//
// # How they compose
//
//	socket -> shape, client, authenticators -> cache -> queue -> worker -> Handler
//	socket <----------- reply <- cache <- signed <------------------------'
//
// A billing server is a back end, a Processor and a Server:
//
//	backend, err := sqlbilling.Open(ctx, "sqlite:radpool.db", sqlbilling.Options{})
//	clients, err := radpool.NewClients(radpool.Client{Prefix: nas, Secret: secret})
//	server := &radpool.Server{Handler: &billing.Processor{Handler: backend}, Clients: clients}
//	err = server.ListenAndServe()
//
// Every datagram that a server receives ends in exactly one counter, every
// queue and table has a bound, and an Accounting-Response is sent only for what
// is durable.
package radpool
