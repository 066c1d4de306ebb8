package billing

import (
	"context"
	"errors"
)

// A Handler is what a billing system implements: it knows subscribers, and it
// keeps their accounting. [Processor] turns one into a radpool.Handler.
//
// Its methods are called from many workers at once, and must return soon after
// ctx is done: at MaxRequestTime, or when the server is closed. Their arguments
// belong to the caller, and are valid only until the method returns.
type Handler interface {
	// Authorize looks the subscriber up and says what is granted, and what the
	// password is; it does not check the password, the Processor does. A
	// subscriber who is not known or may not log in is a Grant with a
	// [Reason], not an error. One whose money, volume or quota is used up is
	// ReasonNoMoney (with a Message of its own for a quota), which lets in with
	// Grant.Restricted where that is set.
	//
	// An error means that the question could not be answered. The NAS then gets
	// no answer and asks again, or asks another server (Processor.OnError can
	// make it a reject): an error is never an Access-Accept. One that is
	// ErrSubscriber (errors.Is) is always a reject.
	Authorize(ctx context.Context, req *AccessRequest) (Grant, error)

	// Account stores the record, and returns nil only when it is durable: only
	// then is the Accounting-Response sent. After an error there is no
	// response, and the NAS sends the record again. One that comes from the record
	// itself should be ErrRecord (errors.Is), so that it is told from a database
	// that is away.
	//
	// Records come more than once and in any order, so storing must be
	// idempotent and commute: any order of Start, Interim-Update and Stop, each
	// any number of times, ends in one and the same state.
	//
	// A session may have no Start, which was lost or comes last: whichever record of a
	// UniqueID comes first makes the session, as one that began at rec.Time less
	// rec.SessionTime and has used what the record says. If that is a Stop, it is a
	// whole session that has ended, to be billed as any other, and the Start that comes
	// after it does not open it again. A Stop may be lost as well: then the session is
	// open until its NAS restarts, or until the back end gives it up for want of
	// Interim-Updates.
	//
	// What is to be kept for that is, of each UniqueID, the earliest beginning, the
	// greatest SessionTime and octets, and of its Stops one; of a NAS, when
	// AccountingOn and AccountingOff were. Of what else is kept, such as Class, records may
	// differ, or lack it: one value stays, by a rule in which the order of arrival has no
	// part. Single records need not be kept. An open session is kept as long as it is
	// open; one that has ended, and the restarts of a NAS, for as long as records may
	// come late: the queues of NASes and relays reach back hours, after an outage days. A
	// record that comes later still makes the session anew, and must not make it
	// billed again: what was billed of a UniqueID is kept with the bills.
	//
	// AccountingOn and AccountingOff end, at rec.Time, every session of
	// rec.NASAddr that began before it, also one whose records come later, and
	// no other; their UserName and SessionID may be empty. For a status that the
	// Handler has no use for the answer is nil: without one the NAS would send
	// it for ever.
	Account(ctx context.Context, rec *AccountingRecord) error
}

// ErrSubscriber marks an error of Authorize that comes from what is stored of one
// subscriber, such as a row that cannot be understood. Another server would fail
// as well, and a NAS that got no answer would take this one for dead, which is
// everybody's loss: so the request is rejected, whatever Processor.OnError says.
var ErrSubscriber = errors.New("billing: what is stored of the subscriber cannot be used")

// ErrRecord marks an error of Account that comes from the record itself, such as a
// value that its column does not take: the same record would fail again, and others
// do not. There is no answer, as with any other error; package journal, which keeps
// records while a database is away, puts such a one aside.
var ErrRecord = errors.New("billing: the accounting record cannot be stored")

// A BatchHandler is a [Handler] that answers several requests in one round trip
// to its database. It receives what a worker took as one batch (see
// radpool.BatchHandler): nothing waits for company.
//
// One request's failure is its own: the i-th error belongs to the i-th request.
type BatchHandler interface {
	Handler

	// AuthorizeBatch is Authorize for each of reqs. It sets either grants[i] or
	// errs[i] for each i.
	AuthorizeBatch(ctx context.Context, reqs []*AccessRequest, grants []Grant, errs []error)

	// AccountBatch is Account for each of recs, and sets errs[i] for each that
	// is not durable.
	AccountBatch(ctx context.Context, recs []*AccountingRecord, errs []error)
}

// A PostAuther is a [Handler] that wants to hear how each authentication ended,
// as FreeRADIUS's post-auth section does, for radpostauth or a log.
type PostAuther interface {
	// PostAuth is called after the reply is decided and before it is sent. It
	// must not block, and a record that it cannot keep it drops and counts:
	// the answer does not depend on it.
	PostAuth(res *AuthResult)
}
