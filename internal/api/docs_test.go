package main

import (
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	inCode    = regexp.MustCompile("`[^`\n]+`")
	qualified = regexp.MustCompile(`\b([a-z][a-z0-9]*)\.([A-Z]\w*)(?:\.([A-Z]\w*))?`)
	bare      = regexp.MustCompile("^`([A-Z][a-z]\\w*)`$")
	flagName  = regexp.MustCompile("(?:^`|billingd (?:check |explain )?)-([a-z][a-z-]*)")
)

// others are words of the guides that are not of this module: of the standard library and layeh.com/radius.
var others = []string{"Write"}

// Every name of this module that the documentation gives is there, and every flag of billingd.
func TestNamesInDocs(t *testing.T) {
	packages, err := load("../..")
	if err != nil {
		t.Fatal(err)
	}
	byName := make(map[string]*types.Package)
	known := make(map[string]bool)
	for _, p := range packages {
		byName[p.Name()] = p
		for _, line := range lines(p) {
			for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(" ()[],*.", r) }) {
				known[word] = true
			}
		}
	}
	for _, file := range documents(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, code := range inCode.FindAllString(string(text), -1) {
			for _, m := range qualified.FindAllStringSubmatch(code, -1) {
				if p := byName[m[1]]; p != nil {
					n++
					if !exists(p, m[2], m[3]) {
						t.Errorf("%s: there is no %s", filepath.Base(file), m[0])
					}
				}
			}
			if m := bare.FindStringSubmatch(code); m != nil && strings.Contains(file, "from-") && !known[m[1]] && !slices.Contains(others, m[1]) {
				t.Errorf("%s: there is no %s", filepath.Base(file), m[1])
			}
		}
		if strings.Contains(file, "from-") && n < 20 {
			t.Errorf("%s: only %d names found", filepath.Base(file), n)
		}
	}
}

// exists reports whether a package has that name and, if second is not empty, that of a field or method of it.
func exists(p *types.Package, first, second string) bool {
	o := p.Scope().Lookup(first)
	if o == nil || second == "" {
		return o != nil
	}
	member, _, _ := types.LookupFieldOrMethod(o.Type(), true, p, second)
	return member != nil
}

func TestFlagsInDocs(t *testing.T) {
	sources, err := filepath.Glob("../../examples/billingd/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, name := range sources {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(text)
	}
	n := 0
	for _, file := range documents(t) {
		if !strings.Contains(file, "from-") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, code := range inCode.FindAllString(string(text), -1) {
			for _, m := range flagName.FindAllStringSubmatch(code, -1) {
				n++
				if !strings.Contains(source.String(), `, "`+m[1]+`", `) {
					t.Errorf("%s: billingd has no flag -%s", filepath.Base(file), m[1])
				}
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d flags found", n)
	}
}

func documents(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d documents, %v", len(files), err)
	}
	return append(files, "../../README.md")
}
