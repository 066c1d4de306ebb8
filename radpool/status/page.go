package status

import (
	"errors"
	"net/http"
	"sync"
	"time"
)

// A Page is the [net/http.Handler] of a status page. New makes it; Close must end
// it. It is safe for concurrent use.
type Page struct {
	source  Source
	options Options
	routes  map[string]http.HandlerFunc

	stop    chan struct{}
	end     sync.Once
	stopped sync.WaitGroup

	health health

	mu      sync.Mutex
	history history // guarded by mu
	shown   *shown  // guarded by mu: the last answers, for as long as they are fresh
	clients clients // guarded by mu
}

// New returns a page that shows source, and begins to take samples of it: one
// goroutine does that until Close.
func New(source Source, o Options) (*Page, error) {
	if source == nil {
		return nil, errors.New("status: there is no Source to show")
	}
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Page{
		source: source, options: o, stop: make(chan struct{}),
		history: newHistory(int(HistoryTime/o.Interval) + 1), health: health{busy: make(chan struct{}, 1)},
	}
	p.routes = p.makeRoutes()
	p.sample()
	p.stopped.Go(p.collect)
	return p, nil
}

// Close ends the taking of samples. The page can still be asked for, and shows the
// source as it is then and the samples that there are. To call it again is harmless.
func (p *Page) Close() {
	p.end.Do(func() { close(p.stop) })
	p.stopped.Wait()
}

func (p *Page) collect() {
	t := time.NewTicker(p.options.Interval)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			p.sample()
		case <-p.stop:
			return
		}
	}
}

func (p *Page) sample() {
	s := sample{time.Now(), p.source.Stats()}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.history.add(s)
}
