package sqlbilling

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// A RowError is a row of the database that cannot be used. The request that met
// it is rejected, as FreeRADIUS rejects it: half of what was configured is not to
// be granted. It is a [billing.ErrSubscriber], and does not hold the value, which
// may be a password.
type RowError struct {
	Table     string
	ID        int64
	Attribute string
	Reason    string
}

// Error names the row and the reason.
func (e *RowError) Error() string {
	return fmt.Sprintf("sqlbilling: %s, id %d, attribute %.64q: %s", e.Table, e.ID, e.Attribute, e.Reason)
}

// Unwrap returns billing.ErrSubscriber.
func (e *RowError) Unwrap() error { return billing.ErrSubscriber }

// kindTables are the tables that rows of each kind are of.
var kindTables = [...]string{
	dialect.RowCheck: "radcheck", dialect.RowReply: "radreply", dialect.RowMember: "radusergroup",
	dialect.RowGroupCheck: "radgroupcheck", dialect.RowGroupReply: "radgroupreply", dialect.RowOpen: "radacct",
	dialect.RowRestricted: "radgroupreply", dialect.RowProfile: "radusergroup",
}

// A row is one row of a table of attributes.
type row struct {
	kind                 int
	id                   int64
	attribute, op, value string
}

func (r *row) error(reason string) error {
	return &RowError{Table: kindTables[r.kind], ID: r.id, Attribute: r.attribute, Reason: reason}
}

// A membership is a row of radusergroup with what its group says.
type membership struct {
	priority, id int64
	group        string
	check, reply []row
}

// A subscriber is everything that the database says of one user name.
type subscriber struct {
	check, reply []row
	groups       []*membership
	profiles     map[string][]*membership // groups of the profiles that may come to apply
	open         int                      // sessions; counted only for those with Simultaneous-Use
	counted      bool                     // open is what the database says
	names        names                    // nil: each row has its own copy

	members map[memberOf]*membership // of groups and profiles, once one has many
}

// A memberOf is a membership, through a profile or, where that is empty, the user's own.
type memberOf struct {
	profile string
	id      int64
}

// fewGroups is how many groups are gone through one by one.
const fewGroups = 16

// names are texts that many rows of an answer share: attributes, operators and
// groups. Values are not among them, as most are of one user.
type names map[string]string

// of is b as a string.
func (n names) of(b []byte) string {
	s, ok := n[string(b)]
	if !ok {
		s = string(b)
		if n != nil {
			n[s] = s
		}
	}
	return s
}

// add puts one row of a Lookup in its place. Rows may come in any order; sort
// comes after.
func (s *subscriber) add(r *dialect.Row) {
	switch r.Kind {
	case dialect.RowCheck:
		s.check = append(s.check, s.names.row(r))
	case dialect.RowReply:
		s.reply = append(s.reply, s.names.row(r))
	case dialect.RowMember:
		s.member(r)
	case dialect.RowGroupCheck:
		m := s.member(r)
		m.check = append(m.check, s.names.row(r))
	case dialect.RowGroupReply:
		m := s.member(r)
		m.reply = append(m.reply, s.names.row(r))
	case dialect.RowOpen:
		s.open, s.counted = int(r.ID), true
	case dialect.RowProfile:
		s.setProfile(string(r.Profile), nil)
	}
	if r.Open >= 0 {
		s.open, s.counted = int(r.Open), true
	}
}

// row copies what a row says of an attribute.
func (n names) row(r *dialect.Row) row {
	return row{kind: r.Kind, id: r.ID, attribute: n.of(r.Attribute), op: n.of(r.Op), value: string(r.Value)}
}

// member returns the membership of a row, and makes it if need be.
func (s *subscriber) member(r *dialect.Row) *membership {
	list := s.groups
	if len(r.Profile) > 0 {
		list = s.profiles[string(r.Profile)]
	}
	if m := s.find(list, r); m != nil {
		return m
	}
	m := &membership{priority: r.Priority, id: r.Member, group: s.names.of(r.Group)}
	if s.members != nil {
		s.members[memberOf{string(r.Profile), m.id}] = m
	}
	if len(r.Profile) == 0 {
		s.groups = append(s.groups, m)
		return m
	}
	if s.profiles == nil {
		s.profiles = make(map[string][]*membership)
	}
	s.profiles[string(r.Profile)] = append(list, m)
	return m
}

// find finds the membership of a row in the list that it belongs to.
func (s *subscriber) find(list []*membership, r *dialect.Row) *membership {
	if len(list) < fewGroups {
		for _, m := range list {
			if m.id == r.Member {
				return m
			}
		}
		return nil
	}
	if s.members == nil {
		s.members = make(map[memberOf]*membership)
		for _, m := range s.groups {
			s.members[memberOf{"", m.id}] = m
		}
		for profile, list := range s.profiles {
			for _, m := range list {
				s.members[memberOf{profile, m.id}] = m
			}
		}
	}
	return s.members[memberOf{string(r.Profile), r.Member}]
}

// sort puts everything in the order in which it applies: rows by id, groups by
// priority and, where that is equal, by id. A row that came twice stays once.
func (s *subscriber) sort() {
	s.check, s.reply = sortRows(s.check), sortRows(s.reply)
	sortMembers(s.groups)
	for _, list := range s.profiles {
		sortMembers(list)
	}
}

func sortMembers(list []*membership) {
	slices.SortFunc(list, func(a, b *membership) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(a.id, b.id))
	})
	for _, m := range list {
		m.check, m.reply = sortRows(m.check), sortRows(m.reply)
	}
}

func sortRows(rows []row) []row {
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.id, b.id) })
	return slices.CompactFunc(rows, func(a, b row) bool { return a.id == b.id })
}
