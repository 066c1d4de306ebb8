package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// check makes a package of a source text.
func check(t *testing.T, source string) *types.Package {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := (&types.Config{Importer: importer.Default()}).Check("example.com/p", fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pkg
}

const source = `package p

const Limit = 1 << 20
const hidden = 1
type Color uint8
const Red Color = 7
var ErrFull error
type Old = Color
type Config struct {
	Name, Alias string
	Call func(n int) error
	hidden int
	*Pool[int]
}
type Pool[T any] struct { items []T }
func NewPool[T any](size int, items ...T) (*Pool[T], error) { return nil, nil }
func (p *Pool[T]) Len() int { return 0 }
func (p *Pool[T]) grow() {}
func (c Color) String() string { return "" }
type Handler interface {
	error
	Handle(c Color) (n int, err error)
	secret()
}
type Func func(c Color)
type private struct{ X int }
`

const listing = `package p
const Limit untyped int = 1048576
const Red Color = 7
func NewPool[T any](int, ...T) (*Pool[T], error)
method (*Pool[T]) Len() int
method (Color) String() string
type Color uint8
type Config struct
type Config struct, Alias string
type Config struct, Call func(n int) error
type Config struct, Name string
type Config struct, embedded *Pool[int]
type Func func(Color)
type Handler interface
type Handler interface, Handle(Color) (int, error)
type Handler interface, embedded error
type Handler interface, unexported method
type Old = Color
type Pool[T any] struct
var ErrFull error`

func TestLines(t *testing.T) {
	if got := strings.Join(lines(check(t, source)), "\n"); got != listing {
		t.Errorf("got\n%s\nwant\n%s", got, listing)
	}
}

// What users would notice is a difference, and what they would not is none.
func TestDifferences(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "api")
	files := func(source string) map[string][]string {
		return map[string][]string{"p.txt": lines(check(t, source)), "q.txt": {"package q"}}
	}
	if err := write(dir, files(source)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		old, new string
		want     []string
	}{
		{"hidden int", "hidden uint", nil},
		{"(size int, items ...T)", "(n int, list ...T)", nil},
		{"1 << 20", "1 << 21", []string{"p.txt: - const Limit untyped int = 1048576", "p.txt: + const Limit untyped int = 2097152"}},
		{"size int, items", "size int64, items", []string{
			"p.txt: - func NewPool[T any](int, ...T) (*Pool[T], error)", "p.txt: + func NewPool[T any](int64, ...T) (*Pool[T], error)"}},
		{"secret()", "secret(); More()", []string{"p.txt: + type Handler interface, More()"}},
		{"Name, Alias string", "Name string", []string{"p.txt: - type Config struct, Alias string"}},
		{"(p *Pool[T]) Len", "(p Pool[T]) Len", []string{"p.txt: - method (*Pool[T]) Len() int", "p.txt: + method (Pool[T]) Len() int"}},
	} {
		changed := strings.Replace(source, c.old, c.new, 1)
		if changed == source {
			t.Fatalf("%q is not in the source", c.old)
		}
		got, err := compare(dir, files(changed))
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s -> %s: %v, %q", c.old, c.new, err, got)
		}
	}
}

// A package that is new or gone is a difference, and the file of one that is gone does not stay.
func TestPackagesComeAndGo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "api")
	if err := write(dir, map[string][]string{"old.txt": {"package old"}}); err != nil {
		t.Fatal(err)
	}
	now := map[string][]string{"new.txt": {"package new"}}
	want := []string{"new.txt: + package new", "old.txt: - package old"}
	if got, err := compare(dir, now); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %q", err, got)
	}
	if err := write(dir, now); err != nil {
		t.Fatal(err)
	}
	if got, err := compare(dir, now); err != nil || len(got) != 0 {
		t.Errorf("%v, %q", err, got)
	}
	if _, err := os.Stat(filepath.Join(dir, "old.txt")); !os.IsNotExist(err) {
		t.Errorf("old.txt: %v", err)
	}
}

func TestLoad(t *testing.T) {
	packages, err := load("../..")
	if err != nil {
		t.Fatal(err)
	}
	for path, p := range packages {
		if strings.Contains(path, "internal") || p.Name() == "main" {
			t.Errorf("%s can not be imported", path)
		}
	}
	if p := packages["radpool"]; p == nil || !slices.Contains(lines(p), "method (*Server) ListenAndServe() error") {
		t.Error("radpool.Server.ListenAndServe is not listed")
	}
}
