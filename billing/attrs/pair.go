package attrs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/radpool/radpool/billing"
)

// maxPair is the most octets of a pair: a name, an operator, and a value in which
// each octet may be escaped.
const maxPair = 2048

// AddPair adds an attribute that is written as FreeRADIUS writes it in a users file,
// or in radiusReplyAttribute of a directory, to g.Reply or g.Hidden:
//
//	Framed-IP-Address := 10.0.0.1     this value and no other
//	Session-Timeout = 3600            if there is none yet
//	Framed-Route += "10.9.0.0/16"     one more
//
// A value may stand in double or single quotes. The error names the attribute, if it
// got so far, and not the value; g is then as it was.
func AddPair(g *billing.Grant, pair string) error {
	name, operator, value, err := cutPair(pair)
	if err != nil {
		return fmt.Errorf("attrs: %w", err)
	}
	a, err := Find(name)
	if err != nil {
		return err
	}
	switch operator {
	case "=":
		if a.present(g) {
			return nil
		}
	case ":=":
		before := *g
		a.remove(g)
		if err := a.Add(g, value); err != nil {
			*g = before
			return err
		}
		return nil
	}
	return a.Add(g, value)
}

// cutPair cuts a pair into its parts.
func cutPair(pair string) (name, operator, value string, err error) {
	if len(pair) > maxPair {
		return "", "", "", fmt.Errorf("a pair of %d octets, the most is %d", len(pair), maxPair)
	}
	at := strings.IndexByte(pair, '=')
	if at < 0 {
		return "", "", "", errors.New("a pair without an operator: want NAME = VALUE, NAME := VALUE or NAME += VALUE")
	}
	name, operator, value = pair[:at], "=", strings.TrimSpace(pair[at+1:])
	if n := len(name); n > 0 && (name[n-1] == ':' || name[n-1] == '+') {
		name, operator = name[:n-1], pair[at-1:at+1]
	}
	if name = strings.TrimSpace(name); name == "" {
		return "", "", "", errors.New("a pair without a name")
	}
	if strings.ContainsAny(name, " \t<>!~'\"") || strings.HasPrefix(pair[at+1:], "=") || strings.HasPrefix(pair[at+1:], "~") {
		return "", "", "", errors.New("a pair with another operator than =, := and +=")
	}
	if n := len(value); n > 0 && (value[0] == '"' || value[0] == '\'') {
		if n < 2 || value[n-1] != value[0] {
			return "", "", "", fmt.Errorf("attribute %s: a quote that is not closed", name)
		}
		value = value[1 : n-1]
	}
	return name, operator, value, nil
}
