package main

import (
	"net"
	"testing"

	"github.com/radpool/radpool/radpool"
)

// The line that tells that billingd is ready names each address of each service once.
func TestReadyNamesAllSockets(t *testing.T) {
	open := func() net.PacketConn {
		conn, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	a, b, c, d := open(), open(), open(), open()
	at := func(conn net.PacketConn) string { return conn.LocalAddr().String() }
	all := sockets{{a, radpool.Auth}, {a, radpool.Auth}, {b, radpool.Auth | radpool.Acct}, {c, radpool.Acct}}
	want := "billingd ready auth=" + at(a) + "," + at(b) + " acct=" + at(b) + "," + at(c) + " db=memory:1"
	if got := all.ready("memory:1"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := append(all, socket{d, radpool.Status}).ready("memory:1"); got != want+" status="+at(d) {
		t.Errorf("got %s", got)
	}
	if got := (sockets{{a, radpool.Auth}}).ready("memory:1"); got != "billingd ready auth="+at(a)+" acct=none db=memory:1" {
		t.Errorf("got %s", got)
	}
}
