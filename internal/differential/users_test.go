package differential_test

import (
	"database/sql"
	"slices"
	"strings"
	"testing"
)

// A user is rows of the database, and what is asked.
type user struct {
	name string
	rows []string // see load
	asks []string // see request; none: "pap pw"
	// clock is within how many seconds two Session-Timeouts are the same; 0: exactly.
	clock int64
	// message says that the Reply-Messages of an Access-Reject are the same as well.
	message bool
}

// of makes a user.
func of(name string, rows ...string) *user { return &user{name: name, rows: rows} }

// ask adds requests.
func (u *user) ask(words ...string) *user { u.asks = append(u.asks, words...); return u }

// says sets message.
func (u *user) says() *user { u.message = true; return u }

// timed says that the user's Session-Timeout counts down to a moment. The servers
// are asked for it one after the other.
func (u *user) timed() *user { u.clock = 5; return u }

// minutes is timed, where FreeRADIUS counts from the beginning of this minute, and
// so lets the session go on for up to a minute after the end of the hours.
func (u *user) minutes() *user { u.clock = 65; return u }

func (u *user) words() []string {
	if len(u.asks) == 0 {
		return []string{"pap pw"}
	}
	return u.asks
}

// What most users have.
const (
	plain = "check Cleartext-Password := pw"
	hello = "reply Reply-Message = hello"
)

// defaultProfile is the profile of who falls through all else.
const defaultProfile = "everybody"

func allUsers() []*user {
	return slices.Concat(operatorUsers, replyUsers, groupUsers, timeUsers(), sessionUsers, passwordUsers, nameUsers, valueUsers, typeUsers, encryptedUsers, rejectUsers)
}

// load inserts the rows of the users, in order. A row is one of
//
//	check ATTRIBUTE OP VALUE            of the user; so is reply
//	gcheck GROUP ATTRIBUTE OP VALUE     of a group; so is greply
//	member GROUP PRIORITY               in radusergroup
//	open SESSION                        in radacct, without an end; "closed" with one
//	user NAME                           the rows that follow are NAME's
//
// with blanks between, each one alone; OP may be NULL, and "" is the empty one.
func load(t *testing.T, db *sql.DB, users []*user) {
	t.Helper()
	names := make(map[string]bool)
	for _, u := range users {
		if names[u.name] {
			t.Fatalf("two users %q", u.name)
		}
		names[u.name] = true
		who := u.name
		for _, row := range u.rows {
			kind, rest, _ := strings.Cut(row, " ")
			group, after, _ := strings.Cut(rest, " ")
			switch kind {
			case "check", "reply":
				insert(t, db, "INSERT INTO rad"+kind+" (username, attribute, op, value) VALUES (?, ?, ?, ?)", item(who, rest)...)
			case "gcheck", "greply":
				insert(t, db, "INSERT INTO radgroup"+kind[1:]+" (groupname, attribute, op, value) VALUES (?, ?, ?, ?)", item(group, after)...)
			case "member":
				insert(t, db, "INSERT INTO radusergroup (username, groupname, priority) VALUES (?, ?, ?)", who, group, after)
			case "open", "closed":
				insert(t, db, "INSERT INTO radacct (acctsessionid, acctuniqueid, username, nasipaddress, acctstarttime, acctstoptime) VALUES (?, ?, ?, '192.0.2.7', NOW(), IF(?, NOW(), NULL))",
					rest, rest, who, kind == "closed")
			case "user":
				who = rest
			default:
				t.Fatalf("%q is no row", row)
			}
		}
	}
}

// item are owner, attribute, operator and value of a row.
func item(owner, text string) []any {
	attribute, rest, _ := strings.Cut(text, " ")
	op, value, _ := strings.Cut(rest, " ")
	switch op {
	case "NULL":
		return []any{owner, attribute, nil, value}
	case `""`:
		op = ""
	}
	return []any{owner, attribute, op, value}
}
