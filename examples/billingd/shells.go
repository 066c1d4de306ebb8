package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// bashCompletion writes a function for bash's complete.
func bashCompletion(w io.Writer, all []completed) error {
	var b bytes.Buffer
	b.WriteString(`# bash completion of billingd: source <(billingd completion bash)
_billingd() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev= words
	COMPREPLY=()
	((COMP_CWORD > 0)) && prev=${COMP_WORDS[COMP_CWORD-1]}
	case ${COMP_WORDS[1]} in
`)
	choices := make(map[string]string)
	var files, others []string
	for _, c := range all[1:] {
		fmt.Fprintf(&b, "\t%s) words='%s' ;;\n", c.command, c.names())
	}
	fmt.Fprintf(&b, "\t*) words='%s' ;;\n\tesac\n", all[0].names())
	for _, c := range all {
		for _, f := range c.flags {
			switch name := "-" + f.name; {
			case f.file:
				files = append(files, name)
			case f.words != nil:
				choices[name] = strings.Join(f.words, " ")
			case f.value != "":
				others = append(others, name)
			}
		}
	}
	b.WriteString("\tcase $prev in\n")
	for _, name := range slices.Sorted(maps.Keys(choices)) {
		fmt.Fprintf(&b, "\t%s) words='%s' ;;\n", name, choices[name])
	}
	fmt.Fprintf(&b, "\t%s)\n\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n\t\treturn ;;\n", strings.Join(sorted(files), "|"))
	fmt.Fprintf(&b, "\t%s) return ;; # a value that only you know\n", strings.Join(sorted(others), "|"))
	fmt.Fprintf(&b, "\t*) ((COMP_CWORD == 1)) && words=\"%s $words\" ;;\n\tesac\n", commandNames(all))
	b.WriteString(`	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -F _billingd billingd
`)
	_, err := w.Write(b.Bytes())
	return err
}

// sorted is list in order, each once.
func sorted(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// zshCompletion writes a function for zsh's compdef.
func zshCompletion(w io.Writer, all []completed) error {
	var b bytes.Buffer
	b.WriteString(`#compdef billingd
# zsh completion of billingd: source <(billingd completion zsh)
_billingd() {
	local command=$words[2]
	case $command in
`)
	for _, c := range slices.Concat(all[1:], all[:1]) {
		pattern := c.command
		if pattern == "" {
			pattern = "*"
		}
		fmt.Fprintf(&b, "\t%s)\n", pattern)
		if c.command == "" {
			fmt.Fprintf(&b, "\t\t((CURRENT == 2)) && compadd -- %s\n", commandNames(all))
		} else {
			b.WriteString("\t\tshift words; ((CURRENT--))\n")
		}
		b.WriteString("\t\t_arguments")
		for _, f := range c.flags {
			fmt.Fprintf(&b, " \\\n\t\t\t%s", zshFlag(f))
		}
		if c.words != nil {
			fmt.Fprintf(&b, " '1:argument:(%s)'", strings.Join(c.words, " "))
		}
		b.WriteString("\n\t\t;;\n")
	}
	b.WriteString(`	esac
}
if [[ ${funcstack[1]} = _billingd ]]; then
	_billingd "$@"
else
	compdef _billingd billingd
fi
`)
	_, err := w.Write(b.Bytes())
	return err
}

func zshFlag(f completedFlag) string {
	s := "-" + f.name + "[" + strings.NewReplacer("[", "(", "]", ")", ":", `\:`, `\`, "").Replace(f.usage) + "]"
	switch {
	case f.file:
		s += ":file:_files"
	case f.words != nil:
		s += ":" + f.name + ":(" + strings.Join(f.words, " ") + ")"
	case f.value != "":
		s += ":" + f.name + ": "
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// fishCompletion writes lines of fish's complete.
func fishCompletion(w io.Writer, all []completed) error {
	var b bytes.Buffer
	b.WriteString("# fish completion of billingd: billingd completion fish | source\n")
	fmt.Fprintf(&b, "complete -c billingd -f -n '__fish_is_first_arg' -a '%s'\n", commandNames(all))
	for _, c := range all {
		when := "__fish_seen_subcommand_from " + c.command
		if c.command == "" {
			when = "not __fish_seen_subcommand_from " + commandNames(all)
		}
		for _, word := range c.words {
			fmt.Fprintf(&b, "complete -c billingd -f -n '%s' -a %s\n", when, word)
		}
		for _, f := range c.flags {
			fmt.Fprintf(&b, "complete -c billingd -n '%s' -o %s -d '%s'", when, f.name, strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(f.usage))
			switch {
			case f.file:
				b.WriteString(" -r -F")
			case f.words != nil:
				fmt.Fprintf(&b, " -x -a '%s'", strings.Join(f.words, " "))
			case f.value != "":
				b.WriteString(" -x")
			}
			b.WriteByte('\n')
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}
