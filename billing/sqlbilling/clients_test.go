package sqlbilling_test

import (
	"fmt"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/radpool/radpool/billing/sqlbilling"
	"github.com/radpool/radpool/radpool"
)

// The table nas is a list of clients; what cannot be used in it is named, and the
// rest is.
func TestClients(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		core, logs := observer.New(zap.WarnLevel)
		f := e.open(t, sqlbilling.Options{Logger: zap.New(core)})
		for _, r := range [][3]string{
			{"192.0.2.1", "bras", "s1"}, {"198.51.100.7/24", "net", "s2"}, {"2001:db8::1", "six", "s3"}, {"::ffff:192.0.2.9", "mapped", "s4"},
			{"192.0.2.1/32", "again", "hunter2"}, {"192.0.2.3", "open", ""}, {"192.0.2.0/99", "bad", "hunter2"}, {" ", "empty", "hunter2"},
			{"::ffff:198.51.100.0/120", "mapped again", "hunter2"},
		} {
			f.exec("INSERT INTO nas (nasname, shortname, secret) VALUES (?, ?, ?)", r[0], r[1], r[2])
		}
		list, err := f.Clients(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range list {
			got = append(got, fmt.Sprintf("%v %s %s", c.Prefix, c.Name, c.Secret))
		}
		want := "192.0.2.1/32 bras s1, 198.51.100.0/24 net s2, 2001:db8::1/128 six s3, 192.0.2.9/32 mapped s4"
		if strings.Join(got, ", ") != want {
			t.Errorf("%s\nwant %s", strings.Join(got, ", "), want)
		}
		if _, err := radpool.NewClients(list...); err != nil {
			t.Error(err)
		}
		var logged []string
		for _, l := range logs.All() {
			logged = append(logged, fmt.Sprint(l.ContextMap()["id"], " ", l.ContextMap()["error"]))
		}
		all := strings.Join(logged, "\n")
		for _, part := range []string{"5 an earlier row is about 192.0.2.1/32", `6 "192.0.2.3" has no secret`, `7 "192.0.2.0/99" is no network`, "8 the nasname is empty",
			"9 an earlier row is about 198.51.100.0/24"} {
			if strings.Count(all, part) != 1 {
				t.Errorf("%q is not logged once in %q", part, all)
			}
		}
		if strings.Contains(all, "hunter2") {
			t.Errorf("a secret is in %q", all)
		}
		f.exec("DROP TABLE nas")
		if _, err := f.Clients(t.Context()); err == nil {
			t.Error("no error without the table")
		}
	})
}
