package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// A generation is what connections of database/sql belong to, so that all of them are
// replaced after a statement has failed that was prepared for a table as it was before: a
// connection keeps its prepared statements, whoever prepares them again.
type generation struct{ dialect.Generation }

// ofGeneration is where a connection has its generation.
const ofGeneration = "radpool.generation"

// begin sets up a new connection.
func (g *generation) begin(ctx context.Context, c *pgx.Conn) error {
	c.PgConn().CustomData()[ofGeneration] = g.Now()
	return settle(ctx, c)
}

// check is asked before a connection is used again: driver.ErrBadConn makes database/sql
// take another one.
func (g *generation) check(_ context.Context, c *pgx.Conn) error {
	if c.PgConn().CustomData()[ofGeneration] != g.Now() {
		return driver.ErrBadConn
	}
	return nil
}

// failed is told of errors of statements.
func (g *generation) failed(err error) {
	if stale(err) {
		g.Renew(time.Now())
	}
}

// options are for OpenDB.
func (g *generation) options() []stdlib.OptionOpenDB {
	return []stdlib.OptionOpenDB{stdlib.OptionAfterConnect(g.begin), stdlib.OptionResetSession(g.check)}
}

// stale reports whether a connection does not know its prepared statements any more, or
// has made them for a table that has changed.
func stale(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (e.Code == "26000" || e.Code == "0A000") // invalid_sql_statement_name; feature_not_supported
}
