package radpool

import (
	"context"
	"slices"
)

// A Handler answers RADIUS requests.
//
// Handle reads req and fills resp. A resp whose Code is still zero when Handle
// returns means that silence is the answer: nothing is sent, and a
// retransmission of the same request stays unanswered too. To say instead "I
// could not answer, let the NAS try again", call [Response.Fail]: nothing is
// sent, and the retransmission runs the Handler anew.
//
// req, resp and everything reached through them live in the request's arena:
// they are the Handler's until it returns, and must not be kept beyond that.
// What must outlive the call is copied out ([Request.Clone], or a plain Go
// string).
//
// ctx ends MaxRequestTime after the request arrived (not after it was taken
// from the queue), and when the server is closed. It is valid only until Handle
// returns.
//
// Handle is called from many workers at once. A panic in it is recovered,
// counted and reported, and the request goes unanswered as with Fail.
type Handler interface {
	Handle(ctx context.Context, req *Request, resp *Response)
}

// A HandlerFunc is a function used as a [Handler].
type HandlerFunc func(ctx context.Context, req *Request, resp *Response)

// Handle calls f(ctx, req, resp).
func (f HandlerFunc) Handle(ctx context.Context, req *Request, resp *Response) { f(ctx, req, resp) }

// An Exchange is one request with the response to it and the context that
// bounds both. It is valid until the BatchHandler returns.
type Exchange struct {
	Ctx      context.Context
	Request  *Request
	Response *Response
}

// A BatchHandler is a [Handler] that can answer several requests at once, as a
// database does best. A worker of the [Server] takes everything that waits, up
// to Config.MaxBatch, and hands it over in one call; it never waits for
// company, so a request that is alone comes alone.
//
// The requests of a batch are of one [Class], but a handler had better not rely on
// it: who calls HandleBatch may be another. One request's failure is its own:
// HandleBatch calls Fail on that response. A panic fails the whole batch.
type BatchHandler interface {
	Handler
	HandleBatch(batch []*Exchange)

	// BatchSize is how many requests it has use for at once. 0: as many as
	// Config.MaxBatch allows. 1: it answers one after the other all the same,
	// so others should have the rest. It is asked when the Server starts.
	BatchSize() int
}

// Middleware wraps a Handler in another, to log, limit or measure it. The
// result is a plain Handler: a [BatchHandler] that is wrapped is called request
// by request, unless the wrapper implements BatchHandler as well.
type Middleware func(Handler) Handler

// Chain wraps h in each of mw. The first is the outermost, the first to see a
// request and the last to see its response.
func Chain(h Handler, mw ...Middleware) Handler {
	for _, wrap := range slices.Backward(mw) {
		h = wrap(h)
	}
	return h
}
