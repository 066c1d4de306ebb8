package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// A prepared is a statement of a connection, which is run by its name.
type prepared struct{ name, text string }

// openConns returns connections beside those of db, with these statements. The first one
// is opened now: so what is wrong with a statement is known now.
func openConns(ctx context.Context, db *dialect.DB, statements []prepared) (*dialect.Conns[*pgx.Conn], error) {
	cfg, ok := db.Source.(*pgx.ConnConfig)
	if !ok {
		return nil, errors.New("the database was not opened by this package")
	}
	conns := &dialect.Conns[*pgx.Conn]{
		Open:  func(ctx context.Context) (*pgx.Conn, error) { return connect(ctx, cfg, statements) },
		Close: func(c *pgx.Conn) { _ = c.Close(context.Background()) },
		Gone:  func(c *pgx.Conn, err error) bool { return c.IsClosed() || lost(err) },
		Lost:  lost,
	}
	return conns, conns.Do(ctx, func(*pgx.Conn) error { return nil })
}

// connect opens a connection and prepares its statements.
func connect(ctx context.Context, cfg *pgx.ConnConfig, statements []prepared) (*pgx.Conn, error) {
	c, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := settle(ctx, c); err != nil {
		return nil, errors.Join(err, c.Close(ctx))
	}
	for _, s := range statements {
		if _, err := c.Prepare(ctx, s.name, s.text); err != nil {
			return nil, errors.Join(err, c.Close(ctx))
		}
	}
	return c, nil
}
