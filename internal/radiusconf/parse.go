package radiusconf

import (
	"fmt"
	"io"
	"io/fs"
)

// A Tree is a text that was read, with all that it includes.
type Tree struct {
	Root *Section

	env        func(string) (string, bool)
	referenced map[string]bool
	expanded   int // octets of the values that were worked out
	chain      int // values that are being worked out now
}

// Env looks an environment variable up, as os.LookupEnv does.
type Env = func(name string) (value string, ok bool)

// Load reads the file of that name from fsys, and what it includes. A leading "/"
// of a name means the root of fsys. A nil env knows no variable.
func Load(fsys fs.FS, name string, env Env) (*Tree, error) {
	p := newParser(fsys, env)
	return p.finish(p.open(name, p.tree.Root, &Error{Pos: Pos{name, 0}, Field: "file"}))
}

// Read reads one text. name is what errors call it. It cannot include anything.
func Read(r io.Reader, name string, env Env) (*Tree, error) {
	p := newParser(nil, env)
	return p.finish(p.read(r, name, p.tree.Root, &Error{Pos: Pos{name, 0}, Field: "file"}))
}

// parser reads a file and what it includes into one tree.
type parser struct {
	fsys  fs.FS
	tree  *Tree
	depth int // of files
	files int
	size  int
	items int
}

func newParser(fsys fs.FS, env Env) *parser {
	if env == nil {
		env = func(string) (string, bool) { return "", false }
	}
	return &parser{fsys: fsys, tree: &Tree{Root: new(Section), env: env, referenced: make(map[string]bool)}}
}

func (p *parser) finish(err *Error) (*Tree, error) {
	if err != nil {
		return nil, err
	}
	return p.tree, nil
}

func limit(what string, n int, unit string) string { return fmt.Sprintf("%s %d %s", what, n, unit) }

// section reads statements up to the end of the section, or of the file if the
// section is that of the file.
func (p *parser) section(s *scanner, sec *Section, nesting int) *Error {
	start := sec.Pos
	for {
		s.gap()
		switch {
		case s.end() && nesting == 0:
			return nil
		case s.end():
			return &Error{Pos: start, Field: sec.Title(), Problem: "has no } that ends it"}
		case s.peek(0) == '}' && nesting == 0:
			return s.fail("}", "ends no section")
		case s.peek(0) == '}':
			s.next()
			return nil
		}
		if p.items++; p.items > MaxItems {
			return s.fail("file", limit("has, with what it includes, more than", MaxItems, "pairs and sections"))
		}
		if err := p.statement(s, sec, nesting); err != nil {
			return err
		}
	}
}

func (p *parser) statement(s *scanner, sec *Section, nesting int) *Error {
	pos := s.pos()
	quote := s.peek(0)
	name, err := s.word()
	if err != nil {
		return err
	}
	isString := quote == '"' || quote == '\'' || quote == '`'
	shown := name
	if isString {
		shown = "a string" // whatever it was meant to be: it may have been a secret
	}
	switch {
	case name == "" && !isString:
		return s.fail("a line", fmt.Sprintf("begins with %.4q, not with a name", s.text[s.at:s.at+1]))
	case name == "$INCLUDE" || name == "$-INCLUDE":
		return p.include(s, sec, name)
	case name == "if" || name == "elsif":
		if err := s.condition(name); err != nil {
			return err
		}
		return p.body(s, sec, &Section{Pos: pos, Name: name}, nesting)
	}
	s.blanks()
	op := s.operator()
	switch c := s.peek(0); {
	case c == '{':
		return p.body(s, sec, &Section{Pos: pos, Name: shown}, nesting)
	case op != "":
		s.skip(len(op))
		return p.pair(s, sec, &Pair{Pos: pos, Name: shown, Op: op, in: sec})
	case endsStatement(c, s.end()):
		sec.Items = append(sec.Items, Item{Pair: &Pair{Pos: pos, Name: shown, in: sec, state: known}})
		return nil
	case name == "$template":
		return p.pair(s, sec, &Pair{Pos: pos, Name: name, Op: "=", in: sec})
	}
	return p.titled(s, sec, &Section{Pos: pos, Name: shown}, nesting)
}

func endsStatement(c byte, end bool) bool {
	return end || c == '\n' || c == '#' || c == '}' || c == ',' || c == ';'
}

// titled reads the words between the name of a section and its brace. There is one,
// but for unlang's map, which has two.
func (p *parser) titled(s *scanner, sec, child *Section, nesting int) *Error {
	for n := 0; s.peek(0) != '{'; n++ {
		word, err := s.word()
		if err != nil {
			return err
		}
		if n == 0 {
			child.Instance = word
		}
		s.blanks()
		if n > 1 || endsStatement(s.peek(0), s.end()) || s.operator() != "" || s.peek(0) == '(' || s.peek(0) == ')' {
			// The second word may be a value whose "=" was forgotten, and that a secret.
			return &Error{Pos: child.Pos, Field: child.Name, Stray: true, Problem: "is followed neither by = nor by {"}
		}
	}
	return p.body(s, sec, child, nesting)
}

// body reads the section whose brace is here.
func (p *parser) body(s *scanner, parent, child *Section, nesting int) *Error {
	if nesting >= MaxNesting {
		return s.fail(child.Name, limit("is deeper than", MaxNesting, "sections in one another"))
	}
	s.next() // the brace
	child.parent = parent
	parent.Items = append(parent.Items, Item{Section: child})
	return p.section(s, child, nesting+1)
}

func (p *parser) pair(s *scanner, sec *Section, pair *Pair) *Error {
	if err := p.value(s, pair); err != nil {
		return err
	}
	s.blanks()
	if !endsStatement(s.peek(0), s.end()) {
		return &Error{Pos: pair.Pos, Field: pair.Name, Problem: "has more text after its value: put the whole value in quotes"}
	}
	sec.Items = append(sec.Items, Item{Pair: pair})
	return nil
}

func (p *parser) value(s *scanner, pair *Pair) (err *Error) {
	s.blanks()
	switch c := s.peek(0); c {
	case '"', '\'', '`':
		pair.quote = c
		pair.raw, err = s.quoted(pair.Name)
	default:
		if c == '#' || c == ';' { // there is no value, which is an empty one
			return nil
		}
		pair.raw, err = s.bare(pair.Name)
	}
	return err
}
