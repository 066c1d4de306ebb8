package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/radpool/radpool/internal/need"
)

// Every command and every flag is in what each shell is given, and its words are such as
// the flag takes.
func TestCompletionsAreWhole(t *testing.T) {
	all := completions()
	for shell := range shells {
		status, out, log := runCommand(t, "completion", shell)
		if status != 0 || log != "" {
			t.Errorf("%s: status %d, %s", shell, status, log)
		}
		for _, c := range all {
			for _, f := range c.flags {
				if !strings.Contains(out, "-"+f.name) && !strings.Contains(out, "-o "+f.name+" ") {
					t.Errorf("%s: -%s is missing", shell, f.name)
				}
			}
			if !strings.Contains(out, c.command) {
				t.Errorf("%s: %s is missing", shell, c.command)
			}
		}
	}
	words := 0
	for set, of := range map[*flag.FlagSet]string{serveFlags("", new(options)): "", migrateFlags(new(options), new(string), new(string)): "migrate"} {
		i := slices.IndexFunc(all, func(c completed) bool { return c.command == of })
		for _, f := range all[i].flags {
			for _, word := range f.words {
				words++
				if err := set.Set(f.name, word); err != nil {
					t.Errorf("-%s %s: %v", f.name, word, err)
				}
			}
		}
	}
	if words < 15 {
		t.Errorf("%d words", words)
	}
	for name := range flagWords {
		if !slices.ContainsFunc(all, func(c completed) bool {
			return slices.ContainsFunc(c.flags, func(f completedFlag) bool { return f.name == name })
		}) {
			t.Errorf("there are words of -%s, which is no flag", name)
		}
	}
	for _, args := range [][]string{{"completion"}, {"completion", "tcsh"}, {"completion", "bash", "zsh"}} {
		if status, out, log := runCommand(t, args...); status != 2 || out != "" || !strings.Contains(log, "bash, fish, zsh") {
			t.Errorf("%v: status %d, %q, %q", args, status, out, log)
		}
	}
}

// The shells themselves, where they are.
func TestCompletionInShells(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("my.conf", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for shell, ask := range map[string]func(script, line string) string{
		"bash": func(script, line string) string {
			words := strings.Split(line, " ")
			return "source " + script + "; COMP_WORDS=('" + strings.Join(words, "' '") + "'); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _billingd; printf '%s\\n' \"${COMPREPLY[@]}\""
		},
		"fish": func(script, line string) string { return "source " + script + "; complete -C '" + line + "'" },
		"zsh":  nil, // it completes on a terminal alone: what can be asked is whether it reads it
	} {
		t.Run(shell, func(t *testing.T) {
			path := need.Command(t, shell, "apt-get install "+shell)
			_, text, _ := runCommand(t, "completion", shell)
			script := filepath.Join(dir, "completion."+shell)
			if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.CommandContext(t.Context(), path, "-n", script).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if ask == nil {
				return
			}
			for line, want := range map[string]string{
				"billingd c":               "check completion",
				"billingd -log-f":          "-log-format",
				"billingd check -max-serv": "-max-servers",
				"billingd -log-format ":    "console json",
				"billingd completion b":    "bash",
				"billingd -conf my":        "my.conf",
				"billingd explain -sock":   "",
				"billingd -secret ":        "",
				"billingd migrate -from ":  "standard",
			} {
				if shell == "fish" && line == "billingd -secret " {
					continue // it offers files of its own accord
				}
				out, err := exec.CommandContext(t.Context(), path, "-c", ask(script, line)).Output()
				if err != nil {
					t.Errorf("%q: %v", line, err)
				}
				var got []string
				for one := range strings.Lines(string(out)) {
					word, _, _ := strings.Cut(strings.TrimSpace(one), "\t")
					got = append(got, word)
				}
				if have := strings.TrimSpace(strings.Join(got, " ")); have != want {
					t.Errorf("%q: got %q, want %q", line, have, want)
				}
			}
		})
	}
}
