package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/radpool/radpool/billing"
)

// replayed are the lines in dir, but for those that are no record, and what is told of those.
func replayed(t *testing.T, dir string) (lines, told []string) {
	t.Helper()
	logs, seen := observer.New(zapcore.WarnLevel)
	err := (&recordLog{dir: dir}).replay(func(line []byte) error {
		if !bytes.HasPrefix(line, []byte("record ")) {
			return errors.New("no record")
		}
		lines = append(lines, strings.TrimSpace(string(line)))
		return nil
	}, zap.New(logs))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range seen.All() {
		told = append(told, fmt.Sprint(filepath.Base(e.ContextMap()["file"].(string)), ":", e.ContextMap()["line"], ": ", e.ContextMap()["error"]))
	}
	return lines, told
}

// All that waits while the disk is busy is its next write, with one fsync.
func TestOneFsyncForAllThatWait(t *testing.T) {
	const callers, line = 50, "record\n"
	busy, free := make(chan struct{}), make(chan struct{})
	fsyncs := 0
	l := &recordLog{dir: t.TempDir(), sync: func(f *os.File) error {
		if info, err := f.Stat(); err != nil || info.IsDir() {
			return err
		}
		if fsyncs++; fsyncs == 1 {
			close(busy)
			<-free
		}
		return nil
	}}
	var all sync.WaitGroup
	add := func() {
		if err := l.append(t.Context(), []byte(line)); err != nil {
			t.Error(err)
		}
	}
	all.Go(add)
	<-busy
	for range callers {
		all.Go(add)
	}
	for waiting := 0; waiting < callers*len(line); runtime.Gosched() {
		l.mu.Lock()
		if l.next != nil {
			waiting = len(l.next.lines)
		}
		l.mu.Unlock()
	}
	close(free)
	all.Wait()
	if fsyncs != 2 {
		t.Errorf("%d fsyncs for one record and %d that waited", fsyncs, callers)
	}
}

// A disk that hangs is the end of nobody: who waits gets an error, and what waits is bounded.
func TestDiskHangs(t *testing.T) {
	free := make(chan struct{})
	l := &recordLog{dir: t.TempDir(), sync: func(*os.File) error {
		<-free
		return nil
	}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	megabyte := bytes.Repeat([]byte("record 4567890\n"), 1<<16)
	var err error
	for n := 0; n < 100 && (err == nil || errors.Is(err, context.Canceled)); n++ {
		err = l.append(ctx, megabyte)
	}
	if err == nil || !strings.Contains(err.Error(), "too slow") {
		t.Errorf("a hundred megabytes wait: %v", err)
	}
	close(free)
	for err != nil && strings.Contains(err.Error(), "too slow") { // until what waits is written
		runtime.Gosched()
		err = l.append(t.Context(), []byte("record\n"))
	}
	if err != nil {
		t.Error(err)
	}
}

// After a write that failed, as on a full disk, the next one does not continue a piece of a line.
func TestDiskIsFull(t *testing.T) {
	full := false
	l := &recordLog{dir: t.TempDir(), sync: func(f *os.File) error {
		info, err := f.Stat()
		if !full || err != nil || info.IsDir() {
			return err
		}
		return errors.Join(f.Truncate(info.Size()-4), errors.New("no space left on device"))
	}}
	var want []string
	for i := range 6 {
		full = i%3 == 1
		line := fmt.Sprintf("record %d", i)
		err := l.append(t.Context(), []byte(line+"\n"))
		if (err != nil) != full {
			t.Errorf("%d: the disk is full: %v, and the error %v", i, full, err)
		}
		if err == nil {
			want = append(want, line)
		}
	}
	got, _ := replayed(t, l.dir)
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("%s is lost, which was acknowledged: %q", line, got)
		}
	}
}

func TestReplay(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if lines, told := replayed(t, filepath.Join(dir, "new")); lines != nil || told != nil {
		t.Errorf("an empty directory: %q, %q", lines, told)
	}
	var want []string
	for day := range 9 {
		line := fmt.Sprint("record of day ", day)
		write(fmt.Sprintf("acct-2026-11-2%d.jsonl", day), line+"\n")
		want = append(want, line)
	}
	want = want[9-days:]
	write("acct-2026-11-28.jsonl.gz", "\x1f\x8b")
	write("acct-2026-11-30.jsonl", "record a\n\nrecord b\n"+strings.Repeat("\x00", 5*maxLine)+"\nrecord c\nrec")
	want = append(want[1:], "record a", "record b", "record c")
	lines, told := replayed(t, dir)
	if !reflect.DeepEqual(lines, want) {
		t.Errorf("%q, must be %q", lines, want)
	}
	if len(told) == 0 || told[0] != "acct-2026-11-30.jsonl:4: no record" || !strings.HasSuffix(told[len(told)-1], ": no record") {
		t.Errorf("told is %q", told)
	}
	// What is torn stays a line of its own.
	l := &recordLog{dir: dir, sync: (*os.File).Sync}
	if err := l.replay(func([]byte) error { return nil }, zap.NewNop()); err != nil || !l.torn {
		t.Errorf("torn is %v, %v", l.torn, err)
	}
}

// A record comes back from its line with all that sessions are made of, whatever octets a NAS sends.
func FuzzRecord(f *testing.F) {
	f.Add("alice", "s1", uint64(1<<63+1), uint32(1), []byte(`{"time":"2026-12-01T00:00:00Z","status":1,"unique_id":"x"}`))
	f.Add("a\xff\x00\n\"\\x'\u2028", "\\xff", uint64(0), uint32(1<<32-1), []byte("null"))
	f.Fuzz(func(t *testing.T, user, session string, octets uint64, seconds uint32, line []byte) {
		if rec, err := parseLine(line); err == nil && (rec.UniqueID == "" || rec.Status == 0 || rec.Time.IsZero()) {
			t.Errorf("%q: %+v", line, rec)
		}
		want := &billing.AccountingRecord{
			Status: billing.Stop, Time: time.Unix(int64(seconds)+1, 0).UTC(), UniqueID: "id", UserName: user, SessionID: session,
			InputOctets: octets, OutputOctets: octets / 3, SessionTime: time.Duration(seconds) * time.Second, TerminateCause: seconds,
		}
		made := appendLine(nil, want)
		if got, err := parseLine(made); err != nil || !reflect.DeepEqual(got, want) || bytes.Count(made, []byte("\n")) != 1 {
			t.Errorf("%q: %+v, must be %+v, %v", made, got, want, err)
		}
	})
}
