package status

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"net/http"
	"time"
)

var (
	//go:embed status.css
	css []byte
	//go:embed status.js
	script []byte
)

// policy lets the page have what it brings along itself, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// makeRoutes returns what answers at which path.
func (p *Page) makeRoutes() map[string]http.HandlerFunc {
	fixed := func(b []byte) func(*http.Request) ([]byte, error) {
		return func(*http.Request) ([]byte, error) { return b, nil }
	}
	page := serveOctets("text/html; charset=utf-8", func(r *http.Request) ([]byte, error) {
		return p.html(r.URL.Query().Get("refresh") != "off")
	})
	return map[string]http.HandlerFunc{
		"": page, "/": page,
		"/status.json": serveOctets("application/json", func(*http.Request) ([]byte, error) { return p.json() }),
		"/status.css":  serveOctets("text/css; charset=utf-8", fixed(css)),
		"/status.js":   serveOctets("text/javascript; charset=utf-8", fixed(script)),
		"/healthz":     p.serveHealth,
	}
}

// serveOctets answers with the octets of now, of that type.
func serveOctets(contentType string, body func(*http.Request) ([]byte, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		b, err := body(r)
		if err != nil {
			http.Error(w, "status: "+err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", contentType)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
	}
}

// ServeHTTP answers GET and HEAD for the page itself, its style sheet and script,
// status.json and healthz. Links are relative, so with [http.StripPrefix] it can stand at any path
// that ends with a slash.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	serve := p.routes[r.URL.Path]
	switch {
	case !mayAsk(r, p.options.Hosts):
		misdirected(w)
	case serve == nil:
		http.NotFound(w, r)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "status: only GET and HEAD", http.StatusMethodNotAllowed)
	default:
		serve(w, r)
	}
}

// freshTime is for how long an answer is given again, so that many who look cost the
// server no more than one does.
const freshTime = time.Second

// shown is what was made of one snapshot.
type shown struct {
	snapshot *Snapshot
	json     []byte
	html     map[bool][]byte // by whether a browser without JavaScript loads it again
}

func (p *Page) json() ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.showLocked(time.Now())
	if s.json == nil {
		b, err := json.MarshalIndent(s.snapshot, "", " ")
		if err != nil {
			return nil, err
		}
		s.json = append(b, '\n')
	}
	return s.json, nil
}

func (p *Page) html(again bool) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.showLocked(time.Now())
	if s.html[again] == nil {
		b, err := render(s.snapshot, p.history.points(p.perMinute()), again)
		if err != nil {
			return nil, err
		}
		s.html[again] = b
	}
	return s.html[again], nil
}

// Snapshot returns what the page shows now. It is at most a second old, and shared: it
// must not be changed.
func (p *Page) Snapshot() *Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.showLocked(time.Now()).snapshot
}

func (p *Page) showLocked(now time.Time) *shown {
	if p.shown == nil || now.Sub(p.shown.snapshot.Time) >= freshTime {
		p.shown = &shown{snapshot: p.takeLocked(now), html: make(map[bool][]byte)}
	}
	return p.shown
}

// perMinute is how many samples there are in a minute.
func (p *Page) perMinute() int { return max(1, int(time.Minute/p.options.Interval)) }
