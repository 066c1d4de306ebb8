package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestErrorsNameTheFlag(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ args, want string }{
		{"-workers 0x", `invalid value "0x" for flag -workers: parse error`},
		{"-workers -1", "-workers is -1: must be 1 to 65536"},
		{"-workers 5 -rate 7", "-workers, -rate and -storm: only one of them can be"},
		{"-workers 1000 -sockets 2", "-sockets is 2: each has 256 Identifiers, and there are 1000 workers"},
		{"-rate fast", `-rate: segment 1, "fast": a rate must be a number from 0 to 10000000 a second`},
		{"-rate 0", "-rate less than one request in all"},
		{"-poisson", "-poisson: there is no -rate"},
		{"-storm -3", "-storm -3: must be the number of subscribers, without -n"},
		{"-storm 5 -n 5", "-storm 5: must be the number of subscribers, without -n"},
		{"-mix pap,cha", `-mix: "cha" is none of pap, chap, mschap, mschapv2, session, session-chap, session-mschap, session-mschapv2, acct, status`},
		{"-expect maybe", `-expect "maybe": want accept, reject or any`},
		{"-auth nowhere", `-auth "nowhere": want HOST:PORT: address nowhere: missing port in address`},
		{"-acct 127.0.0.1:0", `-acct "127.0.0.1:0": want HOST:PORT`},
		{"-acct [::1]:1813", "-acct must be of the same family, IPv4 or IPv6, as Auth"},
		{"-secret=", "-secret is empty: every client has one"},
		{"-secret-file " + empty, "-secret-file " + empty + ": its first line is empty"},
		{"-users-file " + empty, "-users-file " + empty + ": there is no user in it"},
		{"-users 0", "-user, -password, -users: 0 users: must be 1 to 10000000"},
		{"-source 127.0.0.9-127.0.0.1", `-source: "127.0.0.1" is not an address after 127.0.0.9`},
		{"-source ::1", "-source has ::1: must be of the same family, IPv4 or IPv6, as the server"},
		{"-source 0.0.0.0", "-source has 0.0.0.0: must be addresses of this host"},
		{"-source 10.0.0.0-10.255.0.0", "-source: more than 1024 addresses"},
		{"-timeout 0s", "-timeout, -interval and -every must be more than 0"},
		{"-retries 1000", "-retries is 1000: must be 0 to 100"},
		{"-duplicates 2", "-duplicates is 2: must be 0 to 1"},
		{"-csv - -json -", "-json -: standard output is taken"},
		{"-plot /nowhere/x.html", "-plot: open /nowhere/x.html: no such file or directory"},
		{"127.0.0.1", `unexpected argument "127.0.0.1": all is said by flags, see -h`},
		{"sweep -workers 8,4", "-workers: 4 must be more than 8 before it"},
		{"sweep -n 1,2,3,4,5,6,7", "-n: 7 numbers: must be at most 6"},
		{"sweep -workers 1000 -sockets 1", "-sockets is 1: each has 256 Identifiers, and there are 1000 workers"},
		{`sweep -start "x`, "-start: a double quote does not end"},
	} {
		_, stderr := radperf(t, statusUsage, strings.Fields(tc.args)...)
		if want := "radperf: " + tc.want + "\n"; stderr != want {
			t.Errorf("%s: %swant %s", tc.args, stderr, want)
		}
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"-h"}, {"sweep", "-h"}} {
		_, stderr := radperf(t, statusOK, args...)
		for _, want := range []string{"radperf sweep", "-plot FILE.html", "-users-file FILE", "-duplicates share"} {
			if !strings.Contains(stderr, want) {
				t.Errorf("%v: no %q in\n%s", args, want, stderr)
			}
		}
	}
}

func TestAddresses(t *testing.T) {
	all, err := addresses("127.0.0.254-127.0.1.1, 10.0.0.1")
	if err != nil || len(all) != 5 || all[2].String() != "127.0.1.0" || all[4].String() != "10.0.0.1" {
		t.Errorf("%v, %v", all, err)
	}
	if all, err := addresses("255.255.255.255"); err != nil || len(all) != 1 { // there is no next one
		t.Errorf("%v, %v", all, err)
	}
}

func TestWords(t *testing.T) {
	got, err := words(`  a "b  c" d"e f"  "" `)
	if err != nil || strings.Join(got, "|") != "a|b  c|de f|" {
		t.Errorf("%q, %v", got, err)
	}
}
