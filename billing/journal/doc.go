// Package journal stands before a billing back end and sees to it that a database
// that is away costs as little as can be: accounting is kept in a local file and
// acknowledged, and stored when the database is back.
//
//	backend, err := sqlbilling.Open(ctx, dsn, sqlbilling.Options{})
//	...
//	j, err := journal.Open(ctx, "/var/lib/radpool/journal.db", backend, journal.Options{})
//	...
//	processor := &billing.Processor{Handler: j.Handler()}
//
//	accounting ──► is it there? ──► back end ──────────► acknowledged
//	                    └── no ───► file, synced ──────► acknowledged
//	                                     └── when it is back: replayed to the back end, gone here
//
// The back end is any [billing.Handler]. This package compiles SQLite, for the file;
// package billing does not.
//
// # When the back end is away
//
// An error is a sign of it, unless it is about what was asked for
// (billing.ErrSubscriber, billing.ErrRecord); to take longer than Options.Timeout is
// an error. After three calls in a row without an answer the back end is not asked
// any more, so that requests do not each wait for a timeout, but for one call every
// Options.ProbeInterval: the first that is answered ends it. For Access-Requests and
// for accounting this is found out separately, since a database may do the one and
// not the other.
//
//	                      there                          away
//	Access-Request        asks the back end              no answer, or the last good Grant
//	accounting            is stored there                is written to the journal
//	accounting, journal   waits behind what is           is written to the journal
//	has older records     there of the session
//
// # The journal
//
// A record is acknowledged when it is stored in the file and synced; all that wait at
// a time are synced at once. So it survives a crash, kill -9 and a power failure. When
// the file cannot be written, since the disk is full or MaxRecords is reached, there
// is no answer: the NAS sends the record again. One line a second in the log says so.
//
// The journal replays in the background, oldest first, in batches of up to MaxBatch
// and not faster than ReplayRate. Records of one session are stored in the order in
// which they came, also in a back end in which they do not commute: a newer one waits
// behind them, and Accounting-On and Off wait behind everything of their NAS and
// everything behind them. A record leaves the file when the back end has stored it; a
// crash between the two makes it come twice, which is harmless, since storing is
// idempotent (see billing.Handler).
//
// What comes from the journal has all fields of the billing.AccountingRecord. Its
// Request has the attributes, the addresses and the time, but no secret, and of the
// Client the name and the prefix.
//
// # Records that no back end takes
//
// A record that is refused while others are stored would be in the way for ever. It
// is parked: kept in the file beside the queue, with the reason, counted and logged.
// One that the back end refuses as billing.ErrRecord when it comes is parked at once
// and acknowledged, since it is durable and sending it again would not help; one in the
// journal after Options.Tries attempts. [Journal.Parked] shows what is there, and
// [Journal.RetryParked] tries it again. A record that cannot be read, since the disk
// has damaged it or a newer version wrote it, is parked as well.
//
// # The last good Grant
//
// With Options.GrantAge an Access-Request is answered with the last Grant that let the
// subscriber in, if it is not older and if the request comes from the same place: the
// NAS, Calling-Station-Id and the like must be the same, and without a password
// everything but what is new in each packet. The Processor verifies the password, the
// Calling-Station-Id and Expires as ever. A subscriber for whom the back end's last answer
// was none that lets in gets no answer. What the Grant says of open sessions is of
// then: for the time of the absence simultaneous use is not bounded exactly.
package journal
