package sqlbilling

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/radpool/radpool/billing/sqlbilling/internal/acct"
	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// A column of radacct, and where its value is in a session. One of text, number
// and moment is set.
type column struct {
	name     string
	required bool
	hot      bool // changes with every Interim-Update
	text     func(*acct.Session) *string
	number   func(*acct.Session) *int64 // 0 is stored as 0
	moment   func(*acct.Session) *int64 // 0 is stored as NULL
	sparse   bool                       // the number 0 is stored as NULL as well

	in dialect.Column // what the database has
}

// kind is how the value is given to the database.
func (c *column) kind() dialect.Kind {
	if c.text != nil {
		return dialect.KindText
	}
	return dialect.KindInt
}

// value is c of a session, as it is given to the database.
func (c *column) value(s *acct.Session) any {
	switch {
	case c.text != nil:
		return *c.text(s)
	case c.number != nil:
		if n := *c.number(s); n != 0 || !c.sparse {
			return n
		}
	default:
		if t := *c.moment(s); t != 0 {
			return t
		}
	}
	return nil
}

// store is the expression that stores a value of c.
func (c *column) store(d *dialect.Dialect, expr string) string {
	switch {
	case c.text != nil:
		return d.Stored(expr, c.in)
	case c.moment != nil:
		return d.Moment(expr, c.in)
	}
	return expr
}

// acctColumns are the columns that are read and written. realm is not: it is what
// FreeRADIUS writes where its proxy.conf has no such realm, the default of the schema.
var acctColumns = []column{
	{name: "acctuniqueid", required: true, text: func(s *acct.Session) *string { return &s.UniqueID }},
	{name: "acctsessionid", required: true, text: func(s *acct.Session) *string { return &s.SessionID }},
	{name: "username", required: true, text: func(s *acct.Session) *string { return &s.UserName }},
	{name: "nasipaddress", required: true, text: func(s *acct.Session) *string { return &s.NASAddr }},
	{name: "nasportid", text: func(s *acct.Session) *string { return &s.PortID }},
	{name: "nasporttype", text: func(s *acct.Session) *string { return &s.PortType }},
	{name: "acctstarttime", required: true, moment: func(s *acct.Session) *int64 { return &s.Start }},
	{name: "acctupdatetime", hot: true, moment: func(s *acct.Session) *int64 { return &s.Update }},
	{name: "acctinterval", hot: true, sparse: true, number: func(s *acct.Session) *int64 { return &s.Interval }},
	{name: "acctstoptime", required: true, moment: func(s *acct.Session) *int64 { return &s.Stop }},
	{name: "acctsessiontime", hot: true, number: func(s *acct.Session) *int64 { return &s.Seconds }},
	{name: "acctauthentic", text: func(s *acct.Session) *string { return &s.Authentic }},
	{name: "connectinfo_start", text: func(s *acct.Session) *string { return &s.ConnectStart }},
	{name: "connectinfo_stop", text: func(s *acct.Session) *string { return &s.ConnectStop }},
	{name: "acctinputoctets", hot: true, number: func(s *acct.Session) *int64 { return &s.Input }},
	{name: "acctoutputoctets", hot: true, number: func(s *acct.Session) *int64 { return &s.Output }},
	{name: "calledstationid", text: func(s *acct.Session) *string { return &s.Called }},
	{name: "callingstationid", text: func(s *acct.Session) *string { return &s.Calling }},
	{name: "acctterminatecause", text: func(s *acct.Session) *string { return &s.Cause }},
	{name: "servicetype", text: func(s *acct.Session) *string { return &s.Service }},
	{name: "framedprotocol", text: func(s *acct.Session) *string { return &s.Protocol }},
	{name: "framedipaddress", text: func(s *acct.Session) *string { return &s.Addr }},
	{name: "framedipv6address", text: func(s *acct.Session) *string { return &s.Addr6 }},
	{name: "framedipv6prefix", text: func(s *acct.Session) *string { return &s.Prefix6 }},
	{name: "framedinterfaceid", text: func(s *acct.Session) *string { return &s.InterfaceID }},
	{name: "delegatedipv6prefix", text: func(s *acct.Session) *string { return &s.Delegated }},
	{name: "class", text: func(s *acct.Session) *string { return &s.Class }},
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

// tablesUsed are those whose columns matter.
var tablesUsed = append(slices.Collect(maps.Keys(neededTables)), "radpostauth", "nasreload", "nas", "radpool_reload", "radippool")

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
	tables    dialect.Tables
	columns   []column // those of acctColumns that are there
	missing   []string // optional ones that are not, "table.column" or "table"
	postAuth  bool
	reason    bool // radpostauth.reason
	nasReload bool
	pool      bool // radippool can be used
	cause     bool // radacct.acctterminatecause
}

// inspect compares the tables of a database with what is needed. The error names
// everything that is missing.
func inspect(tables dialect.Tables) (layout, error) {
	l := layout{tables: tables}
	has := func(table string, columns ...string) bool {
		return !slices.ContainsFunc(columns, func(name string) bool { _, ok := tables.Column(table, name); return !ok })
	}
	var lacking []string
	for table, columns := range neededTables {
		if tables[table] == nil {
			lacking = append(lacking, "table "+table)
			continue
		}
		for _, c := range columns {
			if !has(table, c) {
				lacking = append(lacking, "column "+table+"."+c)
			}
		}
	}
	if len(lacking) > 0 {
		slices.Sort(lacking)
		return l, fmt.Errorf("is not a FreeRADIUS database: there is no %s", strings.Join(lacking, ", no "))
	}
	for _, c := range acctColumns {
		var ok bool
		if c.in, ok = tables.Column("radacct", c.name); ok {
			l.columns = append(l.columns, c)
		} else {
			l.missing = append(l.missing, "radacct."+c.name)
		}
	}
	if !has("radacct", "acctupdatetime") { // from which it counts
		l.columns = slices.DeleteFunc(l.columns, func(c column) bool { return c.name == "acctinterval" })
	}
	l.cause = has("radacct", "acctterminatecause")
	l.reason = has("radpostauth", "reason")
	if l.postAuth = has("radpostauth", "username", "pass", "reply", "authdate"); !l.postAuth {
		l.missing = append(l.missing, "radpostauth")
	}
	if l.nasReload = has("nasreload", "nasipaddress", "reloadtime"); !l.nasReload {
		l.missing = append(l.missing, "nasreload")
	}
	return l, nil
}

// column is a column that inspect has found.
func (l *layout) column(table, name string) dialect.Column {
	c, _ := l.tables.Column(table, name)
	return c
}

// The statements on radacct, with ? for parameters.

func (l *layout) selectSQL(d *dialect.Dialect) string {
	exprs := make([]string, 0, len(l.columns)+1)
	exprs = append(exprs, "radacctid")
	for _, c := range l.columns {
		expr := ""
		switch {
		case c.text != nil:
			expr = d.Text(c.in)
		case c.number != nil && d.Number != nil:
			expr = d.Number(c.in)
		case c.number != nil:
			expr = "COALESCE(" + c.name + ", 0)"
		default:
			expr = "COALESCE(" + d.Seconds(c.in) + ", 0)"
		}
		exprs = append(exprs, expr+" AS "+c.name) // for errors
	}
	return "SELECT " + strings.Join(exprs, ", ") + " FROM " + d.Among("radacct", l.column("radacct", "acctuniqueid")) +
		" ORDER BY acctuniqueid, radacctid" + d.ForUpdate
}

// scan returns where to put a row of selectSQL.
func (l *layout) scan(s *acct.Session) []any {
	dest := make([]any, 0, len(l.columns)+1)
	dest = append(dest, &s.ID)
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

// fit makes the texts of s such as the database can hold, and returns how many
// were too long.
func (l *layout) fit(s *acct.Session, d *dialect.Dialect) (cut int) {
	if d.Clean == nil {
		return 0
	}
	for i := range l.columns {
		c := &l.columns[i]
		if c.text == nil {
			continue
		}
		text := c.text(s)
		clean := d.Clean(*text, c.in)
		if len(clean) < len(*text) {
			cut++
		}
		*text = clean
	}
	return cut
}

// restrict empties the fields of s that the database has no column for, so that
// what is stored compares with what was read.
func (l *layout) restrict(s *acct.Session) {
	full := *s
	*s = acct.Session{ID: s.ID}
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
func (l *layout) onlyHot(a, b acct.Session) bool {
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
