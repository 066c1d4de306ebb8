package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/radpool/radpool/internal/need"
)

// ask has radclient send one request, and returns what it prints.
func ask(t *testing.T, addr, kind string, attributes ...string) string {
	t.Helper()
	radclient := need.Command(t, "radclient", "apt-get install freeradius-utils")
	cmd := exec.CommandContext(t.Context(), radclient, "-x", "-t", "5", "-r", "2", addr, kind, "testing123")
	cmd.Stdin = strings.NewReader(strings.Join(attributes, "\n"))
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "Received Access-Reject") {
		t.Fatalf("radclient: %v\n%s", err, out)
	}
	return string(out)
}

// What an operator does first: ask with radclient, and look into the database.
func TestRadclient(t *testing.T) {
	file := filepath.Join(t.TempDir(), "radpool.db")
	b := start(t, "-db", "sqlite:"+file)

	for name, password := range map[string]string{
		"PAP": `User-Password = "pass1"`, "CHAP": `CHAP-Password = "pass1"`, "MS-CHAP": `MS-CHAP-Password = "pass1"`,
	} {
		out := ask(t, b.auth, "auth", `User-Name = "user1"`, password)
		for _, want := range []string{"Received Access-Accept", `Reply-Message = "hello"`, "Session-Timeout = 3600", "Framed-IP-Address = 10.0.0.2"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %s in\n%s", name, want, out)
			}
		}
	}
	for user, password := range map[string]string{"user1": "wrong", "nobody": "pass1"} {
		out := ask(t, b.auth, "auth", `User-Name = "`+user+`"`, `User-Password = "`+password+`"`)
		if !strings.Contains(out, "Received Access-Reject") || !strings.Contains(out, "Reply-Message = ") {
			t.Errorf("%s/%s: want an Access-Reject with a Reply-Message:\n%s", user, password, out)
		}
	}

	session := []string{`User-Name = "user1"`, `Acct-Session-Id = "s1"`, `NAS-IP-Address = 127.0.0.1`, `Framed-IP-Address = 10.0.0.1`}
	records := [][]string{
		append(slices.Clone(session), "Acct-Status-Type = Start"),
		append(slices.Clone(session), "Acct-Status-Type = Interim-Update", "Acct-Session-Time = 60", "Acct-Input-Octets = 1000", "Acct-Output-Octets = 2000"),
		append(slices.Clone(session), "Acct-Status-Type = Stop", "Acct-Session-Time = 120", "Acct-Input-Octets = 4294967295", "Acct-Input-Gigawords = 1", "Acct-Output-Octets = 4000", "Acct-Terminate-Cause = User-Request"),
		{"Acct-Status-Type = Accounting-On", "NAS-IP-Address = 127.0.0.1"},
	}
	for _, r := range records {
		if out := ask(t, b.acct, "acct", r...); !strings.Contains(out, "Received Accounting-Response") {
			t.Errorf("%v: no Accounting-Response:\n%s", r, out)
		}
	}
	if status := b.end(syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d\n%s", status, b.log)
	}

	db := openDB(t, file)
	var rows []struct {
		User    string `db:"username"`
		Input   int64  `db:"acctinputoctets"`
		Output  int64  `db:"acctoutputoctets"`
		Time    int64  `db:"acctsessiontime"`
		Stopped bool   `db:"stopped"`
		Cause   string `db:"acctterminatecause"`
		Address string `db:"framedipaddress"`
	}
	if err := db.Select(&rows, `SELECT username, acctinputoctets, acctoutputoctets, acctsessiontime, acctstoptime IS NOT NULL AS stopped,
		acctterminatecause, framedipaddress FROM radacct`); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1 {
		t.Fatalf("radacct has %d rows, want the one session: %+v", len(rows), rows)
	}
	if r := rows[0]; r.User != "user1" || r.Input != 8589934591 || r.Output != 4000 || r.Time != 120 || !r.Stopped || r.Cause != "User-Request" || r.Address != "10.0.0.1" {
		t.Errorf("radacct has %+v", r)
	}
	var rejects int
	if err := db.Get(&rejects, `SELECT COUNT(*) FROM radpostauth WHERE reply = 'Access-Reject' AND reason IN ('wrong-password', 'unknown-user')`); err != nil || rejects != 2 {
		t.Errorf("radpostauth has %d rejects with their reasons, want 2 (%v)", rejects, err)
	}
	var leaked int
	if err := db.Get(&leaked, `SELECT COUNT(*) FROM radpostauth WHERE pass IN ('pass1', 'wrong')`); err != nil || leaked != 0 {
		t.Errorf("radpostauth has %d passwords (%v)", leaked, err)
	}
	for _, secret := range []string{"pass1", "testing123"} {
		if strings.Contains(b.log.String(), secret) {
			t.Errorf("%q is in the log:\n%s", secret, b.log)
		}
	}
}
