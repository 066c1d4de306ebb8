package sqlbilling_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/radpool/radpool/billing/sqlbilling"
)

// damaged makes a database in which user1 may log in, and user2 has a mistake in a row. It
// is to be removed after use, also after an error.
func damaged(ctx context.Context) (dsn string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "radpool")
	if err != nil {
		return "", func() {}, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	file := filepath.Join(dir, "radius.db")
	backend, err := sqlbilling.Open(ctx, "sqlite:"+file, sqlbilling.Options{})
	if err != nil {
		return "", remove, err
	}
	_, err = backend.EnsureDemo(ctx, 3)
	if err = errors.Join(err, backend.Close()); err != nil {
		return "", remove, err
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return "", remove, err
	}
	_, err = db.ExecContext(ctx, "INSERT INTO radcheck (username, attribute, op, value) VALUES ('user2', 'Expiration', ':=', 'soon')")
	return "sqlite:" + file, remove, errors.Join(err, db.Close())
}

// Which rows decide about a user, and which row is why another one is rejected.
func ExampleBackend_Explain() {
	ctx := context.Background()
	dsn, remove, err := damaged(ctx)
	defer remove()
	if err != nil {
		fmt.Println(err)
		return
	}
	backend, err := sqlbilling.Open(ctx, dsn, sqlbilling.Options{MustExist: true, Names: sqlbilling.NamesExact})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = backend.Close() }()
	for _, user := range []string{"user1", "user2"} {
		trace, err := backend.Explain(ctx, user, "NAS-IP-Address=192.0.2.1")
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, step := range trace.Steps {
			if step.Effect == sqlbilling.Set {
				fmt.Println(step)
			}
		}
		fmt.Println(user, "is let in:", trace.Accepted)
		if trace.Row != nil {
			fmt.Println(trace.Row)
		}
	}
	// Output:
	// radcheck, id 2: Cleartext-Password := ***: is set
	// radreply, id 4: Reply-Message := "hello": is set
	// radreply, id 5: Session-Timeout := "3600": is set
	// radreply, id 6: Framed-IP-Address := "10.0.0.2": is set
	// user1 is let in: true
	// user2 is let in: false
	// sqlbilling: radcheck, id 4, attribute "Expiration": attribute Expiration (date): not a date, as "10 Jul 2024" or "10 Jul 2024 15:04:05"
}

// What billingd check prints: here only what has to be mended.
func ExampleBackend_Check() {
	ctx := context.Background()
	dsn, remove, err := damaged(ctx)
	defer remove()
	if err != nil {
		fmt.Println(err)
		return
	}
	backend, err := sqlbilling.Open(ctx, dsn, sqlbilling.Options{MustExist: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = backend.Close() }()
	err = backend.Check(ctx, func(f sqlbilling.Finding) error {
		if f.Severity == sqlbilling.Wrong {
			fmt.Println(f)
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// wrong: radcheck, id 4, attribute "Expiration": attribute Expiration (date): not a date, as "10 Jul 2024" or "10 Jul 2024 15:04:05"
	// <nil>
}
