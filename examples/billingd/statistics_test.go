package main

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var statistic = regexp.MustCompile(`(?m)^\s*FreeRADIUS-([A-Za-z-]+) = "?([^"\n]*)"?$`)

// statistics asks as exporters for FreeRADIUS do, and returns what radclient prints of
// the answer, by name.
func statistics(t *testing.T, addr, kind string) map[string]string {
	t.Helper()
	out := ask(t, addr, "status", "Message-Authenticator = 0x00, FreeRADIUS-Statistics-Type = "+kind)
	_, answer, ok := strings.Cut(out, "Received Access-Accept")
	if !ok {
		t.Fatalf("no Access-Accept:\n%s", out)
	}
	all := make(map[string]string)
	for _, m := range statistic.FindAllStringSubmatch(answer, -1) {
		all[m[1]] = m[2]
	}
	return all
}

// What exporters for FreeRADIUS ask for, by radclient, whose dictionary knows the
// names.
func TestStatisticsWithRadclient(t *testing.T) {
	b := start(t, "-db", "memory:2", "-status", "127.0.0.1:0")
	for range 3 {
		ask(t, b.auth, "auth", `User-Name = "user1"`, `User-Password = "pass1"`)
	}
	for range 2 {
		ask(t, b.auth, "auth", `User-Name = "user1"`, `User-Password = "wrong"`)
	}
	ask(t, b.acct, "acct", `User-Name = "user1"`, `Acct-Session-Id = "s1"`, "Acct-Status-Type = Start")

	all := statistics(t, b.auth, "0x1f")
	for name, want := range map[string]int{
		"Total-Access-Requests": 5, "Total-Access-Accepts": 3, "Total-Access-Rejects": 2, "Total-Auth-Responses": 5,
		"Total-Accounting-Requests": 1, "Total-Accounting-Responses": 1,
		"Total-Auth-Invalid-Requests": 0, "Total-Auth-Dropped-Requests": 0, "Total-Proxy-Access-Requests": 0,
		"Queue-Len-Auth": 0, "Queue-Len-Acct": 0, "Queue-Len-Internal": 0,
	} {
		if all[name] != strconv.Itoa(want) {
			t.Errorf("FreeRADIUS-%s is %q, want %d", name, all[name], want)
		}
	}
	at, err := time.Parse("Jan _2 2006 15:04:05 MST", all["Stats-Start-Time"])
	if err != nil || time.Since(at) < 0 || time.Since(at) > time.Hour {
		t.Errorf("FreeRADIUS-Stats-Start-Time is %q (%v), want the last moments", all["Stats-Start-Time"], err)
	}
	for kind, want := range map[string]string{"1": "Total-Access-Requests", "2": "Total-Accounting-Requests", "0x10": "Queue-Len-Auth"} {
		part := statistics(t, b.auth, kind)
		if _, ok := part[want]; !ok || len(part) >= len(all) {
			t.Errorf("type %s: %v, want %s and less than all", kind, part, want)
		}
		for name, v := range part {
			if !strings.HasPrefix(name, "Queue-PPS") && v != all[name] {
				t.Errorf("type %s: FreeRADIUS-%s is %s, and %s in the answer to 0x1f", kind, name, v, all[name])
			}
		}
	}

	plain := start(t, "-db", "memory:2")
	if got := statistics(t, plain.auth, "0x1f"); len(got) > 0 {
		t.Errorf("without -status there are statistics: %v", got)
	}
}
