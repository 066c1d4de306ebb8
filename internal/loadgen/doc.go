// Package loadgen is the engine of a RADIUS load generator: it plays NASes whose subscribers log in and have sessions,
// verifies every reply, and measures what the subscribers would feel.
//
//	users, err := loadgen.Pattern("user%d", "pass%d", 1000)
//	result, err := loadgen.Run(ctx, loadgen.Config{
//		Auth: server, Acct: accounting, Secret: secret, Users: users, Workers: 128, Requests: 100_000,
//	}, nil)
//
// # How it is made
//
// A run is lanes: one a source port, each with its 256 Identifiers, its timers and its conversations, and with one
// goroutine that sends and receives in batches. A lane is a state machine that is told the time. Nothing is shared between
// lanes on the way of a request, and a request costs no allocation.
//
// A closed loop has workers, each of which asks, waits for the answer and asks again: it finds what a server can do. An
// open loop asks at a rate, as subscribers do, who know nothing of each other: it finds how a server behaves. There a
// request is as old as the time at which it was to be sent, so that what a slow server holds up counts in full.
//
// # What a reply is
//
// Every datagram from the server is an answer in time, an extra one to a request that was answered or given up before, or
// wrong. An Identifier remembers its last four requests to tell the second from the third; a reply older than
// that counts as one with a bad signature.
package loadgen
