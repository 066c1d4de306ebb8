package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/radpool/radpool/internal/loadgen"
)

const (
	readyTime = 2 * time.Minute // until a server answers; "go run" compiles first
	stopTime  = 20 * time.Second
)

// server is a process that a sweep has started.
type server struct {
	cmd   *exec.Cmd
	said  tail
	ended chan struct{}
	err   error // why, once ended is closed
}

func startServer(command []string, places *strings.Replacer) (*server, error) {
	args := make([]string, len(command))
	for i, word := range command {
		args[i] = places.Replace(word)
	}
	s := &server{cmd: exec.Command(args[0], args[1:]...), ended: make(chan struct{})} //nolint:gosec // what the user asks for
	s.cmd.Stdout, s.cmd.Stderr = &s.said, &s.said
	s.cmd.WaitDelay = time.Second
	group(s.cmd)
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("-start: %w", err)
	}
	go func() {
		s.err = s.cmd.Wait()
		close(s.ended)
	}()
	return s, nil
}

// ready waits until the server answers a login, whatever the answer is.
func (s *server) ready(ctx context.Context, c loadgen.Config) error {
	probe := loadgen.Config{
		Auth: c.Auth, Acct: c.Acct, Secret: c.Secret, Users: c.Users, Sources: c.Sources, Workers: 1, Requests: 1,
		Timeout: 50 * time.Millisecond,
	}
	if len(probe.Sources) > 1 {
		probe.Sources = probe.Sources[:1]
	}
	for deadline := time.Now().Add(readyTime); ; {
		r, err := loadgen.Run(ctx, probe, nil)
		if err != nil {
			return err
		}
		if err := s.alive(); err != nil {
			return err
		}
		switch {
		case r.Answered > 0:
			return nil
		case ctx.Err() != nil:
			return errors.New("stopped")
		case time.Now().After(deadline):
			return fmt.Errorf("-start: the server does not answer on %v after %v, and said: %s", c.Auth, readyTime, s.said.text())
		}
	}
}

// alive is an error if the server has ended by itself.
func (s *server) alive() error {
	select {
	case <-s.ended:
		return fmt.Errorf("-start: the server has ended (%w), and said: %s", s.err, s.said.text())
	default:
		return nil
	}
}

// stop ends the server, and waits for that.
func (s *server) stop() {
	interrupt(s.cmd)
	select {
	case <-s.ended:
	case <-time.After(stopTime):
		kill(s.cmd)
		<-s.ended
	}
}

// tail keeps the end of what a server prints.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const tailLength = 2048

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if over := len(t.b) - tailLength; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	return len(p), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.b))
}
