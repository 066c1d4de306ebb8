// Package billing turns a billing system into a RADIUS server.
//
// A billing system implements [Handler]: Authorize says what a subscriber is
// granted and what the password is, Account stores an accounting record and
// returns when it is durable. [Processor] makes a radpool.Handler of it:
//
//	          Access-Request                        Accounting-Request
//	                |                                       |
//	name, method, credentials, NAS            session, octets, times, UniqueID
//	                |                                       |
//	Handler.Authorize -> Grant                       Handler.Account
//	                |                                       |
//	1 password      (PAP, CHAP, MS-CHAP, EAP)        nil: durable
//	2 Reason        (blocked, ...)                          |
//	3 Calling-Station-Id                          Accounting-Response
//	4 Expires       -> Session-Timeout
//	5 money         -> Restricted
//	6 simultaneous use, with a reservation
//	7 an address of Grant.Pool -> AddressPooler
//	                |
//	Access-Accept or Access-Reject -> PostAuther
//
// An error of either method is no answer at all: the NAS asks again, or asks
// another server. A [BatchHandler] receives what a worker took from the queue at
// once, and can answer it in one round trip to its database.
//
// # Sessions
//
// What Account stores must not depend on the order of records, nor on how often each
// comes, nor on whether the first of them was a Start. A row for each UniqueID does that, if
// each record changes it in this way:
//
//	began   the least of     Time - SessionTime
//	used    the greatest of  SessionTime, octets, packets: they are totals
//	ended   the least of     Time of a Stop; else the first Accounting-On or Off of the NAS after began
//
// See [Handler] for what is kept how long; package billingtest checks it.
//
// Usage of a month, for a quota, is the sum over such rows, and what a row adds must not depend
// on the order of records either. A session may cross midnight of the 1st, and its
// totals do not say how much was used before. The simple rule is that all of it belongs to the
// month in which it began, in one fixed time zone: sqlbilling/ledger does so. When began
// moves back into the month before, because an older record came late, the octets move with it. To
// split a session, keep its greatest total of each month by the Time of the record,
// and count for a month that less the greatest total of the months before: this is right to one
// Interim-Update, and commutes, too. NASes that end sessions at midnight, or a Session-Timeout that
// ends then, make it matter little.
//
// # Other parts
//
// EAP takes several Access-Requests, of which the back end sees one: see [Processor]
// and [EAPConfig]. The methods are those of package eap, and others of one's own.
//
// An [AddressPooler] leases addresses: it is asked for those who are let in and
// whose Grant names a Pool, and the reply gets the Framed-IP-Address.
//
// [Password] holds a password in the form in which it is stored: in cleartext, as
// an NT hash, or as one of the hashes that FreeRADIUS's rlm_pap knows. Which
// methods a form can answer:
//
//	                             PAP   CHAP, EAP-MD5   MS-CHAP, MS-CHAPv2, EAP-MSCHAPv2
//	Cleartext-Password           yes   yes             yes
//	NT-Password                  yes   no              yes
//	every other form             yes   no              no
//
// [Memory] is a billing system without a database, to start from; [Memory.All] tells who
// is online. The package
// sqlbilling beside this one is one on SQL, and journal keeps accounting while a
// database is away.
package billing
