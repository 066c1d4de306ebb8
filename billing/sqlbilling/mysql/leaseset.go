package mysql

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// A setText has the statements that answer many asks at once. Their number does not
// grow with the asks: to read, plan and open a table for each costs a server more than
// the rows do.
//
// The first UPDATE gives everyone the row that they had, the second gives free rows
// to those who had none, the first to the first. Each finds its rows in a subquery,
// and asks again of each, when it has locked it for writing, whether it may be given:
// the accounting and others may have been faster. Of a user who asks for several devices
// in one group only those are answered whose device has a row: what one of the others
// takes depends on what the one before has taken.
type setText struct {
	pool       dialect.Column // pool_name
	own        string         // the first UPDATE
	free, mine string         // the second, before and after the free rows
}

// asksTable has the asks: their place i from 1 on, their values c0, c1, ..., and how
// many ask for the same user.
const asksTable = `(SELECT t.*, COUNT(*) OVER (PARTITION BY t.c0, USER) AS many FROM JSON_TABLE(@radpool_asks, '$[*]' COLUMNS (i FOR ORDINALITYCOLUMNS)) t) q`

// gotRow adds to the answers, and is a value for expiry_time.
const gotRow = `IF((@radpool_got := CONCAT(@radpool_got, c.i, '=', COALESCE(HEX(CONVERT(r.framedipaddress USING utf8mb4)), ''), ',')) IS NULL, UNTIL, UNTIL)`

// someLeft is whether somebody has no answer yet, before the number of the asks. Mostly
// everyone gets the row that they had, and then the second UPDATE is to cost nothing:
// not to be read and planned either, which is why it is a text in a variable until it
// is known to be needed.
const someLeft = "LENGTH(@radpool_got) - LENGTH(REPLACE(@radpool_got, '=', '')) < "

const (
	setOwn = `UPDATE (SELECT d.* FROM (
 SELECT q.*, r.id, ROW_NUMBER() OVER (PARTITION BY q.i ORDER BY DEVICE_Q DESC, r.expiry_time DESC) AS best
 FROM ASKS STRAIGHT_JOIN radippool r ON HAD AND (DEVICE_Q OR q.many = 1 AND r.username <> '' AND r.expiry_time < NOW_)
) d WHERE d.best = 1) c STRAIGHT_JOIN radippool r ON r.id = c.id
SET SETS, expiry_time = GOT
WHERE @radpool_turn = 1 AND r.pool_name = c.c0 AND SAME_C AND (DEVICE_C OR r.username <> '' AND r.expiry_time < NOW_);
`
	setFree = `UPDATE (SELECT a.*, f.id FROM (
 SELECT q.*, ROW_NUMBER() OVER (PARTITION BY q.c0 ORDER BY q.i) AS n FROM ASKS
 WHERE q.many = 1 AND LOCATE(CONCAT(_binary',', q.i, '='), @radpool_got) = 0
) a STRAIGHT_JOIN (`
	setMine = `) f ON f.p = a.c0 AND f.n = a.n) c STRAIGHT_JOIN radippool r ON r.id = c.id
SET SETS, expiry_time = GOT
WHERE @radpool_turn = 1 AND r.pool_name = c.c0 AND r.expiry_time < NOW_`
)

// The conditions on which a row is one that a user of the asks had. FreeRADIUS's own
// radippool has no index for it. To go through the rows of the pool once for each ask,
// by the index that it does have, would take seconds for a group; so there the server is
// to go through the table once, and look each row's user up among the asks.
const (
	hadByIndex = "r.pool_name = q.c0 AND SAME_Q"
	hadByScan  = "SAME_Q AND STRCMP(r.pool_name, q.c0) = 0" // what no index helps with
)

// connectHashing opens a connection whose joins may be hash joins, which those of
// MariaDB are not unless asked for. Others pass the comment over.
func (c *connector) connectHashing(ctx context.Context) (driver.Conn, error) {
	dc, err := c.connect(ctx, c.multi)
	if err != nil {
		return nil, err
	}
	if _, err := dc.(conn).ExecContext(ctx, "SET @radpool_turn = NULL /*M!100100 , SESSION join_cache_level = 4 */", nil); err != nil {
		return nil, errors.Join(err, dc.Close())
	}
	return dc, nil
}

// newSetText is nil where texts of radippool have no character set to ask in. It scans
// where there is no index for the rows that a user had.
func (l *leaser) newSetText(scans bool) *setText {
	all := dialect.LeaseColumns(l.tables)
	s := &setText{pool: all[0]}
	var columns strings.Builder
	for i, c := range all {
		n := strconv.Itoa(i)
		if c.Name != "" && c.Charset == "" {
			return nil
		}
		columns.WriteString(", c" + n + " VARCHAR(" + strconv.Itoa(longest) + ") CHARACTER SET ")
		if c.Name == "" {
			columns.WriteString("utf8mb4")
		} else {
			columns.WriteString(c.Charset + " COLLATE " + c.Collation)
		}
		columns.WriteString(" PATH '$[" + n + "]'")
	}
	with := func(table string) *dialect.LeaseSQL {
		return &dialect.LeaseSQL{
			Value:  func(i int) string { return table + ".c" + strconv.Itoa(i) },
			Stored: func(expr string, _ dialect.Column) string { return expr },
			Text:   func(_ string, c dialect.Column) string { return "r." + c.Name },
		}
	}
	user := "t.c1"
	if l.names == dialect.IgnoreCase {
		user = "LOWER(t.c1)"
	}
	asks := strings.NewReplacer("USER", user, "ORDINALITYCOLUMNS", "ORDINALITY"+columns.String()).Replace(asksTable)
	had := hadByIndex
	if scans {
		had = hadByScan
	}
	own := strings.Replace(setOwn, "HAD", had, 1)
	fill := strings.NewReplacer(
		"ASKS", asks, "SETS", with("c").Sets(l.tables), "GOT", strings.ReplaceAll(gotRow, "UNTIL", l.until), "NOW_", l.clock,
		"DEVICE_Q", with("q").Device(l.tables), "DEVICE_C", with("c").Device(l.tables),
		"SAME_Q", l.same("r.username", "q.c1"), "SAME_C", l.same("r.username", "c.c1"),
	)
	s.own, s.free, s.mine = fill.Replace(own), fill.Replace(setFree), fill.Replace(setMine)
	return s
}

// leaseSet answers asks together, and returns those that have to be asked one by one.
func (l *leaser) leaseSet(ctx context.Context, asks []*dialect.Ask) (rest []*dialect.Ask, err error) {
	var some []*dialect.Ask
	var values [][]string
	pools := make(map[string]int)
	for _, a := range asks {
		v := a.Values()
		if !slices.ContainsFunc(v, func(s string) bool { return !askable(s) }) {
			some, values = append(some, a), append(values, v)
			pools[a.Pool]++
		} else {
			rest = append(rest, a)
		}
	}
	names := make([]string, 0, len(pools))
	for name := range pools {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(some) == 0 {
		return rest, nil
	}
	err = l.ask(ctx, l.setText(values, names, pools), 1+len(names), func(found []driver.Value) error {
		if err := answer(some, found[0]); err != nil {
			return err
		}
		for _, a := range some {
			// Who has no row has none to get where the pool is full.
			if at, _ := slices.BinarySearch(names, a.Pool); a.Addr == "" && isOne(found[1+at]) {
				rest = append(rest, a)
			}
		}
		return nil
	})
	return rest, err
}

// setText are the statements for asks with these values, of these pools, each of which
// so many want of. Their answer is what was given, and which pools have free rows.
func (l *leaser) setText(values [][]string, names []string, pools map[string]int) string {
	list := []byte{'['}
	for i, v := range values {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, jsonNames(v)...)
	}
	list = append(list, ']')
	var b, free strings.Builder
	free.WriteString(l.sets.free)
	for i, name := range names {
		if i > 0 {
			free.WriteString(" UNION ALL ")
		}
		free.WriteString("SELECT " + asColumn(l.sets.pool, name) + " AS p, u.id, ROW_NUMBER() OVER (ORDER BY u.expiry_time, u.id) AS n FROM (SELECT id, expiry_time FROM radippool WHERE pool_name = " +
			literal(name) + " AND expiry_time < " + l.clock + " ORDER BY expiry_time LIMIT " + strconv.Itoa(pools[name]) + ") u")
	}
	free.WriteString(l.sets.mine)
	b.WriteString("SET @radpool_turn = GET_LOCK(" + turn + ", " + lockWait + "), @radpool_got = _binary',', @radpool_asks = " +
		literal(string(list)) + "; START TRANSACTION;\n" + l.sets.own +
		"SET @radpool_free = IF(" + someLeft + strconv.Itoa(len(values)) + ", " + literal(free.String()) + ", 'DO 0');\n" +
		"PREPARE radpool_free FROM @radpool_free; EXECUTE radpool_free;\n" +
		"COMMIT; DO RELEASE_LOCK(" + turn + "); SELECT @radpool_turn, @radpool_got")
	for _, name := range names {
		b.WriteString(", EXISTS(SELECT 1 FROM radippool WHERE pool_name = " + literal(name) + " AND expiry_time < " + l.clock + ")")
	}
	return b.String()
}

// asColumn is a text as a column compares it.
func asColumn(c dialect.Column, text string) string {
	return "CONVERT(" + literal(text) + " USING " + c.Charset + ") COLLATE " + c.Collation
}

// answer reads what was given: ",1=hex,3=hex,", by the place of the ask.
func answer(asks []*dialect.Ask, got driver.Value) error {
	text, _ := got.([]byte)
	for _, a := range asks {
		a.Addr = ""
	}
	for one := range strings.SplitSeq(strings.Trim(string(text), ","), ",") {
		if one == "" {
			continue
		}
		place, addr, _ := strings.Cut(one, "=")
		i, err := strconv.Atoi(place)
		octets, e := hex.DecodeString(addr)
		if err != nil || e != nil || i < 1 || i > len(asks) {
			return errors.New("the answer to a lease is not what was asked for")
		}
		asks[i-1].Addr = string(octets)
	}
	return nil
}
