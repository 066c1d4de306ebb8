package mysql_test

import (
	"testing"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
	"github.com/radpool/radpool/billing/sqlbilling/mysql"
)

func TestHolds(t *testing.T) {
	for _, c := range []struct {
		text, charset string
		want          bool
	}{
		{"user 1\\", "sjis", true}, {"usör", "latin1", true}, {"us€r", "latin1", false}, {"ключ", "latin1", false},
		{"Ёж", "koi8r", true}, {"ї", "cp1251", false}, {"usör", "cp866", false},
		{"ключ", "utf8mb3", true}, {"😀", "utf8", false}, {"😀", "utf8mb4", true}, {"\xff", "", true}, {"é", "greek", false},
	} {
		if got := mysql.Holds(c.text, dialect.Column{Charset: c.charset}); got != c.want {
			t.Errorf("%q in %s: %v", c.text, c.charset, got)
		}
	}
}
