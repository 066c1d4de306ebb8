package radiusconf

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// include reads the file or the directory that stands after $INCLUDE. A relative
// name begins at the directory of the file that includes it.
func (p *parser) include(s *scanner, sec *Section, directive string) *Error {
	pair := &Pair{Pos: s.pos(), Name: directive, Op: "=", in: sec}
	if err := p.value(s, pair); err != nil {
		return err
	}
	s.blanks()
	if !endsStatement(s.peek(0), s.end()) {
		return &Error{Pos: pair.Pos, Field: directive, Problem: "has more text after the name of its file"}
	}
	at := &Error{Pos: pair.Pos, Field: directive}
	if p.fsys == nil {
		at.Problem = "cannot be followed: there is only this one text"
		return at
	}
	name, err := p.tree.value(pair)
	if err != nil {
		return err
	}
	if name == "" {
		at.Problem = "names no file"
		return at
	}
	if !path.IsAbs(name) {
		name = path.Join(path.Dir(s.file), name) // keeps no "/" at the end: what it is, is asked
	}
	info, statErr := fs.Stat(p.fsys, inFS(name))
	switch {
	case statErr != nil && directive == "$-INCLUDE" && errors.Is(statErr, fs.ErrNotExist):
		return nil
	case statErr != nil:
		at.Problem, at.Err = "of "+shown(name)+": "+reason(statErr), statErr
		return at
	case info.IsDir():
		return p.directory(path.Clean(name), sec, at)
	case !info.Mode().IsRegular():
		at.Problem = noFile(name)
		return at
	}
	return p.open(path.Clean(name), sec, at)
}

// noFile is what is wrong with a named pipe, which would be waited for without end, a
// socket or a device.
func noFile(name string) string { return "of " + shown(name) + ": is neither a file nor a directory" }

// inFS is a name in the words of io/fs, where there is no "/" in front.
func inFS(name string) string {
	name = strings.TrimPrefix(path.Clean(name), "/")
	if name == "" {
		return "."
	}
	return name
}

// shown bounds a name for an error.
func shown(name string) string {
	if len(name) > MaxWord {
		name = name[:MaxWord] + "..."
	}
	return name
}

// reason is an error of a file without the file's name, which stands beside it.
func reason(err error) string {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err
	}
	return err.Error()
}

// directory reads the files of a directory in the order of their names: those whose
// names are made of letters, digits, "-", "_" and ".", and do not begin with ".". So
// what editors and package managers leave behind (x~, x.dpkg-old) is partly not
// read; names that end in .dpkg-*, .rpmnew, .rpmsave, .bak or .orig are not either.
func (p *parser) directory(name string, sec *Section, at *Error) *Error {
	entries, err := fs.ReadDir(p.fsys, inFS(name))
	if err != nil {
		at.Problem, at.Err = "of "+shown(name)+": "+reason(err), err
		return at
	}
	for _, e := range entries {
		if !isIncluded(e.Name()) {
			continue
		}
		file := path.Join(name, e.Name())
		info, err := fs.Stat(p.fsys, inFS(file)) // of what a symbolic link leads to
		if err != nil {
			at.Problem, at.Err = "of "+shown(file)+": "+reason(err), err
			return at
		}
		switch {
		case info.IsDir():
			continue
		case !info.Mode().IsRegular():
			at.Problem = noFile(file)
			return at
		}
		if err := p.open(file, sec, at); err != nil {
			return err
		}
	}
	return nil
}

func isIncluded(name string) bool {
	if strings.HasPrefix(name, ".") || strings.Contains(name, ".dpkg-") {
		return false
	}
	if slices.Contains([]string{".rpmnew", ".rpmsave", ".bak", ".orig"}, path.Ext(name)) {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	})
}

// open reads a file into the section. at is where it is included.
func (p *parser) open(name string, sec *Section, at *Error) *Error {
	f, err := p.fsys.Open(inFS(name))
	if err != nil {
		at.Problem, at.Err = "of "+shown(name)+": "+reason(err), err
		return at
	}
	defer f.Close() //nolint:errcheck // it was only read
	return p.read(f, name, sec, at)
}

func (p *parser) read(r io.Reader, name string, sec *Section, at *Error) *Error {
	if p.files++; p.files > MaxFiles {
		at.Problem = limit("leads to more than", MaxFiles, "files")
		return at
	}
	if p.depth++; p.depth > MaxDepth {
		at.Problem = limit("goes deeper than", MaxDepth, "files that include one another")
		return at
	}
	text, err := io.ReadAll(io.LimitReader(r, int64(MaxFileSize-p.size)+1))
	if err != nil {
		at.Problem, at.Err = "of "+shown(name)+": "+reason(err), err
		return at
	}
	if p.size += len(text); p.size > MaxFileSize {
		at.Problem = limit("leads to more than", MaxFileSize, "octets of text")
		return at
	}
	s := &scanner{file: name, text: string(text), line: 1}
	if strings.HasPrefix(s.text, "\ufeff") {
		s.at = len("\ufeff")
	}
	if i := strings.IndexByte(s.text, 0); i >= 0 {
		line := 1 + strings.Count(s.text[:i], "\n")
		return &Error{Pos: Pos{name, line}, Field: "file", Problem: "is no text: there is a NUL in it"}
	}
	p.tree.note(s.text)
	defer func() { p.depth-- }()
	return p.section(s, sec, 0)
}
