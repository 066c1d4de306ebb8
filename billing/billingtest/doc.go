// Package billingtest is for unit tests of RADIUS handlers and of billing back
// ends, as net/http/httptest is for those of HTTP: no socket, no other process,
// no waiting.
//
//	Request ──► octets ──► verified, decoded ──► Processor ──► Recorder ──► back end
//	Reply   ◄── verified as a NAS does ◄── octets ◄──┘             └─► records, for the test to look at
//
// # A request in, a reply out
//
// A [Request] is what a NAS sends, in a line: [PAP], [CHAP], [MSCHAP], [MSCHAPv2],
// [MAC], [AccessRequest] without credentials; [Start], [Interim], [Stop], [On],
// [Off]; then chained methods for all else that may stand in it.
//
//	req := billingtest.PAP("alice", "wonderland").CallingStation("02-00-5E-10-00-00")
//	reply := billingtest.Run(t, handler, req)
//	if !reply.Accepted() { ... }
//
// [Run] (for tests), and [Do] (for all else), take it the way that a
// radpool.Server takes: encoded to octets, its shape judged, its authenticators
// verified, decoded into an arena that is released when the handler has returned;
// and the reply is encoded, signed, and verified as a NAS does, with the
// subscriber's check of MS-CHAP2-Success. So a test sees what production sees, and
// a handler that keeps memory that is not its own finds it overwritten. Requests
// depend on their contents and seed alone, and so are the same octets in every run.
//
// An [EAPPeer] is a supplicant: [EAPMD5], [EAPMSCHAPv2]. [RunEAP] goes through its whole
// conversation, [EAPPeer.Next] makes one request of it after the other.
//
// A [Reply] tells silence that was chosen from failure. A [Recorder] stands
// between a billing.Processor and a back end, and keeps what was asked: the records
// that came out of the packets.
//
// # A server on a network in memory
//
// [Serve] starts a radpool.Server on a [Network] that loses, duplicates, delays and
// reorders as it is told, and returns a [Client]: a NAS that retransmits and matches
// replies. It all works inside a bubble of testing/synctest, where time passes at
// once.
//
// # Does a back end keep the rules?
//
// [TestHandler] runs a suite against a billing.Handler, as testing/fstest and
// testing/slogtest do for theirs. Its author writes a [Factory] and a test of one
// line:
//
//	func TestConformance(t *testing.T) { billingtest.TestHandler(t, newBackend) }
//
// Each check is a subtest with a name, and each failure says which rule is broken
// and which method is to blame. Rules that need a look behind the Handler are
// checked where the [Backend] allows it. Without Sessions 14 of 23 checks are
// skipped (15 where it is no BatchHandler); supply Sessions and Reopen. With both, each check that stores sessions
// also ends with a crash, and what Sessions showed before must be the same after it.
// [Check] is the same without package testing. The checks, with what they hold a
// back end to:
//
//   - unknown-user: ReasonUnknownUser and no error
//   - known-user: who knows the password is let in through a billing.Processor, with
//     every method that the form of the stored password allows, and nobody else
//   - stable-grant: a Grant does not change when others are asked about
//   - strange-users: quotes, SQL, patterns, NUL, other encodings and 253 octets are
//     just data in names
//   - cancelled-authorize, cancelled-account, batch-cancelled: after the end of the
//     context there is soon a right answer or an error: never a rejection or an
//     acknowledgement that is none
//   - stalled: the same while what is behind the back end hangs
//   - sessions: a session has what its records say, and only they
//   - repeated, any-order: records are idempotent and commute, also Starts and Stops
//     that disagree on the time, and records that disagree on the Class
//   - octets: 64 bits, exactly
//   - strange-records: records with such names are stored
//   - other-status: records of other kinds (Tunnel-Start, Failed) are acknowledged,
//     or the NAS would send them for ever, and make no session
//   - nas-restart: Accounting-On and Accounting-Off close the sessions of the NAS,
//     also those whose Start or Interim-Update comes later
//   - durable: what was acknowledged is there after a crash (of the process: that an
//     fsync is missing cannot be seen from here)
//   - arguments: they are not changed
//   - memory: they are not kept
//   - batch-authorize, batch-account: a batch gives the answers that its requests
//     have one by one
//   - batch-repeated: one session may be in a batch several times
//   - batch-one-bad: one request's failure is its own
//   - concurrent: each of many calls at once has its own answer (run the test with
//     the race detector)
package billingtest
