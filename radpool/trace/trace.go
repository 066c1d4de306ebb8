package trace

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/dict"
	"github.com/radpool/radpool/radpool"
)

// Options say how a [Tracer] prints. The zero Options are as the comments say.
type Options struct {
	// Dictionary and DictionaryFile name a dictionary of one's own, in the format of
	// FreeRADIUS, on top of the embedded one. nil: none.
	Dictionary     fs.FS
	DictionaryFile string

	// Now tells the time. nil: time.Now.
	Now func() time.Time
}

// A Tracer prints requests as they are answered: [Tracer.Middleware] those that reach the
// Handler, and [Tracer.Drop], as a hook of the Server, the others.
//
// Attributes are printed by name. Instead of its value stands "<<< secret >>>" where that
// is a password, is encrypted, or helps to guess a password: User-Password, Tunnel-Password,
// CHAP-Password, what MS-CHAP and EAP exchange, MPPE keys, Message-Authenticator, and all
// whose name says password, secret or key. Of texts such as those of Cisco-AVPair what follows "password=" or the
// like is hidden. A Vendor-Specific that cannot be read is not printed, as nobody knows
// what it is. What is in no dictionary is printed in hexadecimal.
//
// A Tracer may be used by several goroutines at once.
type Tracer struct {
	words *dict.Dictionary
	now   func() time.Time
	count atomic.Uint64

	mu sync.Mutex // held while w is written to
	w  io.Writer
}

// New returns a Tracer that writes to w, from one goroutine at a time. What w fails with is
// nobody's concern: the request goes on. The error is that of a dictionary that cannot be
// read.
func New(w io.Writer, o Options) (*Tracer, error) {
	t := &Tracer{w: w, words: dict.Default(), now: o.Now}
	if t.now == nil {
		t.now = time.Now
	}
	if o.Dictionary != nil {
		words, err := dict.Load(o.Dictionary, o.DictionaryFile)
		if err != nil {
			return nil, fmt.Errorf("trace: %w", err)
		}
		t.words = words
	}
	return t, nil
}

// Middleware wraps h in one that prints. A [radpool.BatchHandler] stays one. It is best
// the outermost, so that it sees what is sent. It implements [radpool.Middleware].
func (t *Tracer) Middleware(h radpool.Handler) radpool.Handler {
	if b, ok := h.(radpool.BatchHandler); ok {
		return &batchTraced{traced{t, b}, b}
	}
	return &traced{t, h}
}

type traced struct {
	tracer *Tracer
	next   radpool.Handler
}

// Handle prints what next does.
func (h *traced) Handle(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
	p := h.tracer.begin(req)
	defer func() { p.end(req, resp) }() // also of one that panics
	h.next.Handle(ctx, req, resp)
	p.handled = true
}

type batchTraced struct {
	traced
	batch radpool.BatchHandler
}

// HandleBatch prints what the batch handler does, one request after the other.
func (h *batchTraced) HandleBatch(batch []*radpool.Exchange) {
	pages := make([]*page, len(batch))
	for i, x := range batch {
		pages[i] = h.tracer.begin(x.Request)
		pages[i].batch = len(batch)
	}
	handled := false
	defer func() {
		for i, x := range batch {
			pages[i].handled = handled
			pages[i].end(x.Request, x.Response)
		}
	}()
	h.batch.HandleBatch(batch)
	handled = true
}

// BatchSize is that of the Handler.
func (h *batchTraced) BatchSize() int { return h.batch.BatchSize() }

// Drop prints a datagram that ends without an answer. It is for Hooks.Drop. Those that
// the Handler could not answer are printed with their requests.
func (t *Tracer) Drop(d radpool.DropInfo) {
	var b []byte
	b = append(appendTime(b, t.now()), ' ')
	if d.Code == 0 {
		b = append(b, "A datagram"...)
	} else {
		b = fmt.Appendf(b, "%v Id %d", d.Code, d.Identifier)
	}
	b = fmt.Appendf(b, " from %v", d.RemoteAddr)
	b = appendClient(b, d.Client)
	b = fmt.Appendf(b, " is dropped: %v", d.Outcome)
	if d.Detail != "" {
		b = fmt.Appendf(b, ", %s", oneLine(d.Detail))
	}
	if d.Err != nil {
		b = fmt.Appendf(b, ", %s", oneLine(d.Err.Error()))
	}
	t.write(append(b, '\n'))
}

func appendTime(b []byte, at time.Time) []byte {
	return at.AppendFormat(b, "2006-01-02T15:04:05.000Z07:00")
}

func (t *Tracer) write(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = t.w.Write(b) // see New
}

// A page is what is printed of one request.
type page struct {
	tracer  *Tracer
	prefix  string
	text    []byte
	began   time.Time
	batch   int
	handled bool // the Handler came back
}

// begin takes down the request, before the Handler can change it.
func (t *Tracer) begin(req *radpool.Request) *page {
	p := &page{tracer: t, prefix: fmt.Sprintf("(%d) ", t.count.Add(1)-1), began: t.now()}
	p.text = append(appendTime(append(p.text, p.prefix...), p.began), ' ')
	p.text = fmt.Appendf(p.text, "%v Id %d from %v to %v", req.Code, req.Identifier, req.RemoteAddr, req.LocalAddr)
	p.text = append(appendClient(p.text, req.Client), '\n')
	p.attributes(req.Attributes)
	if given, err := req.UserPassword(nil); err == nil && !printable(given) {
		p.line("the User-Password is no text: is the secret that of the client?")
	}
	return p
}

// end adds how it ended, and writes it all.
func (p *page) end(req *radpool.Request, resp *radpool.Response) {
	if p.batch > 1 {
		p.line(fmt.Sprintf("answered in a batch of %d", p.batch))
	}
	why := resp.Reason()
	if !p.handled {
		why = "the Handler panicked"
	}
	if why != "" {
		p.line(oneLine(why))
	}
	after := p.tracer.now().Sub(p.began).Round(time.Microsecond)
	switch {
	case !p.handled || resp.Err() != nil:
		if err := resp.Err(); err != nil {
			p.line("failed: " + oneLine(err.Error()))
		}
		p.line(fmt.Sprintf("no answer after %v: the NAS may ask again", after))
	case resp.Packet == nil || resp.Code == 0:
		p.line(fmt.Sprintf("no answer after %v", after))
	default:
		p.line(fmt.Sprintf("%v Id %d to %v after %v", resp.Code, req.Identifier, req.RemoteAddr, after))
		p.attributes(resp.Attributes)
	}
	p.tracer.write(p.text)
}

func (p *page) line(s string) {
	p.text = append(append(append(p.text, p.prefix...), s...), '\n')
}

func (p *page) attributes(attrs radius.Attributes) {
	for _, avp := range attrs {
		if avp == nil {
			continue
		}
		for ref, value := range p.tracer.words.All(avp) {
			p.line("  " + describe(ref, value))
		}
	}
}

func appendClient(b []byte, c *radpool.Client) []byte {
	if c == nil || c.Name == "" {
		return b
	}
	return fmt.Appendf(b, " (%s)", oneLine(c.Name))
}
