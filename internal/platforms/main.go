// Command platforms checks that this module is right for the platforms of others: the
// types in all of its packages and tests, with the files, the sizes and the packages of the
// standard library that each platform has. It compiles nothing, which would take minutes on a
// machine that has compiled nothing yet. It is meant to be run at the top of the module:
//
//	go run ./internal/platforms darwin/arm64 windows/amd64 linux/386
package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	log.SetFlags(0)
	var errs []error
	for _, platform := range os.Args[1:] {
		errs = append(errs, check(".", platform))
	}
	if err := errors.Join(errs...); err != nil {
		log.Fatal(err)
	}
}

// check is an error with one line for each thing that is wrong on a platform, GOOS/GOARCH,
// in the module at dir.
func check(dir, platform string) error {
	goos, goarch, ok := strings.Cut(platform, "/")
	if !ok {
		return fmt.Errorf("%q is no platform, as linux/amd64 is one", platform)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	roots, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedCompiledGoFiles |
			packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesSizes | packages.NeedModule,
		Dir:       dir,
		Env:       append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
		Tests:     true,
		ParseFile: parse(dir + string(filepath.Separator)),
	}, "./...")
	if err != nil {
		return fmt.Errorf("%s: %w", platform, err)
	}
	if len(roots) == 0 {
		return fmt.Errorf("%s: there are no packages", platform)
	}
	var errs []error
	for _, p := range roots {
		if strings.HasSuffix(p.PkgPath, ".test") {
			continue // a program that go test writes
		}
		for _, e := range p.Errors {
			errs = append(errs, fmt.Errorf("%s: %w", platform, e))
		}
	}
	if len(errs) == 0 {
		fmt.Printf("%s: %d packages, with those of tests\n", platform, len(roots))
	}
	return errors.Join(errs...)
}

// parse returns a parser of files. What functions do counts only in those below top: elsewhere,
// their types are enough.
func parse(top string) func(*token.FileSet, string, []byte) (*ast.File, error) {
	return func(fset *token.FileSet, name string, text []byte) (*ast.File, error) {
		f, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		if err != nil || strings.HasPrefix(name, top) {
			return f, err
		}
		for _, d := range f.Decls {
			if function, ok := d.(*ast.FuncDecl); ok {
				function.Body = nil
			}
		}
		return f, nil
	}
}
