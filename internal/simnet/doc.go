// Package simnet is a packet network in memory, for tests of things that speak UDP.
//
// A [Network] carries datagrams between the sockets ([Conn]) opened on it, and loses, duplicates, reorders
// and delays them as its [Config] says. A Conn is a [net.PacketConn] that behaves as a UDP socket of the
// operating system does: a datagram that nobody listens for vanishes without an error, a receive buffer that
// is full drops what arrives, a buffer too short for a datagram gets its beginning, and errors are those of
// package net ([net.OpError] around [net.ErrClosed], [os.ErrDeadlineExceeded] or a [syscall.Errno]).
//
// # Time
//
// Nothing runs while nothing is sent. A datagram without a delay is in the receiver's buffer when WriteTo
// returns, delivered by the sender's own goroutine; delayed ones share one timer of package time. So a
// network works inside a bubble of [testing/synctest], where delays take no time at all, provided that it was
// made inside that bubble: a blocked read is durably blocked, and [Network.Close] leaves no timer behind.
//
// # Repeatability
//
// Every decision is drawn from a generator seeded with Config.Seed, the same number of draws for every
// datagram. Where one goroutine sends, the same seed gives the same losses, duplicates and delays, and
// a changed probability leaves the other decisions as they were. Where several send at once, the draws go to
// them in the order in which the scheduler lets them send.
package simnet
