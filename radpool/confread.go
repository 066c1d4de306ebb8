package radpool

import (
	"fmt"
	"slices"
	"strings"

	"github.com/radpool/radpool/internal/radiusconf"
)

// confReader makes a Conf of a tree.
type confReader struct {
	tree  *radiusconf.Tree
	kinds *confKinds
	conf  *Conf
	errs  []error
	named map[string]bool // what a notice was given of

	limits                   map[string]confPlace // where the fields of Config are said, by their names
	require, limitProxyState *Requirement         // of security { }, for clients that do not say
	unsaid, unsaidHosts      []confUnsaid         // of Clients and Hosts, one for each

	// What is being read now: the take functions of its kind fill it.
	client     *confClient
	socket     *confSocket
	database   *confDatabase
	ownClients bool // the server has clients that no other has
}

// confKind is a kind of section: what may stand in it. Names that are in none of the
// maps are errors.
type confKind struct {
	title    string // before the names in it, in notices
	pairs    map[string]confTake
	sections map[string]func(*confReader, *radiusconf.Section)
	pass     map[string]confReason // pairs and sections that are passed over, and why

	// other is asked for what is in none of them, if it is not nil: it reports whether
	// that is all right.
	other func(*confReader, radiusconf.Item) bool
}

// confTake takes a value, and returns what is wrong with it, or "". What it returns
// must not hold a secret.
type confTake func(r *confReader, p *radiusconf.Pair, value string) string

func (r *confReader) fail(at radiusconf.Pos, field, problem string) {
	if len(r.errs) < MaxConfErrors {
		r.errs = append(r.errs, &ConfError{File: at.File, Line: at.Line, Field: field, Problem: problem})
	}
}

// pass notes that something is passed over, once for each field.
func (r *confReader) pass(at radiusconf.Pos, field string, reason confReason) {
	if !r.named[field] {
		r.named[field] = true
		r.conf.Notices = append(r.conf.Notices, ConfNotice{at.File, at.Line, field, reason.text, reason.harmless})
	}
}

// read goes through a section of that kind.
func (r *confReader) read(sec *radiusconf.Section, kind *confKind) {
	said := make(map[string]int)
	for _, item := range sec.Items {
		if item.Pair != nil {
			r.pair(item.Pair, kind, said)
		} else {
			r.section(item.Section, kind)
		}
	}
}

func (r *confReader) section(s *radiusconf.Section, kind *confKind) {
	if read := kind.sections[s.Title()]; read != nil {
		read(r, s)
		return
	}
	if read := kind.sections[s.Name]; read != nil {
		read(r, s)
		return
	}
	if why, ok := kind.pass[s.Name]; ok {
		if len(s.Items) > 0 { // else it says nothing
			r.pass(s.Pos, kind.title+s.Name, why)
		}
		return
	}
	if kind.other == nil || !kind.other(r, radiusconf.Item{Section: s}) {
		r.unknown(s.Pos, s.Name, kind)
	}
}

func (r *confReader) pair(p *radiusconf.Pair, kind *confKind, said map[string]int) {
	take := kind.pairs[p.Name]
	if take == nil {
		if why, ok := kind.pass[p.Name]; ok {
			r.pass(p.Pos, kind.title+p.Name, why)
			return
		}
		switch {
		case kind.other != nil && kind.other(r, radiusconf.Item{Pair: p}):
		case p.Op == "" && !r.kinds.known(p.Name):
			r.fail(p.Pos, confStray, "is unknown"+kind.inWords()+", and no = follows it")
		case p.Op == "" || !r.tree.Referenced(p.Name): // else it is a variable
			r.unknown(p.Pos, p.Name, kind)
		}
		return
	}
	switch first := said[p.Name]; {
	case p.Op == "":
		r.fail(p.Pos, p.Name, "has no value: = must follow")
		return
	case p.Op != "=" && p.Op != ":=":
		r.fail(p.Pos, p.Name, fmt.Sprintf("is followed by %s: must be =, with blanks around it", p.Op))
		return
	case first > 0:
		r.fail(p.Pos, p.Name, fmt.Sprintf("stands in this section twice: first in line %d", first))
		return
	}
	said[p.Name] = p.Line
	value, err := r.tree.Value(p)
	if err != nil {
		if len(r.errs) < MaxConfErrors {
			r.errs = append(r.errs, r.kinds.error(err))
		}
		return
	}
	if problem := take(r, p, value); problem != "" {
		r.fail(p.Pos, p.Name, problem)
	}
}

// unknown is an error that says which name is perhaps meant.
func (r *confReader) unknown(at radiusconf.Pos, name string, kind *confKind) {
	if len(r.errs) >= MaxConfErrors { // nobody reads it, and to compare millions of names takes hours
		return
	}
	problem := "is unknown" + kind.inWords()
	best, least := "", 3 // more changes than two make another word of it
	consider := func(known string) {
		if d := editDistance(name, known); d < least || d == least && known < best {
			best, least = known, d
		}
	}
	for known := range kind.pairs {
		consider(known)
	}
	for known := range kind.sections {
		consider(known)
	}
	for known := range kind.pass {
		consider(known)
	}
	if best != "" && len(name) > 3 {
		problem += ": is " + best + " meant?"
	}
	r.fail(at, name, problem)
}

// inWords says where the names of this kind stand.
func (k *confKind) inWords() string {
	if k.title == "" {
		return ""
	}
	return " in " + strings.TrimSuffix(k.title, ".")
}

// confStray stands for a word that nobody knows in an error: it may be the rest of a
// secret.
const confStray = "a word"

// editDistance is how many octets must be added, taken away or changed to make b of a.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// confBool reads a truth value as FreeRADIUS does.
func confBool(value string) (yes, ok bool) {
	switch value {
	case "yes", "true", "on", "1":
		return true, true
	case "no", "false", "off", "0":
		return false, true
	}
	return false, false
}

// confRequirement reads yes, no or auto.
func confRequirement(dst func(*confReader) **Requirement) confTake {
	return func(r *confReader, _ *radiusconf.Pair, value string) string {
		said := Auto
		if value != "auto" {
			yes, ok := confBool(value)
			switch {
			case !ok:
				return fmt.Sprintf("is %.32q: must be yes, no or auto", value)
			case yes:
				said = Yes
			default:
				said = No
			}
		}
		*dst(r) = &said
		return ""
	}
}

// confWithin takes a whole number within bounds.
func confWithin(least, most int, dst func(*confReader) *int) confTake {
	return func(r *confReader, _ *radiusconf.Pair, value string) string {
		n, ok := confWhole(value)
		if !ok || n < least || n > most {
			return fmt.Sprintf("is %.32q: must be %d to %d", value, least, most)
		}
		*dst(r) = n
		return ""
	}
}

// confYesNo takes a truth value.
func confYesNo(dst func(*confReader) *bool) confTake {
	return func(r *confReader, _ *radiusconf.Pair, value string) string {
		yes, ok := confBool(value)
		if !ok {
			return fmt.Sprintf("is %.32q: must be yes or no", value)
		}
		*dst(r) = yes
		return ""
	}
}

// confOneOf takes one of these words and nothing else.
func confOneOf(why string, words ...string) confTake {
	return func(_ *confReader, _ *radiusconf.Pair, value string) string {
		if slices.Contains(words, value) {
			return ""
		}
		return fmt.Sprintf("is %.64q: must be %q: %s", value, words[0], why)
	}
}
