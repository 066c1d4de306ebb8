package loadgen

import (
	"fmt"
	"strconv"
	"strings"
)

// Method is how a subscriber is authenticated.
type Method uint8

// The methods. MethodNone is accounting alone, MethodStatus a Status-Server.
const (
	MethodNone Method = iota
	MethodPAP
	MethodCHAP
	MethodMSCHAPv2
	MethodStatus
	MethodMSCHAP // version 1
)

// A Kind is what one conversation is: an authentication, or a session, which is that and the accounting after it.
type Kind struct {
	Method  Method
	Session bool // Start, Interims and Stop follow
}

// kinds are the names of a mix.
var kinds = []struct {
	name string
	kind Kind
}{
	{"pap", Kind{MethodPAP, false}},
	{"chap", Kind{MethodCHAP, false}},
	{"mschap", Kind{MethodMSCHAP, false}},
	{"mschapv2", Kind{MethodMSCHAPv2, false}},
	{"session", Kind{MethodPAP, true}},
	{"session-chap", Kind{MethodCHAP, true}},
	{"session-mschap", Kind{MethodMSCHAP, true}},
	{"session-mschapv2", Kind{MethodMSCHAPv2, true}},
	{"acct", Kind{MethodNone, true}},
	{"status", Kind{MethodStatus, false}},
}

// MaxWeight is the most that an Entry may weigh.
const MaxWeight = 1000

// An Entry is a kind of conversation and its share of all: its Weight beside those of the others.
type Entry struct {
	Kind   Kind
	Weight int
}

// Mix is what conversations are made of. The zero value is PAP alone.
type Mix []Entry

// ParseMix reads entries KIND or KIND=WEIGHT with commas between them. Each of the kinds pap, chap, mschap, mschapv2,
// session, session-chap, session-mschap, session-mschapv2, acct and status may stand once.
func ParseMix(s string) (Mix, error) {
	var m Mix
	for field := range strings.SplitSeq(s, ",") {
		name, weight, weighted := strings.Cut(strings.TrimSpace(field), "=")
		kind, ok := kindNamed(name)
		if !ok {
			return nil, fmt.Errorf("%.40q is none of %s", name, strings.Join(KindNames(), ", "))
		}
		e := Entry{Kind: kind, Weight: 1}
		if weighted {
			n, err := strconv.Atoi(weight)
			if err != nil || n < 1 || n > MaxWeight {
				return nil, fmt.Errorf("the weight of %s must be a whole number from 1 to %d", name, MaxWeight)
			}
			e.Weight = n
		}
		for _, other := range m {
			if other.Kind == kind {
				return nil, fmt.Errorf("%s stands twice", name)
			}
		}
		m = append(m, e)
	}
	return m, nil
}

// KindNames are the names that ParseMix knows.
func KindNames() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

func kindNamed(name string) (Kind, bool) {
	for _, k := range kinds {
		if k.name == name {
			return k.kind, true
		}
	}
	return Kind{}, false
}

// String is the name that ParseMix knows it by.
func (k Kind) String() string {
	for _, known := range kinds {
		if known.kind == k {
			return known.name
		}
	}
	return fmt.Sprintf("Kind(%d,%t)", k.Method, k.Session)
}

// String is what ParseMix makes the same Mix of.
func (m Mix) String() string {
	var b strings.Builder
	for i, e := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%v=%d", e.Kind, e.Weight)
	}
	return b.String()
}

// pattern is one turn of the mix: conversation n is of kind pattern[n % len(pattern)]. The kinds are spread over it as
// evenly as their weights allow, so that every stretch of a run has nearly the same mix.
func (m Mix) pattern() []Kind {
	if len(m) == 0 {
		return []Kind{{Method: MethodPAP}}
	}
	total := 0
	credit := make([]int, len(m))
	for _, e := range m {
		total += e.Weight
	}
	pattern := make([]Kind, total)
	for i := range pattern {
		best := 0
		for k, e := range m {
			credit[k] += e.Weight
			if credit[k] > credit[best] {
				best = k
			}
		}
		credit[best] -= total
		pattern[i] = m[best].Kind
	}
	return pattern
}

func (m Mix) validate() error {
	if len(m) == 0 {
		return nil
	}
	_, err := ParseMix(m.String())
	return err
}
