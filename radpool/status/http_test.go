package status_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/radpool/radpool/radpool/status"
)

func TestPaths(t *testing.T) {
	p := newPage(t, serving(), status.Options{})
	for path, want := range map[string]string{
		"/": "text/html; charset=utf-8", "/status.json": "application/json", "/status.css": "text/css; charset=utf-8",
		"/status.js": "text/javascript; charset=utf-8",
	} {
		w := ask(p, path)
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != want || w.Body.Len() == 0 {
			t.Errorf("%s: %d, %s, %d octets; want 200, %s", path, w.Code, w.Header().Get("Content-Type"), w.Body.Len(), want)
		}
		if csp := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none';") || strings.Contains(csp, "unsafe") || strings.Contains(csp, "http") {
			t.Errorf("%s: Content-Security-Policy %q lets in more than the page's own", path, csp)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin", "Access-Control-Allow-Origin": "",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
	}
	for _, path := range []string{"/status", "/x", "/status.json/", "/../status.css", "/page.html"} {
		if w := ask(p, path); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d, want 404", path, w.Code)
		}
	}
	under := http.StripPrefix("/radius", p)
	for _, path := range []string{"/radius/", "/radius/status.json"} {
		if w := ask(under, path); w.Code != http.StatusOK {
			t.Errorf("%s: %d, want 200", path, w.Code)
		}
	}
}

func TestOnlyGetAndHead(t *testing.T) {
	p := newPage(t, serving(), status.Options{})
	for method, want := range map[string]int{
		http.MethodGet: 200, http.MethodHead: 200, http.MethodPost: 405, http.MethodPut: 405, http.MethodDelete: 405, http.MethodOptions: 405, "BREW": 405,
	} {
		r := httptest.NewRequest(method, "/", nil)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s: %d, want %d", method, w.Code, want)
		}
		if method == http.MethodHead && (w.Body.Len() > 0 || w.Header().Get("Content-Length") == "0") {
			t.Errorf("HEAD: %d octets, Content-Length %s", w.Body.Len(), w.Header().Get("Content-Length"))
		}
		if allow := w.Header().Get("Allow"); (want == 405) != (allow == "GET, HEAD") {
			t.Errorf("%s: Allow %q", method, allow)
		}
	}
}

// A name that was resolved to a loopback address is not that of this host, whatever a
// web site says.
func TestHosts(t *testing.T) {
	p := newPage(t, serving(), status.Options{Hosts: []string{"Radius1.isp.example"}})
	guarded := status.GuardHost(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }), "radius1.isp.example")
	loopback := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8812}
	outside := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 8812}
	for _, tc := range []struct {
		local net.Addr
		host  string
		want  int
	}{
		{loopback, "127.0.0.1:8812", 200},
		{loopback, "127.0.0.1", 200},
		{loopback, "[::1]:8812", 200},
		{loopback, "[::1]", 200},
		{loopback, "localhost:8812", 200},
		{loopback, "LocalHost", 200},
		{loopback, "radius1.isp.example", 200},
		{loopback, "RADIUS1.isp.example:80", 200},
		{loopback, "evil.example:8812", 421},
		{loopback, "localhost.evil.example:8812", 421},
		{loopback, "127.0.0.1.evil.example", 421},
		{loopback, "", 421},
		{nil, "evil.example", 421}, // who serves it does not say where
		{&net.TCPAddr{IP: net.IPv6loopback}, "evil.example", 421},
		{outside, "radius.example:8812", 200},
		{&net.UnixAddr{Name: "/run/radius"}, "radius.example", 200},
	} {
		for name, h := range map[string]http.Handler{"the page": p, "what is guarded": guarded} {
			r := httptest.NewRequest(http.MethodGet, "/status.json", nil)
			r.Host = tc.host
			if tc.local != nil {
				r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, tc.local))
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != tc.want {
				t.Errorf("%s on %v, asked for as %q: %d, want %d", name, tc.local, tc.host, w.Code, tc.want)
			}
		}
	}
}

func TestErrorsOfNew(t *testing.T) {
	if _, err := status.New(nil, status.Options{}); err == nil {
		t.Error("without a Source: no error")
	}
	for interval, want := range map[time.Duration]string{
		-time.Second:            "status: Interval -1s: must be from 1s to 1m0s",
		999 * time.Millisecond:  "status: Interval 999ms: must be from 1s to 1m0s",
		time.Minute + time.Hour: "status: Interval 1h1m0s: must be from 1s to 1m0s",
	} {
		if _, err := status.New(serving(), status.Options{Interval: interval}); err == nil || err.Error() != want {
			t.Errorf("%v: %v, want %s", interval, err, want)
		}
	}
}
