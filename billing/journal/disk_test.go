package journal_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/journal"
)

// fill stores records until one is not acknowledged, and returns how many were.
func fill(t *testing.T, j *journal.Journal) (acked int, err error) {
	t.Helper()
	for {
		rec := record(fmt.Sprint("fill-", acked), billing.Start, acked)
		rec.ConnectInfo = strings.Repeat("x", 200)
		if err = j.Handler().Account(t.Context(), rec); err != nil {
			return acked, err
		}
		if acked++; acked > 100_000 {
			t.Fatal("the disk does not fill")
		}
	}
}

// On a full disk there is no answer, and one line in the log a second. What was
// acknowledged before is kept, and all goes on when there is room.
func TestFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore()
		sink, logs := observer.New(zap.InfoLevel)
		file := newFile(t)
		j := open(t, file, batchCore{c}, journal.Options{Logger: zap.New(sink)}.WithMaxPages(64))
		opens(t, j, c)
		acked, err := fill(t, j)
		if !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "full") {
			t.Errorf("the error is %v", err)
		}
		for range 50 {
			if err := j.Handler().Account(t.Context(), record("more", billing.Start, 0)); err == nil {
				break // a small one may find room
			}
		}
		if n := logs.FilterMessageSnippet("neither be stored nor kept").Len(); n != 1 {
			t.Errorf("%d lines in the log within a second", n)
		}
		before := j.Stats()
		if before.Errors == 0 || before.Queued < acked {
			t.Errorf("%+v", before)
		}
		if err := j.SetMaxPages(100_000); err != nil {
			t.Fatal(err)
		}
		account(t, j, record("room", billing.Start, 0))
		c.set(func(c *core) { c.down = false })
		time.Sleep(2 * time.Second)
		if s := j.Stats(); s.Queued != 0 || len(c.lines()) < acked+journal.OpensAfter {
			t.Errorf("%+v, %d stored of %d", s, len(c.lines()), acked)
		}
	})
}

// The journal empties although the disk is full.
func TestFullDiskDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore()
		j := open(t, newFile(t), batchCore{c}, journal.Options{}.WithMaxPages(64))
		opens(t, j, c)
		acked, _ := fill(t, j)
		c.set(func(c *core) { c.down = false })
		time.Sleep(5 * time.Second)
		if s := j.Stats(); s.Queued != 0 || len(c.lines()) < acked {
			t.Errorf("%+v", s)
		}
	})
}

// A file that is no journal is an error that names it and says why.
func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	made := func(name string, f func(file string)) string {
		file := filepath.Join(dir, name)
		f(file)
		return file
	}
	exec := func(file string, statements ...string) {
		db, err := sql.Open("sqlite", "file://"+file)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range statements {
			if _, err := db.Exec(s); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	filled := func(file string) []byte {
		c := newCore()
		j := open(t, file, c, journal.Options{})
		opens(t, j, c)
		for n := range 500 {
			account(t, j, record(fmt.Sprint("s", n), billing.Start, n))
		}
		closeJournal(t, j)
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	write := func(file string, content []byte) {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string]string{
		made("notes.txt", func(f string) { write(f, []byte(strings.Repeat("these are notes\n", 500))) }): "not an SQLite database",
		made("foreign.db", func(f string) { exec(f, "CREATE TABLE cookies (id INTEGER)") }):              "and no journal",
		made("newer.db", func(f string) { filled(f); exec(f, "PRAGMA user_version = 9") }):               "journal of version 9, and this program knows 1",
		made("damaged.db", func(f string) {
			content := filled(f)
			for i := 3 * 4096; i < len(content); i++ {
				content[i] = 0xa5
			}
			write(f, content)
		}): "damaged",
		made("cut.db", func(f string) { content := filled(f); write(f, content[:len(content)/2]) }): "damaged",
		dir:                                 "is a directory",
		filepath.Join(dir, "no", "such.db"): "no such directory",
	} {
		j, err := journal.Open(t.Context(), file, newCore(), journal.Options{})
		if err == nil {
			closeJournal(t, j)
			t.Errorf("%s: opened", file)
			continue
		}
		if !strings.Contains(err.Error(), "journal: file "+file) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q, want %q", file, err, want)
		}
	}
}

// A journal is not used twice at a time.
func TestOneUserOnly(t *testing.T) {
	file := newFile(t)
	open(t, file, newCore(), journal.Options{})
	for range 2 {
		if _, err := journal.Open(t.Context(), file, newCore(), journal.Options{}); err == nil || !strings.Contains(err.Error(), "is in use by another process") ||
			!strings.Contains(err.Error(), file) {
			t.Errorf("opened twice: %v", err)
		}
	}
}

// A record that the disk has changed, or that a newer version wrote, is put aside and
// not lost, and the others are stored.
func TestDamagedRecordIsParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := newFile(t)
		c := newCore()
		j := open(t, file, c, journal.Options{})
		opens(t, j, c)
		for n := range 10 {
			account(t, j, record(fmt.Sprint("s", n), billing.Start, n))
		}
		closeJournal(t, j)
		db, err := sql.Open("sqlite", "file://"+file)
		if err != nil {
			t.Fatal(err)
		}
		for seq, set := range map[int]string{2: "data = x'09' || substr(data, 2)", 5: "data = substr(data, 1, 20)", 7: "data = x''"} {
			if _, err := db.Exec("UPDATE record SET "+set+" WHERE seq = ?", seq); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		c.set(func(c *core) { c.down = false })
		j = open(t, file, c, journal.Options{})
		time.Sleep(time.Second)
		if s := j.Stats(); s.Parked != 3 || s.Queued != 0 || len(c.lines()) != 10+journal.OpensAfter-3 {
			t.Errorf("%+v, %d stored", s, len(c.lines()))
		}
		list, err := j.Parked(t.Context(), 10)
		if err != nil || len(list) != 3 || list[0].Record != nil || !strings.Contains(list[0].Reason, "encoding 9") || list[0].Err == nil {
			t.Errorf("%+v, %v", list, err)
		}
		if n, err := j.RetryParked(t.Context()); n != 0 || err != nil || j.Stats().Parked != 3 {
			t.Errorf("%d are retried, %v", n, err)
		}
	})
}

// Once its name leads elsewhere nothing is acknowledged any more that would be gone
// after a restart.
func TestRemovedFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := newFile(t)
		c := newCore()
		j := open(t, file, c, journal.Options{})
		opens(t, j, c)
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := j.Handler().Account(t.Context(), record("s1", billing.Start, 0)); err == nil || !strings.Contains(err.Error(), "removed or replaced") {
				t.Errorf("without the file: %v", err)
			}
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A caller that goes away gets an error; whether the record is kept is not known.
func TestCallerGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore()
		j := open(t, newFile(t), batchCore{c}, journal.Options{})
		opens(t, j, c)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := j.Handler().Account(ctx, record("gone", billing.Start, 0)); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		c.set(func(c *core) { c.down = false })
		time.Sleep(2 * time.Second)
		if s := j.Stats(); s.Queued != 0 {
			t.Errorf("%+v", s)
		}
		account(t, j, record("gone", billing.Stop, 1))
		if got := c.lines(); got[len(got)-1] != "gone Stop 1" {
			t.Errorf("%q", got)
		}
	})
}
