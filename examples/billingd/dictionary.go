package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// dictionaryFlag adds -dictionary.
func dictionaryFlag(f *flag.FlagSet, o *options) {
	f.StringVar(&o.dictionary, "dictionary", "", "`DIR` with a file dictionary, in FreeRADIUS's format, whose attributes are known beside those that are built in; or that file (default: what stands beside the file of -conf, if anything)")
}

// dictionaryFile is what sqlbilling.Options and ledger.Options have of -dictionary:
// nil where there is none. Beside a radiusd.conf FreeRADIUS keeps the attributes of
// its own site.
func (o *options) dictionaryFile() (root fs.FS, name string, err error) {
	const usual = "dictionary"
	file := o.dictionary
	if file == "" {
		if o.conf == "" {
			return nil, "", nil
		}
		file = filepath.Join(filepath.Dir(o.conf), usual)
		if _, err := os.Stat(file); os.IsNotExist(err) {
			return nil, "", nil
		}
	}
	info, err := os.Stat(file)
	if err == nil && info.IsDir() {
		file = filepath.Join(file, usual)
	}
	if err == nil {
		root, name, err = inRoot(file)
	}
	if err != nil {
		return nil, "", fmt.Errorf("-dictionary %s: %w", o.dictionary, err)
	}
	return root, name, nil
}
