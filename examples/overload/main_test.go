package main

import (
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// With NASes and workers of other kinds, too: at ten times the load radpool does as much as
// it can, and first in, first out nothing any more after it. That NASes are patient makes a
// storm longer: those of RFC 5080 go on asking for half a minute.
func TestOtherNASes(t *testing.T) {
	line := regexp.MustCompile(`(?m)^ *1000% +([0-9.]+)% +([0-9.]+)% +([0-9.]+)% +([0-9.]+)%$`)
	for nas, after := range map[string]float64{"mikrotik": 99, "rfc5080": 50} {
		args := []string{"-nas", nas, "-workers", "3", "-seed", "7"}
		var stdout, stderr strings.Builder
		if status := run(args, &stdout, &stderr); status != 0 {
			t.Fatalf("%q: status %d: %s", args, status, &stderr)
		}
		found := line.FindStringSubmatch(stdout.String())
		if found == nil {
			t.Fatalf("%q: %s", args, &stdout)
		}
		var v [4]float64
		for i := range v {
			v[i], _ = strconv.ParseFloat(found[i+1], 64)
		}
		if v[1] > 5 || v[2] < 95 || v[3] < after {
			t.Errorf("%q: %s", args, found[0])
		}
	}
}

func TestBadFlags(t *testing.T) {
	for _, tc := range []struct {
		args string
		want string
		exit int
	}{
		{"-workers 0", "-workers is 0: must be from 1 to 1000", 2},
		{"-workers 1001", "-workers is 1001", 2},
		{"-service 1us", "-service is 1µs: must be from 1ms to 1s", 2},
		{"-workers 1000 -service 1ms", "at most 2000 are simulated", 2},
		{"-nas netgear", `-nas is "netgear": must be one of accel-ppp, cisco`, 2},
		{"-seed x", "invalid value", 2},
		{"more", `unexpected argument "more"`, 2},
		{"-workers 1 -svg /nowhere/at/all", "no such file", 1},
	} {
		var stdout, stderr strings.Builder
		if exit := run(strings.Fields(tc.args), &stdout, &stderr); exit != tc.exit || !strings.Contains(stderr.String(), tc.want) {
			t.Errorf("%s: exit status %d, %q; want %d, %q", tc.args, exit, &stderr, tc.exit, tc.want)
		}
	}
	if exit := run([]string{"-h"}, io.Discard, io.Discard); exit != 0 {
		t.Errorf("-h: exit status %d", exit)
	}
}
