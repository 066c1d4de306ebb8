package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// shells are those that completion knows.
var shells = map[string]func(io.Writer, []completed) error{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}

// completionCommand prints what makes a shell complete billingd's commands and flags.
func completionCommand(_ context.Context, args []string, stdout, stderr io.Writer) int {
	write := shells[strings.Join(args, " ")]
	if write == nil {
		complain(stderr, fmt.Errorf("completion: for which shell? One of %s, as in: source <(billingd completion bash)",
			strings.Join(slices.Sorted(maps.Keys(shells)), ", ")))
		return 2
	}
	if err := write(stdout, completions()); err != nil {
		complain(stderr, fmt.Errorf("completion: %w", err))
		return 1
	}
	return 0
}

// completed is a command with its flags, by name; "" is to serve.
type completed struct {
	command string
	flags   []completedFlag
	words   []string // arguments
}

type completedFlag struct {
	name, usage string
	value       string   // what stands after it in the help; "": nothing
	words       []string // what it may be; nil: anything
	file        bool     // it is one
}

// completions are made of the sets of flags themselves.
func completions() []completed {
	sets := map[string]*flag.FlagSet{
		"":      serveFlags("", new(options)),
		"check": serveFlags("", new(options)), "explain": newFlags("", new(options)), "migrate": migrateFlags(new(options), new(string), new(string)),
	}
	all := []completed{{}}
	for name := range commands() {
		all = append(all, completed{command: name})
	}
	slices.SortFunc(all, func(a, b completed) int { return strings.Compare(a.command, b.command) })
	for i := range all {
		c := &all[i]
		if c.command == "completion" {
			c.words = slices.Sorted(maps.Keys(shells))
		}
		if set := sets[c.command]; set != nil {
			set.VisitAll(func(f *flag.Flag) { c.flags = append(c.flags, completedOf(f)) })
		}
	}
	return all
}

// flagWords are the words of flags that are not a oneOf.
var flagWords = map[string][]string{
	"log-level": {"debug", "info", "warn", "error"}, "names": {"column", "exact", "ignore-case"}, "pool-full": poolFullWords[:],
	"schema": {standardSchema, radpoolSchema}, "from": {standardSchema}, "to": {radpoolSchema},
}

func completedOf(f *flag.Flag) completedFlag {
	value, usage := flag.UnquoteUsage(f)
	c := completedFlag{name: f.Name, usage: usage, value: value, words: flagWords[f.Name], file: value == "FILE"}
	if o, ok := f.Value.(oneOf); ok {
		c.words = o.words
	}
	return c
}

// names are the flags as they are written, separated by blanks.
func (c completed) names() string {
	var all []string
	for _, f := range c.flags {
		all = append(all, "-"+f.name)
	}
	return strings.Join(append(all, c.words...), " ")
}

// commandNames are those of all but the first, which is to serve.
func commandNames(all []completed) string {
	var names []string
	for _, c := range all[1:] {
		names = append(names, c.command)
	}
	return strings.Join(names, " ")
}
