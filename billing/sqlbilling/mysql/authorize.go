package mysql

import (
	"fmt"
	"strings"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// text is a statement of a reader. Its columns are: the user's place in the list,
// from 1 on (0: of no user), the kind of the row, the profile that it comes through,
// the priority and the id of the membership, the group, the row itself (id,
// attribute, op, value), and the number of open sessions where the row holds a
// Simultaneous-Use. What a row does not say is NULL, which costs next to nothing to
// send and to read. Text comes in UTF-8, whatever the collations of the
// tables. lists is how many branches have a list of names.
func (l *lookup) text(k key) (text string, lists int) {
	var all []string
	for _, branch := range l.branches(k) {
		from := ""
		if branch.column != (dialect.Column{}) {
			lists++
			from = unionList(branch.column, k.size)
			if l.json {
				from = jsonList(branch.column, k.plain)
			}
		}
		all = append(all, strings.ReplaceAll(branch.text, "{q}", from))
	}
	return strings.Join(all, "\nUNION ALL\n"), lists
}

// A branch is a part of a UNION ALL, with {q} in place of the list of names as
// they compare with a column.
type branch struct {
	text   string
	column dialect.Column // zero: no list
}

// branches are those of a statement, which may count open sessions or leave it. To
// prepare that costs a tenth of a statement, whoever is asked for. Those with a list
// come first.
func (l *lookup) branches(k key) []branch {
	check, reply := l.column("radcheck", "username"), l.column("radreply", "username")
	member := l.column("radusergroup", "username")
	if k.what == dialect.Open {
		acct := l.column("radacct", "username")
		return []branch{{"SELECT q.i, 6, NULL, NULL, NULL, NULL, (SELECT COUNT(*) FROM radacct a WHERE " + l.same("a", acct) +
			" AND a.acctstoptime IS NULL), NULL, NULL, NULL, NULL FROM {q} WHERE q.u IS NOT NULL", acct}}
	}
	var list []branch
	limit := func(dialect.Column) string { return "NULL" }
	if k.what == dialect.Everything {
		if k.counts {
			limit = l.limit
		}
		list = []branch{
			{"SELECT q.i, 1, NULL, NULL, NULL, NULL, r.id, " + l.pair("radcheck") + ", " + limit(check) +
				" FROM {q} STRAIGHT_JOIN radcheck r ON " + l.same("r", check), check},
			{"SELECT q.i, 2, NULL, NULL, NULL, NULL, r.id, " + l.pair("radreply") +
				", NULL FROM {q} STRAIGHT_JOIN radreply r ON " + l.same("r", reply), reply},
		}
	}
	for _, g := range l.groups("q.i", "NULL", limit(member), "{q} STRAIGHT_JOIN radusergroup m ON "+l.same("m", member), "") {
		list = append(list, branch{g, member})
	}
	if k.profiles {
		for _, g := range l.groups("q.i", "CAST(CONVERT("+profileName+" USING utf8mb4) AS BINARY)", limit(check), l.named(check, member), "") {
			list = append(list, branch{g, check})
		}
	}
	if k.what == dialect.Everything {
		list = append(list, branch{text: "SELECT 0, 7, NULL, NULL, NULL, NULL, r.id, " + l.pair("radgroupreply") +
			", NULL FROM radgroupreply r WHERE r.groupname = ?"})
		if l.question.Profile != "" {
			for _, g := range l.groups("0", "CAST(? AS BINARY)", "NULL", "radusergroup m", " WHERE m.username = ?") {
				list = append(list, branch{text: g})
			}
		}
	}
	return list
}

// profileName is the profile that a row p of radcheck names, without its quotes. They
// are compared as octets: a collation may take other characters for quotes.
const profileName = "IF(CHAR_LENGTH(p.value) >= 2 AND ASCII(p.value) IN (34, 39) AND ASCII(p.value) = ASCII(RIGHT(p.value, 1)), " +
	"SUBSTRING(p.value, 2, CHAR_LENGTH(p.value) - 2), p.value)"

// joinsProfiles reports whether profiles can be looked up by what stands in radcheck:
// a name that the character set of radusergroup lacks a character for would be
// turned into another's.
func (l *lookup) joinsProfiles() bool {
	value, member := l.column("radcheck", "value"), l.column("radusergroup", "username")
	return value.Charset == member.Charset || unicode(member)
}

// named reads the memberships m of the profiles that radcheck names. A profile that
// is in no group comes with none, so that it is known that it was looked up.
func (l *lookup) named(check, member dialect.Column) string {
	name := profileName
	if value := l.column("radcheck", "value"); value.Charset != member.Charset || value.Collation != member.Collation {
		name = converted(name, member)
	}
	return "{q} STRAIGHT_JOIN radcheck p ON " + l.same("p", check) + " AND LOWER(TRIM(p.attribute)) = 'user-profile' AND CHAR_LENGTH(" + profileName + ") > 0" +
		" LEFT JOIN radusergroup m ON " + strings.ReplaceAll(l.same("m", member), "q.u", name)
}

// groups are the branches of memberships, and of what their groups check and
// reply. from reads radusergroup as m.
func (l *lookup) groups(user, profile, limit, from, where string) []string {
	id := "m.id"
	if _, ok := l.tables.Column("radusergroup", "id"); !ok {
		id = "CRC32(m.groupname)" // older schemas
	}
	head := func(kind int) string {
		return fmt.Sprintf("SELECT %s, %d, %s, m.priority, CAST(%s AS SIGNED), %s, ", user, kind, profile, id, l.octets("m", "radusergroup", "groupname"))
	}
	join := func(how, table string) string {
		m, g := l.column("radusergroup", "groupname"), l.column(table, "groupname")
		name := "m.groupname"
		if m.Charset != g.Charset || m.Collation != g.Collation {
			name = converted(name, g)
		}
		return " FROM " + from + " " + how + " " + table + " r ON r.groupname = " + name + where
	}
	// One of a group without check items comes with a row that has no id. That
	// costs less than a branch of memberships alone: each looks them up again.
	return []string{
		head(dialect.RowGroupCheck) + "r.id, " + l.pair("radgroupcheck") + ", " + limit + join("LEFT JOIN", "radgroupcheck"),
		head(dialect.RowGroupReply) + "r.id, " + l.pair("radgroupreply") + ", NULL" + join("STRAIGHT_JOIN", "radgroupreply"),
	}
}

// alike reports whether the columns of text that a UNION puts together have one
// character set and collation.
func alike(t dialect.Tables) bool {
	same := func(name string, tables ...string) bool {
		first, _ := t.Column(tables[0], name)
		for _, table := range tables {
			c, ok := t.Column(table, name)
			if !ok || c.Charset == "" || c.Charset != first.Charset || c.Collation != first.Collation {
				return false
			}
		}
		return true
	}
	attributes := []string{"radcheck", "radreply", "radgroupcheck", "radgroupreply"}
	return same("attribute", attributes...) && same("op", attributes...) && same("value", attributes...) &&
		same("groupname", "radusergroup")
}

func (l *lookup) column(table, name string) dialect.Column {
	c, _ := l.tables.Column(table, name)
	return c
}

// octets is the text of a column as UTF-8. Where all that stands in one column of an
// answer is alike the server turns it into UTF-8 as it sends it, which costs
// nothing for ASCII; a tenth of a statement's work is saved by that.
func (l *lookup) octets(alias, table, name string) string {
	if l.alike {
		return alias + "." + name
	}
	if c := l.column(table, name); !unicode(c) && c.Charset != "" {
		return "CAST(CONVERT(" + alias + "." + name + " USING utf8mb4) AS BINARY)"
	}
	return "CAST(" + alias + "." + name + " AS BINARY)"
}

// pair are the columns of a table of attributes, r.
func (l *lookup) pair(table string) string {
	return l.octets("r", table, "attribute") + ", " + l.octets("r", table, "op") + ", " + l.octets("r", table, "value")
}

// same compares the user names of a table with those asked for, in q.u as they
// compare with a column of it.
func (l *lookup) same(alias string, c dialect.Column) string {
	name := alias + "." + c.Name
	switch {
	case l.question.Names == dialect.Exact:
		return name + " = q.u AND CAST(" + name + " AS BINARY) = CAST(q.u AS BINARY)"
	case l.question.Names == dialect.IgnoreCase && c.Charset == "":
		return "LOWER(CONVERT(" + name + " USING utf8mb4)) = LOWER(CONVERT(q.u USING utf8mb4))"
	case l.question.Names == dialect.IgnoreCase && (strings.HasSuffix(c.Collation, "_bin") || strings.HasSuffix(c.Collation, "_cs")):
		return "LOWER(" + name + ") = LOWER(q.u)"
	}
	return name + " = q.u"
}

// limit counts the open sessions of a user, where r holds a Simultaneous-Use. q.u
// is as it compares with the column from.
func (l *lookup) limit(from dialect.Column) string {
	acct := l.column("radacct", "username")
	same := l.same("a", acct)
	if from.Charset != acct.Charset || from.Collation != acct.Collation {
		same = strings.ReplaceAll(same, "q.u", converted("q.u", acct))
	}
	return "IF(LOWER(TRIM(r.attribute)) = 'simultaneous-use', (SELECT COUNT(*) FROM radacct a WHERE " +
		same + " AND a.acctstoptime IS NULL), NULL)"
}

// converted is text as it compares with a column: in another character set or
// collation it is compared without an index, or not at all.
func converted(expr string, c dialect.Column) string {
	if c.Charset == "" {
		return "CAST(" + expr + " AS BINARY)"
	}
	return "CONVERT(" + expr + " USING " + c.Charset + ") COLLATE " + c.Collation
}
