package mysql

import (
	"strconv"
	"strings"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// Without JSON_TABLE a list has a fixed number of parameters.

// listLength is how many values IN has room for.
const listLength = 64

func params(n int) string { return strings.Repeat("?, ", n-1) + "?" }

// paddedList repeats the last value in the places that are left.
func paddedList(values []string) []any {
	args := make([]any, listLength)
	for i := range args {
		args[i] = values[min(i, len(values)-1)]
	}
	return args
}

// unionList is a table q like that of jsonList, of so many parameters.
func unionList(c dialect.Column, size int) string {
	u := "CONVERT(? USING utf8mb4)"
	var b strings.Builder
	b.WriteString("(SELECT t.i, ")
	switch {
	case unicode(c):
		b.WriteString("t.u COLLATE " + c.Collation + " AS u")
	case c.Charset == "":
		b.WriteString("CAST(t.u AS BINARY) AS u")
	default:
		b.WriteString("CONVERT(t.u USING " + c.Charset + ") COLLATE " + c.Collation + " AS u")
	}
	b.WriteString(" FROM (SELECT 1 AS i, " + u + " AS u")
	for i := 2; i <= size; i++ {
		b.WriteString(" UNION ALL SELECT " + strconv.Itoa(i) + ", " + u)
	}
	b.WriteString(") t")
	if !unicode(c) && c.Charset != "" {
		b.WriteString(" WHERE CAST(CONVERT(CONVERT(t.u USING " + c.Charset + ") USING utf8mb4) AS BINARY) = CAST(t.u AS BINARY)")
	}
	b.WriteString(") q")
	return b.String()
}
