package sqlbilling

import (
	"fmt"
	"slices"
	"strings"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// A column of radacct, and where its value is in a session. One of text, number
// and moment is set.
type column struct {
	name     string
	required bool
	hot      bool // changes with every Interim-Update
	text     func(*session) *string
	number   func(*session) *int64 // 0 is stored as 0
	moment   func(*session) *int64 // 0 is stored as NULL
}

// acctColumns are the columns that are read and written. acctinterval is not:
// the time between the last two updates depends on the order in which they came,
// so it stays NULL, or what another server put there. Nor is realm.
var acctColumns = []column{
	{name: "acctuniqueid", required: true, text: func(s *session) *string { return &s.uniqueID }},
	{name: "acctsessionid", required: true, text: func(s *session) *string { return &s.sessionID }},
	{name: "username", required: true, text: func(s *session) *string { return &s.userName }},
	{name: "nasipaddress", required: true, text: func(s *session) *string { return &s.nasAddr }},
	{name: "nasportid", text: func(s *session) *string { return &s.portID }},
	{name: "nasporttype", text: func(s *session) *string { return &s.portType }},
	{name: "acctstarttime", required: true, moment: func(s *session) *int64 { return &s.start }},
	{name: "acctupdatetime", hot: true, moment: func(s *session) *int64 { return &s.update }},
	{name: "acctstoptime", required: true, moment: func(s *session) *int64 { return &s.stop }},
	{name: "acctsessiontime", hot: true, number: func(s *session) *int64 { return &s.seconds }},
	{name: "acctauthentic", text: func(s *session) *string { return &s.authentic }},
	{name: "connectinfo_start", text: func(s *session) *string { return &s.connectStart }},
	{name: "connectinfo_stop", text: func(s *session) *string { return &s.connectStop }},
	{name: "acctinputoctets", hot: true, number: func(s *session) *int64 { return &s.input }},
	{name: "acctoutputoctets", hot: true, number: func(s *session) *int64 { return &s.output }},
	{name: "calledstationid", text: func(s *session) *string { return &s.called }},
	{name: "callingstationid", text: func(s *session) *string { return &s.calling }},
	{name: "acctterminatecause", text: func(s *session) *string { return &s.cause }},
	{name: "servicetype", text: func(s *session) *string { return &s.service }},
	{name: "framedprotocol", text: func(s *session) *string { return &s.protocol }},
	{name: "framedipaddress", text: func(s *session) *string { return &s.addr }},
	{name: "framedipv6address", text: func(s *session) *string { return &s.addr6 }},
	{name: "framedipv6prefix", text: func(s *session) *string { return &s.prefix6 }},
	{name: "framedinterfaceid", text: func(s *session) *string { return &s.interfaceID }},
	{name: "delegatedipv6prefix", text: func(s *session) *string { return &s.delegated }},
	{name: "class", text: func(s *session) *string { return &s.class }},
}

// neededTables are those without which there is no service, with the columns that
// must be there.
var neededTables = map[string][]string{
	"radcheck":      {"username", "attribute", "op", "value"},
	"radreply":      {"username", "attribute", "op", "value"},
	"radgroupcheck": {"groupname", "attribute", "op", "value"},
	"radgroupreply": {"groupname", "attribute", "op", "value"},
	"radusergroup":  {"username", "groupname", "priority"},
	"radacct":       requiredAcct(),
}

func requiredAcct() []string {
	names := []string{"radacctid"}
	for _, c := range acctColumns {
		if c.required {
			names = append(names, c.name)
		}
	}
	return names
}

// A layout is what a database has of the schema.
type layout struct {
	columns   []column // those of acctColumns that are there
	missing   []string // optional ones that are not, "table.column" or "table"
	postAuth  bool
	reason    bool // radpostauth.reason
	nasReload bool
}

// inspect compares the tables of a database with what is needed. The error names
// everything that is missing.
func inspect(tables map[string][]string) (layout, error) {
	var l layout
	var lacking []string
	for table, columns := range neededTables {
		have, ok := tables[table]
		if !ok {
			lacking = append(lacking, "table "+table)
			continue
		}
		for _, c := range columns {
			if !slices.Contains(have, c) {
				lacking = append(lacking, "column "+table+"."+c)
			}
		}
	}
	if len(lacking) > 0 {
		slices.Sort(lacking)
		return l, fmt.Errorf("is not a FreeRADIUS database: there is no %s", strings.Join(lacking, ", no "))
	}
	for _, c := range acctColumns {
		if slices.Contains(tables["radacct"], c.name) {
			l.columns = append(l.columns, c)
		} else {
			l.missing = append(l.missing, "radacct."+c.name)
		}
	}
	post := tables["radpostauth"]
	l.postAuth = slices.Contains(post, "username") && slices.Contains(post, "pass") &&
		slices.Contains(post, "reply") && slices.Contains(post, "authdate")
	l.reason = slices.Contains(post, "reason")
	if !l.postAuth {
		l.missing = append(l.missing, "radpostauth")
	}
	reload := tables["nasreload"]
	l.nasReload = slices.Contains(reload, "nasipaddress") && slices.Contains(reload, "reloadtime")
	if !l.nasReload {
		l.missing = append(l.missing, "nasreload")
	}
	return l, nil
}

// The statements on radacct, with ? for parameters.

func (l *layout) selectSQL(d *dialect.Dialect) string {
	exprs := make([]string, 0, len(l.columns)+1)
	exprs = append(exprs, "radacctid")
	for _, c := range l.columns {
		switch {
		case c.text != nil:
			exprs = append(exprs, "COALESCE("+c.name+", '')")
		case c.number != nil:
			exprs = append(exprs, "COALESCE("+c.name+", 0)")
		default:
			exprs = append(exprs, "COALESCE("+d.Seconds(c.name)+", 0)")
		}
	}
	return "SELECT " + strings.Join(exprs, ", ") + " FROM radacct WHERE " + d.In("acctuniqueid") +
		" ORDER BY radacctid" + d.ForUpdate
}

func (l *layout) insertSQL() string {
	names := make([]string, len(l.columns))
	for i, c := range l.columns {
		names[i] = c.name
	}
	return "INSERT INTO radacct (" + strings.Join(names, ", ") + ") VALUES (?" +
		strings.Repeat(", ?", len(names)-1) + ")"
}

// updateSQL sets all columns, or the hot ones: an Interim-Update changes no other,
// and a column that is not named costs no work on its indexes.
func (l *layout) updateSQL(hot bool) string {
	var sets []string
	for _, c := range l.columns {
		if !hot || c.hot {
			sets = append(sets, c.name+" = ?")
		}
	}
	if len(sets) == 0 {
		return ""
	}
	return "UPDATE radacct SET " + strings.Join(sets, ", ") + " WHERE radacctid = ?"
}

// scan returns where to put a row of selectSQL.
func (l *layout) scan(s *session) []any {
	dest := make([]any, 0, len(l.columns)+1)
	dest = append(dest, &s.id)
	for _, c := range l.columns {
		switch {
		case c.text != nil:
			dest = append(dest, c.text(s))
		case c.number != nil:
			dest = append(dest, c.number(s))
		default:
			dest = append(dest, c.moment(s))
		}
	}
	return dest
}

// args are the parameters of insertSQL, or of updateSQL less the id.
func (l *layout) args(s *session, d *dialect.Dialect, hot bool) []any {
	args := make([]any, 0, len(l.columns)+1)
	for _, c := range l.columns {
		if hot && !c.hot {
			continue
		}
		switch {
		case c.text != nil:
			args = append(args, *c.text(s))
		case c.number != nil:
			args = append(args, *c.number(s))
		default:
			if t := *c.moment(s); t != 0 {
				args = append(args, d.Time(t))
			} else {
				args = append(args, nil)
			}
		}
	}
	return args
}

// restrict empties the fields of s that the database has no column for, so that
// what is stored compares with what was read.
func (l *layout) restrict(s *session) {
	full := *s
	*s = session{id: s.id}
	for _, c := range l.columns {
		switch {
		case c.text != nil:
			*c.text(s) = *c.text(&full)
		case c.number != nil:
			*c.number(s) = *c.number(&full)
		default:
			*c.moment(s) = *c.moment(&full)
		}
	}
}

// onlyHot reports whether a and b differ in hot columns alone.
func (l *layout) onlyHot(a, b session) bool {
	for _, c := range l.columns {
		if !c.hot {
			continue
		}
		if c.number != nil {
			*c.number(&a) = *c.number(&b)
		} else {
			*c.moment(&a) = *c.moment(&b)
		}
	}
	return a == b
}
