package radpool

import (
	"runtime/debug"
	"time"

	"go.uber.org/zap"

	"github.com/radpool/radpool/internal/udp"
	"github.com/radpool/radpool/internal/wire"
)

// workerState is what a worker keeps between requests.
type workerState struct {
	counters  *counters
	run       run
	free      []*job // at most as many as a batch has
	live      []*job
	exchanges []*Exchange
	own       outbox
	out       *outbox   // where replies go: own, or that of the reader who runs it
	letters   letters   // memory to send replies from
	opens     time.Time // when the next batch begins, where that is known; else zero
	closed    time.Time // when the last batch was done
}

func (e *engine) workerStart(w *Worker) {
	ws := &workerState{counters: e.counters.take()}
	ws.out = &ws.own
	w.State = ws
	e.runs.add(ws)
	if hook := e.hooks.WorkerStart; hook != nil {
		defer e.hookPanicked()
		hook(w.ID)
	}
}

func (e *engine) workerStop(w *Worker) {
	ws := w.State.(*workerState)
	e.sendReplies(ws)
	e.runs.remove(ws)
	e.counters.put(ws.counters)
	if hook := e.hooks.WorkerStop; hook != nil {
		defer e.hookPanicked()
		hook(w.ID)
	}
}

// workerAlone is called when a worker is about to run handlers or to wait, and no
// other is on its way.
func (e *engine) workerAlone(w *Worker) { e.sendReplies(w.State.(*workerState)) }

// run answers the requests that a worker took from the queue together.
func (e *engine) run(w *Worker, batch []*waiting) {
	ws := w.State.(*workerState)
	if e.open(ws, batch); len(ws.live) == 0 {
		return
	}
	// Whatever happens in the Handler, even runtime.Goexit, each request is
	// ended. What was not handled then has no Code and no error: see seal.
	handled := false
	defer func() {
		ws.run.end()
		e.close(ws, handled)
	}()
	ws.run.begin(ws.live[0].received)
	handled = e.handle(ws)
}

// open leaves in ws.live those requests that are still wanted, ready to be handled.
func (e *engine) open(ws *workerState, batch []*waiting) {
	now := ws.opens
	if ws.opens = (time.Time{}); now.IsZero() {
		now = time.Now()
	}
	ws.closed = now // should nothing be left to run
	ws.live, ws.exchanges = ws.live[:0], ws.exchanges[:0]
	for _, w := range batch {
		if e.base.Err() != nil { // closed, and the pool does not know yet
			e.finishWaiting(w, Aborted, ws.counters, now)
			continue
		}
		if _, ok := e.seen(&w.origin); !ok {
			e.finishWaiting(w, Superseded, ws.counters, now)
			continue
		}
		j := e.openJob(ws, w, now)
		ws.live = append(ws.live, j)
		ws.exchanges = append(ws.exchanges, &j.exchange)
	}
}

// handle calls the Handler, and reports whether it came back.
func (e *engine) handle(ws *workerState) (handled bool) {
	defer func() {
		if v := recover(); v != nil {
			e.handlerPanicked(v, debug.Stack())
		}
	}()
	if e.batch != nil && len(ws.exchanges) > 1 {
		e.batch.HandleBatch(ws.exchanges)
		return true
	}
	x := ws.exchanges[0]
	e.handler.Handle(x.Ctx, x.Request, x.Response)
	return true
}

func (e *engine) handlerPanicked(v any, stack []byte) {
	e.panics.Add(1)
	if suppressed, ok := e.drops.allowCause(time.Now(), &e.drops.panics); ok {
		e.log.Error("the handler panicked", zap.Any("panic", v), zap.Uint64("suppressed", suppressed), zap.ByteString("stack", stack))
	}
	if hook := e.hooks.Panic; hook != nil {
		defer e.hookPanicked()
		hook(PanicInfo{Value: v, Stack: stack})
	}
}

// close ends the requests that were handled, and sends their replies, those to
// one socket together.
func (e *engine) close(ws *workerState, handled bool) {
	now := time.Now()
	ws.closed = now
	for _, j := range ws.live {
		o, err := e.seal(ws, j, handled, now)
		e.finish(ws, j, o, err, now)
	}
	if ws.out == &ws.own {
		e.post(ws)
	}
	clear(ws.live)
	clear(ws.exchanges)
}

// seal settles what the answer to j is, has the cache remember it, and puts a
// reply into ws.out.
func (e *engine) seal(ws *workerState, j *job, handled bool, now time.Time) (Outcome, error) {
	p := j.response.Packet // the Handler may have put another in its place
	switch {
	case !handled || j.response.err != nil:
		if !j.ticket.Abandon() {
			return Superseded, nil
		}
		return Failed, j.response.err
	case p == nil || p.Code == 0:
		if !j.ticket.NoReply(now) {
			return Superseded, nil
		}
		return Unanswered, nil
	}
	var o Outcome
	var err error
	ws.out.add(j.listener, udp.Message{Addr: j.remote, Local: j.local}, func(memory []byte) ([]byte, bool) {
		start := len(memory)
		if memory, err = wire.Encode(memory, p, j.datagram, &j.shape, j.client.secret); err != nil {
			j.ticket.Abandon()
			o = Failed
			return nil, false
		}
		o = e.settle(j, memory[start:], now)
		return memory, o == Replied
	})
	if o == Replied {
		ws.counters.replied(j.shape.Code, p.Code, e.sinceArrival(j, now))
	}
	return o, err
}

// sinceArrival is how long ago, at now, the request came to this host.
func (e *engine) sinceArrival(j *job, now time.Time) time.Duration {
	return now.Sub(e.epoch) - time.Duration(j.received)
}

// settle has the cache keep the reply, and says whether it is to be sent.
func (e *engine) settle(j *job, reply []byte, now time.Time) Outcome {
	switch {
	case !j.ticket.Finish(now, reply):
		return Superseded
	case e.sinceArrival(j, now) >= e.config.MaxRequestTime:
		// Too late for this one, but not in vain: the cache has it for the
		// retransmission.
		return Expired
	}
	return Replied
}

// dropped is told by the pool of a job that it will not run.
func (e *engine) dropped(w *waiting, _ Class, why Drop) {
	o := Shed
	switch why {
	case DropExpired:
		o = Expired
	case DropClosed:
		o = Aborted
	}
	e.finishWaiting(w, o, e.elsewhere, time.Now())
}

// panicked is told by the pool of a panic that came past handle: one of ours.
func (e *engine) panicked(_ *Worker, _ []*waiting, v any, stack []byte) { e.handlerPanicked(v, stack) }
