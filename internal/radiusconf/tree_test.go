package radiusconf_test

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/radpool/radpool/internal/need"
	"github.com/radpool/radpool/internal/radiusconf"
)

// debian is where Debian's freeradius-config puts its configuration.
const debian = "etc/freeradius/3.0"

// tree returns Debian's configuration, unmodified, and skips the test where it is not
// installed.
func tree(t *testing.T) fs.FS {
	t.Helper()
	root := os.DirFS("/")
	if _, err := fs.ReadFile(root, debian+"/radiusd.conf"); err != nil {
		need.Missing(t, "Debian's freeradius-config, and the right to read it: "+err.Error())
	}
	return root
}

// Every file of the tree in this syntax is read to its end, also those that are not
// in use: modules, sites, policies, SQL queries.
func TestEveryFileOfDebian(t *testing.T) {
	root := tree(t)
	n := 0
	err := fs.WalkDir(root, debian, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !isConf(name) {
			return err
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		n++
		// What is included is read when its turn comes, and the names of many need the
		// rest of the tree.
		one := strings.ReplaceAll(string(text), "$INCLUDE", "$-INCLUDE ./none #")
		file := fstest.MapFS{path.Base(name): {Data: []byte(one)}}
		if _, err := radiusconf.Load(file, path.Base(name), nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 150 {
		t.Errorf("only %d files: is the tree whole?", n)
	}
	t.Logf("%d files", n)
}

// isConf tells the files in the syntax of radiusd.conf from the others in the tree:
// users files, dictionaries, schemas, scripts, certificates, texts to read.
func isConf(name string) bool {
	dir, base := path.Base(path.Dir(name)), path.Base(name)
	switch {
	case strings.HasPrefix(base, "README"), strings.Contains(name, "/certs/"), dir == "unbound":
		return false
	case strings.HasSuffix(name, "/mongo/queries.conf"):
		return false // a line of a string in it lacks its backslash, and FreeRADIUS refuses it too
	}
	return strings.HasSuffix(base, ".conf") || dir == "mods-available" || dir == "sites-available" || dir == "policy.d"
}
