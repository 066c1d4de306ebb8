package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/radpool/radpool/billing/internal/sqlitefile"
)

const (
	// application tells a journal from any other SQLite file: "rpjl".
	application = 0x72706a6c

	// layoutVersion is of the tables below; that of the records is in each of them.
	layoutVersion = 1

	// walLimit is how large the WAL stays after it had to grow, in octets.
	walLimit = 16 << 20

	// shrinkAbove is how large an empty file may be, in octets, before it is made
	// small again.
	shrinkAbove = 64 << 20

	// headroom is what is left free on the disk when records are added, in octets:
	// with none SQLite could not remove any, and the journal would stay full.
	headroom = 8 << 20

	// pageSize is of SQLite, unless it is told otherwise.
	pageSize = 4096

	// wide is how many records one INSERT takes where that many are to be written.
	wide = 32
)

const layout = `
CREATE TABLE record (
  seq  INTEGER PRIMARY KEY, -- in the order in which they came
  at   INTEGER NOT NULL,    -- when it came, nanoseconds since 1970
  data BLOB NOT NULL        -- the encoded record
);
CREATE TABLE parked (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  at     INTEGER NOT NULL,  -- when it was parked, nanoseconds since 1970
  reason TEXT NOT NULL,
  data   BLOB NOT NULL
);`

// A row is one record in the file.
type row struct {
	seq  int64
	at   time.Time
	data []byte
}

// A parking is a record that is put aside. That of a record which is in the queue
// goes with its removal from there.
type parking struct {
	at     time.Time
	reason string
	data   []byte
}

// A change is what one transaction does to the file.
type change struct {
	add    []row
	remove []int64 // by seq, ascending
	park   []parking
	unpark []int64 // by id
}

// A file is the journal on the disk. It has one connection, which holds the lock on
// it as long as the file is open.
type file struct {
	name string
	db   *sql.DB
	info os.FileInfo // of what was opened

	mu                          sync.Mutex // one statement at a time
	conn                        *sql.Conn
	begin, commit, rollback     *sql.Stmt
	insert, insertWide, get, rm *sql.Stmt
	shelve, unshelve            *sql.Stmt
	args                        []any
}

// openFile opens a journal, and makes it when it is missing. maxPages bounds the
// file in pages of 4096 octets; 0: it is not bounded. The error names the file.
func openFile(ctx context.Context, name string, maxPages int) (f *file, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("journal: file %s: %w", name, sqlitefile.Explain(err))
		}
	}()
	if err := sqlitefile.Check(name, false); err != nil {
		return nil, err
	}
	// Of the first connection that uses the file nobody may write or read beside it:
	// the index of the WAL is in this process's memory.
	query := "mode=rw&_pragma=busy_timeout(100)&_pragma=locking_mode(EXCLUSIVE)&_pragma=journal_mode(WAL)" +
		"&_pragma=synchronous(FULL)&_pragma=trusted_schema(0)&_pragma=cell_size_check(1)&_pragma=journal_size_limit(" + strconv.Itoa(walLimit) + ")"
	if maxPages > 0 {
		query += "&_pragma=max_page_count(" + strconv.Itoa(maxPages) + ")"
	}
	db, err := sql.Open("sqlite", sqlitefile.Source(name, query))
	if err != nil {
		return nil, err
	}
	f = &file{name: name, db: db}
	if err := f.start(ctx); err != nil {
		if sqlitefile.Code(err)&0xff == sqlite3.SQLITE_BUSY {
			err = fmt.Errorf("is in use by another process, or twice by this one: %w", err)
		}
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

func (f *file) start(ctx context.Context) (err error) {
	if f.conn, err = f.db.Conn(ctx); err != nil {
		return err
	}
	var mode string
	if err := f.conn.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
		return err
	}
	if !strings.EqualFold(mode, "wal") {
		return fmt.Errorf("cannot be put into WAL mode (it is in mode %q)", mode)
	}
	if err := f.identify(ctx); err != nil {
		return err
	}
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&f.begin, "BEGIN IMMEDIATE"},
		{&f.commit, "COMMIT"},
		{&f.rollback, "ROLLBACK"},
		{&f.insert, "INSERT INTO record (seq, at, data) VALUES (?, ?, ?)"},
		{&f.insertWide, "INSERT INTO record (seq, at, data) VALUES (?, ?, ?)" + strings.Repeat(", (?, ?, ?)", wide-1)},
		{&f.rm, "DELETE FROM record WHERE seq BETWEEN ? AND ?"},
		{&f.unshelve, "DELETE FROM parked WHERE id = ?"},
		{&f.shelve, "INSERT INTO parked (at, reason, data) VALUES (?, ?, coalesce(?, x''))"},
		{&f.get, "SELECT seq, at, data FROM record WHERE seq > ? ORDER BY seq LIMIT ?"},
	} {
		if *p.stmt, err = f.conn.PrepareContext(ctx, p.text); err != nil {
			return err
		}
	}
	if f.info, err = os.Stat(f.name); err != nil {
		return err
	}
	return syncDir(filepath.Dir(f.name))
}

// identify finds out whether the file is a journal, and makes one of an empty file.
func (f *file) identify(ctx context.Context) error {
	// Taken for writing, so that the lock is held from here on.
	if _, err := f.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := f.check(ctx)
	if err == nil {
		_, err = f.conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		_, _ = f.conn.ExecContext(ctx, "ROLLBACK") // it may be over already; the file is closed next
	}
	return err
}

func (f *file) check(ctx context.Context) error {
	var app, version, tables int
	for _, q := range []struct {
		dst  *int
		text string
	}{
		{&app, "PRAGMA application_id"}, {&version, "PRAGMA user_version"}, {&tables, "SELECT count(*) FROM sqlite_master"},
	} {
		if err := f.conn.QueryRowContext(ctx, q.text).Scan(q.dst); err != nil {
			return err
		}
	}
	switch {
	case app == 0 && tables == 0:
		_, err := f.conn.ExecContext(ctx, fmt.Sprintf("%s\nPRAGMA application_id = %d; PRAGMA user_version = %d",
			layout, application, layoutVersion))
		return err
	case app != application:
		return errors.New("is an SQLite database, and no journal")
	case version != layoutVersion:
		return fmt.Errorf("is a journal of version %d, and this program knows %d", version, layoutVersion)
	}
	return nil
}

// syncDir makes the name of a new file durable.
func syncDir(name string) error {
	if runtime.GOOS == "windows" {
		return nil // NTFS does that by itself, and its directories cannot be synced
	}
	dir, err := os.Open(name)
	if err != nil {
		return err
	}
	err = dir.Sync()
	if e := dir.Close(); err == nil {
		err = e
	}
	return err
}

// do makes a change, all of it or nothing: nil means durable.
func (f *file) do(c *change) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.explain(f.try(c))
}

// errMoved is that the file would not be found again after a restart.
var errMoved = errors.New("was removed or replaced while it was open")

func (f *file) try(c *change) (err error) {
	if info, err := os.Stat(f.name); err != nil || !os.SameFile(info, f.info) {
		return errMoved
	}
	if len(c.add)+len(c.park) > 0 {
		if err := f.room(); err != nil {
			return err
		}
	}
	ctx := context.Background() // a caller that goes away must not end the others' transaction
	if _, err := f.begin.ExecContext(ctx); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, _ = f.rollback.ExecContext(ctx) // SQLite has mostly done it, and says so
		}
	}()
	if err := f.addAll(ctx, c.add); err != nil {
		return err
	}
	for i := range c.park {
		p := &c.park[i]
		if _, err := f.shelve.ExecContext(ctx, p.at.UnixNano(), p.reason, p.data); err != nil {
			return err
		}
	}
	for _, id := range c.unpark {
		if _, err := f.unshelve.ExecContext(ctx, id); err != nil {
			return err
		}
	}
	for seqs := c.remove; len(seqs) > 0; {
		n := 1
		for n < len(seqs) && seqs[n] == seqs[n-1]+1 {
			n++
		}
		if _, err := f.rm.ExecContext(ctx, seqs[0], seqs[n-1]); err != nil {
			return err
		}
		seqs = seqs[n:]
	}
	_, err = f.commit.ExecContext(ctx)
	return err
}

// room returns an error if the disk is full but for the headroom. Space inside the
// file counts as well.
func (f *file) room() error {
	disk := free(f.name)
	if disk >= headroom {
		return nil
	}
	var pages uint64
	if err := f.conn.QueryRowContext(context.Background(), "PRAGMA freelist_count").Scan(&pages); err != nil {
		return err
	}
	if disk+pages*pageSize < headroom {
		return fmt.Errorf("the disk is full: %d octets are free, and %d must stay so, for removing what is stored", disk, headroom)
	}
	return nil
}

func (f *file) addAll(ctx context.Context, rows []row) error {
	for len(rows) > 0 {
		stmt, n := f.insert, 1
		if len(rows) >= wide {
			stmt, n = f.insertWide, wide
		}
		f.args = f.args[:0]
		for i := range rows[:n] {
			f.args = append(f.args, rows[i].seq, rows[i].at.UnixNano(), rows[i].data)
		}
		if _, err := stmt.ExecContext(ctx, f.args...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	clear(f.args[:cap(f.args)])
	return nil
}

// read returns up to limit records that come after the one with seq after.
func (f *file) read(ctx context.Context, after int64, limit int) (list []row, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer func() { err = f.explain(err) }()
	rows, err := f.get.QueryContext(ctx, after, limit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var r row
		var at int64
		if err := rows.Scan(&r.seq, &at, &r.data); err != nil {
			return nil, err
		}
		r.at = time.Unix(0, at)
		list = append(list, r)
	}
	return list, rows.Err()
}

// oldest is when the first record came, or the zero Time.
func (f *file) oldest(ctx context.Context) (time.Time, error) {
	rows, err := f.read(ctx, math.MinInt64, 1)
	if err != nil || len(rows) == 0 {
		return time.Time{}, err
	}
	return rows[0].at, nil
}

// shrink gives the space of an empty queue back, if it is much.
func (f *file) shrink(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.name)
	if err != nil || info.Size() <= shrinkAbove {
		return nil //nolint:nilerr // a file that is not there is found out when it matters
	}
	_, err = f.conn.ExecContext(ctx, "VACUUM")
	return f.explain(err)
}

func (f *file) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, s := range []*sql.Stmt{f.begin, f.commit, f.rollback, f.insert, f.insertWide, f.rm, f.shelve, f.unshelve, f.get} {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	if f.conn != nil {
		errs = append(errs, f.conn.Close())
	}
	return errors.Join(append(errs, f.db.Close())...)
}
