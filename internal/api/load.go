package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
)

// listed is what go list says of a package.
type listed struct {
	ImportPath, Name, Export string
	GoFiles                  []string
	Module                   *struct {
		Path string
		Main bool
	}
}

// load returns the packages of the module in dir that others can import, by their paths below the
// module, with the types that the compiler has exported.
func load(dir string) (map[string]*types.Package, error) {
	// -export: it compiles what the build cache does not have.
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Name,Export,GoFiles,Module", "./...")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	exports := make(map[string]string)
	var public []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		exports[p.ImportPath] = p.Export
		if p.importable() {
			public = append(public, p)
		}
	}
	imports := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("nothing is exported of %s", path)
		}
		return os.Open(exports[path])
	})
	packages := make(map[string]*types.Package)
	for _, p := range public {
		pkg, err := imports.Import(p.ImportPath)
		if err != nil {
			return nil, err
		}
		path := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, p.Module.Path), "/")
		if path != "" { // the root has documentation alone
			packages[path] = pkg
		}
	}
	if len(packages) == 0 {
		return nil, errors.New("there is no package that others can import")
	}
	return packages, nil
}

// importable reports whether it is a package of this module that another module can import.
func (p *listed) importable() bool {
	if p.Module == nil || !p.Module.Main || p.Name == "main" || len(p.GoFiles) == 0 {
		return false
	}
	return !strings.Contains(p.ImportPath+"/", "/internal/")
}
