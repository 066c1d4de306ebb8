package golden

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/tools/txtar"
	"layeh.com/radius"

	"github.com/radpool/radpool/internal/dict"
)

// Bounds on what is read.
const (
	MaxOctets = 64 << 20 // of a file
	MaxCases  = 100_000
)

// Names that are no attributes of the wire.
const (
	UserPassword    = "User-Password"         // in cleartext: PAP
	CHAPPassword    = "CHAP-Password"         // likewise, from which the response is made
	MSCHAPPassword  = "MS-CHAP-Password"      // likewise
	MSCHAP2Password = "MS-CHAP2-Password"     // likewise, MS-CHAPv2
	Source          = "Packet-Src-IP-Address" // the address of the NAS
	PacketType      = "Packet-Type"           // the code, as a name
)

var special = map[string]string{}

func init() {
	for _, name := range []string{UserPassword, CHAPPassword, MSCHAPPassword, MSCHAP2Password, Source, PacketType} {
		special[strings.ToLower(name)] = name
	}
}

// A Pair is an attribute.
type Pair struct {
	Line  int
	Name  string // as the dictionary has it, with its tag; or one of those that are no attributes
	Text  string // of a special name, the value
	AVP   *radius.AVP
	Value []byte // without its tag
	Any   bool   // whatever the value: *

	key string // the Name, where that is by number the dictionary's
}

// A Packet is a request, or what is expected to come of it.
type Packet struct {
	Line  int    // of its first
	Head  string // the code of a request, which may be empty; "Access-Accept" and the like, "silence" or "failed"
	Pairs []Pair
}

// A Case is a request and its reply.
type Case struct {
	Name           string
	Line           int
	Request, Reply Packet
	reply          int // its place in the archive
}

// A File is one that was read.
type File struct {
	Name    string
	Cases   []Case
	archive *txtar.Archive
}

// An Error is what is wrong in a file, and where.
type Error struct {
	File string
	Line int
	Err  error
}

// Error names file and line.
func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// Parse reads a file. The name is for errors, each of which is an *Error; several are
// joined.
func Parse(name string, text []byte) (*File, error) {
	fail := func(line int, format string, args ...any) error {
		return &Error{name, line, fmt.Errorf(format, args...)}
	}
	if len(text) > MaxOctets {
		return nil, fail(1, "%d octets, the most is %d", len(text), MaxOctets)
	}
	f := &File{Name: name, archive: txtar.Parse(text)}
	if len(f.archive.Files) > 2*MaxCases {
		return nil, fail(1, "more than %d cases", MaxCases)
	}
	var errs []error
	line := 1 + bytes.Count(f.archive.Comment, []byte("\n"))
	var open *Case // whose reply is to come
	for i, part := range f.archive.Files {
		title, at := part.Name, line
		line += 1 + bytes.Count(part.Data, []byte("\n"))
		p, err := parsePacket(part.Data, at+1)
		if err != nil {
			err.File = name
			errs = append(errs, err)
		}
		switch what, request := strings.CutSuffix(title, ".request"); {
		case request && open != nil:
			errs = append(errs, fail(at, "%s: %s.reply is missing before it", title, open.Name))
			fallthrough
		case request:
			open = &Case{Name: what, Line: at, Request: p}
		case open != nil && title == open.Name+".reply":
			if open.Reply = p; p.Head == "" && err == nil {
				errs = append(errs, fail(at, "%s: the first line must be what is expected, such as Access-Accept, silence or failed", title))
			}
			open.reply = i
			f.Cases = append(f.Cases, *open)
			open = nil
		default:
			errs = append(errs, fail(at, "%s: must be NAME.request, or NAME.reply behind NAME.request", title))
		}
	}
	if open != nil {
		errs = append(errs, fail(open.Line, "%s.reply is missing behind %s.request", open.Name, open.Name))
	}
	return f, errors.Join(errs...)
}

// parsePacket reads what stands between two names.
func parsePacket(text []byte, line int) (Packet, *Error) {
	p := Packet{Line: line}
	for rest := string(text); ; {
		pair, head, after, err := next(rest)
		line += strings.Count(rest[:len(rest)-len(after.from)], "\n")
		if err != nil {
			return p, &Error{Line: line, Err: err}
		}
		rest = after.rest
		switch {
		case head == "" && pair.Name == "":
			return p, nil
		case head != "" && (p.Head != "" || len(p.Pairs) > 0):
			return p, &Error{Line: line, Err: fmt.Errorf("%q: an attribute has = and a value", head)}
		case head != "":
			p.Head = head
		case pair.Name == PacketType && p.Head == "":
			p.Head = pair.Text
		case pair.Name == PacketType:
			return p, &Error{Line: line, Err: errors.New("there are two codes")}
		default:
			pair.Line = line
			p.Pairs = append(p.Pairs, pair)
		}
	}
}

// after is where a pair was, and what is behind it.
type after struct{ from, rest string }

// next reads the next pair, or a word without a value. At the end there is neither.
func next(s string) (pair Pair, head string, a after, err error) {
	for {
		s = strings.TrimLeft(s, " \t\r\n,")
		if !strings.HasPrefix(s, "#") {
			break
		}
		s = s[lineEnd(s):]
	}
	a.from, a.rest = s, s
	if s == "" {
		return pair, "", a, nil
	}
	n := strings.IndexAny(s, " \t\r\n,=+!<>~\"'#")
	if n < 0 {
		n = len(s)
	}
	for _, op := range []string{":"} { // of :=
		n -= len(s[:n]) - len(strings.TrimSuffix(s[:n], op))
	}
	name, rest := s[:n], strings.TrimLeft(s[n:], " \t")
	switch {
	case name == "":
		return pair, "", a, fmt.Errorf("no attribute begins with %q", s[:1])
	case strings.HasPrefix(rest, ":="):
		rest = rest[2:]
	case strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "==") && !strings.HasPrefix(rest, "=~"):
		rest = rest[1:]
	case strings.TrimRight(rest[:lineEnd(rest)], " \t\r") == "" || rest[0] == '#' || rest[0] == ',':
		a.rest = rest
		return pair, name, a, nil
	default:
		return pair, "", a, fmt.Errorf("%s: the operator must be =", name)
	}
	value, quoted, rest, err := readValue(strings.TrimLeft(rest, " \t"))
	if err != nil {
		return pair, "", a, fmt.Errorf("%s: %w", name, err)
	}
	a.rest = rest
	pair, err = newPair(name, value, quoted)
	return pair, "", a, err
}

func lineEnd(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

// readValue takes a value off s: in quotes, or to the next comma, comment or end of line.
func readValue(s string) (value string, quoted bool, rest string, err error) {
	line := s[:lineEnd(s)]
	if line == "" || line[0] != '"' && line[0] != '\'' {
		n := len(line)
		if i := strings.IndexAny(line, ",#"); i >= 0 {
			n = i
		}
		if value = strings.TrimSpace(line[:n]); value == "" {
			return "", false, s, errors.New("there is no value")
		}
		return value, false, s[n:], nil
	}
	quote := line[0]
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] == '\\' && quote == '"':
			i++
		case line[i] == quote:
			if value = line[1:i]; quote == '\'' {
				value = strings.ReplaceAll(value, `\`, `\\`)
			}
			return value, true, s[i+1:], nil
		}
	}
	return "", false, s, errors.New("the quote is not closed")
}

// newPair is an attribute by its name.
func newPair(name, value string, quoted bool) (Pair, error) {
	if s, ok := special[strings.ToLower(name)]; ok {
		p := Pair{Name: s, Text: value, Any: value == "*" && !quoted}
		if quoted {
			text, err := userName.Parse(value, time.UTC)
			if err != nil {
				return p, err
			}
			p.Text = string(text)
		}
		return p, nil
	}
	ref, err := dict.Lookup(name)
	if err != nil {
		return Pair{}, err
	}
	p := Pair{Name: nameOf(ref)}
	if value == "*" && !quoted {
		p.Any = true
		return p, nil
	}
	if p.Value, err = ref.Parse(value, time.UTC); err != nil {
		return p, err
	}
	if ref.Vendor == 0 && ref.Code == vendorSpecific { // one that is malformed
		p.AVP = &radius.AVP{Type: vendorSpecific, Attribute: p.Value}
		return p, nil
	}
	if ref.Encrypt != 0 {
		return p, fmt.Errorf("%s is encrypted on the wire: its value can only be *", name)
	}
	p.AVP, err = ref.Encode(p.Value)
	return p, err
}

const vendorSpecific = 26

var userName = func() dict.Ref {
	ref, err := dict.Lookup("User-Name") // a text as any other
	if err != nil {
		panic("golden: " + err.Error())
	}
	return ref
}()
