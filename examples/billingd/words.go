package main

import (
	"fmt"
	"slices"
	"strings"
)

// oneOf is a flag that is one of some words, the first of which is the default.
type oneOf struct {
	word  *string
	words []string
}

// newOneOf makes a flag of dst, and sets it to the first word.
func newOneOf(dst *string, words ...string) oneOf {
	*dst = words[0]
	return oneOf{dst, words}
}

// Set takes a word.
func (o oneOf) Set(word string) error {
	if !slices.Contains(o.words, word) {
		return fmt.Errorf("%.32q is none of %s", word, strings.Join(o.words, ", "))
	}
	*o.word = word
	return nil
}

// String is the word, or "" of the zero oneOf.
func (o oneOf) String() string {
	if o.word == nil {
		return ""
	}
	return *o.word
}
