package serving_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/examples/serving"
	"github.com/radpool/radpool/radpool"
)

func TestRun(t *testing.T) {
	o := serving.Options{Name: "test", Auth: "127.0.0.1:0", Acct: "127.0.0.1:0", Secret: "testing123", Workers: 2}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // it serves, and is told to end
	var out bytes.Buffer
	if err := serving.Run(ctx, o, billing.NewMemory(0), &out); err != nil || !strings.HasPrefix(out.String(), "test ready auth=127.0.0.1:") {
		t.Errorf("%v, printed %q", err, out.String())
	}
	for flag, wrong := range map[string]serving.Options{
		"-auth": {Auth: "nowhere", Acct: "127.0.0.1:0", Secret: "x"}, "-acct": {Auth: "127.0.0.1:0", Acct: "nowhere", Secret: "x"},
	} {
		if err := serving.Run(ctx, wrong, billing.NewMemory(0), &out); err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

func TestFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	for content, want := range map[string]string{"secret": "secret", "secret\r\nmore": "secret", " a b \n": " a b ", "\nhunter2": "", "": ""} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := serving.FirstLine(file)
		if got != want || (err == nil) != (want != "") || err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %q, %v", content, got, err)
		}
	}
	if got, err := serving.FirstLine(""); got != "" || err != nil {
		t.Errorf("no file: %q, %v", got, err)
	}
	if _, err := serving.TLS(file); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a file without certificates: %v", err)
	}
}

// The clients are those of the file, in the syntax of clients.conf, or this machine.
func TestClients(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "clients.conf")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("more.conf", "client bras {\n ipaddr = 192.0.2.0/24\n secret = s3cret\n shortname = bras1\n nas_type = cisco\n}\n")
	write("clients.conf", "$INCLUDE more.conf\n")
	parse := func(args ...string) (o serving.Options, err error) {
		o = serving.Options{Name: "test"}
		return o, serving.Parse(o.Flags(t.Output()), args)
	}
	o, err := parse("-clients", file)
	if err != nil || len(o.Clients) != 1 || o.Clients[0].Name != "bras1" || o.Clients[0].Prefix.String() != "192.0.2.0/24" || string(o.Clients[0].Secret) != "s3cret" {
		t.Errorf("%v, %+v", err, o.Clients)
	}
	if o, err := parse(); err != nil || o.Clients != nil {
		t.Errorf("%v, %+v", err, o.Clients)
	}
	write("clients.conf", "# nobody\n")
	write("bad.conf", "client a {\n ipaddr = 10.0.0.1\n secret = hunter2 hunter2\n}\n")
	for name, want := range map[string]string{"clients.conf": "there is no client in it", "bad.conf": "bad.conf:3: secret", "missing.conf": "missing.conf"} {
		if _, err := parse("-clients", filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A NAS that is in the file is answered, and no other.
func TestServedClients(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ready, stdout := io.Pipe()
	o := serving.Options{
		Name: "test", Auth: "127.0.0.1:0", Acct: "127.0.0.1:0", Secret: "testing123", Workers: 2,
		Clients: []radpool.Client{{Prefix: netip.MustParsePrefix("127.0.0.1/32"), Secret: []byte("s3cret")}},
	}
	done := make(chan error, 1)
	go func() { done <- serving.Run(ctx, o, billing.NewMemory(0), stdout) }()
	line, err := bufio.NewReader(ready).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(line, "auth=")
	addr, _, _ := strings.Cut(rest, " ")
	packet := radius.New(radius.CodeAccessRequest, []byte("s3cret"))
	if err := rfc2865.UserName_SetString(packet, "nobody"); err != nil {
		t.Fatal(err)
	}
	reply, err := radius.Exchange(t.Context(), packet, addr)
	if err != nil || reply.Code != radius.CodeAccessReject {
		t.Errorf("%v, %v", reply, err)
	}
	cancel()
	if err := <-done; err != nil && !errors.Is(err, radpool.ErrServerClosed) {
		t.Error(err)
	}
}
