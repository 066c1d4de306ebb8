package main

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// SIGHUP 100 times while a NAS asks: each of its requests is answered, the client that
// came is served, the one that went is not; a wrong file changes nothing and is told. The
// NAS is a client by its name, in capitals so that it is looked up. Guests have the addresses 127.0.1.1
// and up, which Linux has without more ado.
func TestReload(t *testing.T) {
	file := filepath.Join(t.TempDir(), "radiusd.conf")
	text := func(guest, servers int) string {
		return fmt.Sprintf("thread pool {\n max_servers = %d\n max_spare_servers = 4\n}\n"+
			"client nas { ipaddr = LOCALHOST\n secret = testing123 }\nclient guest { ipaddr = 127.0.1.%d\n secret = testing123 }\n", servers, guest)
	}
	writeConf(t, file, text(1, 8))
	b := start(t, "-db", "memory:10", "-conf", file)
	stop, done := make(chan struct{}), make(chan int)
	n := dial(t, b.auth)
	go func() {
		answered := 0
		defer func() { done <- answered }()
		for id := byte(0); ; id++ {
			select {
			case <-stop:
				return
			default:
			}
			n.send(accessRequest(id, "user1", "pass1"))
			if n.receive(10*time.Second) == nil {
				t.Error("a request was lost")
				return
			}
			answered++
		}
	}()
	const rounds = 100
	for i := 2; i < rounds+2; i++ {
		writeConf(t, file, text(i, 8+i%8))
		if err := b.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		b.waitFor("read the configuration again", i-1)
	}
	guest := func(i int) *nas {
		d := net.Dialer{LocalAddr: &net.UDPAddr{IP: net.IPv4(127, 0, 1, byte(i))}}
		conn, err := d.DialContext(t.Context(), "udp", b.auth)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return &nas{t, conn}
	}
	gone, came := guest(rounds), guest(rounds+1)
	gone.send(accessRequest(1, "user1", "pass1"))
	check := func() {
		t.Helper()
		came.send(accessRequest(byte(time.Now().UnixNano()), "user1", "pass1"))
		if came.receive(10*time.Second) == nil {
			t.Error("the client that came is not served")
		}
	}
	check()
	writeConf(t, file, text(1, 99999)+"client x { ipaddr = 10.0.0.1\n secret = hunter2 hunter2 }")
	if err := b.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	b.waitFor("the configuration stays as it was", 1)
	check()
	close(stop)
	if answered := <-done; answered == 0 {
		t.Error("the NAS asked nothing")
	}
	if status := b.end(syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d", status)
	}
	log := b.log.String()
	if !strings.Contains(log, `"unknown-client": 1`) || strings.Contains(log, "hunter2") || !strings.Contains(log, file+":10: secret has more text") {
		t.Errorf("the one that went was not refused, or the error is not told well:\n%s", log[max(0, len(log)-1500):])
	}
	if gone.receive(time.Millisecond) != nil {
		t.Error("the client that went is served")
	}
}
