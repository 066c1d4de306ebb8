package mysql_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/radpool/radpool/billing/sqlbilling/mysql"
)

// What is packed is JSON, and means the names: null for those that cannot be in a
// database.
func FuzzNames(f *testing.F) {
	for _, s := range []string{"alice", `"`, `\`, "\x00\x1f\x7f", "é用😀", "\xff", `","x`, strings.Repeat("x", 254), strings.Repeat("é", 253)} {
		f.Add(s, "bob")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		packed := mysql.JSONNames([]string{a, b, a})
		var got []*string
		if err := json.Unmarshal([]byte(packed), &got); err != nil || len(got) != 3 {
			t.Fatalf("%q: %v", packed, err)
		}
		for i, name := range []string{a, b, a} {
			possible := utf8.ValidString(name) && utf8.RuneCountInString(name) <= 253
			if possible != (got[i] != nil) || possible && *got[i] != name {
				t.Errorf("%q is packed as %s", name, packed)
			}
		}
	})
}
