package postgres

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// now are the seconds since 1970.
const now = "floor(EXTRACT(EPOCH FROM statement_timestamp()))::bigint"

// What a lease takes, in one round trip and one transaction, with a snapshot for each
// statement. Those who lease take turns: so one user who asks twice at once, of two
// servers, does not get two addresses. The rows that users had are locked in the
// order in which the accounting locks them, and free ones only where nobody holds
// them up. The first condition of a row is always true: each parameter has to have a
// place, also where the table lacks its column.
const (
	leaseTurn = "SELECT pg_advisory_xact_lock(82658468)"
	leaseOwn  = `SELECT r.id FROM unnest($1::text[], $2::text[]) q(pool, name) JOIN radippool r ON r.pool_name = q.pool AND NAME
		ORDER BY r.id FOR UPDATE OF r`
	leaseRow = `UPDATE radippool SET SETS, expiry_time = NOW + SPAN WHERE ($3::text || $4::text || $5::text || $6::text) IS NOT NULL AND id = COALESCE(
		(SELECT id FROM radippool WHERE pool_name = $1::text AND NAME
		 AND (DEVICE OR username <> '' AND expiry_time < NOW) ORDER BY DEVICE DESC, expiry_time DESC LIMIT 1 FOR UPDATE),
		(SELECT id FROM radippool WHERE pool_name = $1::text AND expiry_time < NOW ORDER BY expiry_time LIMIT 1 FOR UPDATE SKIP LOCKED))
		RETURNING TEXT`
)

var leaseNames = [...]string{"radpool_lease_turn", "radpool_lease_own", "radpool_lease_row", "radpool_lease_wait"}

// A leaser leases on a connection of its own.
type leaser struct {
	*dialect.Conns[*pgx.Conn]
	texts   [len(leaseNames)]string
	seconds int64
}

func prepareLeases(ctx context.Context, db *dialect.DB, t dialect.Tables, seconds int64, how dialect.Comparison) (dialect.Leaser, error) {
	cfg, ok := db.Source.(*pgx.ConnConfig)
	if !ok {
		return nil, errors.New("the database was not opened by this package")
	}
	q := dialect.LeaseSQL{
		Value:  func(i int) string { return "$" + strconv.Itoa(i+1) + "::text" },
		Stored: stored,
		Text:   func(_ string, c dialect.Column) string { return "COALESCE(" + text(c) + ", '')" },
	}
	expiry, _ := t.Column("radippool", "expiry_time")
	addr, _ := t.Column("radippool", "framedipaddress")
	user, _ := t.Column("radippool", "username")
	clock, span := "date_trunc('second', statement_timestamp())", "make_interval(secs => $7::bigint)"
	switch {
	case integer(expiry):
		clock, span = now, "$7::bigint"
	case expiry.Type == "timestamp":
		clock += "::timestamp"
	}
	row := strings.NewReplacer("SETS", q.Sets(t), "DEVICE", q.Device(t), "NOW", clock, "SPAN", span, "TEXT", text(addr),
		"NAME", same("username", user, "$2::text", how)).Replace(leaseRow)
	own := strings.ReplaceAll(leaseOwn, "NAME", same("r.username", user, "q.name", how))
	l := &leaser{seconds: seconds, texts: [...]string{leaseTurn, own, row, strings.ReplaceAll(row, " SKIP LOCKED", "")}}
	l.Conns = &dialect.Conns[*pgx.Conn]{
		Open:  func(ctx context.Context) (*pgx.Conn, error) { return l.connect(ctx, cfg) },
		Close: func(c *pgx.Conn) { _ = c.Close(context.Background()) },
		Gone:  func(c *pgx.Conn, err error) bool { return c.IsClosed() || lost(err) },
		Lost:  lost,
	}
	// The first one is opened now: so what is wrong with a statement is known now.
	return l, l.Do(ctx, func(*pgx.Conn) error { return nil })
}

func (l *leaser) Close() error {
	l.Shut()
	return nil
}

func (l *leaser) connect(ctx context.Context, cfg *pgx.ConnConfig) (*pgx.Conn, error) {
	c, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := settle(ctx, c); err != nil {
		return nil, errors.Join(err, c.Close(ctx))
	}
	for i, name := range leaseNames {
		if _, err := c.Prepare(ctx, name, l.texts[i]); err != nil {
			return nil, errors.Join(err, c.Close(ctx))
		}
	}
	return c, nil
}

// Lease answers asks. Free rows that somebody else has locked are passed over; those
// who found none that way wait for them.
func (l *leaser) Lease(ctx context.Context, asks []*dialect.Ask) error {
	if err := l.lease(ctx, leaseNames[2], asks); err != nil {
		return err
	}
	var without []*dialect.Ask
	for _, a := range asks {
		if a.Addr == "" {
			without = append(without, a)
		}
	}
	if len(without) == 0 {
		return nil
	}
	return l.lease(ctx, leaseNames[3], without)
}

func (l *leaser) lease(ctx context.Context, statement string, asks []*dialect.Ask) error {
	var b pgx.Batch
	pools, users := make([]string, len(asks)), make([]string, len(asks))
	for i, a := range asks {
		pools[i], users[i] = a.Pool, a.User
	}
	b.Queue(leaseNames[0])
	b.Queue(leaseNames[1], pools, users)
	for _, a := range asks {
		args := make([]any, 0, 7)
		for _, v := range a.Values() {
			args = append(args, v)
		}
		b.Queue(statement, append(args, l.seconds)...)
	}
	return l.Do(ctx, func(c *pgx.Conn) error {
		answers := c.SendBatch(ctx, &b)
		if err := read(answers, asks); err != nil {
			return errors.Join(err, answers.Close())
		}
		return answers.Close() // what was committed is known now
	})
}

// read reads the answers to all statements of a batch.
func read(answers pgx.BatchResults, asks []*dialect.Ask) error {
	for range 2 {
		if _, err := answers.Exec(); err != nil {
			return err
		}
	}
	for _, a := range asks {
		switch err := answers.QueryRow().Scan(&a.Addr); {
		case errors.Is(err, pgx.ErrNoRows):
			a.Addr = ""
		case err != nil:
			return err
		}
	}
	return nil
}
