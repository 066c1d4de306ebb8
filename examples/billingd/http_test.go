package main

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/journal"
	"github.com/radpool/radpool/billing/sqlbilling"
	"github.com/radpool/radpool/radpool/status"
)

func TestHTTPAddr(t *testing.T) {
	for flag, want := range map[string]string{
		"8812": "127.0.0.1:8812", "127.0.0.1:8812": "127.0.0.1:8812", "0": "127.0.0.1:0", "[::1]:80": "[::1]:80",
		":8812": ":8812", "0.0.0.0:8812": "0.0.0.0:8812", "radius1:8812": "radius1:8812",
		"x": "", "65536": "", "-1": "", "127.0.0.1:": "", "127.0.0.1:http": "", "::1:8812": "", "1:2:3": "",
	} {
		if got, err := httpAddr(flag); got != want || (err == nil) != (want != "") {
			t.Errorf("-http %s: %q, %v; want %q", flag, got, err, want)
		}
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, response.Status, err)
	}
	return string(b)
}

// The page shows what billingd does, and nothing that is secret.
func TestStatusPage(t *testing.T) {
	b := start(t, "-db", "sqlite:"+t.TempDir()+"/isp.db", "-http", "0")
	if !strings.HasPrefix(b.http, "127.0.0.1:") {
		t.Fatalf("the page is at %q", b.http)
	}
	n := dial(t, b.auth)
	n.send(accessRequest(1, "user1", "pass1"))
	if n.receive(time.Minute) == nil {
		t.Fatal("no answer")
	}
	var s status.Snapshot
	if err := json.Unmarshal([]byte(get(t, "http://"+b.http+"/status.json")), &s); err != nil {
		t.Fatal(err)
	}
	if s.Title != "billingd, sqlite" || s.Received != 1 || s.ClientsTotal != 2 || s.Clients[0].Requests != 1 {
		t.Errorf("%+v", s)
	}
	figures := make(map[string]float64)
	for _, f := range s.Figures {
		figures[f.Group+": "+f.Name] = f.Value
	}
	if figures["Decisions: accepted"] != 1 || figures["Database: Access-Requests answered"] != 1 {
		t.Errorf("figures %v", figures)
	}
	page := get(t, "http://"+b.http+"/")
	for _, secret := range []string{"testing123", "user1", "pass1", "isp.db"} {
		if strings.Contains(page, secret) {
			t.Errorf("the page has %q", secret)
		}
	}
	if status := b.end(syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d\n%s", status, b.log)
	}
	if strings.Contains(b.log.String(), "everybody") {
		t.Errorf("it warns of a loopback address:\n%s", b.log)
	}
}

func TestStatusPageForAll(t *testing.T) {
	b := start(t, "-db", "memory:1", "-http", ":0")
	b.end(syscall.SIGTERM) // then the log is all there
	if !strings.Contains(b.log.String(), "can be seen by everybody who reaches this address") {
		t.Errorf("there is no warning:\n%s", b.log)
	}
}

// Who opens connections and says nothing does not have all of them.
func TestHTTPConnsAreBounded(t *testing.T) {
	b := start(t, "-db", "memory:1", "-http", "0")
	conns := make([]net.Conn, 0, maxHTTPConns+1)
	for range maxHTTPConns + 1 {
		c, err := net.Dial("tcp", b.http)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		conns = append(conns, c)
	}
	if _, err := conns[maxHTTPConns].Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("a connection too many is told %v", err)
	}
	for _, c := range conns {
		_ = c.Close()
	}
	if status := b.end(syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d\n%s", status, b.log)
	}
}

func TestJournalFigures(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	alerts := func(st journal.Stats) (list []string) {
		for _, f := range journalFigures(st, now) {
			if f.Alert != "" {
				list = append(list, f.Name)
			}
		}
		return list
	}
	if got := alerts(journal.Stats{Absences: 3, Journaled: 7, Full: 1}); got != nil {
		t.Errorf("what is over is an alert: %q", got)
	}
	got := strings.Join(alerts(journal.Stats{AccessAway: true, AccountAway: true, Parked: 1}), "; ")
	if got != "database away for Access-Requests; database away for accounting; records put aside" {
		t.Errorf("alerts: %s", got)
	}
	for _, f := range journalFigures(journal.Stats{Oldest: now.Add(-time.Minute)}, now) {
		if f.Name == "oldest of them" && (f.Value != 60 || f.Unit != status.Seconds) {
			t.Errorf("%+v", f)
		}
	}
}

// There is room for all figures, whatever the reasons.
func TestFiguresFit(t *testing.T) {
	var st billing.Stats
	for i := range st.Rejected {
		st.Rejected[i] = 1
	}
	n := len(decisions(st)) + len(journalFigures(journal.Stats{}, time.Now())) + len(standardFigures(sqlbilling.Stats{}))
	if n > status.MaxFigures {
		t.Errorf("%d figures, %d are shown", n, status.MaxFigures)
	}
}
