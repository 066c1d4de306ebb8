package ledger

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/radpool/radpool/billing/rating"
)

// A tariff is a rating.Tariff with what else its row says.
type tariff struct {
	rating.Tariff
	profile, quota, restricted string
	profiles                   []string // of the intervals
	err                        error    // it cannot be used
}

// A tariffRow holds the columns that a tariff or an interval has.
type tariffRow struct {
	name, zone, profile, quota, restricted string
	input, output, hour, day, mb, octets   int64
	days, from, to                         int64
}

// tariffSQL reads all tariffs, each with its intervals in order.
const tariffSQL = `SELECT t.name, t.zone, t.price_input_mb, t.price_output_mb, t.price_hour, t.price_day, t.mb_octets, t.quota_octets,
	COALESCE(i.position, -1) AS place, COALESCE(i.days, 0), COALESCE(i.from_minute, 0), COALESCE(i.to_minute, 0),
	COALESCE(i.price_input_mb, 0), COALESCE(i.price_output_mb, 0), COALESCE(i.price_hour, 0)
	FROM radpool_tariff t LEFT JOIN radpool_interval i ON i.tariff = t.name ORDER BY t.name, place`

// readTariffs reads what a price needs.
func (c *change) readTariffs(ctx context.Context) (map[string]*tariff, error) {
	rows, err := c.tx.Stmtx(c.store.tariffs).QueryxContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("radpool_tariff: %w", err)
	}
	tariffs, err := scanTariffs(rows)
	if err != nil {
		return nil, fmt.Errorf("radpool_tariff: %w", err)
	}
	return tariffs, nil
}

// scanTariffs reads the rows of tariffSQL, and closes them.
func scanTariffs(rows *sqlx.Rows) (map[string]*tariff, error) {
	defer func() { _ = rows.Close() }()
	tariffs := make(map[string]*tariff)
	for rows.Next() {
		var r, iv tariffRow
		var place int64
		if err := rows.Scan(&r.name, &r.zone, &r.input, &r.output, &r.hour, &r.day, &r.mb, &r.octets,
			&place, &iv.days, &iv.from, &iv.to, &iv.input, &iv.output, &iv.hour); err != nil {
			return nil, err
		}
		t := tariffs[r.name]
		if t == nil {
			t = newTariff(&r)
			tariffs[r.name] = t
		}
		if place >= 0 {
			t.add(&iv)
		}
	}
	for _, t := range tariffs {
		t.check()
	}
	return tariffs, rows.Err()
}

// newTariff makes a tariff without intervals.
func newTariff(r *tariffRow) *tariff {
	t := &tariff{profile: r.profile, quota: r.quota, restricted: r.restricted}
	t.Prices, t.Day, t.Quota = r.prices(), rating.Money(r.day), uint64(max(r.octets, 0))
	t.MB = uint64(r.mb)
	var err error
	if r.mb <= 0 {
		err = fmt.Errorf("mb_octets is %d, must be at least 1", r.mb)
	} else {
		t.Location, err = location(r.zone)
	}
	if err != nil {
		t.err = fmt.Errorf("tariff %q in radpool_tariff: %w", r.name, err)
	}
	return t
}

func (r *tariffRow) prices() rating.Prices {
	return rating.Prices{InputMB: rating.Money(r.input), OutputMB: rating.Money(r.output), Hour: rating.Money(r.hour)}
}

// add adds an interval.
func (t *tariff) add(r *tariffRow) {
	if r.days < 0 || r.days > 127 {
		r.days = 255 // Validate says so
	}
	t.Intervals = append(t.Intervals, rating.Interval{Days: uint8(r.days), From: int(r.from), To: int(r.to), Prices: r.prices()})
	t.profiles = append(t.profiles, r.profile)
}

// check finds what the rating does not take.
func (t *tariff) check() {
	if t.err == nil {
		t.err = t.Validate()
	}
}

var locations sync.Map // of time zones by name; their number is bounded by the system's list

// location finds a time zone.
func location(name string) (*time.Location, error) {
	if loc, ok := locations.Load(name); ok {
		return loc.(*time.Location), nil
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("zone: %w", err)
	}
	locations.Store(name, loc)
	return loc, nil
}
