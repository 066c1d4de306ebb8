package sqlbilling_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
)

// move renames a database with the files that SQLite keeps beside it.
func move(t *testing.T, from, to string) {
	t.Helper()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(from+suffix, to+suffix); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
}

// until repeats try until it says that it is done.
func until(t testing.TB, what string, try func() bool) {
	t.Helper()
	for !try() {
		if t.Context().Err() != nil {
			t.Fatal(what)
		}
		runtime.Gosched()
	}
}

// A database that is removed under the server is not written to any more, since
// what is written there is gone with the process; nor is an empty one made in its
// place, which would know nobody. Once it is back, all is well.
func TestFileRemoved(t *testing.T) {
	f := open(t, sqlbilling.Options{})
	if _, err := f.EnsureDemo(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	f.account(record("before", billing.Start, 0))
	away := filepath.Join(t.TempDir(), "away.db")
	move(t, f.file, away)
	for i := range 3 {
		err := f.Account(t.Context(), record(fmt.Sprint("while", i), billing.Start, 0))
		if err == nil || !strings.Contains(err.Error(), "removed") || !strings.Contains(err.Error(), f.file) {
			t.Fatalf("while the file is away: %v", err)
		}
	}
	user := &billing.AccessRequest{UserName: "user1", Time: at(0)}
	until(t, "Authorize goes on with the removed file", func() bool {
		_, err := f.Authorize(t.Context(), user)
		return err != nil && strings.Contains(err.Error(), "removed")
	})
	if _, err := os.Stat(f.file); !os.IsNotExist(err) {
		t.Errorf("the file was made anew: %v", err)
	}

	move(t, away, f.file)
	f.account(record("after", billing.Start, 0))
	until(t, "Authorize does not come back", func() bool {
		g, err := f.Authorize(t.Context(), user)
		return err == nil && g.Reason == billing.ReasonNone
	})
	var sessions []string
	if err := f.raw.Select(&sessions, "SELECT acctsessionid FROM radacct ORDER BY radacctid"); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(sessions); got != "[before after]" {
		t.Errorf("the sessions are %s", got)
	}
}

// A backup that is put in place of the database under the server is served from
// then on, by the very next record that is acknowledged.
func TestFileReplaced(t *testing.T) {
	backup := open(t, sqlbilling.Options{})
	backup.rows([5]string{"radcheck", "alice", "Cleartext-Password", ":=", "of the backup"})
	if err := backup.Close(); err != nil {
		t.Fatal(err)
	}
	if err := backup.raw.Close(); err != nil {
		t.Fatal(err)
	}
	f := open(t, sqlbilling.Options{})
	f.account(record("before", billing.Start, 0))
	if _, err := f.Authorize(t.Context(), &billing.AccessRequest{UserName: "alice", Time: at(0)}); err != nil {
		t.Fatal(err)
	}
	move(t, f.file, filepath.Join(t.TempDir(), "old.db"))
	move(t, backup.file, f.file)
	f.account(record("after", billing.Start, 0))
	var n int
	if err := rawDB(t, f.file).Get(&n, "SELECT COUNT(*) FROM radacct WHERE acctsessionid = 'after'"); err != nil || n != 1 {
		t.Errorf("the record is %d times in what the name leads to (%v)", n, err)
	}
	until(t, "Authorize goes on with the replaced file", func() bool {
		return f.authorize(&billing.AccessRequest{UserName: "alice", Time: at(0)}).Reason == billing.ReasonNone
	})
}

// A database whose damage is repaired is served without a restart.
func TestDamageRepaired(t *testing.T) {
	f := open(t, sqlbilling.Options{})
	if _, err := f.EnsureDemo(t.Context(), 2000); err != nil {
		t.Fatal(err)
	}
	f.exec("PRAGMA wal_checkpoint(TRUNCATE)")
	good, err := os.ReadFile(f.file)
	if err != nil {
		t.Fatal(err)
	}
	bad := append([]byte(nil), good...)
	for i := 4096; i < len(bad); i++ {
		bad[i] = 0xa5
	}
	write := func(b []byte) { // in place: it stays the same file
		t.Helper()
		w, err := os.OpenFile(f.file, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.WriteAt(b, 0); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	user := &billing.AccessRequest{UserName: "user1234", Time: at(0)}
	write(bad)
	if _, err := f.Authorize(t.Context(), user); err == nil {
		t.Fatal("authorized from a damaged database")
	}
	if err := f.Account(t.Context(), record("s", billing.Start, 0)); err == nil {
		t.Fatal("acknowledged by a damaged database")
	}
	write(good)
	until(t, "Authorize does not come back", func() bool {
		g, err := f.Authorize(t.Context(), user)
		return err == nil && g.Reason == billing.ReasonNone
	})
	until(t, "Account does not come back", func() bool {
		return f.Account(t.Context(), record("t", billing.Start, 0)) == nil
	})
}

// A new database is for its owner alone: it holds passwords.
func TestNewFileIsPrivate(t *testing.T) {
	f := open(t, sqlbilling.Options{})
	f.account(record("s", billing.Start, 0))
	for _, suffix := range []string{"", "-wal"} {
		info, err := os.Stat(f.file + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode != 0o600 {
			t.Errorf("%s: mode %o, want 600", f.file+suffix, mode)
		}
	}
}

// A WAL that grew while another process was reading shrinks again.
func TestWALShrinks(t *testing.T) {
	f := open(t, sqlbilling.Options{})
	f.exec("BEGIN")
	var n int
	if err := f.raw.Get(&n, "SELECT COUNT(*) FROM radacct"); err != nil {
		t.Fatal(err)
	}
	const octets = 40 << 20
	if _, err := f.WriteDB().Exec("INSERT INTO nas (nasname, description) VALUES ('x', hex(zeroblob(?)))", octets/2); err != nil {
		t.Fatal(err)
	}
	size := func() int64 {
		info, err := os.Stat(f.file + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	if size() < octets {
		t.Fatalf("the WAL has %d octets: the test is wrong", size())
	}
	f.exec("COMMIT")
	f.account(record("a", billing.Start, 0), record("b", billing.Start, 0), record("c", billing.Start, 0))
	if size() > 17<<20 {
		t.Errorf("the WAL still has %d octets", size())
	}
}
