package dict

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"sync"
)

// Bounds on what is read. FreeRADIUS's own dictionaries are 230 files, 1.7 MB,
// 8,600 attributes and 9,500 names of values.
const (
	MaxFiles      = 2048    // each $INCLUDE counts
	MaxDepth      = 16      // of $INCLUDE
	MaxFileSize   = 4 << 20 // octets of one file
	MaxSize       = 32 << 20
	MaxAttributes = 1 << 17
	MaxValues     = 1 << 18
	MaxLine       = 4096 // octets of a line
	maxName       = 128
)

//go:embed share
var share embed.FS

// Default returns the embedded dictionary. It is read at first use.
var Default = sync.OnceValue(func() *Dictionary {
	d, err := embedded()
	if err != nil {
		panic("dict: " + err.Error())
	}
	return d
})

func empty() *Dictionary {
	return &Dictionary{
		byName: make(map[string]*Attr), byNumber: make(map[number]*Attr),
		vendors: make(map[string]*vendor), formats: make(map[uint32]format),
	}
}

func embedded() (*Dictionary, error) { return own(share, "share/dictionary") }

// own reads a dictionary as the embedded one.
func own(fsys fs.FS, name string) (*Dictionary, error) {
	d := empty()
	return d, (&reader{d: d, fsys: fsys, own: true}).read(name)
}

// Load reads a dictionary in the format of FreeRADIUS 2 and 3, and all that it
// includes, on top of the embedded one. What is defined in both is as the file
// says, but for the internal attributes that are embedded, by which FreeRADIUS's
// modules are steered, and radpool: those stay. A file with a name that begins
// with / is looked for from the root of fsys, any other beside the one that
// includes it.
//
// Attributes that consist of others (TLV, extended, struct) are passed over:
// see [Dictionary.Notices]. The error names the file and the line.
func Load(fsys fs.FS, name string) (*Dictionary, error) {
	d, err := embedded()
	if err != nil {
		return nil, err
	}
	return load(d, fsys, name)
}

// load reads a dictionary on top of d.
func load(d *Dictionary, fsys fs.FS, name string) (*Dictionary, error) {
	r := &reader{d: d, fsys: fsys}
	if err := r.read(name); err != nil {
		return nil, err
	}
	d.notices = r.notices
	return d, nil
}

// A Notice is something in a dictionary that was passed over.
type Notice struct {
	File  string // of the first one
	Line  int
	What  string
	Count int
}

// String is the notice in one line.
func (n Notice) String() string { return fmt.Sprintf("%s:%d: %s: %d", n.File, n.Line, n.What, n.Count) }

// Notices returns what was passed over, each kind once. It is not copied.
func (d *Dictionary) Notices() []Notice { return d.notices }

// An Error is what is wrong in a dictionary, and where.
type Error struct {
	File string
	Line int // 0: the file as a whole
	Err  error
}

// Error names the file, the line and what is wrong.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Err.Error()
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

var (
	errTooLarge = errors.New("too large")
	errNoFile   = errors.New("is no file")
)
