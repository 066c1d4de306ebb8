// Package radiusconf reads the syntax of FreeRADIUS's radiusd.conf, versions 2 and 3,
// into sections and pairs. What they mean is for the caller to say.
//
// It understands $INCLUDE and $-INCLUDE of files and directories, comments, line
// continuation, the three kinds of quotes, references such as ${confdir},
// ${.:name}, ${..args} and ${thread[pool].max_servers}, $ENV{NAME}, and unlang as
// far as it takes to find where it ends. Where FreeRADIUS gives up on a reference that
// stands before what it refers to, this does not: a value is worked out when it is
// asked for.
//
// It is pure over an [io/fs.FS]: it opens what the text includes, and nothing else.
// Text from anybody is read within the bounds below, and never makes it panic. An
// error names the file, the line and the field, and holds no value: a value may be
// a secret.
package radiusconf

import "fmt"

// Bounds of what is read. Beyond one of them reading ends with an error that names it.
const (
	MaxDepth    = 16       // files that include one another
	MaxNesting  = 64       // sections within one another
	MaxFiles    = 10_000   // files in all, each time that one is included
	MaxFileSize = 64 << 20 // octets of all files together
	MaxItems    = 4 << 20  // pairs and sections in all: a million clients of three pairs
	MaxWord     = 256      // octets of a name
	MaxValue    = 64 << 10 // octets of a value, before and after what it refers to is put in
	MaxChain    = 64       // references to a value that is itself a reference
	MaxExpanded = 64 << 20 // octets of all values after what they refer to is put in
)

// Pos is where something stands.
type Pos struct {
	File string // the name under which it was opened
	Line int    // from 1
}

// Error is what is wrong with a text, and where.
type Error struct {
	Pos
	Field   string // the pair or section that it is about
	Problem string // what is wrong, without the value
	Stray   bool   // Field is the first word of a line of which nothing is known: it may be part of a value
	Err     error  // why, or nil
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d: %s %s", e.File, e.Line, e.Field, e.Problem)
}

// Unwrap returns what caused it, or nil.
func (e *Error) Unwrap() error { return e.Err }

// An Item is a Section or a Pair: the other one is nil.
type Item struct {
	Section *Section
	Pair    *Pair
}

// A Section is NAME { ... } or NAME INSTANCE { ... }. The root has no name.
type Section struct {
	Pos
	Name     string
	Instance string // the word after the name, without quotes
	Items    []Item // in the order in which they stand

	parent *Section
	index  index
}

// Title is how the section is written, without its brace.
func (s *Section) Title() string {
	if s.Instance == "" {
		return s.Name
	}
	return s.Name + " " + s.Instance
}

// A Pair is NAME = VALUE, or a word alone, whose Op is empty.
type Pair struct {
	Pos
	Name string
	Op   string // "=", ":=", "+=" and so on

	raw   string // between the quotes, escapes as they are
	quote byte   // or 0
	in    *Section
	state state
	value string // when state is known
}

type state uint8

const (
	unknown state = iota
	asked         // its value is being worked out
	known
)
