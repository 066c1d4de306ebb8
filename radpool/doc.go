// Package radpool answers RADIUS requests (RFC 2865, RFC 2866) with a pool of
// workers: a [Server] in the manner of package net/http's, whose limits have the
// names and the meaning that FreeRADIUS gives them, for those who write billing
// systems, tools for NASes and BRASes, and tests of both.
//
//	clients, err := radpool.NewClients(radpool.Client{Prefix: nas, Secret: secret})
//	server := &radpool.Server{Handler: handler, Clients: clients}
//	err = server.ListenAndServe() // until server.Shutdown(ctx)
//
// # The way of a request
//
//	socket <---------------------------------------------------.
//	  |  a batch of datagrams                                  |  a batch of replies
//	  v                                                        |
//	shape, client, authenticators -- not right --> dropped     |
//	  |  verified                                              |
//	  v                                                        |
//	seen before? -- in progress --> dropped                    |
//	  |         '-- answered --> the same octets again --------+
//	  |  new                                                   |
//	  v                                                        |
//	Queue: classes, deadlines -- full, or too late --> dropped |
//	  |  still wanted                                          |
//	  v                                                        |
//	Pool: a worker --> Handler --> signed, remembered ---------'
//
// One goroutine a socket reads. What needs no worker never reaches the queue:
// what is malformed, unknown or forged, a retransmission, a Status-Server. Nothing
// of a datagram is believed, and nothing but a counter changes, before its
// authenticators are verified; so a forgery cannot disturb a request in progress
// (RFC 5080 section 2.2.2).
//
// A retransmission is recognised by client address and port, code, Identifier and
// Request Authenticator. While the request is in progress it is dropped, for the
// reply will come; for CleanupDelay after the reply it is answered with the same
// octets, also where the request was for accounting; the Handler never runs for
// it twice at the same time. A new request under the same Identifier means that
// the NAS has given up the old one: that one does not run any more, and if it runs
// already its reply is not sent.
//
// Each datagram ends in exactly one [Outcome]. [Stats] counts them, [Hooks].Drop
// is told of those that were not answered, and the log gets at most one line a
// second for each.
//
// # When more comes than can be answered
//
// What decides then is which requests are run, and which are not:
//
//   - A request of which its NAS has sent no copy for longer than that NAS waits is not
//     run: nobody wants the answer (Client.Patience, which is learned where it is not
//     said). A copy of a request that waits proves that it is wanted.
//   - Conversations that have begun go before Access-Requests that begin one, those before
//     accounting, and that before Interim-Updates; each [Class] gets a turn now and then.
//   - The NASes of a class, by their addresses, take turns: one that floods or
//     loops waits behind itself, and is the one that gives way when the queue is full.
//     [Server.Waiting] and [Clients.States] say who it is.
//   - While a class is lastingly late its newest requests run first, and the oldest
//     expire ([Order]): the delay is for some and not for all, and nothing is left of it
//     when the storm is over.
//
// # Handlers
//
// A [Handler] fills the [Response] to a [Request]. It has three ways to end:
//
//	resp.Code = radius.CodeAccessAccept   this is the answer, a retransmission gets it again
//	resp.Code stays 0                     silence is the answer, also to a retransmission
//	resp.Fail(err)                        no answer, the retransmission may try again
//
// Requests and responses carry packets of layeh.com/radius, so that its attribute
// helpers work, and [FromRadius] runs handlers written for it. A [BatchHandler]
// takes at once what waits, as a database likes it. [Chain] puts [Middleware]
// around a Handler.
//
// # CoA and Disconnect
//
// A NAS is asked to change or end a session (RFC 5176) on a port of its own, 3799, which [Server.ServeServices] serves with
// [CoA]. The Handler gets a CoA-Request or Disconnect-Request as any other, and says [Response.ACK] or [Response.NAK].
// One whose Event-Timestamp is not of now is dropped ([Stale]). Package radclient sends them.
//
// # Who owns what
//
// A request has memory of its own, an arena, in which its attributes lie and its
// reply is built; it is the Handler's until Handle returns and then the next
// request's. What is to live longer is copied out: [Request.Clone], or a plain Go
// string. Under the race detector, or with the build tag radpooldebug, memory that
// was given back is overwritten, and what was kept is found out at its next use.
//
// # From beginning to end
//
// The fields of a Server are set before its first use. Serve and ListenAndServe
// return [ErrServerClosed] when [Server.Shutdown] is done, which reads what has arrived
// and no more, answers what waits and runs, and closes the sockets, or when [Server.Close] is, which
// drops what waits and cancels what runs. After either no goroutine is left. A
// Server is not used again.
//
// [Clients] can be replaced while the server runs.
//
// # Limits
//
// Everything has a bound, and meeting it is a counted drop, never growth or
// silence. The zero [Config] means:
//
//	MaxRequestTime          9 s   from arrival to reply; the Handler's context ends then
//	Patience                5 s   from the last copy of a request on, until a client's own is learned
//	CleanupDelay           10 s   for which a reply is kept
//	MaxRequests     2,097,152     requests in progress and replies kept; the oldest reply makes room
//	MaxQueueSize    1,048,576     requests that wait; the least urgent of who has most waiting makes room
//	MaxServers            128     workers, 8 to 32 of them spare
//	MaxBatch               64     requests that a BatchHandler is given at once
//	MaxAttributes         200     of a request
//	EventTimestampWindow  300 s   that an Event-Timestamp of a CoA-Request or Disconnect-Request may be off
//	ReceiveBuffer       4 MiB     of each socket; what the system then drops is in Stats.SocketDrops
//	MaxClients      1,048,576     prefixes
//
// Memory follows use: queue and table cost next to nothing while they are empty.
//
// # Without RADIUS
//
// The parts are for other work too: [Queue] is a bounded queue with classes and
// deadlines, [Policy] decides how many workers there should be ([Spare], [Adaptive], [Fixed])
// as a pure function, and [Pool] runs any jobs on that many.
package radpool
