package main

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"layeh.com/radius"
	"layeh.com/radius/rfc2866"

	"github.com/radpool/radpool/internal/need"
)

// With the database come its clients, and who ends the sessions of those who are blocked.
func TestClientsAndCoALater(t *testing.T) {
	port, asked := serveNAS(t)
	m := startMariaDB(t)
	args := []string{"-db", m.dsn, "-schema", "radpool", "-demo", "2", "-journal", "none"}
	b := start(t, args...)
	n := dial(t, b.acct)
	if n.send(accountingRequest(1, "s1", rfc2866.AcctStatusType_Value_Start)); n.receive(time.Minute) == nil {
		t.Fatal("no Accounting-Response")
	}
	b.end(syscall.SIGTERM)
	db := m.open()
	db.MustExec("UPDATE radpool_subscriber SET blocked = 1 WHERE username = 'user1'")
	db.MustExec("INSERT INTO radpool_nas (address, name, vendor, secret, coa_port, coa_secret) VALUES ('127.0.0.1', 'nas1', 'mikrotik', 'testing123', ?, 'other-secret')", port)
	m.kill()

	b = start(t, append(args, "-coa", "-read-clients", "-secret", "not-this-one", "-http", "0")...)
	if text := get(t, "http://"+b.http+"/metrics"); !strings.Contains(text, "\nradpool_coa_waiting_users 0\n") {
		t.Errorf("the metrics of a database that is away:\n%s", text)
	}
	m.start()
	eventually(t, func() string { // an Accept comes under the secret of the table alone
		if reply := askUntilAnswered(t, b, "user0", "pass0"); reply != radius.CodeAccessAccept {
			return fmt.Sprintf("user0 gets %v\n%s", reply, b.log)
		}
		return ""
	})
	select {
	case got := <-asked:
		if got != "Disconnect-Request s1 " {
			t.Errorf("the NAS was asked for %q", got)
		}
	case <-time.After(time.Minute):
		t.Errorf("the NAS was not asked for anything\n%s", b.log)
	}
	if status := b.end(syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d\n%s", status, b.log)
	}
}

// PostgreSQL that is away at the start is found when it is there.
func TestPostgreSQLLater(t *testing.T) {
	const env = "RADPOOL_TEST_POSTGRES"
	dsn := os.Getenv(env)
	if dsn == "" {
		need.Missing(t, "a PostgreSQL that "+env+" names (with .ci/databases, which starts a throw-away one)")
	}
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	schema := fmt.Sprintf("radpool_later_%d", os.Getpid())
	admin, err := sqlx.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	admin.MustExec("CREATE SCHEMA " + schema)
	t.Cleanup(func() {
		_, err := admin.Exec("DROP SCHEMA " + schema + " CASCADE")
		if err != nil {
			t.Error(err)
		}
		_ = admin.Close()
	})
	dir, server := shortDir(t), u.Host
	u.Host = ""
	q := u.Query()
	q.Set("host", dir)
	q.Set("port", "5432")
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()

	b := start(t, "-db", u.String(), "-demo", "2", "-journal", filepath.Join(t.TempDir(), "journal.db"))
	n := dial(t, b.acct)
	if n.send(accountingRequest(1, "s1", rfc2866.AcctStatusType_Value_Start)); n.receive(time.Minute) == nil {
		t.Fatal("no Accounting-Response while it is away")
	}
	forward(t, filepath.Join(dir, ".s.PGSQL.5432"), server)
	if reply := askUntilAnswered(t, b, "user1", "pass1"); reply != radius.CodeAccessAccept {
		t.Errorf("when it is there: %v", reply)
	}
	eventually(t, func() string {
		var n int
		if err := admin.Get(&n, "SELECT COUNT(*) FROM "+schema+".radacct"); err != nil || n != 1 {
			return fmt.Sprintf("%d sessions are stored (%v)", n, err)
		}
		return ""
	})
	if status := b.end(syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d\n%s", status, b.log)
	}
}

// forward makes a server reachable at a socket, until the test ends.
func forward(t *testing.T, socket, server string) {
	t.Helper()
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", server)
			if err != nil {
				_ = from.Close()
				continue
			}
			for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
				go func() {
					_, _ = io.Copy(way[0], way[1])
					_ = way[0].Close()
				}()
			}
		}
	}()
}
