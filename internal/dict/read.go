package dict

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// A reader reads the files of one dictionary. layeh's parser stops at what it does
// not know (TLV, FreeRADIUS's formats of vendors, a value before its attribute),
// and so at the first of FreeRADIUS's own files.
type reader struct {
	d    *Dictionary
	fsys fs.FS
	own  bool // the embedded ones are read

	file  string
	line  int
	depth int

	inside  *vendor // BEGIN-VENDOR
	nesting int     // BEGIN-TLV and the like, whose attributes are passed over

	values  []value
	skipped map[string]bool // attributes that were passed over, in lower case
	defined int             // attributes
	files   int
	size    int
	notices []Notice
}

// A value is a VALUE whose attribute may come later.
type value struct {
	attr, name, number string
	file               string
	line               int
}

func (r *reader) error(err error) error { return &Error{r.file, r.line, err} }

func (r *reader) errorf(format string, args ...any) error {
	return r.error(fmt.Errorf(format, args...))
}

// pass counts something that is passed over.
func (r *reader) pass(what string) {
	for i := range r.notices {
		if r.notices[i].What == what {
			r.notices[i].Count++
			return
		}
	}
	r.notices = append(r.notices, Notice{r.file, r.line, what, 1})
}

// read reads a file and all that it includes.
func (r *reader) read(name string) error {
	if err := r.include(name); err != nil {
		return err
	}
	return r.end()
}

// include reads one file.
func (r *reader) include(name string) error {
	if r.files++; r.files > MaxFiles {
		return r.errorf("more than %d files", MaxFiles)
	}
	if r.depth > MaxDepth {
		return r.errorf("$INCLUDE goes deeper than %d files: does one include itself?", MaxDepth)
	}
	text, err := readFile(r.fsys, name)
	if err == nil {
		if r.size += len(text); r.size > MaxSize {
			err = fmt.Errorf("the files together are %w: more than %d octets", errTooLarge, MaxSize)
		}
	}
	if err != nil {
		if r.file == "" {
			return &Error{File: name, Err: err}
		}
		return r.errorf("$INCLUDE %.128s: %w", name, err)
	}
	file, line, inside, nesting := r.file, r.line, r.inside, r.nesting
	r.file, r.line, r.inside, r.nesting = name, 0, nil, 0
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, MaxLine)
	for lines.Scan() {
		r.line++
		text, _, _ := strings.Cut(lines.Text(), "#")
		if fields := strings.Fields(text); len(fields) > 0 {
			if err := r.statement(fields); err != nil {
				return err
			}
		}
	}
	if lines.Err() != nil {
		r.line++
		return r.errorf("a line of more than %d octets", MaxLine)
	}
	if r.inside != nil || r.nesting > 0 {
		return r.errorf("the file ends within a BEGIN-VENDOR or BEGIN-TLV")
	}
	r.file, r.line, r.inside, r.nesting = file, line, inside, nesting
	return nil
}

func readFile(fsys fs.FS, name string) ([]byte, error) {
	name = strings.TrimPrefix(name, "/")
	if info, err := fs.Stat(fsys, name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, errNoFile // a named pipe would be waited for without end
	}
	f, err := fsys.Open(name)
	if err != nil {
		if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
			err = pe.Err // the caller names the file
		}
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxFileSize+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if len(text) > MaxFileSize {
		return nil, fmt.Errorf("%w: more than %d octets", errTooLarge, MaxFileSize)
	}
	return text, nil
}

// statement does what one line says.
func (r *reader) statement(f []string) error {
	keyword := strings.ToUpper(f[0])
	if want, known := operands[keyword]; !known {
		return r.errorf("%.32q is no keyword of a dictionary", f[0])
	} else if len(f) <= want {
		return r.errorf("%s wants at least %d words after it", keyword, want)
	}
	switch keyword {
	case "$INCLUDE", "$INCLUDE-":
		return r.includeFrom(f[1], keyword == "$INCLUDE-")
	case "VENDOR":
		return r.vendor(f[1:])
	case "BEGIN-VENDOR":
		v := r.d.vendors[strings.ToLower(f[1])]
		switch {
		case v == nil:
			return r.errorf("unknown vendor %.64q", f[1])
		case r.inside != nil:
			return r.errorf("BEGIN-VENDOR within BEGIN-VENDOR %s", r.inside.name)
		case len(f) > 2: // of extended attributes (RFC 6929)
			v = &vendor{name: v.name, number: v.number, hidden: true}
		}
		r.inside = v
	case "END-VENDOR":
		if r.inside == nil || !strings.EqualFold(r.inside.name, f[1]) {
			return r.errorf("END-VENDOR %.64s without its BEGIN-VENDOR", f[1])
		}
		r.inside = nil
	case "BEGIN-TLV", "BEGIN":
		r.nesting++
	case "END-TLV", "END":
		if r.nesting--; r.nesting < 0 {
			return r.errorf("%s without its beginning", keyword)
		}
	case "ATTRIBUTE":
		return r.attribute(f[1:])
	case "VALUE":
		if r.values = append(r.values, value{f[1], f[2], f[3], r.file, r.line}); len(r.values) > MaxValues {
			return r.errorf("more than %d VALUEs", MaxValues)
		}
	default:
		r.pass(keyword + ", which is not supported")
	}
	return nil
}

// operands are the keywords, with the least number of words that follow. Those
// that statement does not name are passed over.
var operands = map[string]int{
	"$INCLUDE": 1, "$INCLUDE-": 1, "VENDOR": 2, "BEGIN-VENDOR": 1, "END-VENDOR": 1, "ATTRIBUTE": 3, "VALUE": 3,
	"BEGIN-TLV": 1, "END-TLV": 1, "BEGIN": 1, "END": 0,
	"VALUE-ALIAS": 0, "FLAGS": 0, "PROTOCOL": 0, "BEGIN-PROTOCOL": 0, "END-PROTOCOL": 0, "DEFINE": 0, "STRUCT": 0,
	"MEMBER": 0, "ENUM": 0, "ALIAS": 0,
}

func (r *reader) includeFrom(name string, optional bool) error {
	full := path.Join(path.Dir(r.file), name)
	if strings.HasPrefix(name, "/") {
		full = path.Clean(name)
	}
	if !fs.ValidPath(strings.TrimPrefix(full, "/")) {
		return r.errorf("$INCLUDE %.128s: outside of what may be read", name)
	}
	if optional {
		if _, err := fs.Stat(r.fsys, strings.TrimPrefix(full, "/")); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	r.depth++
	err := r.include(full)
	r.depth--
	return err
}

// vendor is VENDOR name number [format=number,length[,c]].
func (r *reader) vendor(f []string) error {
	n, err := parseID(f[1], 32)
	if err != nil || n == 0 || len(f[0]) > maxName {
		return r.errorf("VENDOR %.64s: %.32q is no number of a vendor", f[0], f[1])
	}
	v := &vendor{name: f[0], number: uint32(n), format: format{1, 1}}
	for _, flag := range f[2:] {
		text, ok := strings.CutPrefix(flag, "format=")
		if !ok {
			return r.errorf("VENDOR %s: unknown flag %.32q", f[0], flag)
		}
		sizes := strings.Split(text, ",")
		if len(sizes) == 3 && sizes[2] == "c" { // WiMAX: a value may go on in the next attribute
			v.hidden = true
			sizes = sizes[:2]
		}
		if len(sizes) != 2 || !strings.Contains(" 1 2 4 ", " "+sizes[0]+" ") || !strings.Contains(" 0 1 2 ", " "+sizes[1]+" ") {
			return r.errorf("VENDOR %s: %.32q: must be format=1, 2 or 4, then 0, 1 or 2", f[0], flag)
		}
		v.format = format{sizes[0][0] - '0', sizes[1][0] - '0'}
	}
	r.d.vendors[strings.ToLower(v.name)] = v
	if delete(r.d.formats, v.number); v.format != (format{1, 1}) {
		r.d.formats[v.number] = v.format
	}
	return nil
}

// parseID is a number of a vendor or an attribute, decimal or after 0x.
func parseID(s string, bits int) (uint64, error) {
	if digits, ok := strings.CutPrefix(strings.ToLower(s), "0x"); ok {
		return strconv.ParseUint(digits, 16, bits)
	}
	return strconv.ParseUint(s, 10, bits)
}
