package main

import (
	"bufio"
	"context"
	"io"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/radpool/radpool/internal/need"
)

// What an operator does first: start it, and ask with radclient.
func TestRadclient(t *testing.T) {
	radclient := need.Command(t, "radclient", "apt-get install freeradius-utils")
	s := startSlapd(t, person("a", "alice", ssha("wonderland"), "radiusFramedIPAddress: 10.0.0.7\n"))
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, s.options(t), w, zap.NewNop()) }()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(line) // ldapbackend ready auth=... acct=...
	auth, acct := strings.TrimPrefix(fields[2], "auth="), strings.TrimPrefix(fields[3], "acct=")
	ask := func(addr, kind, attributes string) string {
		cmd := exec.CommandContext(t.Context(), radclient, "-x", "-t", "5", addr, kind, "testing123")
		cmd.Stdin = strings.NewReader(attributes)
		out, _ := cmd.CombinedOutput() // an Access-Reject is an exit status
		return string(out)
	}
	for attributes, want := range map[string]string{
		"User-Name=alice,User-Password=wonderland": "Framed-IP-Address = 10.0.0.7",
		"User-Name=alice,User-Password=wrong":      "Access-Reject",
	} {
		if out := ask(auth, "auth", attributes); !strings.Contains(out, want) {
			t.Errorf("%s: no %s in\n%s", attributes, want, out)
		}
	}
	if out := ask(acct, "acct", "User-Name=alice,Acct-Session-Id=1,Acct-Status-Type=Start,NAS-IP-Address=127.0.0.1"); !strings.Contains(out, "Accounting-Response") {
		t.Errorf("Start:\n%s", out)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
