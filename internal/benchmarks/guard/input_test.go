package main

import (
	"strings"
	"testing"
)

func TestParseOutput(t *testing.T) {
	const head = "goos: linux\ncpu: AMD EPYC\n"
	for _, tc := range []struct {
		name, out string
		want      figures
		err       string
	}{
		{"one", head + "BenchmarkBurst/impl=radpool \t 177166 \t 216.1 ns/op \t 208.4 cpu-ns/op \t 2.04 mallocs/op \t 16 B/op \t 2 allocs/op\nPASS\n", figures{208.4, 2}, ""},
		{"none", head + "PASS\n", figures{}, "want one benchmark, found 0"},
		{"two", strings.Repeat("BenchmarkA 1 2 ns/op 3 cpu-ns/op 0 mallocs/op\n", 2), figures{}, "want one benchmark, found 2"},
		{"no processor time", "BenchmarkA 1 2 ns/op 0 mallocs/op\n", figures{}, "cpu-ns/op or mallocs/op is missing"},
		{"no allocations", "BenchmarkA 1 2 ns/op 3 cpu-ns/op\n", figures{}, "cpu-ns/op or mallocs/op is missing"},
		{"no number", "BenchmarkA 1 x ns/op 3 cpu-ns/op\n", figures{}, `strconv.ParseFloat: parsing "x": invalid syntax`},
	} {
		f, err := parseOutput(tc.out)
		switch {
		case tc.err != "":
			if err == nil || err.Error() != tc.err {
				t.Errorf("%s: error %v, want %s", tc.name, err, tc.err)
			}
		case err != nil || f != tc.want:
			t.Errorf("%s: %v, %v; want %v", tc.name, f, err, tc.want)
		}
	}
}

func TestPattern(t *testing.T) {
	if got, want := pattern("Table/op=a.b/impl=x"), `^BenchmarkTable$/^op=a\.b$/^impl=x$`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestParseParts(t *testing.T) {
	for _, tc := range []struct{ json, err string }{
		{`[]`, "no parts"},
		{`[{"part":"a","ours":"b","reference":"c","ratio":1,"allocs":0,"more":1}]`, `json: unknown field "more"`},
		{`[{"part":"a","ours":"b","ratio":1}]`, "part 1: part, ours and reference must not be empty"},
		{`[{"part":"a","ours":"b","reference":"c"}]`, "part a: ratio is 0, must be more than 0"},
		{`[{"part":"a","ours":"b","reference":"c","ratio":1,"allocs":-1}]`, "part a: allocs is -1, must not be negative"},
		{`[{"part":"a","ours":"b","reference":"c","ratio":1},{"part":"a","ours":"b","reference":"c","ratio":1}]`, "part a: twice"},
		{`[{"part":"a","ours":"b","reference":"c","ratio":1}] 7`, "something follows the list of parts"},
	} {
		if parts, err := parseParts([]byte(tc.json)); err == nil || err.Error() != tc.err {
			t.Errorf("%s: %v, %v; want the error %s", tc.json, parts, err, tc.err)
		}
	}
}

// The file that is compared with is one that can be, and names benchmarks of ours
// against others.
func TestRecordedFile(t *testing.T) {
	parts, err := readParts("guard.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if !strings.HasSuffix(p.Ours, "/impl=radpool") {
			t.Errorf("part %s: %s is not a benchmark of radpool", p.Name, p.Ours)
		}
		if strings.Contains(p.Reference, "impl=radpool") {
			t.Errorf("part %s is compared with %s", p.Name, p.Reference)
		}
	}
}
