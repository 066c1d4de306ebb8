package sqlbilling_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
)

// read_groups = no and read_profiles = no: groups, and the profile, are for those who say
// Fall-Through = Yes before them, and for nobody else.
func TestByFallThrough(t *testing.T) {
	own := func(fall string) rows {
		list := rows{pass, reply("Reply-Message", "=", "own")}
		if fall != "" {
			list = append(list, reply("Fall-Through", "=", fall))
		}
		return list
	}
	group := func(fall string) rows {
		list := rows{member("alice", "staff", "1"), greply("staff", "Reply-Message", "+=", "group")}
		if fall != "" {
			list = append(list, greply("staff", "Fall-Through", "=", fall))
		}
		return list
	}
	for _, tc := range []struct {
		user, group string // their Fall-Through; "-": there is no group
		want        [4]string
	}{ // by default, by read_groups = no, by read_profiles = no, by both
		{"", "", [4]string{"own group profile", "own profile", "own group", "own"}},
		{"", "-", [4]string{"own profile", "own profile", "own", "own"}},
		{"", "Yes", [4]string{"own group profile", "own profile", "own group profile", "own"}},
		{"", "No", [4]string{"own group", "own profile", "own group", "own"}},
		{"Yes", "", [4]string{"own group profile", "own group profile", "own group", "own group"}},
		{"Yes", "-", [4]string{"own profile", "own profile", "own", "own"}}, // no group is no word of one
		{"Yes", "Yes", [4]string{"own group profile", "own group profile", "own group profile", "own group profile"}},
		{"Yes", "No", [4]string{"own group", "own group", "own group", "own group"}},
		{"No", "Yes", [4]string{"own", "own", "own", "own"}},
	} {
		for i, want := range tc.want {
			f := open(t, sqlbilling.Options{DefaultProfile: "DEFAULT", GroupsByFallThrough: i&1 != 0, ProfilesByFallThrough: i&2 != 0})
			f.rows(own(tc.user)...)
			if tc.group != "-" {
				f.rows(group(tc.group)...)
			}
			f.rows(member("DEFAULT", "all", "1"), greply("all", "Reply-Message", "+=", "profile"))
			g, err := f.Authorize(t.Context(), aliceRequest(t))
			expected := cleartext + " [Reply-Message=" + strings.ReplaceAll(want, " ", " Reply-Message=") + "]"
			if got := summary(g, err); got != expected {
				t.Errorf("user %q, group %q, options %d: %s, want %s", tc.user, tc.group, i, got, expected)
			}
			trace, err := f.Explain(t.Context(), "alice")
			if err != nil || len(trace.Reply) != len(strings.Fields(want)) {
				t.Errorf("user %q, group %q, options %d: explained as %v, %v", tc.user, tc.group, i, trace.Reply, err)
			}
		}
	}
}

// A statement that hangs ends with QueryTimeout, though who asked would wait longer.
func TestQueryTimeout(t *testing.T) {
	eachServer(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{QueryTimeout: 50 * time.Millisecond})
		f.rows(pass)
		conn, err := f.raw.Connx(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		lock, unlock := []string{"LOCK TABLES radcheck WRITE"}, "UNLOCK TABLES"
		if f.raw.DriverName() != "mysql" {
			lock, unlock = []string{"BEGIN", "LOCK TABLE radcheck"}, "ROLLBACK"
		}
		for _, statement := range lock {
			if _, err := conn.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		_, err = f.Authorize(t.Context(), &billing.AccessRequest{UserName: "alice", Time: at(0)})
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, billing.ErrSubscriber) {
			t.Errorf("while the table is locked: %v", err)
		}
		if _, err := conn.ExecContext(t.Context(), unlock); err != nil {
			t.Fatal(err)
		}
		for range 100 { // the machine may be slow
			g, err := f.Authorize(t.Context(), &billing.AccessRequest{UserName: "alice", Time: at(0)})
			if err == nil && g.Password.Form() == billing.FormCleartext {
				return
			}
		}
		t.Error("not answered after that")
	})
	for _, d := range []time.Duration{-1, time.Millisecond, time.Hour} {
		if _, err := sqlbilling.Open(t.Context(), "sqlite:none.db", sqlbilling.Options{QueryTimeout: d}); err == nil || !strings.Contains(err.Error(), "QueryTimeout") {
			t.Errorf("%v: %v", d, err)
		}
	}
}
