package status

import (
	"context"
	"io"
	"net/http"
	"time"
)

// HealthTime is how long Options.Health may take. The word for a longer one is "slow".
const HealthTime = 3 * time.Second

// health is what was last found out.
type health struct {
	busy chan struct{} // a place for who finds it out: others wait, and get the same answer
	at   time.Time
	word string // what is wrong; empty: nothing
}

// serveHealth answers a load balancer.
func (p *Page) serveHealth(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	word := p.unwell()
	if word == "" {
		_, _ = io.WriteString(w, "ok\n") // who asked has gone
		return
	}
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(w, word+"\n")
}

// unwell is a word for what is wrong, or empty.
func (p *Page) unwell() string {
	if p.source.Stats().Started.IsZero() {
		return "starting"
	}
	if p.options.Health == nil {
		return ""
	}
	h := &p.health
	h.busy <- struct{}{}
	defer func() { <-h.busy }()
	if now := time.Now(); h.at.IsZero() || now.Sub(h.at) >= freshTime {
		// Not the context of who asks: the answer is for others as well.
		ctx, cancel := context.WithTimeout(context.Background(), HealthTime)
		defer cancel()
		h.word = p.options.Health(ctx)
		if h.word == "" && ctx.Err() != nil {
			h.word = "slow"
		}
		h.at = time.Now()
	}
	return h.word
}
