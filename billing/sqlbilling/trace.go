package sqlbilling

import (
	"fmt"
	"slices"
	"strings"

	"github.com/radpool/radpool/internal/dict"
)

// An Effect is what a row did.
type Effect uint8

// Effects.
const (
	// Matched is a check item that compares, and matched.
	Matched Effect = iota
	// Failed is one that did not: it decided that the rest of its table, and the
	// replies that go with it, do not apply.
	Failed
	// NotCompared is a row behind one that failed.
	NotCompared
	// Set is an attribute that the row added, or put in place of another.
	Set
	// Removed is that the row's operator took attributes away.
	Removed
	// NoEffect is a row whose operator found nothing to do.
	NoEffect
	// Told is no row: a table was not looked at, for the reason in the Note.
	Told
)

var effects = [...]string{
	Matched: "matches", Failed: "does not match", NotCompared: "is not looked at any more", Set: "is set",
	Removed: "removes", NoEffect: "has no effect", Told: "",
}

// String is the Effect in words.
func (e Effect) String() string {
	if int(e) < len(effects) {
		return effects[e]
	}
	return "invalid"
}

// A Step is what became of one row, in the order in which rows were looked at. A
// check item that matches and sets something is two Steps.
type Step struct {
	Table     string
	ID        int64  // 0: of no row
	Group     string // through which the row came; empty: the user's own
	Profile   string // through which the group came; empty: the user's own
	Attribute string
	Operator  string
	Value     string // "***" for passwords and the like
	Effect    Effect
	Note      string // what it replaced or what was in its way, as "radreply, id 7"
}

// String is the step in one line.
func (s Step) String() string {
	where := s.Table
	if s.ID != 0 {
		where += fmt.Sprintf(", id %d", s.ID)
	}
	if s.Group != "" {
		where += fmt.Sprintf(", group %.64q", s.Group)
	}
	if s.Profile != "" {
		where += fmt.Sprintf(", profile %.64q", s.Profile)
	}
	if s.Effect == Told {
		return where + " " + s.Note
	}
	line := fmt.Sprintf("%s: %s %s %s: %s", where, s.Attribute, s.Operator, s.Value, s.Effect)
	if s.Note != "" {
		line += " " + s.Note
	}
	return line
}

// A tracer writes down the Steps of an evaluation. A nil tracer writes nothing.
type tracer struct {
	steps          []Step
	group, profile string
}

func (t *tracer) enterProfile(name string) {
	if t != nil {
		t.profile = name
	}
}

func (t *tracer) enterGroup(name string) {
	if t != nil {
		t.group = name
	}
}

func (t *tracer) note(table, text string) {
	if t != nil {
		t.steps = append(t.steps, Step{Table: table, Group: t.group, Profile: t.profile, Effect: Told, Note: text})
	}
}

func (t *tracer) add(p *pair, effect Effect, note string) {
	t.steps = append(t.steps, Step{
		Table: kindTables[p.row.kind], ID: p.row.id, Group: t.group, Profile: t.profile,
		Attribute: strings.TrimSpace(p.row.attribute), Operator: p.op, Value: shown(p), Effect: effect, Note: note,
	})
}

// compared says how check items compared of which failed did not match, or all did.
func (t *tracer) compared(pairs []pair, failed *pair) {
	if t == nil {
		return
	}
	for i := range pairs {
		p := &pairs[i]
		switch {
		case p == failed:
			t.add(p, Failed, "")
			for i++; i < len(pairs); i++ {
				t.add(&pairs[i], NotCompared, "")
			}
			return
		case !alwaysMatches(p):
			t.add(p, Matched, "")
		}
	}
}

// merged says what the pairs from did to a list.
func (t *tracer) merged(before, from, after []pair) {
	has := func(list []pair, p *pair) bool {
		return slices.ContainsFunc(list, func(q pair) bool { return q.row == p.row })
	}
	told := make(map[*row]bool) // what one pair took away no other did
	for i := range from {
		p := &from[i]
		same := func(q *pair) bool { return p.ref.Same(q.ref.Attr) && p.ref.Tag == q.ref.Tag }
		var gone, there []string
		for j := range before {
			q := &before[j]
			switch {
			case !same(q) || told[q.row]:
			case has(after, q):
				there = append(there, place(q))
			default:
				told[q.row] = true
				gone = append(gone, place(q))
			}
		}
		switch {
		case has(after, p) && len(gone) > 0:
			t.add(p, Set, "in place of "+strings.Join(gone, " and "))
		case has(after, p):
			t.add(p, Set, "")
		case len(gone) > 0:
			t.add(p, Removed, strings.Join(gone, " and "))
		case isReply(p) || !compares(p.op):
			note := ""
			if len(there) > 0 {
				note = "beside " + strings.Join(there, " and ")
			}
			t.add(p, NoEffect, note)
		}
	}
}

// compares reports whether a check item with this operator has done its work once
// it has matched.
func compares(op string) bool {
	switch op {
	case "==", "!=", "<", ">", "<=", ">=", "=~", "!~", "=*", "!*":
		return true
	}
	return false
}

// place names the row of a pair.
func place(p *pair) string { return fmt.Sprintf("%s, id %d", kindTables[p.row.kind], p.row.id) }

// shown is a value for whoever may see the database's rows, but not its passwords.
func shown(p *pair) string {
	if dict.Secret(p.ref.Attr) {
		return "***"
	}
	return fmt.Sprintf("%.253q", dict.HidePairs(p.row.value, "***"))
}
