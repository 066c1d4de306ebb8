package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"time"
)

// A connector opens connections that know when their file has gone.
type connector struct {
	driver driver.Driver
	dsn    string
	file   *file
}

// usual is what a connection must be able to do.
type usual interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
}

func (c *connector) Driver() driver.Driver { return c.driver }

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	generation := c.file.generation.Now()
	before := c.file.look(time.Now(), 0)
	if before == nil {
		return nil, errGone
	}
	inner, err := c.driver.Open(c.dsn)
	if err != nil {
		return nil, err
	}
	u, ok := inner.(usual)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's %T lacks methods with a context", inner), inner.Close())
	}
	if !same(before, c.file.look(time.Now(), 0)) { // nobody knows which of the two was opened
		return nil, errors.Join(errMoved, inner.Close())
	}
	return &conn{usual: u, file: c.file, opened: before, generation: generation}, nil
}

// A conn is a connection to one file, whatever comes to have its name later.
type conn struct {
	usual
	file       *file
	opened     os.FileInfo
	generation uint64
}

// ResetSession is asked before a connection is used again: driver.ErrBadConn
// makes database/sql open another one, without an error for anybody.
func (c *conn) ResetSession(ctx context.Context) error {
	if c.generation != c.file.generation.Now() || !same(c.opened, c.file.look(time.Now(), lookEvery)) {
		return driver.ErrBadConn
	}
	if r, ok := c.usual.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

// IsValid is asked before a connection is kept.
func (c *conn) IsValid() bool {
	v, ok := c.usual.(driver.Validator)
	return !ok || v.IsValid()
}

func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	inner, err := c.usual.BeginTx(ctx, opts)
	if err != nil {
		return nil, err
	}
	return &tx{Tx: inner, conn: c}, nil
}

// A tx commits only to a file that will be found again.
type tx struct {
	driver.Tx
	conn *conn
}

func (t *tx) Commit() error {
	if !same(t.conn.opened, t.conn.file.look(time.Now(), 0)) {
		return errors.Join(errMoved, t.Rollback())
	}
	return t.Tx.Commit()
}
