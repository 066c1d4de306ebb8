package sqlite

import (
	"errors"
	"os"
	"sync"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/radpool/radpool/billing/internal/sqlitefile"
	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// lookEvery is how often a connection that only reads looks whether its file is still
// there. One that writes looks before each COMMIT.
const lookEvery = 100 * time.Millisecond

// errMoved is that a connection holds a file open that its name does not lead to
// any more. SQLite itself goes on writing to such a file, and what it writes is
// gone with the process.
var errMoved = errors.New("the file was removed or replaced while it was open")

// errGone is that nothing is there to be opened. SQLite would make an empty
// database of it, which knows no subscriber.
var errGone = errors.New("the file was removed")

// A file is the database as the file system knows it by name.
type file struct {
	name       string
	generation dialect.Generation // of connections

	mu     sync.Mutex
	seen   os.FileInfo // what the name led to at the last look, or nil; guarded by mu
	looked time.Time   // guarded by mu
}

// look returns what the name leads to, or nil. It may be old, up to maxAge.
func (f *file) look(now time.Time, maxAge time.Duration) os.FileInfo {
	f.mu.Lock()
	defer f.mu.Unlock()
	if maxAge == 0 || now.Sub(f.looked) >= maxAge {
		f.looked = now
		info, err := os.Stat(f.name)
		if err != nil {
			info = nil
		}
		f.seen = info
	}
	return f.seen
}

// failed is told of the errors of statements. After one that comes from what a
// connection has in memory, or may have, no connection is used again: that way
// a database that was repaired is served without a restart.
func (f *file) failed(err error) {
	switch sqlitefile.Code(err) & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY:
		f.generation.Renew(time.Now())
	}
}

// same reports whether two looks saw one file.
func same(a, b os.FileInfo) bool { return a != nil && b != nil && os.SameFile(a, b) }
