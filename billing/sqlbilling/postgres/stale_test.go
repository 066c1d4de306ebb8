package postgres_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/radpool/radpool/billing/sqlbilling/postgres"
)

// Connections are replaced after an error of what was prepared, once a second at most:
// where a server never supports a statement that would be all that is done.
func TestGenerations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := new(postgres.Generation)
		stale := &pgconn.PgError{Code: "0A000"}
		for _, c := range []struct {
			after time.Duration
			err   error
			want  uint64
		}{
			{0, errors.New("another"), 0}, {0, &pgconn.PgError{Code: "23505"}, 0}, {0, stale, 1}, {0, stale, 1},
			{999 * time.Millisecond, stale, 1}, {time.Millisecond, &pgconn.PgError{Code: "26000"}, 2},
		} {
			time.Sleep(c.after)
			if g.Failed(c.err); g.Now() != c.want {
				t.Errorf("%v later, %v: generation %d, want %d", c.after, c.err, g.Now(), c.want)
			}
		}
	})
}
