package dialect_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

func TestPlain(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"", 0, ""}, {"alice", 0, "alice"}, {"alice", 5, "alice"}, {"alice", 4, "alic"}, {"élan", 2, "él"}, {"用户", 1, "用"},
		{"a\x00b", 0, "a=00b"}, {"\xff\xfe", 0, "=FF=FE"}, {"é\xc3", 0, "é=C3"}, {"\xff\xfe", 4, "=FF="}, {"\ufffd", 0, "\ufffd"},
	} {
		if got := dialect.Plain(c.in, c.limit); got != c.want {
			t.Errorf("%q within %d is %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}

// What comes out can be stored everywhere, and no two names become one.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{"alice", "a+b", "a=2Bb", "é\xff\x00", "'", "\\", "用户", "=", "\xe2\x82"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := dialect.Escape(s)
		want := "" // octet by octet
		for i := 0; i < len(s); {
			r, size := utf8.DecodeRuneInString(s[i:])
			switch {
			case size > 1, r != utf8.RuneError && strings.ContainsRune("@abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_: /", r):
				want += s[i : i+size]
			default:
				want += fmt.Sprintf("=%02X", s[i])
			}
			i += size
		}
		if got != want || !utf8.ValidString(got) || strings.ContainsAny(got, "\x00'\"\\`;") {
			t.Errorf("%q becomes %q, want %q", s, got, want)
		}
		plain := dialect.Plain(s, 0)
		if !utf8.ValidString(plain) || strings.Contains(plain, "\x00") || dialect.Plain(plain, 0) != plain {
			t.Errorf("%q becomes %q", s, plain)
		}
	})
}

func TestStatements(t *testing.T) {
	got := dialect.Statements("-- first\nCREATE TABLE a (\n  b text DEFAULT ';'\n);\n\nCREATE INDEX c ON a (b);\n\n")
	if len(got) != 2 || !strings.Contains(got[0], "DEFAULT ';'") || strings.TrimSpace(got[1]) != "CREATE INDEX c ON a (b)" {
		t.Errorf("%q", got)
	}
}
