//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/zap"
	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/radclient"
)

// process is a filebackend that runs.
type process struct {
	cmd        *exec.Cmd
	auth, acct netip.AddrPort
}

// start runs one on free ports until it is ready.
func start(t *testing.T, o *options) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0], "-auth", "127.0.0.1:0", "-acct", "127.0.0.1:0", "-users", o.users, "-records", o.records)}
	p.cmd.Env = append(os.Environ(), asFilebackend+"=1")
	p.cmd.Stderr = t.Output()
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	fields := strings.Fields(line) // filebackend ready auth=ADDRESS acct=ADDRESS
	if err != nil || len(fields) != 4 {
		t.Fatalf("it says %q, %v", line, err)
	}
	p.auth = netip.MustParseAddrPort(strings.TrimPrefix(fields[2], "auth="))
	p.acct = netip.MustParseAddrPort(strings.TrimPrefix(fields[3], "acct="))
	return p
}

func newClient(t *testing.T, server netip.AddrPort) *radclient.Client {
	t.Helper()
	c, err := radclient.New(radclient.Config{Servers: []radclient.Server{{Addr: server, Secret: []byte("testing123")}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Every record that was acknowledged is there after kill -9 at a moment that nobody chose.
func TestKillLosesNothingAcknowledged(t *testing.T) {
	dir := t.TempDir()
	o := &options{users: filepath.Join(dir, "users.csv"), records: filepath.Join(dir, "records")}
	writeUsers(t, o.users, "name,password\nalice,wonderland\n")
	acked := make(map[string]billing.StatusType) // by Acct-Session-Id, the last
	for round := range 4 {
		load(t, start(t, o), round, acked)
		checkAcknowledged(t, o, acked)
	}
}

// load sends sessions from several NASes, and kills the server when some hundreds of records are
// acknowledged.
func load(t *testing.T, p *process, round int, acked map[string]billing.StatusType) {
	t.Helper()
	client := newClient(t, p.acct)
	ctx, killed := context.WithCancel(t.Context())
	defer killed()
	var (
		mu   sync.Mutex
		left = 300 + 70*round
		nas  sync.WaitGroup
	)
	for i := range 16 {
		nas.Go(func() {
			for s := 0; ; s++ {
				session := fmt.Sprintf("%d-%d-%d", round, i, s)
				for _, status := range []billing.StatusType{billing.Start, billing.InterimUpdate, billing.Stop} {
					if _, err := client.Do(ctx, accounting(session, status)); err != nil {
						return
					}
					mu.Lock()
					acked[session] = status
					if left--; left == 0 {
						_ = p.cmd.Process.Signal(syscall.SIGKILL)
						killed()
					}
					mu.Unlock()
				}
			}
		})
	}
	nas.Wait()
	if err := p.cmd.Wait(); p.cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("it ended before it was killed: %v", err)
	}
}

func accounting(session string, status billing.StatusType) *radius.Packet {
	p := radclient.NewRequest(radius.CodeAccountingRequest)
	p.Add(rfc2865.UserName_Type, radius.Attribute("alice"))
	p.Add(rfc2866.AcctSessionID_Type, radius.Attribute(session))
	p.Add(rfc2866.AcctStatusType_Type, radius.NewInteger(uint32(status)))
	p.Add(rfc2866.AcctInputOctets_Type, radius.NewInteger(octetsAt[status]))
	return p
}

// octetsAt is what a session has used when this record of it is sent.
var octetsAt = map[billing.StatusType]uint32{billing.InterimUpdate: 1000, billing.Stop: 2000}

func checkAcknowledged(t *testing.T, o *options, acked map[string]billing.StatusType) {
	t.Helper()
	b, _, err := open(o, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, s := range b.sessions() {
		last := acked[s.SessionID]
		if s.InputOctets < uint64(octetsAt[last]) || last == billing.Stop && s.Stop.IsZero() || seen[s.SessionID] {
			t.Errorf("%v was acknowledged, and there is %+v", last, s)
		}
		seen[s.SessionID] = true
	}
	for session := range acked {
		if !seen[session] {
			t.Errorf("session %s was acknowledged and is lost", session)
		}
	}
}
