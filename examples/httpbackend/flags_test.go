package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFlags(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("two words\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for tell, args := range map[string][]string{
		"-url: must be https://": {"-url", "http://10.0.0.1"},
		"-url: must be http://":  {"-url", "ldap://127.0.0.1"},
		"-token-file":            {"-url", "https://user:hunter2@billing.example.org"},
		"not a URL":              {"-url", "http://[hunter2"},
		"-send-passwords":        {"-url", "http://10.0.0.1", "-plain-http", "-send-passwords"},
		"localhost.example":      {"localhost.example"},
		"-conns":                 {"-conns", "0"},
		"-timeout":               {"-timeout", "0"},
		"-ca":                    {"-ca", token},
		"-token-file: the first": {"-token-file", token},
		"no such file":           {"-token-file", token + "x"},
	} {
		if _, err := parseFlags(args, t.Output()); err == nil || !strings.Contains(err.Error(), tell) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v: %v, want %s told", args, err, tell)
		}
	}
	for _, args := range [][]string{
		{"-url", "https://billing.example.org/radius", "-send-passwords"}, {"-url", "http://10.0.0.1", "-plain-http"},
		{"-url", "http://[::1]:8080", "-send-passwords"}, {"-url", "http://localhost", "-send-passwords"},
	} {
		if _, err := parseFlags(args, t.Output()); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
}
