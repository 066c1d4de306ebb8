package mysql

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// longest is the longest name that is asked for, in characters: that of RADIUS.
const longest = 253

// jsonList is a table q of names, numbered i from 1 on, and as u in the character
// set and collation of a column: with others no index would be used. A name that
// the character set lacks a character for is left out: it would be turned into
// a question mark, which is another's name. To find that out takes two conversions
// of each name; where all are plain, in ASCII, it is known.
func jsonList(c dialect.Column, plain bool) string {
	table := func(charset string) string {
		return "JSON_TABLE(?, '$[*]' COLUMNS (i FOR ORDINALITY, u VARCHAR(" + strconv.Itoa(longest) + ")" + charset + " PATH '$'))"
	}
	if unicode(c) || plain && holdsASCII[c.Charset] {
		return table(" CHARACTER SET "+c.Charset+" COLLATE "+c.Collation) + " q"
	}
	if c.Charset == "" {
		return "(SELECT t.i, CAST(t.u AS BINARY) AS u FROM " + table(" CHARACTER SET utf8mb4") + " t) q"
	}
	u := "CONVERT(t.u USING " + c.Charset + ")"
	return "(SELECT t.i, " + u + " COLLATE " + c.Collation + " AS u FROM " + table(" CHARACTER SET utf8mb4") +
		" t WHERE CAST(CONVERT(" + u + " USING utf8mb4) AS BINARY) = CAST(t.u AS BINARY)) q"
}

// holdsASCII are the character sets of which every character of ASCII is one, with
// the same octet.
var holdsASCII = map[string]bool{
	"ascii": true, "latin1": true, "latin2": true, "latin5": true, "latin7": true, "utf8": true, "utf8mb3": true, "greek": true, "hebrew": true,
	"cp1250": true, "cp1251": true, "cp1256": true, "cp1257": true, "cp850": true, "cp852": true, "cp866": true, "koi8r": true, "koi8u": true,
}

// holds reports whether the character set of a column has all characters of s, as far
// as is known here: of other sets no more than ASCII.
func holds(s string, c dialect.Column) bool {
	if unicode(c) || c.Charset == "" {
		return true
	}
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
		case c.Charset == "utf8" || c.Charset == "utf8mb3":
			if r > 0xffff {
				return false
			}
		case c.Charset == "latin1":
			if r < 0xa0 || r > 0xff {
				return false
			}
		case c.Charset == "cp1251" || c.Charset == "koi8r" || c.Charset == "koi8u" || c.Charset == "cp866":
			if (r < 'А' || r > 'я') && r != 'Ё' && r != 'ё' {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// plain reports whether all names are in ASCII.
func plain(names []string) bool {
	for _, s := range names {
		for i := range len(s) {
			if s[i] >= utf8.RuneSelf {
				return false
			}
		}
	}
	return true
}

// askable reports whether a name can be in the database.
func askable(name string) bool {
	return utf8.ValidString(name) && (len(name) <= longest || utf8.RuneCountInString(name) <= longest)
}

// jsonNames packs names. One that cannot be in the database is null, which equals
// nothing.
func jsonNames(names []string) string {
	n := 2
	for _, s := range names {
		n += len(s) + 3
	}
	b := append(make([]byte, 0, n), '[')
	for i, s := range names {
		if i > 0 {
			b = append(b, ',')
		}
		if askable(s) {
			b = appendString(b, s)
		} else {
			b = append(b, "null"...)
		}
	}
	return string(append(b, ']'))
}

// appendString writes valid UTF-8 as a string of JSON.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[from:i]...)
		if c >= ' ' {
			b = append(b, '\\', c)
		} else {
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		from = i + 1
	}
	return append(append(b, s[from:]...), '"')
}

// source is the table of a bulk: an array of arrays.
func source(kinds []dialect.Kind) string {
	columns := make([]string, len(kinds))
	for i, k := range kinds {
		n := strconv.Itoa(i)
		columns[i] = "c" + n + " VARCHAR(1024) CHARACTER SET utf8mb4 PATH '$[" + n + "]'"
		if k == dialect.KindInt {
			columns[i] = "c" + n + " BIGINT PATH '$[" + n + "]'"
		}
	}
	return "JSON_TABLE(?, '$[*]' COLUMNS (" + strings.Join(columns, ", ") + ")) v"
}

func pack(kinds []dialect.Kind, values []any) []any {
	b := append(make([]byte, 0, 16*len(values)), '[')
	for i, v := range values {
		switch {
		case i%len(kinds) > 0:
			b = append(b, ',')
		case i > 0:
			b = append(b, "],["...)
		default:
			b = append(b, '[')
		}
		switch v := v.(type) {
		case string:
			b = appendString(b, v)
		case int64:
			b = strconv.AppendInt(b, v, 10)
		default:
			b = append(b, "null"...)
		}
	}
	return []any{string(append(b, "]]"...))}
}

func update(table, key string, sets []string, source string) string {
	return "UPDATE " + source + " STRAIGHT_JOIN " + table + " ON " + table + "." + key + " = v.c0 SET " + strings.Join(sets, ", ")
}
