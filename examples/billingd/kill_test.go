package main

import (
	"fmt"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"layeh.com/radius/rfc2866"
)

// Every accounting record that was acknowledged is in the database after kill -9
// at a moment that nobody chose, and none is there twice.
func TestKillLosesNothingAcknowledged(t *testing.T) {
	file := filepath.Join(t.TempDir(), "radpool.db")
	for round := range 4 {
		b := start(t, "-db", "sqlite:"+file)
		acked := load(t, b, round)
		checkAcknowledged(t, openDB(t, file), acked)
	}
}

// load sends accounting from several NASes until some hundreds of records are
// acknowledged, kills the server under it, and returns what was acknowledged: the
// last status of each session.
func load(t *testing.T, b *billingd, round int) map[string]rfc2866.AcctStatusType {
	var mu sync.Mutex
	acked := make(map[string]rfc2866.AcctStatusType)
	var kill sync.Once
	enough := make(chan struct{})
	var wg sync.WaitGroup
	var nases []*nas
	for i := range 16 {
		n := dial(t, b.acct)
		nases = append(nases, n)
		wg.Go(func() {
			for s := 0; ; s++ {
				session := fmt.Sprintf("%d-%d-%d", round, i, s)
				for id, status := range []rfc2866.AcctStatusType{1, 3, 2} {
					n.send(accountingRequest(byte(s*3+id), session, status))
					if n.receive(time.Minute) == nil {
						return // killed
					}
					mu.Lock()
					acked[session] = status
					if len(acked) >= 200+50*round {
						kill.Do(func() { close(enough) })
					}
					mu.Unlock()
				}
			}
		})
	}
	<-enough
	b.end(syscall.SIGKILL)
	for _, n := range nases {
		_ = n.conn.Close() // nothing more is coming
	}
	wg.Wait()
	return acked
}

func checkAcknowledged(t *testing.T, db *sqlx.DB, acked map[string]rfc2866.AcctStatusType) {
	t.Helper()
	var rows []struct {
		Session string `db:"acctsessionid"`
		Octets  int64  `db:"acctinputoctets"`
		Stopped bool   `db:"stopped"`
	}
	if err := db.Select(&rows, `SELECT acctsessionid, COALESCE(acctinputoctets, 0) AS acctinputoctets, acctstoptime IS NOT NULL AS stopped FROM radacct`); err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, r := range rows {
		if seen[r.Session] {
			t.Errorf("session %s is there twice", r.Session)
		}
		seen[r.Session] = true
		switch acked[r.Session] {
		case rfc2866.AcctStatusType_Value_InterimUpdate:
			if r.Octets < 3000 {
				t.Errorf("session %s: the acknowledged Interim-Update is lost: %d octets", r.Session, r.Octets)
			}
		case rfc2866.AcctStatusType_Value_Stop:
			if !r.Stopped {
				t.Errorf("session %s: the acknowledged Stop is lost", r.Session)
			}
		}
	}
	for session := range acked {
		if !seen[session] {
			t.Errorf("session %s: acknowledged, and not in the database", session)
		}
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}
