package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/radpool"
	"github.com/radpool/radpool/radpool/status"
)

// Limits of the HTTP side: it is for a few who look, and must not be in the way of RADIUS.
const (
	maxHTTPConns  = 64
	maxHTTPHeader = 16 << 10 // octets
	httpTime      = 10 * time.Second
)

// httpAddr is where -http listens: a port alone is one of this host alone, and other
// addresses must be said.
func httpAddr(flag string) (string, error) {
	addr := flag
	if !strings.Contains(addr, ":") {
		addr = net.JoinHostPort("127.0.0.1", addr)
	}
	_, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return "", fmt.Errorf("-http %.64q: want ADDRESS:PORT, or a PORT of 127.0.0.1", flag)
	}
	return addr, nil
}

// web is the HTTP side: the status page.
type web struct {
	listener net.Listener
	mux      *http.ServeMux
	server   *http.Server
	page     *status.Page
	conns    atomic.Int64
	log      *zap.Logger
}

// listenHTTP opens the listener of -http, unless there is one already, or returns nil where
// there is none to be.
func listenHTTP(o *options, l net.Listener, log *zap.Logger) (*web, error) {
	if l == nil {
		if o.http == "" {
			return nil, nil
		}
		var err error
		if l, err = net.Listen("tcp", o.http); err != nil {
			return nil, fmt.Errorf("-http %s: %w", o.http, err)
		}
	}
	if a, ok := l.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() {
		log.Warn("the status page can be seen by everybody who reaches this address", zap.Stringer("http", a))
	}
	w := &web{listener: l, mux: http.NewServeMux(), log: log}
	w.server = &http.Server{
		Handler: status.GuardHost(w.mux), ReadTimeout: httpTime, WriteTimeout: httpTime, IdleTimeout: time.Minute,
		MaxHeaderBytes: maxHTTPHeader, ConnState: w.connState, ErrorLog: zap.NewStdLog(log.Named("http")),
	}
	return w, nil
}

// connState closes connections beyond maxHTTPConns.
func (w *web) connState(c net.Conn, s http.ConnState) {
	switch s {
	case http.StateNew:
		if w.conns.Add(1) > maxHTTPConns {
			_ = c.Close() // nobody has been told anything on it
		}
	case http.StateClosed, http.StateHijacked:
		w.conns.Add(-1)
	}
}

// serve serves what there is to see of a server.
func (w *web) serve(source status.Source, o status.Options) error {
	if w == nil {
		return nil
	}
	page, err := status.New(source, o)
	if err != nil {
		return errors.Join(err, w.listener.Close())
	}
	w.page = page
	w.mux.Handle("/", page)
	go func() {
		if err := w.server.Serve(w.listener); !errors.Is(err, http.ErrServerClosed) {
			w.log.Error("the status page is no longer served", zap.Error(err))
		}
	}()
	return nil
}

// shownOf is what the page shows of billingd. What -db says of a database may be more
// than everybody on this machine is to know, so its kind stands there alone. After ctx
// the server is about to end.
func shownOf(ctx context.Context, o *options, clients *radpool.Clients, processor *billing.Processor, b *backend) status.Options {
	kind, _, _ := strings.Cut(o.db, ":")
	return status.Options{
		Title: "billingd, " + kind, Clients: clients,
		Health: func(asked context.Context) string {
			switch {
			case ctx.Err() != nil:
				return "stopping"
			case b.ping != nil && b.ping(asked) != nil:
				return "database"
			}
			return ""
		},
		Figures: func() []status.Figure { return append(decisions(processor.Stats()), b.shown()...) },
	}
}

// ready is what the line that says so has of it: with the port that the system chose
// where the flag left it open.
func (w *web) ready() string {
	if w == nil {
		return ""
	}
	return " http=" + w.listener.Addr().String()
}

// close ends it. Who looks gets an answer yet, unless that takes long.
func (w *web) close() {
	if w == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if w.server.Shutdown(ctx) != nil {
		_ = w.server.Close() // nothing of it is of use any more
	}
	_ = w.listener.Close() // where it was not served yet
	if w.page != nil {
		w.page.Close()
	}
}
