package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"

	"github.com/radpool/radpool/radclient"
	"github.com/radpool/radpool/radpool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// billing lets user1 in, and keeps the records.
type billing struct {
	mu      sync.Mutex
	records []string
}

func (b *billing) Handle(_ context.Context, req *radpool.Request, resp *radpool.Response) {
	switch {
	case req.Code == radius.CodeAccountingRequest:
		b.mu.Lock()
		defer b.mu.Unlock()
		b.records = append(b.records, fmt.Sprint(rfc2866.AcctStatusType_Get(req.Packet), " ", rfc2866.AcctTerminateCause_Get(req.Packet)))
		resp.Code = radius.CodeAccountingResponse
	case rfc2865.UserPassword_GetString(req.Packet) == "pass1":
		resp.Code = radius.CodeAccessAccept
	default:
		resp.Code = radius.CodeAccessReject
		resp.AddString(rfc2865.ReplyMessage_Type, "no")
	}
}

func serve(t *testing.T, h radpool.Handler) string {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	clients, err := radpool.NewClients(radpool.Client{Prefix: netip.MustParsePrefix("127.0.0.0/8"), Secret: []byte("testing123")})
	if err != nil {
		t.Fatal(err)
	}
	server := &radpool.Server{Handler: h, Clients: clients}
	var wg sync.WaitGroup
	wg.Go(func() { _ = server.Serve(pc) }) // says nothing but that it was closed
	t.Cleanup(func() {
		_ = server.Close()
		wg.Wait()
	})
	return pc.LocalAddr().String()
}

// The billing system ends the session, and gets its Stop.
func TestDisconnect(t *testing.T) {
	b := &billing{}
	addr := serve(t, b)
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(t.Context(), options{auth: addr, acct: addr, coa: "127.0.0.1:0", secret: "testing123", user: "user1", password: "pass1"}, w)
		w.Close()
		ended <- err
	}()
	var lines []string
	for s := bufio.NewScanner(r); s.Scan(); {
		lines = append(lines, s.Text())
		id, coa, ok := strings.Cut(strings.TrimPrefix(s.Text(), "session "), " CoA at ")
		if !ok {
			continue
		}
		nas := netip.MustParseAddrPort(coa)
		c, err := radclient.New(radclient.Config{Others: []radclient.Server{{Addr: nas, Secret: []byte("testing123")}}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		err = c.Disconnect(t.Context(), nas, 0, radclient.Session{SessionID: "another"})
		if nak, ok := errors.AsType[*radclient.NAKError](err); !ok || !nak.NotFound() {
			t.Errorf("a session that is not there: %v", err)
		}
		err = c.ChangeAuthorization(t.Context(), nas, 0, radclient.Session{SessionID: id}, nil)
		if nak, ok := errors.AsType[*radclient.NAKError](err); !ok || nak.Cause != 405 {
			t.Errorf("a change: %v", err)
		}
		if err := c.Disconnect(t.Context(), nas, radclient.MikroTik, radclient.Session{SessionID: id, UserName: "user1"}); err != nil {
			t.Error(err)
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if len(lines) != 4 || lines[0] != "Access-Accept " || !strings.HasSuffix(lines[2], "has ended: Admin-Reset") ||
		lines[3] != "2 records acknowledged, 0 lost" {
		t.Errorf("printed %q", lines)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	// Start and Stop are under way at the same time, if the session is that short.
	if got := strings.Join(b.records, ", "); !strings.Contains(got, "Start 0") && !strings.Contains(got, "Start AcctTerminateCause(0)") ||
		!strings.Contains(got, "Stop Admin-Reset") || len(b.records) != 2 {
		t.Errorf("records: %s", got)
	}
}

func TestReject(t *testing.T) {
	addr := serve(t, &billing{})
	var out strings.Builder
	if err := run(t.Context(), options{auth: addr, acct: addr, coa: "127.0.0.1:0", secret: "testing123", user: "user1", password: "wrong"}, &out); err != nil {
		t.Error(err)
	}
	if out.String() != "Access-Reject no\n" {
		t.Errorf("printed %q", out.String())
	}
}
