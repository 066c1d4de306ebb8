package mysql

import (
	"strconv"
	"strings"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// text are the statements that lease: for each ask one for the row that the user
// had, one for the row that expired first, which does nothing after the other has
// found one; and at the end what was found. All do nothing without the lock.
func (l *leaser) text(asks []*dialect.Ask) string {
	var b strings.Builder
	b.WriteString("SET @radpool_turn = GET_LOCK(" + turn + ", " + lockWait + "); START TRANSACTION;\n")
	found := []string{"@radpool_turn"}
	for i, a := range asks {
		values := a.Values()
		q := dialect.LeaseSQL{
			Value:  func(i int) string { return literal(values[i]) },
			Stored: func(expr string, _ dialect.Column) string { return expr },
			Text:   func(_ string, c dialect.Column) string { return c.Name },
		}
		own, free := "@radpool_own"+strconv.Itoa(i), "@radpool_free"+strconv.Itoa(i)
		device, pool, name := q.Device(l.tables), q.Value(0), q.Value(1)
		update := func(into, where string) {
			b.WriteString("UPDATE radippool SET " + q.Sets(l.tables) + ", expiry_time = IF((" + into + " := framedipaddress) IS NULL, " + l.until + ", " + l.until +
				") WHERE @radpool_turn = 1 AND pool_name = " + pool + " AND " + where + " LIMIT 1;\n")
		}
		b.WriteString("SET " + own + " = NULL, " + free + " = NULL;\n")
		update(own, l.same("username", name)+" AND ("+device+" OR username <> '' AND expiry_time < "+l.clock+") ORDER BY "+device+" DESC, expiry_time DESC")
		update(free, own+" IS NULL AND expiry_time < "+l.clock+" ORDER BY expiry_time")
		found = append(found, "COALESCE("+own+", "+free+")")
	}
	b.WriteString("COMMIT; DO RELEASE_LOCK(" + turn + "); SELECT " + strings.Join(found, ", "))
	return b.String()
}
