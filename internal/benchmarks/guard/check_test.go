package main

import (
	"errors"
	"strings"
	"testing"
)

var twoParts = []part{
	{Name: "queue", Ours: "Q/ours", Reference: "Q/naive", Ratio: 2, Allocs: 0},
	{Name: "cache", Ours: "C/ours", Reference: "C/naive", Ratio: 0.5, Allocs: 1},
}

// A machine says what a benchmark costs, and how often it was asked.
type machine struct {
	costs map[string]figures
	asked map[string]int
	slow  func(n int) float64 // of everything, by how often a benchmark was asked before; may be nil
}

func newMachine() *machine {
	return &machine{
		costs: map[string]figures{"Q/ours": {200, 0}, "Q/naive": {100, 7}, "C/ours": {50, 1}, "C/naive": {100, 3}},
		asked: make(map[string]int),
	}
}

func (m *machine) measure(benchmark string) (figures, error) {
	f, ok := m.costs[benchmark]
	if !ok {
		return f, errors.New("no such benchmark")
	}
	if m.slow != nil {
		f.cpu *= m.slow(m.asked[benchmark])
	}
	m.asked[benchmark]++
	return f, nil
}

func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(m *machine)
		rounds int      // of the queue's benchmark, in all
		worse  []string // in the error; none: no error
	}{
		{"as recorded", func(*machine) {}, 4, nil},
		{"a slower machine", func(m *machine) { m.slow = func(int) float64 { return 3 } }, 4, nil},
		{"a fifth slower", func(m *machine) { m.costs["Q/ours"] = figures{240, 0} }, 4, nil},
		{"just a quarter slower", func(m *machine) { m.costs["Q/ours"] = figures{250, 0} }, 4, nil},
		{"more than a quarter slower", func(m *machine) { m.costs["Q/ours"] = figures{260, 0} }, 4 + 8 + 16,
			[]string{"queue: 2.6 times the cost of its reference, recorded is 2: 30 % worse (Q/ours against Q/naive)"}},
		{"the reference became faster", func(m *machine) { m.costs["C/naive"] = figures{60, 3} }, 4,
			[]string{"cache: 0.833 times the cost of its reference, recorded is 0.5: 67 % worse (C/ours against C/naive)"}},
		{"much faster", func(m *machine) { m.costs["Q/ours"] = figures{20, 0} }, 4, nil},
		{"one allocation more", func(m *machine) { m.costs["C/ours"] = figures{50, 2} }, 4,
			[]string{"cache: 2 allocations an operation, recorded are 1 (C/ours)"}},
		{"one allocation more in ten operations", func(m *machine) { m.costs["Q/ours"] = figures{200, 0.1} }, 4,
			[]string{"queue: 0.1 allocations an operation, recorded are 0 (Q/ours)"}},
		{"one allocation less", func(m *machine) { m.costs["C/ours"] = figures{50, 0} }, 4, nil},
		{"the reference allocates more", func(m *machine) { m.costs["C/naive"] = figures{100, 30} }, 4, nil},
		{"both worse", func(m *machine) { m.costs["Q/ours"], m.costs["C/ours"] = figures{900, 0}, figures{50, 9} }, 4 + 8 + 16,
			[]string{"queue: 9 times", "cache: 9 allocations"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := newMachine()
			tc.change(m)
			var out strings.Builder
			err := check(twoParts, 4, m.measure, &out)
			if got := m.asked["Q/ours"]; got != tc.rounds {
				t.Errorf("%d rounds, want %d", got, tc.rounds)
			}
			if m.asked["Q/naive"] != m.asked["Q/ours"] {
				t.Errorf("the reference ran %d times, ours %d times", m.asked["Q/naive"], m.asked["Q/ours"])
			}
			if len(tc.worse) == 0 {
				if err != nil {
					t.Errorf("%v\n%s", err, out.String())
				}
				return
			}
			if !errors.Is(err, errWorse) {
				t.Fatalf("error %v, want that something is worse", err)
			}
			for _, want := range tc.worse {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
			if got, want := strings.Count(err.Error(), "\n"), len(tc.worse); got != want {
				t.Errorf("%d parts are worse, want %d: %v", got, want, err)
			}
		})
	}
}

// A part that is slow in one look, because of what the machine did meanwhile, is
// forgiven when it is as it was in the next; one that is slow in a few rounds of
// each look is not even looked at again.
func TestNoiseIsForgiven(t *testing.T) {
	for _, tc := range []struct {
		name   string
		slow   func(n int) bool
		rounds int
	}{
		{"the first look", func(n int) bool { return n < 5 }, 5 + 10},
		{"the first two looks", func(n int) bool { return n < 15 }, 5 + 10 + 20},
		{"two rounds of five", func(n int) bool { return n == 1 || n == 4 }, 5},
	} {
		m := newMachine()
		n := 0
		measure := func(benchmark string) (figures, error) {
			f, err := m.measure(benchmark)
			if benchmark == "Q/ours" {
				if tc.slow(n) {
					f.cpu *= 2
				}
				n++
			}
			return f, err
		}
		var out strings.Builder
		if err := check(twoParts, 5, measure, &out); err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		if n != tc.rounds {
			t.Errorf("%s: %d rounds, want %d\n%s", tc.name, n, tc.rounds, out.String())
		}
	}
}

func TestLookFails(t *testing.T) {
	m := newMachine()
	delete(m.costs, "C/naive")
	if _, err := look(twoParts, 1, m.measure); err == nil || err.Error() != "part cache: no such benchmark" {
		t.Errorf("a benchmark that is gone: %v", err)
	}
	m = newMachine()
	m.costs["Q/naive"] = figures{0, 0}
	if _, err := look(twoParts, 1, m.measure); err == nil || err.Error() != "part queue: Q/naive took no time" {
		t.Errorf("a reference that took no time: %v", err)
	}
}

// What -update records passes the next check, and is read back as it was written.
func TestUpdate(t *testing.T) {
	m := newMachine()
	m.costs["Q/ours"], m.costs["C/ours"] = figures{1234.5, 3}, figures{3, 0}
	found, err := look(twoParts, 3, m.measure)
	if err != nil {
		t.Fatal(err)
	}
	now := recorded(twoParts, found)
	if now[0].Ratio != 12.3 || now[0].Allocs != 3 || now[1].Ratio != 0.03 || now[1].Allocs != 0 {
		t.Errorf("recorded %+v", now)
	}
	b, err := formatParts(now)
	if err != nil {
		t.Fatal(err)
	}
	read, err := parseParts(b)
	if err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	var out strings.Builder
	if err := check(read, 3, m.measure, &out); err != nil {
		t.Error(err)
	}
	m.costs["C/ours"] = figures{3.9, 0}
	if err := check(read, 3, m.measure, &out); !errors.Is(err, errWorse) {
		t.Errorf("a part that became a third slower than recorded: %v", err)
	}
}
