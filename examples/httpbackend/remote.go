package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds of what is exchanged.
const (
	maxBatch    = 256      // requests or records in one POST
	maxAnswer   = 8 << 20  // octets of a response
	maxHeader   = 64 << 10 // of its header
	maxTold     = 200      // octets of the remote's own words in an error
	maxError    = 512      // octets of an error
	defaultWait = time.Second
	maxWait     = time.Minute
)

// A remote is a billing system behind HTTP. Its methods are safe for concurrent use.
type remote struct {
	client        *http.Client
	base          string // without / at the end
	token         string // empty: none
	timeout       time.Duration
	sendPasswords bool

	mu   sync.Mutex
	busy time.Time // guarded by mu; until when the remote wants to be left alone
}

// errBusy is that the remote has asked for a pause which is not over.
var errBusy = errors.New("the remote has asked for a pause")

// newRemote returns a remote that has at most conns connections, which stay open.
func newRemote(o *options) *remote {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = o.TLS
	transport.MaxConnsPerHost, transport.MaxIdleConnsPerHost, transport.MaxIdleConns = o.Conns, o.Conns, o.Conns
	transport.Proxy = nil // passwords go nowhere else
	transport.DisableCompression = true
	transport.MaxResponseHeaderBytes = maxHeader
	return &remote{
		client: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		base: strings.TrimSuffix(o.url, "/"), token: o.token, timeout: o.Timeout, sendPasswords: o.sendPasswords,
	}
}

func (r *remote) close() { r.client.CloseIdleConnections() }

// post sends in to a path and reads the response into out. Every status but 200 is an
// error.
func (r *remote) post(ctx context.Context, path string, in, out any) (err error) {
	defer func() { err = bounded(err) }()
	if err := r.mayAsk(time.Now()); err != nil {
		return err
	}
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	// With it, net/http sends again what went out on a connection that the remote was
	// just closing.
	sum := sha256.Sum256(body)
	req.Header.Set("Idempotency-Key", hex.EncodeToString(sum[:16]))
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	res, err := r.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusServiceUnavailable:
		r.pause(time.Now(), res.Header.Get("Retry-After"))
		return fmt.Errorf("POST %s: %s", path, status(res.StatusCode))
	case res.StatusCode != http.StatusOK:
		return fmt.Errorf("POST %s: %s, must be 200 OK", path, status(res.StatusCode))
	case err != nil:
		return fmt.Errorf("POST %s: %w", path, err)
	case len(answer) > maxAnswer:
		return fmt.Errorf("POST %s: more than %d octets", path, maxAnswer)
	}
	if err := decode(answer, out); err != nil {
		return fmt.Errorf("POST %s: the response is not as docs/http-backend.md says: %w", path, err)
	}
	return nil
}

// status is a status in words that are ours: those of the response may be of any length.
func status(code int) string {
	return strings.TrimSpace(strconv.Itoa(code) + " " + http.StatusText(code))
}

// decode is strict: a name that is not known may be "expires" with a letter wrong, and
// to overlook it would let somebody in.
func decode(b []byte, out any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(out); err != nil {
		// What the JSON library says of a wrong type names the field, and not its value.
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is something behind the JSON")
	}
	return nil
}

// mayAsk is an error while the remote wants to be left alone.
func (r *remote) mayAsk(now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Before(r.busy) {
		return fmt.Errorf("%w: %v are left", errBusy, r.busy.Sub(now).Round(time.Millisecond))
	}
	return nil
}

// pause leaves the remote alone for as long as it says: seconds, or a date.
func (r *remote) pause(now time.Time, retryAfter string) {
	wait := defaultWait
	if seconds, err := strconv.ParseUint(strings.TrimSpace(retryAfter), 10, 32); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if date, err := http.ParseTime(retryAfter); err == nil {
		wait = date.Sub(now)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if until := now.Add(min(max(wait, 0), maxWait)); until.After(r.busy) {
		r.busy = until
	}
}

// A boundedError is an error whose text is cut: what a response has where something else
// belongs stands in the errors of the libraries, of whatever length.
type boundedError struct{ error }

func (e boundedError) Error() string {
	return strings.ToValidUTF8(e.error.Error()[:maxError], "") + "..."
}

func (e boundedError) Unwrap() error { return e.error }

func bounded(err error) error {
	if err == nil || len(err.Error()) <= maxError {
		return err
	}
	return boundedError{err}
}

// told is what the remote says of an error, bounded.
func told(s string) string {
	if len(s) > maxTold {
		s = s[:maxTold] + "..."
	}
	return strconv.Quote(s)
}
