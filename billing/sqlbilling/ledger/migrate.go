package ledger

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
)

// A Report says what FromStandard took over.
type Report struct {
	Subscribers, Tariffs, Attributes, NASes int

	// Left names each row that has no place in this schema, and why. The subscriber
	// of a row of radcheck or radgroupcheck that is left is blocked, since without a
	// condition they would be let in where they were not before.
	Left []string
}

// ErrNotEmpty is returned by FromStandard where there are subscribers already.
var ErrNotEmpty = errors.New("ledger: there are subscribers already")

// FromStandard takes over what the standard FreeRADIUS tables in the same database
// say, in one transaction: all of it or, after an error, nothing. The standard tables
// are not changed.
//
// Each group becomes a tariff that costs nothing, with what radgroupreply says as its
// profile; those who are in none get the tariff "default", or "default_" where there is a
// group of that name. Prices are for the operator to add. Names that the database takes for
// one, as it does where case does not count, become one, as the first row of radcheck (of a
// group: of radgroupcheck or radgroupreply) has it: case counts from then on. radreply becomes the subscriber's own profile, radpool-restricted the
// restricted profile, Radpool-Balance an entry in the ledger. radacct stays where it
// is: a session that is open is taken over by its next record.
func (b *Backend) FromStandard(ctx context.Context) (*Report, error) {
	m := &migration{backend: b, report: new(Report), users: make(map[string]*migrant), groups: make(map[string]*migrantGroup)}
	err := b.fromStandard(ctx, m)
	if err != nil && !errors.Is(err, ErrNotEmpty) {
		err = fmt.Errorf("ledger: %s: %w", b.db.Label, err)
	}
	if err != nil {
		return nil, err
	}
	return m.report, nil
}

func (b *Backend) fromStandard(ctx context.Context, m *migration) error {
	for _, table := range []string{"radcheck", "radreply", "radusergroup", "radgroupcheck", "radgroupreply"} {
		if b.tables[table] == nil {
			return fmt.Errorf("there is no table %s", table)
		}
	}
	tx, err := b.db.Write.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if some, err := anySubscriber(ctx, tx); err != nil {
		return err
	} else if some {
		return ErrNotEmpty
	}
	if err := m.read(ctx, tx, b.tables["nas"] != nil); err != nil {
		return err
	}
	w := &inserter{ctx: ctx, tx: tx}
	m.write(w, time.Now())
	if w.err != nil {
		return w.err
	}
	return tx.Commit()
}

// A migration collects what the standard tables say.
type migration struct {
	backend *Backend
	report  *Report
	users   map[string]*migrant
	names   []string // of users, in order
	groups  map[string]*migrantGroup
	order   []string // of groups
	nases   [][2]string
}

// A migrant is a subscriber to be.
type migrant struct {
	subscriber
	groups   []string // in order
	balanced bool
	known    bool // has a row in radcheck
	reply    []standardRow
}

type migrantGroup struct {
	simultaneous int64
	incomplete   bool // a check item was left
	member       bool // somebody has it first
	goesOn       bool // Fall-Through = Yes
	reply        []standardRow
}

// A standardRow is a row of one of the four tables of attributes.
type standardRow struct {
	table     string
	ID        int64  `db:"id"`
	Name      string `db:"name"`
	Attribute string `db:"attribute"`
	Op        string `db:"op"`
	Value     string `db:"value"`
}

// leave notes that r has no place.
func (m *migration) leave(r *standardRow, why string) {
	m.report.Left = append(m.report.Left, fmt.Sprintf("%s, id %d, %s: %s: %s", r.table, r.ID, r.Name, r.Attribute, why))
}

// tidy takes off what is around a value.
func (r *standardRow) tidy() {
	r.Attribute, r.Op = strings.TrimSpace(r.Attribute), strings.TrimSpace(r.Op)
	if n := len(r.Value); n >= 2 && r.Value[0] == r.Value[n-1] && (r.Value[0] == '"' || r.Value[0] == '\'') {
		r.Value = r.Value[1 : n-1]
	}
}

// each calls do for the rows of a table.
func (m *migration) each(ctx context.Context, tx *sqlx.Tx, table, name string, do func(r *standardRow)) error {
	var rows []standardRow
	if err := tx.SelectContext(ctx, &rows, "SELECT id, "+m.nameOf(table, name)+" AS name, COALESCE(attribute, '') AS attribute, COALESCE(op, '') AS op, COALESCE(value, '') AS value FROM "+
		table+" ORDER BY 2, 1"); err != nil {
		return fmt.Errorf("%s: %w", table, err)
	}
	for i := range rows {
		rows[i].table = table
		rows[i].tidy()
		do(&rows[i])
	}
	return nil
}

func (m *migration) user(name string) *migrant {
	u := m.users[name]
	if u == nil {
		u = &migrant{}
		m.users[name] = u
		m.names = append(m.names, name)
	}
	return u
}

func (m *migration) group(name string) *migrantGroup {
	g := m.groups[name]
	if g == nil {
		g = &migrantGroup{}
		m.groups[name] = g
		m.order = append(m.order, name)
	}
	return g
}

func (m *migration) read(ctx context.Context, tx *sqlx.Tx, nas bool) error {
	if err := m.each(ctx, tx, "radcheck", "username", func(r *standardRow) {
		u := m.user(r.Name)
		u.known = true
		if why := u.check(r); why != "" {
			m.leave(r, why+"; the subscriber is blocked")
			u.blocked = 1
		}
	}); err != nil {
		return err
	}
	if err := m.each(ctx, tx, "radreply", "username", func(r *standardRow) { u := m.user(r.Name); u.reply = append(u.reply, *r) }); err != nil {
		return err
	}
	if err := m.each(ctx, tx, "radgroupcheck", "groupname", func(r *standardRow) {
		g := m.group(r.Name)
		if n, ok := number(r, "Simultaneous-Use"); ok && n > 0 && n <= maxSimultaneous {
			if g.simultaneous == 0 { // of several the first counts
				g.simultaneous = n
			}
			return
		}
		m.leave(r, "a condition of a group; those in it are blocked")
		g.incomplete = true
	}); err != nil {
		return err
	}
	if err := m.each(ctx, tx, "radgroupreply", "groupname", func(r *standardRow) {
		g := m.group(r.Name)
		g.reply = append(g.reply, *r)
		g.goesOn = g.goesOn || strings.EqualFold(r.Attribute, "Fall-Through") && !isNo(r.Value)
	}); err != nil {
		return err
	}
	if err := m.readMembers(ctx, tx); err != nil {
		return err
	}
	if !nas {
		return nil
	}
	var nases []struct {
		Name string `db:"nasname"`
		Type string `db:"type"`
	}
	if err := tx.SelectContext(ctx, &nases, "SELECT nasname, COALESCE(type, '') AS type FROM nas ORDER BY nasname"); err != nil {
		return fmt.Errorf("nas: %w", err)
	}
	seen := make(map[string]bool)
	for _, n := range nases {
		addr, err := netip.ParseAddr(strings.TrimSpace(n.Name))
		if err != nil || seen[addr.Unmap().String()] || !fits(n.Type, 64) {
			m.report.Left = append(m.report.Left, fmt.Sprintf("nas, %s: its vendor is only known by one address", n.Name))
			continue
		}
		seen[addr.Unmap().String()] = true
		m.nases = append(m.nases, [2]string{addr.Unmap().String(), n.Type})
	}
	return nil
}

// readMembers reads who is in which group.
func (m *migration) readMembers(ctx context.Context, tx *sqlx.Tx) error {
	var members []struct {
		User  string `db:"username"`
		Group string `db:"groupname"`
	}
	if err := tx.SelectContext(ctx, &members, "SELECT "+m.nameOf("radusergroup", "username")+" AS username, "+
		m.nameOf("radusergroup", "groupname")+" AS groupname FROM radusergroup ORDER BY 1, priority, 2"); err != nil {
		return fmt.Errorf("radusergroup: %w", err)
	}
	for _, r := range members {
		u, g := m.user(r.User), m.group(r.Group)
		switch {
		case slices.Contains(u.groups, r.Group):
			continue
		case len(u.groups) == 0:
			g.member = true
		default:
			m.report.Left = append(m.report.Left, fmt.Sprintf("radusergroup, %s: group %s: a subscriber has one tariff, and has that of group %s", r.User, r.Group, u.groups[0]))
		}
		u.groups = append(u.groups, r.Group)
	}
	return nil
}

// nameOf is a column of names of users or groups, as the first row has them that the
// database takes for the same: what it takes for one is one.
func (m *migration) nameOf(table, column string) string {
	own := table + "." + column
	firsts := []string{"radcheck"}
	if column == "groupname" {
		firsts = []string{"radgroupcheck", "radgroupreply"}
	}
	var first []string
	for _, t := range firsts {
		first = append(first, "(SELECT f."+column+" FROM "+t+" f WHERE f."+column+" = "+
			m.backend.f.compared(own, m.backend.column(table, column), m.backend.column(t, column))+" ORDER BY f.id LIMIT 1)")
	}
	return "COALESCE(" + strings.Join(append(first, own), ", ") + ", '')"
}

// seconds is the value of a date.
func seconds(value []byte) int64 { return int64(binary.BigEndian.Uint32(value)) }
