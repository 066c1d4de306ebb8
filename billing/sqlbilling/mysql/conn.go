package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// A connector opens connections that are set up for what they do here.
type connector struct {
	driver.Connector
	multi      driver.Connector // the same, for several statements in one
	repeatable atomic.Bool      // READ COMMITTED is not possible
}

// conn is what a connection of the driver can do.
type conn interface {
	driver.Conn
	driver.ExecerContext
	driver.ConnPrepareContext
}

// Connect opens a connection. Its transactions see what others have committed:
// without that they would lock gaps between rows as well, and stop each other. It
// waits for a lock only for a while: when a statement is given up the server goes
// on waiting, with all the locks that it has. Text goes both ways in UTF-8, whatever
// the DSN asks for.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	return c.connect(ctx, c.Connector)
}

func (c *connector) connect(ctx context.Context, by driver.Connector) (driver.Conn, error) {
	dc, err := by.Connect(ctx)
	if err != nil {
		return nil, err
	}
	setup := []string{"SET NAMES utf8mb4, SESSION innodb_lock_wait_timeout = " + lockWait + ", SESSION lock_wait_timeout = " + lockWait}
	if !c.repeatable.Load() {
		setup = append(setup, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
	}
	e, ok := dc.(conn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's %T lacks methods with a context", dc), dc.Close())
	}
	for _, s := range setup {
		if _, err := e.ExecContext(ctx, s, nil); err != nil {
			return nil, errors.Join(err, dc.Close())
		}
	}
	return dc, nil
}

// A reader is a connection for Access-Requests, with its statements prepared.
type reader struct {
	conn   driver.Conn
	stmts  map[key]statement
	broken bool
}

// A key tells the statements of a reader apart.
type key struct {
	what  dialect.What
	size  int  // names that it has room for; 0: any number
	plain bool // for names in ASCII

	// With Everything:
	counts   bool // counts the open sessions of who has a Simultaneous-Use
	profiles bool // has the groups of profiles that radcheck names
}

// A statement is prepared, and has so many lists of names among its parameters.
type statement struct {
	driver.StmtQueryContext
	lists int
}

func (l *lookup) openReader(ctx context.Context) (*reader, error) {
	dc, err := l.source.Connect(ctx)
	if err != nil {
		return nil, err
	}
	r := &reader{conn: dc, stmts: make(map[key]statement)}
	ready := []key{{what: dialect.Everything}, {what: dialect.Everything, counts: true}, {what: dialect.Groups}, {what: dialect.Open}}
	if l.joins {
		ready = append(ready, key{what: dialect.Everything, profiles: true}, key{what: dialect.Everything, profiles: true, counts: true})
	}
	for _, k := range ready {
		k.size, k.plain = l.size(1), l.json
		if _, err := l.statement(ctx, r, k); err != nil {
			return nil, errors.Join(err, dc.Close())
		}
	}
	return r, nil
}

// statement returns a statement of r, and prepares it if need be.
func (l *lookup) statement(ctx context.Context, r *reader, k key) (statement, error) {
	if s, ok := r.stmts[k]; ok {
		return s, nil
	}
	text, lists := l.text(k)
	prepared, err := r.conn.(conn).PrepareContext(ctx, text)
	if err != nil {
		return statement{}, err
	}
	q, ok := prepared.(driver.StmtQueryContext)
	if !ok {
		return statement{}, errors.Join(fmt.Errorf("the driver's %T lacks methods with a context", prepared), prepared.Close())
	}
	s := statement{q, lists}
	r.stmts[k] = s
	return s, nil
}
