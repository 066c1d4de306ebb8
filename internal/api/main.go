// Command api compares the public face of this module with its listing in the
// directory api, one file a package, and fails where they differ. So a change that
// users notice is seen in review: it is a change of a file in api. It is meant to be run at the
// top of the module:
//
//	go run ./internal/api          # compares
//	go run ./internal/api -update  # writes the listing anew
//
// The listing is that of the platform on which it is made, CI's: Linux. A line stands
// for a constant with its value, a variable, a function, a type, a field or a method; names of
// parameters are no part of it, nor are methods that come with an embedded type.
package main

import (
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	log.SetFlags(0)
	update := flag.Bool("update", false, "write the listing anew")
	flag.Parse()
	packages, err := load(".")
	if err != nil {
		log.Fatal(err)
	}
	listing := make(map[string][]string)
	for path, p := range packages {
		listing[fileName(path)] = lines(p)
	}
	if *update {
		if err := write("api", listing); err != nil {
			log.Fatal(err)
		}
		return
	}
	differences, err := compare("api", listing)
	if err != nil {
		log.Fatal(err)
	}
	if len(differences) > 0 {
		fmt.Println(strings.Join(differences, "\n"))
		log.Fatalf("The public face has changed in %d lines. If that is meant: go run ./internal/api -update, and a line in CHANGELOG.md.", len(differences))
	}
}

// fileName is where a package of that path below the module is listed.
func fileName(path string) string { return strings.ReplaceAll(path, "/", "_") + ".txt" }

// write makes dir hold this listing, and no other file of that kind.
func write(dir string, listing map[string][]string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return err
	}
	for _, name := range old {
		if listing[filepath.Base(name)] == nil {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	for name, list := range listing {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(list, "\n")+"\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compare returns what is in one of dir and listing only, as diff shows it.
func compare(dir string, listing map[string][]string) (differences []string, err error) {
	was := make(map[string][]string)
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		was[filepath.Base(name)] = strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	}
	names := make(map[string]bool)
	for _, m := range []map[string][]string{was, listing} {
		for name := range m {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		for _, line := range without(was[name], listing[name]) {
			differences = append(differences, name+": - "+line)
		}
		for _, line := range without(listing[name], was[name]) {
			differences = append(differences, name+": + "+line)
		}
	}
	return differences, nil
}

// without returns what stands in list and not in other.
func without(list, other []string) []string {
	in := make(map[string]bool, len(other))
	for _, line := range other {
		in[line] = true
	}
	return slices.DeleteFunc(slices.Clone(list), func(line string) bool { return in[line] })
}
