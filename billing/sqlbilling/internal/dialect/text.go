package dialect

import (
	"strings"
	"unicode/utf8"
)

// Statements cuts a file of SQL into its statements: each ends with a semicolon
// at the end of a line.
func Statements(file string) []string {
	var list []string
	for s := range strings.SplitSeq(file, ";\n") {
		if strings.TrimSpace(s) != "" {
			list = append(list, s)
		}
	}
	return list
}

// Plain is s as a database whose text is Unicode can hold it: octets that are no
// UTF-8, and NUL, become =FF and =00, as FreeRADIUS writes them. Of what is
// longer than limit characters the end is cut off, where limit is not 0.
func Plain(s string, limit int) string {
	if !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0 {
		s = escape(s, func(r rune, size int) bool { return r != 0 && (r != utf8.RuneError || size > 1) })
	}
	if limit == 0 || len(s) <= limit {
		return s
	}
	n := 0
	for i := range s {
		if n == limit {
			return s[:i]
		}
		n++
	}
	return s
}

// safe are the characters that FreeRADIUS leaves as they are (safe_characters).
const safe = "@abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_: /"

// Escape is s as FreeRADIUS's rlm_sql gives text to a database: what is not one
// of its safe_characters, nor valid UTF-8 beyond ASCII, becomes =2B and the like.
func Escape(s string) string {
	plain := true
	for i := 0; i < len(s) && plain; i++ {
		plain = strings.IndexByte(safe, s[i]) >= 0
	}
	if plain {
		return s
	}
	return escape(s, func(r rune, size int) bool {
		return size > 1 || r < utf8.RuneSelf && strings.IndexByte(safe, byte(r)) >= 0
	})
}

// escape writes the octets of those characters that are not kept as =XX.
func escape(s string, kept func(r rune, size int) bool) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if kept(r, size) {
			b.WriteString(s[i : i+size])
		} else {
			for _, c := range []byte(s[i : i+size]) {
				b.Write([]byte{'=', hex[c>>4], hex[c&15]})
			}
		}
		i += size
	}
	return b.String()
}
