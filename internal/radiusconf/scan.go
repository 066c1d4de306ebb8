package radiusconf

import "strings"

// scanner walks through one file.
type scanner struct {
	file string
	text string
	at   int
	line int
}

// peek returns the octet n places on, or 0 at the end.
func (s *scanner) peek(n int) byte {
	if s.at+n < len(s.text) {
		return s.text[s.at+n]
	}
	return 0
}

func (s *scanner) end() bool { return s.at >= len(s.text) }

// next steps over one octet, and counts lines.
func (s *scanner) next() {
	if s.text[s.at] == '\n' {
		s.line++
	}
	s.at++
}

func (s *scanner) skip(n int) {
	for ; n > 0 && !s.end(); n-- {
		s.next()
	}
}

func (s *scanner) pos() Pos { return Pos{s.file, s.line} }

func (s *scanner) fail(field, problem string) *Error {
	return &Error{Pos: s.pos(), Field: field, Problem: problem}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' }

// continuation returns how many octets a backslash with the end of its line
// is, or 0 if none is here.
func (s *scanner) continuation() int {
	switch {
	case s.peek(0) != '\\':
	case s.peek(1) == '\n':
		return 2
	case s.peek(1) == '\r' && s.peek(2) == '\n':
		return 3
	}
	return 0
}

// blanks steps over blanks and continued ends of lines.
func (s *scanner) blanks() {
	for !s.end() {
		n := s.continuation()
		if n == 0 && isBlank(s.peek(0)) {
			n = 1
		}
		if n == 0 {
			return
		}
		s.skip(n)
	}
}

// gap steps over all that may stand between two statements.
func (s *scanner) gap() {
	for !s.end() {
		s.blanks()
		switch s.peek(0) {
		case '\n', ',', ';':
			s.next()
		case '#':
			s.comment()
		default:
			return
		}
	}
}

func (s *scanner) comment() {
	for !s.end() && s.peek(0) != '\n' {
		s.next()
	}
}

// operator returns the operator that begins here, or "".
func (s *scanner) operator() string {
	two := s.text[s.at:min(s.at+2, len(s.text))]
	switch two {
	case "=~", "!~", "+=", "-=", ":=", "=*", "!*", "==", "!=", ">=", "<=", "++", "^=":
		return two
	}
	if c := s.peek(0); c == '=' || c == '<' || c == '>' {
		return two[:1]
	}
	return ""
}

// word returns the name that begins here, which may be in quotes, or "" if none does.
func (s *scanner) word() (string, *Error) {
	if c := s.peek(0); c == '"' || c == '\'' || c == '`' {
		return s.quoted("a string")
	}
	from := s.at
	for !s.end() {
		c := s.peek(0)
		if isBlank(c) || strings.IndexByte("\n{}(),;#\"'`", c) >= 0 || s.operator() != "" || s.continuation() > 0 {
			break
		}
		if !s.braces() {
			s.next()
		}
	}
	if s.at-from > MaxWord {
		return "", s.fail("a name", limit("longer than", MaxWord, "octets"))
	}
	return s.text[from:s.at], nil
}

// braces steps over ${...}, %{...} and $ENV{...}, and reports whether one began
// here. One that does not end on its line is none.
func (s *scanner) braces() bool {
	if c := s.peek(0); c != '$' && c != '%' {
		return false
	}
	i := s.at + 1
	if strings.HasPrefix(s.text[i:], "ENV{") {
		i += len("ENV")
	}
	if i >= len(s.text) || s.text[i] != '{' {
		return false
	}
	depth := 0
	for ; i < len(s.text) && s.text[i] != '\n' && i-s.at < MaxValue; i++ {
		switch s.text[i] {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 {
			s.at = i + 1
			return true
		}
	}
	return false
}

// quoted returns what stands between the quote that is here and the next one.
// Escapes stay, but continued lines are joined. A string must end on its line.
func (s *scanner) quoted(field string) (string, *Error) {
	start := s.pos()
	quote := s.peek(0)
	s.next()
	var b strings.Builder
	for !s.end() && s.peek(0) != '\n' {
		if b.Len() > MaxValue {
			return "", s.fail(field, limit("is longer than", MaxValue, "octets"))
		}
		if n := s.continuation(); n > 0 {
			s.skip(n)
			continue
		}
		switch c := s.peek(0); {
		case c == quote:
			s.next()
			return b.String(), nil
		case c == '\\' && s.at+1 < len(s.text):
			b.WriteString(s.text[s.at : s.at+2])
			s.skip(2)
		default:
			b.WriteByte(c)
			s.next()
		}
	}
	return "", &Error{Pos: start, Field: field, Problem: "has a quote that does not end on its line"}
}

// bare returns the value without quotes that begins here. It ends at a blank or a
// comma: a brace or a "#" is part of it, as FreeRADIUS has it.
func (s *scanner) bare(field string) (string, *Error) {
	from := s.at
	for !s.end() && !isBlank(s.peek(0)) && s.peek(0) != '\n' && s.peek(0) != ',' && s.continuation() == 0 {
		if !s.braces() {
			s.next()
		}
		if s.at-from > MaxValue {
			return "", s.fail(field, limit("is longer than", MaxValue, "octets"))
		}
	}
	return s.text[from:s.at], nil
}

// condition steps over what stands between an if or elsif and its brace.
func (s *scanner) condition(field string) *Error {
	start := s.pos()
	depth := 0
	for !s.end() {
		if s.braces() {
			continue
		}
		switch c := s.peek(0); {
		case c == '{' && depth == 0:
			return nil
		case c == '"' || c == '\'' || c == '`':
			if _, err := s.quoted(field); err != nil {
				return err
			}
		case c == '#' && depth > 0:
			s.comment()
		case s.continuation() > 0:
			s.skip(s.continuation())
		case c == '\n' && depth == 0:
			return &Error{Pos: start, Field: field, Problem: "has a condition without a { after it"}
		default:
			switch op := s.operator(); {
			case op == "=~" || op == "!~":
				s.skip(2)
				s.blanks()
				s.regex()
				continue
			case c == '(':
				depth++
			case c == ')':
				depth = max(depth-1, 0)
			}
			s.next()
		}
	}
	return &Error{Pos: start, Field: field, Problem: "has a condition that does not end"}
}

// regex steps over /.../, if one begins here.
func (s *scanner) regex() {
	if s.peek(0) != '/' {
		return
	}
	for s.next(); !s.end() && s.peek(0) != '\n'; s.next() {
		switch s.peek(0) {
		case '\\':
			s.next()
			if s.end() {
				return
			}
		case '/':
			s.next()
			return
		}
	}
}
