package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2866"
)

// billingd starts while MariaDB is away, and goes on when that is killed at moments
// that nobody chose: what was acknowledged is there in the end, and once.
func TestMariaDBKilled(t *testing.T) {
	times := kills(t)
	m := newMariaDB(t)
	b := start(t, "-db", m.dsn, "-journal", filepath.Join(t.TempDir(), "journal.db"), "-demo", "10")
	load := startTraffic(t, b)
	load.wait(100) // all of it is in the journal
	m.start()
	if reply := askUntilAnswered(t, b, "user1", "pass1"); reply != radius.CodeAccessAccept {
		t.Errorf("when the database is there: %v", reply)
	}
	for range times {
		load.wait(100 + rand.N(400))
		m.kill()
		load.wait(50) // while it is away
		m.start()
	}
	acked := load.stop()
	db := m.open()
	eventually(t, func() string {
		var n int
		if err := db.Get(&n, "SELECT COUNT(*) FROM radacct WHERE acctinputoctets = 3000 AND acctstoptime IS NOT NULL"); err != nil {
			return err.Error()
		}
		if n < len(acked) {
			return fmt.Sprintf("%d sessions of %d are stored\n%s", n, len(acked), b.log)
		}
		return ""
	})
	if status := b.end(syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d\n%s", status, b.log)
	}
	var rows int
	if err := db.Get(&rows, "SELECT COUNT(*) FROM radacct WHERE acctinputoctets = 3000"); err != nil || rows != len(acked) {
		t.Errorf("%d sessions, and %d in the database (%v)", len(acked), rows, err)
	}
	checkAcknowledged(t, db, acked)
	t.Logf("%d kills, %d sessions of 3 records each", times, len(acked))
}

// A DSN that cannot be, and a database that says no, end it at once with the reason.
func TestWrongDatabaseEndsIt(t *testing.T) {
	m := startMariaDB(t)
	for dsn, want := range map[string]string{
		"mysql:root@unix(" + m.socket() + ")":                       "invalid DSN",
		"mysql:root@unix(" + m.socket() + ")/nosuch":                "Unknown database",
		"mysql:root:wrong@unix(" + m.socket() + ")/radius":          "Access denied",
		"mysql:root@unix(" + m.socket() + ")/radius?nosuch=1":       "Unknown system variable",
		"postgres://127.0.0.1:notaport/radius":                      "cannot be parsed",
		"mysql:root@nosuchnetwork(" + m.socket() + ")/radius":       "unknown network",
		"postgres://127.0.0.1:1/radius?sslmode=nosuch":              "sslmode",
		"mysql:root@unix(" + m.socket() + ")/radius?timeout=nosuch": "invalid duration",
	} {
		out, err := command(t.Context(), "-auth", "127.0.0.1:0", "-acct", "127.0.0.1:0", "-journal", "none", "-db", dsn).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) || strings.Count(string(out), "\n") != 1 {
			t.Errorf("%s: %v, %s; want %q", dsn, err, out, want)
		}
	}
}

// askUntilAnswered sends an Access-Request again and again until it is answered.
func askUntilAnswered(t *testing.T, b *billingd, user, password string) radius.Code {
	t.Helper()
	n := dial(t, b.auth)
	for id := byte(0); t.Context().Err() == nil; id++ {
		n.send(accessRequest(id, user, password))
		if reply := n.receive(time.Second); reply != nil {
			return radius.Code(reply[0])
		}
	}
	return 0
}

// A traffic is NASes that send accounting, each record until it is acknowledged.
type traffic struct {
	nases sync.WaitGroup
	ended chan struct{}
	done  chan struct{} // a token for each session

	mu    sync.Mutex
	acked map[string]rfc2866.AcctStatusType // guarded by mu
}

func startTraffic(t *testing.T, b *billingd) *traffic {
	l := &traffic{ended: make(chan struct{}), done: make(chan struct{}), acked: make(map[string]rfc2866.AcctStatusType)}
	for i := range 8 {
		n := dial(t, b.acct)
		l.nases.Go(func() {
			for s := 0; ; s++ {
				session := fmt.Sprintf("%d-%d", i, s)
				for k, status := range []rfc2866.AcctStatusType{1, 3, 2} {
					id := byte(s*3 + k)
					if !n.until(t.Context().Done(), id, accountingRequest(id, session, status)) {
						return
					}
				}
				l.mu.Lock()
				l.acked[session] = rfc2866.AcctStatusType_Value_Stop
				l.mu.Unlock()
				select {
				case l.done <- struct{}{}:
				case <-l.ended:
					return
				}
			}
		})
	}
	return l
}

// wait waits until so many more sessions are acknowledged.
func (l *traffic) wait(sessions int) {
	for range sessions {
		<-l.done
	}
}

// stop ends it, and returns the sessions that were acknowledged.
func (l *traffic) stop() map[string]rfc2866.AcctStatusType {
	close(l.ended)
	l.nases.Wait()
	return l.acked
}
