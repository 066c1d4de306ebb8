package sqlbilling_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
)

// What cannot be opened is said in one error that names the file and the reason.
func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := write("notes.txt", strings.Repeat("these are notes\n", 500))
	foreign := filepath.Join(dir, "foreign.db")
	rawDB(t, foreign).MustExec("CREATE TABLE cookies (id INTEGER)")
	partial := filepath.Join(dir, "partial.db")
	rawDB(t, partial).MustExec("CREATE TABLE radcheck (id INTEGER, username TEXT, attribute TEXT, value TEXT)")
	good := open(t, sqlbilling.Options{})
	if err := good.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(good.file)
	if err != nil {
		t.Fatal(err)
	}
	header := append([]byte{}, content...)
	for i := 100; i < 4096; i++ {
		header[i] = 0xa5 // the page of the schema
	}
	damaged := write("damaged.db", string(header))
	for _, c := range []struct {
		dsn  string
		opts sqlbilling.Options
		want []string
	}{
		{"sqlite:" + text, sqlbilling.Options{}, []string{text, "not an SQLite database"}},
		{"sqlite:" + foreign, sqlbilling.Options{}, []string{foreign, "no table radacct", "no table radcheck"}},
		{"sqlite:" + partial, sqlbilling.Options{}, []string{partial, "no column radcheck.op", "no table radacct"}},
		{"sqlite:" + damaged, sqlbilling.Options{}, []string{damaged, "damaged"}},
		{"sqlite:" + dir, sqlbilling.Options{}, []string{dir, "is a directory"}},
		{"sqlite:" + filepath.Join(dir, "no", "such.db"), sqlbilling.Options{}, []string{"such.db", "no such directory"}},
		{"sqlite:" + filepath.Join(dir, "none.db"), sqlbilling.Options{MustExist: true}, []string{"none.db", "no such file"}},
		{"sqlite:", sqlbilling.Options{}, []string{"name of the file is missing"}},
		{"oracle:x", sqlbilling.Options{}, []string{`"oracle"`, "there are: ", "sqlite"}},
		{"radius.db", sqlbilling.Options{}, []string{"DSN"}},
		{"sqlite:x", sqlbilling.Options{Readers: -1}, []string{"Readers is -1, must be 1 to 64"}},
		{"sqlite:x", sqlbilling.Options{MaxGroup: 1 << 20}, []string{"MaxGroup is 1048576"}},
		{"sqlite:x", sqlbilling.Options{MaxPending: -1}, []string{"MaxPending"}},
		{"sqlite:x", sqlbilling.Options{WriteTimeout: 1}, []string{"WriteTimeout is 1ns"}},
		{"sqlite:x", sqlbilling.Options{PostAuthBuffer: 1 << 30}, []string{"PostAuthBuffer"}},
	} {
		b, err := sqlbilling.Open(t.Context(), c.dsn, c.opts)
		if err == nil {
			_ = b.Close()
			t.Errorf("%s %+v: opened", c.dsn, c.opts)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", c.dsn, err, want)
			}
		}
	}
}

// A name with the characters of a URI is the name of a file all the same.
func TestAwkwardFileName(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a b?mode=memory&x#y%41.db")
	b, err := sqlbilling.Open(t.Context(), "sqlite:"+file, sqlbilling.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

// Pages that are damaged behind an intact header are an error when they are met,
// never an empty answer.
func TestDamagedLater(t *testing.T) {
	f := open(t, sqlbilling.Options{})
	if _, err := f.EnsureDemo(t.Context(), 2000); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(f.file)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(content) / 2; i < len(content); i++ {
		content[i] = 0xa5
	}
	path := filepath.Join(t.TempDir(), "half.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := sqlbilling.Open(t.Context(), "sqlite:"+path, sqlbilling.Options{})
	if err != nil {
		if !strings.Contains(err.Error(), path) {
			t.Error(err)
		}
		return
	}
	defer func() { _ = b.Close() }()
	failed := 0
	for i := range 2000 {
		g, err := b.Authorize(t.Context(), &billing.AccessRequest{UserName: fmt.Sprintf("user%d", i), Time: at(0)})
		switch {
		case err != nil:
			failed++
			if !strings.Contains(err.Error(), path) {
				t.Fatalf("the error does not name the file: %v", err)
			}
		case g.Reason == billing.ReasonUnknownUser:
			t.Fatalf("user%d is unknown", i)
		}
	}
	if failed == 0 {
		t.Error("no damage was met")
	}
}

// When the disk is full nothing is acknowledged, and all is well once it is not.
func TestFullDisk(t *testing.T) {
	f := open(t, sqlbilling.Options{})
	var pages int
	if err := f.WriteDB().Get(&pages, "PRAGMA page_count"); err != nil {
		t.Fatal(err)
	}
	var limit int
	if err := f.WriteDB().Get(&limit, fmt.Sprintf("PRAGMA max_page_count = %d", pages+2)); err != nil {
		t.Fatal(err)
	}
	acknowledged := make(map[string]bool)
	failed := 0
	for i := range 200 {
		rec := record(fmt.Sprintf("s%d", i), billing.Start, 0)
		rec.CalledStationID = strings.Repeat("x", 200)
		err := f.Account(t.Context(), rec)
		if err == nil {
			acknowledged[rec.SessionID] = true
			continue
		}
		failed++
		if !strings.Contains(err.Error(), f.file) || !strings.Contains(err.Error(), "full") {
			t.Fatal(err)
		}
	}
	if failed == 0 || len(acknowledged) == 0 {
		t.Fatalf("%d failed, %d acknowledged: the test is wrong", failed, len(acknowledged))
	}
	var stored []string
	if err := f.raw.Select(&stored, "SELECT acctsessionid FROM radacct"); err != nil {
		t.Fatal(err)
	}
	if len(stored) != len(acknowledged) {
		t.Errorf("%d stored, %d acknowledged", len(stored), len(acknowledged))
	}
	for _, s := range stored {
		if !acknowledged[s] {
			t.Errorf("%s is stored, but was not acknowledged", s)
		}
	}
	if err := f.WriteDB().Get(&limit, "PRAGMA max_page_count = 1000000"); err != nil {
		t.Fatal(err)
	}
	f.account(record("after", billing.Start, 0))
}

// A row that the database refuses fails alone.
func TestBadRowFailsAlone(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		for _, s := range e.refuse {
			f.exec(s)
		}
		recs := make([]*billing.AccountingRecord, 33)
		for i := range recs {
			recs[i] = record(fmt.Sprintf("s%d", i), billing.Start, 0)
		}
		recs[7].UserName, recs[20].UserName = "bad", "bad"
		errs := make([]error, len(recs))
		f.AccountBatch(t.Context(), recs, errs)
		for i, err := range errs {
			if bad := i == 7 || i == 20; errors.Is(err, billing.ErrRecord) != bad || (err != nil) != bad {
				t.Errorf("record %d: %v", i, err)
			}
		}
		var n int
		if err := f.raw.Get(&n, "SELECT COUNT(*) FROM radacct"); err != nil || n != 31 {
			t.Errorf("%d rows (%v), want 31", n, err)
		}
		if s := f.Stats(); s.Failed != 2 || s.Records != 31 || s.Rows != 31 || s.Pending != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// A row that cannot be understood is a fault of its subscriber's, and none of the
// database's: the one is rejected, the other is not answered. A record is told from
// the database likewise.
func TestWhoseFault(t *testing.T) {
	f := open(t, sqlbilling.Options{})
	f.rows([5]string{"radcheck", "alice", "Cleartext-Password", ":=", "pw"}, [5]string{"radreply", "alice", "No-Such-Name", "=", "x"})
	alice := &billing.AccessRequest{UserName: "alice", Time: at(0)}
	if _, err := f.Authorize(t.Context(), alice); !errors.Is(err, billing.ErrSubscriber) || !strings.Contains(err.Error(), "No-Such-Name") {
		t.Errorf("a row: %v", err)
	}
	f.exec("ALTER TABLE radreply RENAME TO away")
	if _, err := f.Authorize(t.Context(), alice); err == nil || errors.Is(err, billing.ErrSubscriber) {
		t.Errorf("the database: %v", err)
	}
	nobodys := record("s1", billing.Start, 0)
	nobodys.UniqueID = "abc"
	if err := f.Account(t.Context(), nobodys); !errors.Is(err, billing.ErrRecord) {
		t.Errorf("a record: %v", err)
	}
	f.exec("ALTER TABLE radacct RENAME TO radacct_away")
	if err := f.Account(t.Context(), record("s1", billing.Start, 0)); err == nil || errors.Is(err, billing.ErrRecord) {
		t.Errorf("the database, of a record: %v", err)
	}
}

// While another process holds the database the write is tried again, as long as
// there is time.
func TestBusy(t *testing.T) {
	f := open(t, sqlbilling.Options{WriteTimeout: 300 * time.Millisecond})
	f.exec("BEGIN IMMEDIATE")
	err := f.Account(t.Context(), record("s", billing.Start, 0))
	if err == nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while it is locked: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := f.Account(ctx, record("s", billing.Start, 0)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with a context: %v", err)
	}
	if s := f.Stats(); s.Retries == 0 {
		t.Errorf("%+v", s)
	}
	done := make(chan error)
	go func() { done <- f.Account(t.Context(), record("t", billing.Start, 0)) }()
	f.exec("ROLLBACK")
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestDoneContext(t *testing.T) {
	f := open(t, sqlbilling.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Account(ctx, record("s", billing.Start, 0)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := f.Authorize(ctx, &billing.AccessRequest{UserName: "alice", Time: at(0)}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestOverload(t *testing.T) {
	f := open(t, sqlbilling.Options{MaxPending: 2, MaxGroup: 1, WriteTimeout: 10 * time.Second})
	f.exec("BEGIN IMMEDIATE") // the writer stands still
	errs := make(chan error, 8)
	send := func(i int) {
		go func() { errs <- f.Account(t.Context(), record(fmt.Sprint(i), billing.Start, 0)) }()
	}
	send(0)
	for f.Stats().Retries == 0 { // until the writer has it
		runtime.Gosched()
	}
	for i := range 7 {
		send(1 + i)
	}
	// Two wait; the others are refused at once.
	for range 5 {
		if err := <-errs; !errors.Is(err, sqlbilling.ErrOverloaded) {
			t.Error(err)
		}
	}
	f.exec("ROLLBACK")
	for range 3 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// What was acknowledged is in the files, without Close.
func TestAcknowledgedSurvivesWithoutClose(t *testing.T) {
	f := open(t, sqlbilling.Options{})
	for i := range 20 {
		f.account(record(fmt.Sprintf("s%d", i), billing.Start, 0))
	}
	dir := t.TempDir()
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(f.file + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "copy.db"+suffix), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	again := openFile(t, filepath.Join(dir, "copy.db"), sqlbilling.Options{MustExist: true})
	var n int
	if err := again.raw.Get(&n, "SELECT COUNT(*) FROM radacct"); err != nil || n != 20 {
		t.Errorf("%d rows (%v), want 20", n, err)
	}
	var mode int
	if err := f.WriteDB().Get(&mode, "PRAGMA synchronous"); err != nil || mode != 2 {
		t.Errorf("synchronous is %d (%v), want 2 (FULL)", mode, err)
	}
}

func TestClosed(t *testing.T) {
	f := open(t, sqlbilling.Options{})
	if err := f.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if err := f.Ping(t.Context()); err == nil {
		t.Error("a closed database gives a sign of life")
	}
	if err := f.Account(t.Context(), record("s", billing.Start, 0)); !errors.Is(err, sqlbilling.ErrClosed) {
		t.Error(err)
	}
	if _, err := f.Authorize(t.Context(), &billing.AccessRequest{UserName: "alice", Time: at(0)}); err == nil {
		t.Error("authorized after Close")
	}
	f.PostAuth(&billing.AuthResult{Access: &billing.AccessRequest{UserName: "alice"}, Time: at(0)})
	if s := f.Stats(); s.PostAuthDropped != 1 {
		t.Errorf("%+v", s)
	}
}
