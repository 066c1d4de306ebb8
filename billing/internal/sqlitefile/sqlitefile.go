// Package sqlitefile is what those who keep something in a file of SQLite's share:
// how the file is named and made, and what its errors mean to whoever runs the
// server.
package sqlitefile

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Source is the URI of a file, with whatever characters its name has.
func Source(file, query string) string {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	return "file://" + (&url.URL{Path: file}).EscapedPath() + "?" + query
}

// Check finds what SQLite would report less clearly, and makes the file when it is
// missing, unless it must exist.
func Check(name string, mustExist bool) error {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if mustExist {
			return errors.New("no such file")
		}
		if dir := filepath.Dir(name); !isDir(dir) {
			return fmt.Errorf("no such directory: %s", dir)
		}
		return create(name)
	case err != nil:
		return errors.Unwrap(err)
	case info.IsDir():
		return errors.New("is a directory")
	}
	return nil
}

// create makes an empty file, which is an empty database. What it will hold (passwords,
// who was online when) is not for everybody: the file, and those that SQLite puts
// beside it, are the owner's alone.
func create(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("cannot be written, or its directory cannot: %w", errors.Unwrap(err))
	}
	return f.Close()
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// Explain adds what the code of an error means to whoever runs the server.
func Explain(err error) error {
	switch Code(err) & 0xff {
	case sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("is not an SQLite database: %w", err)
	case sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("is damaged: %w", err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return fmt.Errorf("cannot be written, or its directory cannot: %w", err)
	}
	return err
}

// Code is SQLite's extended result code, or 0.
func Code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}
