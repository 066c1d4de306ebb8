package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"go.uber.org/zap"
)

const (
	days       = 7        // whose files are read at start
	maxLine    = 64 << 10 // octets of a line
	maxWaiting = 4 << 20  // octets that wait for the disk
)

// recordLog appends lines to a file a day.
type recordLog struct {
	dir  string
	sync func(*os.File) error // (*os.File).Sync; tests have others

	mu   sync.Mutex
	next *group // waits for the disk; nil: none does

	disk sync.Mutex // held while a group is written
	torn bool       // the file may end in a piece of a line, of a crash or a full disk
}

// group is what is written with one fsync.
type group struct {
	lines []byte
	done  chan struct{} // closed when err is set
	err   error
}

// append returns nil when the lines are on the disk. While that is busy they wait, as one group
// with all others that do. After an error they may be there or not.
func (l *recordLog) append(ctx context.Context, lines []byte) error {
	l.mu.Lock()
	if l.next == nil {
		l.next = &group{done: make(chan struct{})}
		go l.write(l.next)
	}
	g := l.next
	if len(g.lines) > maxWaiting {
		l.mu.Unlock()
		return errors.New("the disk is too slow: too many records wait for it")
	}
	g.lines = append(g.lines, lines...)
	l.mu.Unlock()
	select {
	case <-g.done:
		return g.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// write waits for the disk, and then g is complete.
func (l *recordLog) write(g *group) {
	l.disk.Lock()
	defer l.disk.Unlock()
	l.mu.Lock()
	l.next = nil
	l.mu.Unlock()
	if l.torn {
		g.lines = append([]byte("\n"), g.lines...)
	}
	g.err = l.store(g.lines)
	l.torn = g.err != nil
	close(g.done)
}

// store opens the file each time, so that it may be moved away at any.
func (l *recordLog) store(lines []byte) error {
	name := filepath.Join(l.dir, time.Now().UTC().Format("acct-2006-01-02.jsonl"))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(lines); err == nil {
		err = l.sync(f)
	}
	if err = errors.Join(err, f.Close()); err != nil || runtime.GOOS == "windows" {
		return err // there, names are durable by themselves
	}
	dir, err := os.Open(l.dir)
	if err != nil {
		return err
	}
	return errors.Join(l.sync(dir), dir.Close()) // for the name of a new file
}

// replay gives take the lines of the last days. What take refuses is logged and passed over.
func (l *recordLog) replay(take func(line []byte) error, log *zap.Logger) error {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return err
	}
	names, err := fs.Glob(os.DirFS(l.dir), "acct-????-??-??.jsonl") // sorted, which is by day
	for _, name := range names[max(0, len(names)-days):] {
		err = errors.Join(err, l.replayFile(filepath.Join(l.dir, name), take, log))
	}
	return err
}

func (l *recordLog) replayFile(name string, take func(line []byte) error, log *zap.Logger) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	r := bufio.NewReaderSize(f, maxLine)
	for n := 1; ; n++ {
		line, err := r.ReadSlice('\n')
		if len(line) > 1 { // else it is empty, which is no harm
			if err := take(line); err != nil {
				log.Warn("passed over a line", zap.String("file", name), zap.Int("line", n), zap.Error(err))
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			l.torn = len(line) > 0
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull): // what is longer is no record
			return err
		}
	}
}
