package serving_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/radpool/radpool/examples/serving"
)

// The exit status says whose fault it was, and standard error what.
func TestProgram(t *testing.T) {
	const helped = "Usage of test"
	for _, c := range []struct {
		args   []string
		served error
		status int
		told   string
	}{
		{nil, nil, 0, ""},
		{nil, errors.New("the port is taken"), 1, "test: the port is taken\n"},
		{[]string{"-h"}, nil, 0, helped},
		{[]string{"-conns", "0"}, nil, 2, "test: -conns 0: must be 1 to 1024\n"},
		{[]string{"more"}, nil, 2, `test: unexpected argument "more"`},
		{[]string{"-no-such"}, nil, 2, "test: flag provided but not defined: -no-such"},
	} {
		p := serving.Program[*serving.Upstream]{
			Name: "test",
			Parse: func(args []string, stderr io.Writer) (*serving.Upstream, error) {
				f := flag.NewFlagSet("test", flag.ContinueOnError)
				f.SetOutput(stderr)
				u := new(serving.Upstream)
				u.Flags(f, "the core", 4)
				if err := serving.Parse(f, args); err != nil {
					return nil, err
				}
				return u, u.Check()
			},
			Serve: func(_ context.Context, _ *serving.Upstream, stdout io.Writer, _ *zap.Logger) error {
				_, err := io.WriteString(stdout, "ready")
				return errors.Join(err, c.served)
			},
		}
		var stdout, stderr bytes.Buffer
		status := p.Run(t.Context(), c.args, &stdout, &stderr)
		served := stdout.String() == "ready"
		if status != c.status || !strings.Contains(stderr.String(), c.told) || (c.told == "") != (stderr.Len() == 0) || served != (c.args == nil) {
			t.Errorf("%v: exit status %d, served %v, told %q", c.args, status, served, stderr.String())
		}
	}
}

func TestUpstream(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for tell, args := range map[string][]string{
		"-conns 1025: must be 1 to 1024": {"-conns", "1025"},
		"-timeout 0s: must be more":      {"-timeout", "0"},
		"-ca: " + file:                   {"-ca", file},
		"":                               {"-conns", "1024", "-timeout", "1s"},
	} {
		f := flag.NewFlagSet("test", flag.ContinueOnError)
		u := new(serving.Upstream)
		u.Flags(f, "the core", 4)
		if err := f.Parse(args); err != nil {
			t.Fatal(err)
		}
		err := u.Check()
		if (err == nil) != (tell == "") || err != nil && !strings.Contains(err.Error(), tell) || err == nil && u.TLS == nil {
			t.Errorf("%v: %v", args, err)
		}
	}
	for host, is := range map[string]bool{
		"127.0.0.1": true, "127.9.9.9": true, "::1": true, "localhost": true, "LocalHost": true,
		"": false, "10.0.0.1": false, "localhost.example": false, "127.0.0.1.example": false,
	} {
		if serving.ThisMachine(host) != is {
			t.Errorf("%q is this machine: %v", host, !is)
		}
	}
}
