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
//
// Of the rows that a user had, those of one without a name are looked for apart. All rows
// of a pool that is new have an empty name, and from that the planner concludes that every
// name has all of them: it would read the whole pool for each lease. It knows better of
// names that are not empty, once it is told so; and to keep it from beginning with
// the table where it knows nothing of the asks there is the OFFSET.
const (
	leaseTurn = "SELECT pg_advisory_xact_lock(82658468)"
	leaseOwn  = `SELECT id FROM radippool WHERE id = ANY (ARRAY(
		SELECT o.id FROM unnest($1::text[], $2::text[]) q(pool, name), LATERAL (
			SELECT r.id FROM radippool r WHERE r.pool_name = q.pool AND NAME AND r.username > '' OFFSET 0
		) o)) ORDER BY id FOR UPDATE`
	leaseRow = `UPDATE radippool SET SETS, expiry_time = NOW + SPAN WHERE ($3::text || $4::text || $5::text || $6::text) IS NOT NULL AND id = COALESCE(
		(SELECT id FROM radippool WHERE pool_name = $1::text AND NAME AND username > ''
		 AND (DEVICE OR expiry_time < NOW) ORDER BY DEVICE DESC, expiry_time DESC LIMIT 1 FOR UPDATE),
		(SELECT id FROM radippool WHERE $2::text = '' AND pool_name = $1::text AND username = ''
		 AND DEVICE ORDER BY expiry_time DESC LIMIT 1 FOR UPDATE),
		(SELECT id FROM radippool WHERE pool_name = $1::text AND expiry_time < NOW ORDER BY expiry_time LIMIT 1 FOR UPDATE SKIP LOCKED))
		RETURNING TEXT`
)

// The names of what is prepared; the last one is leaseRow that waits for free rows which
// somebody has locked.
const (
	namedTurn = "radpool_lease_turn"
	namedOwn  = "radpool_lease_own"
	namedRow  = "radpool_lease_row"
	namedWait = "radpool_lease_wait"
)

// A leaser leases on a connection of its own.
type leaser struct {
	*dialect.Conns[*pgx.Conn]
	seconds int64
}

func prepareLeases(ctx context.Context, db *dialect.DB, t dialect.Tables, seconds int64, how dialect.Comparison) (dialect.Leaser, error) {
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
	conns, err := openConns(ctx, db, []prepared{
		{namedTurn, leaseTurn}, {namedOwn, own}, {namedRow, row}, {namedWait, strings.ReplaceAll(row, " SKIP LOCKED", "")},
	})
	if err != nil {
		return nil, err
	}
	return &leaser{conns, seconds}, nil
}

func (l *leaser) Close() error {
	l.Shut()
	return nil
}

// Lease answers asks. Free rows that somebody else has locked are passed over; those
// who found none that way wait for them.
func (l *leaser) Lease(ctx context.Context, asks []*dialect.Ask) error {
	if err := l.lease(ctx, namedRow, asks); err != nil {
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
	return l.lease(ctx, namedWait, without)
}

func (l *leaser) lease(ctx context.Context, statement string, asks []*dialect.Ask) error {
	var b pgx.Batch
	pools, users := make([]string, len(asks)), make([]string, len(asks))
	for i, a := range asks {
		pools[i], users[i] = a.Pool, a.User
	}
	b.Queue(namedTurn)
	b.Queue(namedOwn, pools, users)
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
