package sqlbilling

import (
	"strings"
	"time"

	"github.com/radpool/radpool/billing/sqlbilling/internal/item"
	"github.com/radpool/radpool/internal/dict"
)

// A pair is a row understood: an attribute, an operator and a value.
type pair struct {
	ref   dict.Ref
	op    string
	value []byte // as on the wire; the text itself for the operators that take a pattern
	row   *row
}

// blanksOff is the name of an attribute without blanks around it. No more is taken off
// than the statements take off that look for some attributes by their names: one that
// they would overlook is unknown.
func blanksOff(s string) string { return strings.Trim(s, " ") }

// parseRow understands a row. An operator that is missing is ==, as in FreeRADIUS.
func parseRow(r *row, d *dict.Dictionary, loc *time.Location) (pair, error) {
	ref, err := d.Lookup(blanksOff(r.attribute))
	switch {
	case (err != nil || ref.Internal()) && r.unenforced():
		return pair{}, r.error(counterLimit)
	case err != nil:
		return pair{}, r.error("unknown attribute")
	}
	p := pair{ref: ref, op: strings.TrimSpace(r.op), row: r}
	if p.op == "" {
		p.op = "=="
	}
	text, err := item.Unquote(r.value)
	if err != nil {
		return pair{}, r.error(err.Error())
	}
	switch p.op {
	case ":=", "=", "+=", "^=", "-=", "==", "!=", ">", ">=", "<", "<=":
		if p.value, err = ref.Parse(text, loc); err != nil {
			return pair{}, r.error(err.Error())
		}
	case "=~", "!~":
		p.value = []byte(text)
	case "=*", "!*":
	default:
		return pair{}, r.error("unknown operator")
	}
	return p, nil
}

func parseRows(rows []row, d *dict.Dictionary, loc *time.Location) ([]pair, error) {
	pairs := make([]pair, 0, len(rows))
	for i := range rows {
		p, err := parseRow(&rows[i], d, loc)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

// merge applies the pairs of one table to a list, as FreeRADIUS does. Operators
// look only at what was in the list before this table, and each overwrites what
// it finds once: two := of one attribute in one table both stay.
//
//	:=  overwrites the first, or is added     =   is added if there is none
//	+=  is added                              ^=  is added in front
//	-=  deletes the equal ones                ==  deletes the others
//	!*  deletes all                           <= >=  replaces the first beyond, or is added
//	                                                 if there is none
//
// The other operators compare and change nothing.
func merge(to, from []pair) []pair {
	original := len(to)
	settled := make([]bool, original) // deleted, or overwritten by this table
	gone := make([]bool, original)
	var front, back []pair
	for _, p := range from {
		add := p.op == ":=" || p.op == "=" || p.op == "<=" || p.op == ">="
		switch p.op {
		case "+=":
			back = append(back, p)
			continue
		case "^=":
			front = append(front, p)
			continue
		}
		for j := range to {
			if settled[j] || !p.ref.Same(to[j].ref.Attr) || p.ref.Tag != to[j].ref.Tag {
				continue
			}
			action := onExisting(p, to[j])
			if action == replace {
				to[j] = p
			}
			settled[j] = action != keep
			gone[j] = action == remove
			add = false
			if p.op == "=" || action == replace {
				break
			}
		}
		if add {
			back = append(back, p)
		}
	}
	result := front
	for j := range to {
		if !gone[j] {
			result = append(result, to[j])
		}
	}
	return append(result, back...)
}

type action uint8

const (
	keep action = iota
	replace
	remove
)

// onExisting says what p does to old, a pair of the same attribute.
func onExisting(p, old pair) action {
	order := p.ref.Compare(old.value, p.value)
	switch {
	case p.op == ":=", p.op == "<=" && order > 0, p.op == ">=" && order < 0:
		return replace
	case p.op == "!*", p.op == "-=" && order == 0, p.op == "==" && order != 0:
		return remove
	}
	return keep
}
