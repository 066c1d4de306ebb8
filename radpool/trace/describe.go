package trace

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/radpool/radpool/internal/dict"
)

// secret stands for what is not printed, as FreeRADIUS has it.
const secret = "<<< secret >>>"

// describe is an attribute as Name = value, without what is secret.
func describe(ref dict.Ref, value []byte) string {
	if ref.Attr == nil {
		return fmt.Sprintf("Vendor-Specific = <<< %d octets that cannot be read >>>", len(value))
	}
	name := ref.Name
	if ref.Tag != 0 {
		name += ":" + strconv.Itoa(int(ref.Tag))
	}
	if dict.Secret(ref.Attr) {
		return name + " = " + secret
	}
	text := ref.Format(value)
	if ref.Type != dict.TypeString {
		return name + " = " + text
	}
	return name + ` = "` + oneLine(dict.HidePairs(text, secret)) + `"`
}

// oneLine is s without what would end the line or steer a terminal.
func oneLine(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for i, w := 0, 0; i < len(s); i += w {
		r, size := utf8.DecodeRuneInString(s[i:])
		w = size
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\%03o`, s[i])
		case !unicode.IsPrint(r):
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// printable reports whether a password can be one that somebody typed.
func printable(b []byte) bool {
	return utf8.Valid(b) && bytes.IndexFunc(b, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}
