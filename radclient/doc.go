// Package radclient asks RADIUS servers: the side of the NAS, and that of a billing system which changes or ends
// sessions (CoA and Disconnect, RFC 5176).
//
//	c, err := radclient.New(radclient.Config{Servers: []radclient.Server{first, second}})
//	p := radclient.NewRequest(radius.CodeAccessRequest)
//	rfc2865.UserName_SetString(p, "alice")
//	rfc2865.UserPassword_SetString(p, "wonderland")
//	reply, err := c.Do(ctx, p) // reply.Code: Access-Accept, Access-Reject or Access-Challenge
//
// It has a package of its own, with the name that every operator knows a RADIUS client by: radpool.Client is what the server
// calls a NAS, and who only asks need not compile a server. Requests are packets of layeh.com/radius, so that its
// attribute helpers work.
//
// # The way of a request
//
//	Do -> server of the group that is alive -> Identifier that has rested -> signed -> socket
//	          ^                                                                          |
//	          |  no reply after Failover.Tries copies, or the server is dead             v
//	          '------------------------ wait (RFC 5080), send again <---------------- no reply
//	                                                                                     |  reply
//	Do returns <- the first that verifies <- code, Message-Authenticator, authenticators <'
//
// A copy to the same server is the same octets under the same Identifier from the same port, so that the server knows it for
// a retransmission (RFC 5080 section 2.2.1). Another server gets another Identifier, Request Authenticator and
// User-Password, under its own secret.
//
// Identifiers are those of a pool of sockets: 256 for each server and socket, and sockets are opened as they are needed. One is
// not used again while its request is under way, nor for a while after (Config.IdentifierRest); a request for which there is
// none waits.
//
// A reply that does not verify changes nothing but a counter, and the request goes on waiting for the right one. So a forger
// can neither answer nor end a request. Replies to Access-Requests must carry a Message-Authenticator unless
// [Server].Protection says otherwise (CVE-2024-3596, BlastRADIUS); servers patched since July 2024 send it.
//
// # Several servers
//
// The first of Config.Servers that is alive is asked. A server is dead after Failover.DeadAfter waits in a row that ended without
// one reply from it to anything. A dead one is asked by Status-Server (RFC 5997) until it has answered several times, or tried again
// after a while where it is not known to answer those. While all are dead each gets its turn.
//
// Authentication and accounting have different ports: make a Client for each.
//
// # Accounting
//
// [AccountingQueue] sends records until they are acknowledged, however long that takes, with Acct-Delay-Time up to date.
//
// # CoA and Disconnect
//
// [Client.Disconnect] ends a session and [Client.ChangeAuthorization] changes one, at the NAS that it is on: each NAS stands in Config.Others.
// [Session] and [Profile] say which session is meant. A NAS that refuses is a [*NAKError]. One that is silent may be behind a
// filter, have another port or another secret, or not let this host ask. That the session is over, its accounting Stop says.
// The NAS's side is radpool.Server, with radpool.CoA.
//
// # Limits
//
// The zero [Config] means:
//
//	MaxInFlight           4,096     requests; one more is ErrTooManyRequests
//	MaxSockets               64     so 16,384 Identifiers for each server
//	IdentifierRest            2 s   0.2 s after a request whose only copy was answered
//	Retransmission                  IRT 2 s, MRT 16 s, MRC 5 copies, MRD 30 s: those of RFC 5080, each wait a tenth more or less
//	Failover                        2 copies to a server, dead after 3 waits, probed each 30 s, alive after 3 answers
//
// and the zero [AccountingConfig] 65,536 records, 256 of them under way, for 24 hours.
//
// # Memory
//
// [Client.Exchange] allocates nothing for a [Reply] that is used again, nor does it keep anything of the request when it
// has returned.
package radclient
