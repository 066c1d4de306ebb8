// Package eap is the server's side of EAP, the Extensible Authentication Protocol (RFC
// 3748), as it is carried in RADIUS (RFC 3579): packets, conversations and methods,
// without a socket, a clock or a goroutine.
//
//	peer               NAS                          server
//	 |  EAP-Response/   |                             |
//	 |  Identity        | Access-Request              | Begin
//	 |----------------->|---------------------------->|   the first Method: Start
//	 |  EAP-Request/M   | Access-Challenge, State     |
//	 |<-----------------|<----------------------------| Table.Put
//	 |  EAP-Response/M  | Access-Request, State       |
//	 |----------------->|---------------------------->| Table.Take
//	 |       ...        |          ...                | Conversation.Receive: Respond,
//	 |                  |                             |   Verify with Credentials
//	 |  EAP-Success     | Access-Accept, keys         |
//	 |<-----------------|<----------------------------|
//
// A [Conversation] is one of these; it offers the [Method]s of its [Config], and lets
// the peer choose among them (NAK). A [Table] keeps conversations between two
// packets: bounded in number and time, under a State that cannot be guessed.
//
// The methods here are [MD5] and [MSCHAPv2]. Both are weak where others listen: who
// hears a conversation can try passwords against it. What makes them safe is a TLS
// tunnel around them, and that (EAP-TLS, PEAP, EAP-TTLS) is not in this package. A
// Method has what they need: as many rounds and fragments as it takes, the MTU, keys,
// credentials as they come out of a tunnel, and Close.
//
// Package billing serves all this in its Processor; so a billing system need not know
// of EAP.
package eap
