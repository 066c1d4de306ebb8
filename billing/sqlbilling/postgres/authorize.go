package postgres

import (
	"fmt"
	"strings"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// names is the table of the names that are asked for, numbered from 1 on.
const names = "unnest($1::text[]) WITH ORDINALITY q(u, i)"

// text is one of the statements. Its columns are, numbers as bigint: the user's place
// in the list, from 1 on (0: of no user), the kind of the row, the profile that it
// comes through, the priority and the id of the membership, the group, the row itself
// (id, attribute, op, value), and the number of open sessions where the row holds a
// Simultaneous-Use, else -1.
func (l *lookup) text(what dialect.What) string {
	const constant = "0::bigint, 0::bigint, ''::text"
	if what == dialect.Open {
		return "SELECT q.i, 6::bigint, ''::text, " + constant + ", " + l.sessions() + ", ''::text, ''::text, ''::text, -1::bigint FROM " + names
	}
	var all []string
	limit := "-1::bigint"
	if what != dialect.Groups {
		all = []string{
			"SELECT q.i, 1::bigint, ''::text, " + constant + ", " + pair + ", " + l.limit() +
				" FROM " + names + " JOIN radcheck r ON " + l.same("r", "radcheck"),
			"SELECT q.i, 2::bigint, ''::text, " + constant + ", " + pair + ", -1::bigint FROM " + names + " JOIN radreply r ON " + l.same("r", "radreply"),
		}
		limit = l.limit()
	}
	all = append(all, l.groups("q.i", "''::text", limit, names+" JOIN radusergroup m ON "+l.same("m", "radusergroup"), "")...)
	if what == withProfiles {
		all = append(all, l.groups("m.i", "m.profile", strings.ReplaceAll(limit, "q.u", "m.u"), "named m", "")...)
	}
	if what != dialect.Groups {
		all = append(all, "SELECT 0::bigint, 7::bigint, ''::text, "+constant+", "+pair+", -1::bigint FROM radgroupreply r WHERE r.groupname = $2")
		if l.question.Profile != "" {
			all = append(all, l.groups("0::bigint", "$3::text", "-1::bigint", "radusergroup m", " WHERE m.username = $3")...)
		}
	}
	text := strings.Join(all, "\nUNION ALL\n")
	if what == withProfiles {
		text = "WITH named AS (" + l.named() + ")\n" + text
	}
	return text
}

// pair are the columns of a table of attributes, r.
const pair = "r.id::bigint, r.attribute::text, r.op::text, r.value::text"

// profileName is the profile that a row p of radcheck names, without its quotes.
const profileName = `CASE WHEN p.value::text ~ '^(".*"|''.*'')$' THEN substr(p.value::text, 2, length(p.value::text) - 2) ELSE p.value::text END`

// named reads the memberships of the profiles that radcheck names, once for all that
// use them. A profile that is in no group comes with none, so that it is known that it
// was looked up.
func (l *lookup) named() string {
	id := ""
	if _, ok := l.tables.Column("radusergroup", "id"); ok {
		id = ", m.id"
	}
	return "SELECT q.i, q.u, " + profileName + " AS profile, m.priority, m.groupname" + id + " FROM " + names + " JOIN radcheck p ON " + l.same("p", "radcheck") + " AND lower(btrim(p.attribute::text)) = 'user-profile' AND " + profileName + " <> ''" +
		" LEFT JOIN radusergroup m ON " + strings.ReplaceAll(l.same("m", "radusergroup"), "q.u", "("+profileName+")")
}

// groups are the parts for memberships, and for what their groups check and reply.
// from reads radusergroup as m.
func (l *lookup) groups(user, profile, limit, from, where string) []string {
	id := "m.id::bigint"
	if _, ok := l.tables.Column("radusergroup", "id"); !ok {
		id = "hashtext(m.groupname::text)::bigint" // older schemas
	}
	head := func(kind int) string {
		return fmt.Sprintf("SELECT %s, %d::bigint, %s, m.priority::bigint, %s, m.groupname::text, ", user, kind, profile, id)
	}
	join := func(table string) string {
		return " FROM " + from + " JOIN " + table + " r ON r.groupname = m.groupname" + where
	}
	return []string{
		head(dialect.RowMember) + "0::bigint, ''::text, ''::text, ''::text, -1::bigint FROM " + from + where,
		head(dialect.RowGroupCheck) + pair + ", " + limit + join("radgroupcheck"),
		head(dialect.RowGroupReply) + pair + ", -1::bigint" + join("radgroupreply"),
	}
}

// same compares the user names of a table with those asked for.
func (l *lookup) same(alias, table string) string {
	c, _ := l.tables.Column(table, "username")
	return same(alias+".username", c, "q.u", l.question.Names)
}

// same compares a column of user names, c, which is called column here, with a name.
func same(column string, c dialect.Column, name string, how dialect.Comparison) string {
	if c.Type == "citext" {
		same := column + " = " + name + "::citext"
		if how == dialect.Exact {
			same += " AND " + column + "::text = " + name
		}
		return same
	}
	if how == dialect.IgnoreCase {
		return "lower(" + column + ") = lower(" + name + ")"
	}
	return column + " = " + name
}

// sessions is how many a user has open.
func (l *lookup) sessions() string {
	return "(SELECT count(*) FROM radacct a WHERE " + l.same("a", "radacct") + " AND a.acctstoptime IS NULL)"
}

// limit counts the open sessions of a user, where r holds a Simultaneous-Use.
func (l *lookup) limit() string {
	return "CASE WHEN lower(btrim(r.attribute::text)) = 'simultaneous-use' THEN " + l.sessions() + " ELSE -1::bigint END"
}
