package loadgen_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/loadgen"
)

func TestProfile(t *testing.T) {
	for _, tc := range []struct {
		text string
		want string // the Profile, or the error
	}{
		{"1000", "[{1000 1000 10s}]"},
		{"1000:2000", "[{1000 2000 10s}]"},
		{"1000, 2000,4e3@4s", "[{1000 1000 3s} {2000 2000 3s} {4000 4000 4s}]"},
		{"5@1s,0@2s,5@1s", "[{5 5 1s} {0 0 2s} {5 5 1s}]"},
		{"", `segment 1, "": a rate must be a number from 0 to 10000000 a second`},
		{"5,-1", `segment 2, "-1": a rate must be a number from 0 to 10000000 a second`},
		{"NaN", `segment 1, "NaN": a rate must be a number from 0 to 10000000 a second`},
		{"5@10", `segment 1, "5@10": the duration must be more than 0 and at most 720h0m0s, such as 30s`},
		{"5@10s,6", "segment 2 has no duration, and nothing is left of 10s for it"},
		{"10000000@720h", "more than 1000000000 requests in all"},
	} {
		p, err := loadgen.ParseProfile(tc.text, 10*time.Second)
		got := fmt.Sprint([]loadgen.Segment(p))
		if err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%q is\n%s\nwant\n%s", tc.text, got, tc.want)
		}
	}
}

// The time of arrival x is where the rate, added up in small steps, reaches x.
func TestArrivalsBesideSums(t *testing.T) {
	p, err := loadgen.ParseProfile("100@2s,0@1s,100:500@4s,500:0@2s", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if n := p.Count(); math.Abs(n-1900) > 1e-9 {
		t.Fatalf("%v arrivals, want 1900", n)
	}
	const step = 10 * time.Microsecond
	sum, next := 0.0, 0
	for at := time.Duration(0); at < p.Duration(); at += step {
		for float64(next) <= sum && next < 1899 {
			got, ok := p.When(float64(next))
			if d := got - at; !ok || d < -time.Millisecond && at > 0 || d > time.Millisecond && next > 0 {
				if next != 200 || got != 3*time.Second { // the first after the gap, which the sum has reached before
					t.Fatalf("arrival %d at %v, want %v", next, got, at)
				}
			}
			next++
		}
		sum += p.At(at) * step.Seconds()
	}
	if next != 1899 {
		t.Errorf("%d arrivals compared", next)
	}
	if _, ok := p.When(1900); ok {
		t.Error("an arrival after the end")
	}
}

func TestMix(t *testing.T) {
	for text, want := range map[string]string{
		"pap":                     "pap=1",
		"session=3, chap ,acct=2": "session=3,chap=1,acct=2",
		"pap,pap":                 "pap stands twice",
		"pap=0":                   "the weight of pap must be a whole number from 1 to 1000",
		"":                        `"" is none of pap, chap, mschap, mschapv2, session, session-chap, session-mschap, session-mschapv2, acct, status`,
	} {
		m, err := loadgen.ParseMix(text)
		got := m.String()
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

// Each kind has its share of a turn, and is never more than one conversation away from it before.
func TestMixIsSpread(t *testing.T) {
	m, err := loadgen.ParseMix("session=7,chap=2,acct")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[loadgen.Kind]int)
	for i, kind := range m.Pattern() {
		seen[kind]++
		for _, e := range m {
			if fair := float64((i+1)*e.Weight) / 10; math.Abs(float64(seen[e.Kind])-fair) > 1 {
				t.Errorf("after %d: %d of %v, want about %v", i+1, seen[e.Kind], e.Kind, fair)
			}
		}
	}
	for _, e := range m {
		if seen[e.Kind] != e.Weight {
			t.Errorf("%d of %v in a turn, want %d", seen[e.Kind], e.Kind, e.Weight)
		}
	}
}

const usersFile = "# who\nalice wonderland\n\n\"bob \\\"b\\\"\" \"two words\" reject\n  carol\t\"\" accept\r\n"

func TestUsersFile(t *testing.T) {
	u, err := loadgen.ReadUsers(strings.NewReader(usersFile))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"alice/wonderland", `bob "b"/two words`, "carol/"} {
		if got := u.Name(i) + "/" + u.Password(i); got != want {
			t.Errorf("user %d is %s, want %s", i, got, want)
		}
	}
	if u.Len() != 3 {
		t.Errorf("%d users", u.Len())
	}
}

func TestUsersErrors(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for text, want := range map[string]string{
		"":                        "there is no user in it",
		"alice":                   "line 1: 1 fields: want a name, a password and perhaps accept or reject",
		"# a\nalice secret yes":   "line 2: field 3: want accept, reject or any",
		"a b c d":                 "line 1: 4 fields: want a name, a password and perhaps accept or reject",
		`"alice secret`:           "line 1: field 1: a text in double quotes does not end, or has a wrong escape",
		`"alice"secret`:           "line 1: field 1: a blank must follow the closing quote",
		`"" secret`:               "line 1: the name is empty",
		"alice " + long[:129]:     "line 1: the password has 129 octets: at most 128 fit",
		long[:254] + " secret":    "line 1: the name has 254 octets: at most 253 fit",
		"alice secret\na " + long: "line 2 is longer than 4096 octets",
	} {
		_, err := loadgen.ReadUsers(strings.NewReader(text))
		if err == nil || err.Error() != want {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		} else if strings.Contains(err.Error(), "secret") && !strings.Contains(want, "secret") {
			t.Errorf("%.40q: the error shows the password", text)
		}
	}
}

func TestPattern(t *testing.T) {
	u, err := loadgen.Pattern("user%d@isp", "pass%d", 1000)
	if err != nil || u.Name(999) != "user999@isp" || u.Password(0) != "pass0" || u.Len() != 1000 {
		t.Errorf("%v, %v", u, err)
	}
	for _, bad := range [][2]string{{"%d%d", "x"}, {"", "x"}, {"x", strings.Repeat("x", 128) + "%d"}} {
		if _, err := loadgen.Pattern(bad[0], bad[1], 10); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	if _, err := loadgen.Pattern("x", "y", 0); err == nil {
		t.Error("no users are taken")
	}
}

func FuzzProfile(f *testing.F) {
	f.Add("1000,2000:3000@10s")
	f.Add("0,5@1ns")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := loadgen.ParseProfile(text, time.Minute)
		if err != nil {
			return
		}
		last := time.Duration(0)
		for i := range 50 {
			at, ok := p.When(float64(i))
			if !ok {
				break
			}
			if at < last || at > p.Duration() {
				t.Fatalf("%q: arrival %d at %v, after %v", text, i, at, last)
			}
			last = at
		}
	})
}

func FuzzMix(f *testing.F) {
	f.Add("session=3,chap,status")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := loadgen.ParseMix(text)
		if err != nil {
			return
		}
		again, err := loadgen.ParseMix(m.String())
		if err != nil || again.String() != m.String() || len(m.Pattern()) == 0 {
			t.Fatalf("%q is %v, and then %v, %v", text, m, again, err)
		}
	})
}

func FuzzUsers(f *testing.F) {
	f.Add(usersFile)
	f.Fuzz(func(t *testing.T, text string) {
		u, err := loadgen.ReadUsers(strings.NewReader(text))
		if err != nil {
			return
		}
		var again strings.Builder
		for i := range u.Len() {
			fmt.Fprintf(&again, "%q %q\n", u.Name(i), u.Password(i))
		}
		v, err := loadgen.ReadUsers(strings.NewReader(again.String()))
		if err != nil && !strings.Contains(err.Error(), "longer than") { // quotes make a line longer
			t.Fatalf("%q, written again, is %v", text, err)
		}
		for i := range u.Len() {
			if err == nil && (u.Name(i) != v.Name(i) || u.Password(i) != v.Password(i)) {
				t.Fatalf("user %d of %q changes", i, text)
			}
		}
	})
}

func TestValidateNamesTheField(t *testing.T) {
	var none loadgen.Config
	err := none.Validate()
	for _, field := range []string{"Auth", "Acct", "Secret", "Users", "Workers", "Requests"} {
		if err == nil || !strings.Contains(err.Error(), "loadgen: "+field+" ") {
			t.Errorf("%s is not named in %v", field, err)
		}
	}
	for field, change := range map[string]func(*loadgen.Config){
		"Sockets":    func(c *loadgen.Config) { c.Workers, c.Sockets = 1000, 3 },
		"Timeout":    func(c *loadgen.Config) { c.Timeout = -1 },
		"Retries":    func(c *loadgen.Config) { c.Retries = 101 },
		"Duplicates": func(c *loadgen.Config) { c.Duplicates = math.NaN() },
		"Speed":      func(c *loadgen.Config) { c.Speed = math.Inf(1) },
		"Every":      func(c *loadgen.Config) { c.Every = time.Millisecond },
		"Expect":     func(c *loadgen.Config) { c.Expect = radius.CodeCoAACK },
		"Mix":        func(c *loadgen.Config) { c.Mix = loadgen.Mix{{Kind: loadgen.Kind{}, Weight: 1}} },
		"Profile":    func(c *loadgen.Config) { c.Workers, c.Profile = 0, loadgen.Constant(0, time.Second) },
		"Acct":       func(c *loadgen.Config) { c.Acct = v6 },
	} {
		c := config(t)
		change(&c)
		err := c.Validate()
		if err == nil || !strings.HasPrefix(err.Error(), "loadgen: "+field+" ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", field, err)
		}
	}
}
