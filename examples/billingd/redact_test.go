package main

import "testing"

// A DSN with spaces is shown without its password as well.
func TestPasswordInKeywords(t *testing.T) {
	for dsn, want := range map[string]string{
		"postgres:host=h password=hunter2 user=me":      "postgres:host=h password=*** user=me",
		"postgres:password = hunter2 host=h":            "postgres:password = *** host=h",
		`postgres:password='a \'hunter2' host=h`:        "postgres:password=*** host=h",
		`postgres:password='a hunter2`:                  "postgres:password=***",
		`postgres:password=a\ hunter2 host=h`:           "postgres:password=*** host=h",
		"postgres:host=h passfile=f":                    "postgres:host=h passfile=f",
		"postgres://h/d?sslpassword=hunter2&user=me":    "postgres://h/d?sslpassword=***&user=me",
		"postgres://me@h/d":                             "postgres://me@h/d",
		"mysql:me@tcp(h:1)/d":                           "mysql:me@tcp(h:1)/d",
		"mariadb:me:a@b:hunter2@unix(/run/s)/d?loc=UTC": "mariadb:me:***@unix(/run/s)/d?loc=UTC",
		"sqlite:/a:b@c.db":                              "sqlite:/a:b@c.db",
	} {
		if got := (&options{db: dsn}).database(); got != want {
			t.Errorf("%q is shown as %q, want %q", dsn, got, want)
		}
	}
}
