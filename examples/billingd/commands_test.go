package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/radpool/radpool/billing/sqlbilling"
)

// demoDB is a database with ten demo users.
func demoDB(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "radpool.db")
	db, err := sqlbilling.Open(t.Context(), "sqlite:"+file, sqlbilling.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.EnsureDemo(t.Context(), 10); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

// runCommand runs billingd with args, and returns what it printed.
func runCommand(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, log strings.Builder
	status = run(t.Context(), args, &out, &log)
	return status, out.String(), log.String()
}

func TestCheckCommand(t *testing.T) {
	file := demoDB(t)
	status, out, log := runCommand(t, "check", "-db", "sqlite:"+file)
	if want := "sqlite:" + file + ": 0 to fix, 0 for information\n"; status != 0 || out != want || log != "" {
		t.Errorf("status %d, %q, %q; want 0 and %q", status, out, log, want)
	}
	db := openDB(t, file)
	db.MustExec("DROP TABLE nasreload")
	status, out, log = runCommand(t, "check", "-db", "sqlite:"+file)
	if want := "sqlite:" + file + ": 0 to fix, 1 for information\n"; status != 0 || !strings.HasSuffix(out, want) || log != "" {
		t.Errorf("status %d, %q, %q; want 0 and %q", status, out, log, want)
	}
	db.MustExec("INSERT INTO radcheck (username, attribute, op, value) VALUES ('bob', 'Cleartxt-Password', ':=', 'hunter2')")
	db.MustExec("DROP INDEX radreply_username")
	status, out, log = runCommand(t, "check", "-db", "sqlite:"+file)
	for _, want := range []string{
		`wrong: radcheck, id 11, attribute "Cleartxt-Password": unknown attribute` + "\n",
		"CREATE INDEX radreply_username ON radreply (username)\n", ": 2 to fix, 1 for information\n",
	} {
		if status != 1 || !strings.Contains(out, want) || log != "" || strings.Contains(out, "hunter2") {
			t.Errorf("status %d, %q, %q; want 1 and %q", status, out, log, want)
		}
	}
	// However many there are.
	for range maxFindings {
		db.MustExec("INSERT INTO radcheck (username, attribute, op, value) VALUES ('bob', 'Cleartxt-Password', ':=', 'hunter2')")
	}
	status, out, _ = runCommand(t, "check", "-db", "sqlite:"+file)
	if lines := strings.Count(out, "\n"); status != 1 || lines != maxFindings+2 || !strings.Contains(out, "\nand 3 more\n") {
		t.Errorf("status %d, %d lines", status, lines)
	}
}

// Commands neither create a database nor change one, and say clearly what is wrong
// with how they were called.
func TestCommandsComplain(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.db")
	foreign := filepath.Join(t.TempDir(), "foreign.db")
	openDB(t, foreign).MustExec("CREATE TABLE radcheck (id INTEGER PRIMARY KEY)")
	for args, want := range map[string]struct {
		status int
		line   string
	}{
		"check -db memory:5":                                 {2, "-db memory:5: there is no database"},
		"check -db nonsense":                                 {2, "-db nonsense: want sqlite:FILE"},
		"check -no-such":                                     {2, "-no-such"},
		"check more":                                         {2, `unexpected argument "more"`},
		"check -db sqlite:" + missing:                        {1, missing},
		"check -db sqlite:" + foreign:                        {1, "there is no column radcheck.attribute, no column radcheck.op"},
		"explain -db sqlite:F more -db X:":                   {2, "-db X:***: want"},
		"check -db mysql:me:hunter2@tcp(127.0.0.1:1)/radius": {1, "-db mysql:me:***@tcp(127.0.0.1:1)/radius: "},
	} {
		t.Run(args, func(t *testing.T) {
			t.Chdir(t.TempDir())
			status, out, log := runCommand(t, strings.Fields(args)...)
			if status != want.status || !strings.HasPrefix(log, "billingd: ") || !strings.Contains(log, want.line) || strings.Count(log, "\n") != 1 || out != "" {
				t.Errorf("status %d, %q, %q; want %d and %q", status, out, log, want.status, want.line)
			}
			if strings.Contains(log, "hunter2") {
				t.Errorf("a secret is in %q", log)
			}
		})
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("a database was created")
	}
	if status, out, log := runCommand(t, "check", "-h"); status != 0 || out != "" || !strings.Contains(log, "-db sqlite:FILE") {
		t.Errorf("help: status %d, %q, %q", status, out, log)
	}
}

func TestExplainCommand(t *testing.T) {
	file := demoDB(t)
	status, out, log := runCommand(t, "explain", "user1", "-db", "sqlite:"+file, "NAS-Port=1")
	want := `radcheck, id 2: Cleartext-Password := ***: is set
radreply, id 4: Reply-Message := "hello": is set
radreply, id 5: Session-Timeout := "3600": is set
radreply, id 6: Framed-IP-Address := "10.0.0.2": is set
Access-Accept, with the right password (Cleartext-Password)
    Reply-Message = hello
    Session-Timeout = 3600
    Framed-IP-Address = 10.0.0.2
`
	if status != 0 || out != want || log != "" {
		t.Errorf("status %d, %q, %q; want 0 and %q", status, out, log, want)
	}
	status, out, log = runCommand(t, "explain", "-db", "sqlite:"+file, "nobody")
	if status != 1 || !strings.Contains(out, "\nAccess-Reject: Unknown user\n") || log != "" {
		t.Errorf("status %d, %q, %q", status, out, log)
	}
	openDB(t, file).MustExec("INSERT INTO radcheck (username, attribute, op, value) VALUES ('carol', 'Auth-Type', ':=', 'Accept'), ('carol', 'Pool-Name', ':=', 'main')")
	status, out, log = runCommand(t, "explain", "-db", "sqlite:"+file, "carol")
	if status != 0 || !strings.HasSuffix(out, "\nAccess-Accept, without a password\n    Framed-IP-Address = one of the pool \"main\"\n") || log != "" {
		t.Errorf("status %d, %q, %q", status, out, log)
	}
	openDB(t, file).MustExec("INSERT INTO radcheck (username, attribute, op, value) VALUES ('bob', 'Cleartxt-Password', ':=', 'hunter2')")
	status, out, log = runCommand(t, "explain", "-db", "sqlite:"+file, "bob")
	if status != 1 || !strings.Contains(out, "radcheck, id 13, attribute \"Cleartxt-Password\": unknown attribute\n") || strings.Contains(out, "hunter2") || log != "" {
		t.Errorf("status %d, %q, %q", status, out, log)
	}
	status, out, log = runCommand(t, "explain", "-db", "sqlite:"+file)
	if status != 2 || out != "" || !strings.Contains(log, "which user?") {
		t.Errorf("status %d, %q, %q", status, out, log)
	}
}

// The commands look at radpool's own schema where -schema says so.
func TestCommandsOnOwnSchema(t *testing.T) {
	file := filepath.Join(t.TempDir(), "isp.db")
	b := start(t, "-db", "sqlite:"+file, "-schema", "radpool", "-demo", "2")
	b.end(syscall.SIGTERM)
	say := func(status int, args ...string) string {
		t.Helper()
		var out strings.Builder
		cmd := command(t.Context(), append(args, "-db", "sqlite:"+file, "-schema", "radpool")...)
		cmd.Stdout, cmd.Stderr = &out, &out
		_ = cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != status {
			t.Errorf("%v: exit status %d, want %d\n%s", args, got, status, &out)
		}
		return out.String()
	}
	if out := say(0, "check"); !strings.Contains(out, "0 to fix") {
		t.Error(out)
	}
	if out := say(0, "explain", "user1"); !strings.Contains(out, "Access-Accept, with the right password (Cleartext-Password)") || !strings.Contains(out, "Framed-IP-Address = ") {
		t.Error(out)
	}
	openDB(t, file).MustExec("UPDATE radpool_subscriber SET tariff = 'x'")
	if out := say(1, "check"); !strings.Contains(out, "2 to fix") {
		t.Error(out)
	}
	if out := say(1, "explain", "user1"); !strings.Contains(out, "Access-Reject") {
		t.Error(out)
	}
}
