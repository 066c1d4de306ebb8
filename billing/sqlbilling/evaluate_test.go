package sqlbilling_test

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
	"github.com/radpool/radpool/radpool"
)

type rows = [][5]string

func check(attr, op, value string) [5]string {
	return [5]string{"radcheck", "alice", attr, op, value}
}
func reply(attr, op, value string) [5]string {
	return [5]string{"radreply", "alice", attr, op, value}
}
func member(user, group, priority string) [5]string {
	return [5]string{"radusergroup", user, group, priority}
}
func gcheck(group, attr, op, value string) [5]string {
	return [5]string{"radgroupcheck", group, attr, op, value}
}
func greply(group, attr, op, value string) [5]string {
	return [5]string{"radgroupreply", group, attr, op, value}
}

var pass = check("Cleartext-Password", ":=", "secret")

// summary is what a test expects of a Grant, as text.
func summary(g billing.Grant, err error) string {
	if err != nil {
		if re, ok := errors.AsType[*sqlbilling.RowError](err); ok {
			return fmt.Sprintf("error %s %s", re.Table, re.Attribute)
		}
		return "error " + err.Error()
	}
	s := g.Password.Form().String()
	if g.Reason != billing.ReasonNone {
		s += " " + g.Reason.String()
	}
	if g.NoPassword {
		s += " nopassword"
	}
	if len(g.Reply) > 0 {
		s += " [" + strings.Join(show(g.Reply), " ") + "]"
	}
	if g.Restricted != nil {
		s += " restricted[" + strings.Join(show(g.Restricted), " ") + "]"
	}
	if !g.Expires.IsZero() {
		s += " until " + g.Expires.UTC().Format("2006-01-02T15:04:05")
	}
	if g.SimultaneousUse > 0 || g.OpenSessions > 0 {
		s += fmt.Sprintf(" sessions %d/%d", g.OpenSessions, g.SimultaneousUse)
	}
	return s
}

const cleartext = "Cleartext-Password"

var evaluations = []struct {
	name string
	rows rows
	want string
}{
	// What is known and what is not.
	{"nobody", nil, "none unknown-user"},
	{"another's rows", rows{{"radcheck", "Alice", "Cleartext-Password", ":=", "x"}, {"radcheck", "alice ", "Cleartext-Password", ":=", "x"}}, "none unknown-user"},
	{"reply alone is not a user", rows{reply("Reply-Message", "=", "hi")}, "none unknown-user"},
	{"password and reply", rows{pass, reply("Reply-Message", "=", "hi"), reply("Session-Timeout", ":=", "60")}, cleartext + " [Reply-Message=hi Session-Timeout=60]"},
	{"internal and empty replies are not sent", rows{pass, reply("Fall-Through", "=", "Yes"), reply("Reply-Message", "=", "")}, cleartext},
	{"vendor-specific", rows{pass, reply("Mikrotik-Rate-Limit", "=", "1M/2M")}, cleartext + " [Mikrotik-Rate-Limit=1M/2M]"},
	{"quotes", rows{pass, reply("Reply-Message", "=", `"say \"hi\""`), reply("Filter-Id", "=", "'f'")}, cleartext + ` [Reply-Message=say \"hi\" Filter-Id=f]`},

	// Passwords.
	{"NT hash", rows{check("NT-Password", ":=", "0x8846f7eaee8fb117ad06bdd830b7586c")}, "NT-Password"},
	{"cleartext wins over a hash", rows{check("NT-Password", ":=", "8846f7eaee8fb117ad06bdd830b7586c"), pass}, cleartext},
	{"the old name", rows{check("User-Password", ":=", "x")}, cleartext},
	{"with header", rows{check("Password-With-Header", ":=", "{cleartext}x")}, cleartext},
	{"cleartext compared is no password", rows{check("Cleartext-Password", "==", "secret")}, "none rejected"},
	{"a single = reverts to ==", rows{check("Cleartext-Password", "=", "secret")}, "none rejected"},
	{"crypt with == is skipped, and not set", rows{check("Crypt-Password", "==", "$1$abcdefgh$0123456789012345678901")}, "none"},
	{"malformed hash", rows{check("NT-Password", ":=", "0x00")}, "error radcheck NT-Password"},
	{"form that is not supported", rows{check("LM-Password", ":=", "0x00")}, "error radcheck LM-Password"},
	{"form that is not supported beside one that is", rows{check("LM-Password", ":=", "0x00"), pass}, cleartext},

	// Auth-Type.
	{"reject", rows{pass, check("Auth-Type", ":=", "Reject")}, cleartext + " rejected"},
	{"reject with =", rows{pass, check("Auth-Type", "=", "Reject")}, cleartext + " rejected"},
	{"accept", rows{check("Auth-Type", ":=", "Accept")}, "none nopassword"},
	{"a method that the request has not", rows{pass, check("Auth-Type", ":=", "CHAP")}, cleartext + " rejected"},
	{"system", rows{check("Auth-Type", ":=", "System")}, "error radcheck Auth-Type"},

	// Check items.
	{"matches", rows{pass, check("NAS-IP-Address", "==", "192.0.2.1"), reply("Reply-Message", "=", "hi")}, cleartext + " [Reply-Message=hi]"},
	{"does not match", rows{pass, check("NAS-IP-Address", "==", "192.0.2.2"), reply("Reply-Message", "=", "hi")}, "none rejected"},
	{"another device", rows{pass, check("Calling-Station-Id", "==", "11-22")}, "none calling-station"},
	{"!= matches", rows{pass, check("NAS-Port", "!=", "6")}, cleartext},
	{"!= does not", rows{pass, check("NAS-Port", "!=", "5")}, "none rejected"},
	{"!= of what is not there", rows{pass, check("Filter-Id", "!=", "x")}, "none rejected"},
	{">= and <", rows{pass, check("NAS-Port", ">=", "5"), check("NAS-Port", "<", "6")}, cleartext},
	{">", rows{pass, check("NAS-Port", ">", "5")}, "none rejected"},
	{"<=", rows{pass, check("NAS-Port", "<=", "4")}, "none rejected"},
	{"=~ and !~", rows{pass, check("Calling-Station-Id", "=~", "^aa:.*ff$"), check("NAS-Identifier", "!~", "^x")}, cleartext},
	{"=~ on a number's name", rows{pass, check("NAS-Port-Type", "=~", "^Eth")}, cleartext},
	{"!~ does not", rows{pass, check("NAS-Identifier", "!~", "bras")}, "none rejected"},
	{"=* and !*", rows{pass, check("NAS-Port", "=*", ""), check("Filter-Id", "!*", "")}, cleartext},
	{"=* of what is not there", rows{pass, check("Filter-Id", "=*", "")}, "none rejected"},
	{"!* of what is there", rows{pass, check("NAS-Port", "!*", "")}, "none rejected"},
	{"the second of two values", rows{pass, check("Class", "==", "two")}, cleartext},
	{"empty operator is ==", rows{pass, check("NAS-Port", "", "5")}, cleartext},
	{"User-Password == compares", rows{pass, check("User-Password", "==", "secret")}, cleartext},
	{"User-Password == differs", rows{pass, check("User-Password", "==", "other")}, "none rejected"},
	{"bad pattern", rows{pass, check("NAS-Port", "=~", "(")}, "error radcheck NAS-Port"},
	{"bad operator", rows{check("NAS-Port", "<>", "5")}, "error radcheck NAS-Port"},
	{"unknown attribute", rows{check("No-Such", ":=", "5")}, "error radcheck No-Such"},
	{"bad value", rows{pass, reply("Session-Timeout", ":=", "1h")}, "error radreply Session-Timeout"},
	{"back-quotes", rows{pass, reply("Reply-Message", ":=", "`date`")}, "error radreply Reply-Message"},
	{"too long for a vendor", rows{pass, reply("Cisco-AVPair", ":=", strings.Repeat("x", 250))}, "error radreply Cisco-AVPair"},
	{"what cannot be sent", rows{pass, reply("Vendor-Specific", ":=", "0x00")}, "error radreply Vendor-Specific"},
	{"a row that is not reached does no harm", rows{pass, check("NAS-Port", "==", "6"), reply("No-Such", "=", "x")}, "none rejected"},
	{"huntgroups", rows{pass, check("Huntgroup-Name", "==", "x")}, "error radcheck Huntgroup-Name"},

	// Groups.
	{"group alone", rows{member("alice", "g", "1"), gcheck("g", "Cleartext-Password", ":=", "x"), greply("g", "Reply-Message", "=", "g")}, cleartext + " [Reply-Message=g]"},
	{"group without rows", rows{member("alice", "g", "1")}, "none"},
	{"user and group", rows{pass, reply("Reply-Message", "=", "u"), member("alice", "g", "1"), greply("g", "Session-Timeout", "=", "1")}, cleartext + " [Reply-Message=u Session-Timeout=1]"},
	{"Fall-Through = No", rows{pass, reply("Fall-Through", "=", "No"), member("alice", "g", "1"), greply("g", "Session-Timeout", "=", "1")}, cleartext},
	{"= gives way to the user's", rows{pass, reply("Session-Timeout", "=", "2"), member("alice", "g", "1"), greply("g", "Session-Timeout", "=", "1")}, cleartext + " [Session-Timeout=2]"},
	{":= beats the user's", rows{pass, reply("Session-Timeout", ":=", "2"), member("alice", "g", "1"), greply("g", "Session-Timeout", ":=", "1")}, cleartext + " [Session-Timeout=1]"},
	{"+= adds", rows{pass, reply("Reply-Message", "=", "u"), member("alice", "g", "1"), greply("g", "Reply-Message", "+=", "g")}, cleartext + " [Reply-Message=u Reply-Message=g]"},
	{"^= goes in front", rows{pass, reply("Reply-Message", "=", "u"), member("alice", "g", "1"), greply("g", "Reply-Message", "^=", "g")}, cleartext + " [Reply-Message=g Reply-Message=u]"},
	{"-= deletes the equal one", rows{pass, reply("Reply-Message", "+=", "a"), reply("Reply-Message", "+=", "b"), member("alice", "g", "1"), greply("g", "Reply-Message", "-=", "a")}, cleartext + " [Reply-Message=b]"},
	{"== deletes the others", rows{pass, reply("Reply-Message", "+=", "a"), reply("Reply-Message", "+=", "b"), member("alice", "g", "1"), greply("g", "Reply-Message", "==", "a")}, cleartext + " [Reply-Message=a]"},
	{"!* deletes all", rows{pass, reply("Reply-Message", "+=", "a"), reply("Reply-Message", "+=", "b"), member("alice", "g", "1"), greply("g", "Reply-Message", "!*", "")}, cleartext},
	{"<= caps", rows{pass, reply("Session-Timeout", "=", "90"), member("alice", "g", "1"), greply("g", "Session-Timeout", "<=", "60")}, cleartext + " [Session-Timeout=60]"},
	{"<= leaves", rows{pass, reply("Session-Timeout", "=", "30"), member("alice", "g", "1"), greply("g", "Session-Timeout", "<=", "60")}, cleartext + " [Session-Timeout=30]"},
	{">= raises", rows{pass, reply("Session-Timeout", "=", "30"), member("alice", "g", "1"), greply("g", "Session-Timeout", ">=", "60")}, cleartext + " [Session-Timeout=60]"},
	{"<= adds what is not there", rows{pass, reply("Session-Timeout", "<=", "60")}, cleartext + " [Session-Timeout=60]"},
	{"== in a reply sets nothing", rows{pass, reply("Session-Timeout", "==", "60")}, cleartext},
	{":= twice in one table keeps both", rows{pass, reply("Reply-Message", ":=", "a"), reply("Reply-Message", ":=", "b"), reply("Reply-Message", "=", "c")}, cleartext + " [Reply-Message=a Reply-Message=b Reply-Message=c]"},
	{":= twice overwrites two", rows{pass, reply("Reply-Message", "+=", "a"), reply("Reply-Message", "+=", "b"), member("alice", "g", "1"), greply("g", "Reply-Message", ":=", "x"), greply("g", "Reply-Message", ":=", "y"), greply("g", "Reply-Message", ":=", "z")}, cleartext + " [Reply-Message=x Reply-Message=y Reply-Message=z]"},
	{"by priority, the first alone", rows{pass, member("alice", "b", "2"), member("alice", "a", "1"), greply("a", "Reply-Message", "=", "a"), greply("b", "Reply-Message", "+=", "b")}, cleartext + " [Reply-Message=a]"},
	{"equal priority: by id", rows{pass, member("alice", "b", "1"), member("alice", "a", "1"), greply("a", "Reply-Message", "=", "a"), greply("b", "Reply-Message", "=", "b")}, cleartext + " [Reply-Message=b]"},
	{"Fall-Through to the next group", rows{pass, member("alice", "a", "1"), member("alice", "b", "2"), member("alice", "c", "3"), greply("a", "Reply-Message", "=", "a"), greply("a", "Fall-Through", "=", "Yes"), greply("b", "Reply-Message", "+=", "b"), greply("c", "Reply-Message", "+=", "c")}, cleartext + " [Reply-Message=a Reply-Message=b]"},
	{"group that does not match is skipped", rows{pass, member("alice", "a", "1"), member("alice", "b", "2"), gcheck("a", "NAS-Port", "==", "9"), greply("a", "Reply-Message", "=", "a"), greply("b", "Reply-Message", "=", "b")}, cleartext + " [Reply-Message=b]"},
	{"user who does not match still has groups", rows{pass, check("NAS-Port", "==", "9"), reply("Reply-Message", "=", "u"), member("alice", "g", "1"), greply("g", "Reply-Message", "=", "g")}, "none rejected [Reply-Message=g]"},
	{"no group matches, nothing else", rows{member("alice", "a", "1"), gcheck("a", "NAS-Port", "==", "9")}, "none rejected"},
	{"control of the user is overwritten by the group's", rows{pass, check("Simultaneous-Use", ":=", "3"), member("alice", "g", "1"), gcheck("g", "Simultaneous-Use", ":=", "2")}, cleartext + " sessions 0/2"},
	{"a member twice", rows{pass, member("alice", "g", "1"), member("alice", "g", "2"), greply("g", "Reply-Message", "+=", "g"), greply("g", "Fall-Through", "=", "1")}, cleartext + " [Reply-Message=g Reply-Message=g]"},
	{"SQL-Group", rows{pass, check("SQL-Group", "==", "vip"), member("alice", "vip", "1")}, cleartext},
	{"SQL-Group of others", rows{pass, check("SQL-Group", "==", "vip"), member("alice", "x", "1")}, "none rejected"},

	// Profiles.
	{"profile of the user", rows{pass, check("User-Profile", ":=", "gold"), member("gold", "g", "1"), greply("g", "Reply-Message", "=", "g")}, cleartext + " [Reply-Message=g]"},
	{"profile of a group", rows{pass, member("alice", "a", "1"), gcheck("a", "User-Profile", ":=", `"gold"`), member("gold", "g", "1"), greply("g", "Reply-Message", "=", "g")}, cleartext + " [Reply-Message=g]"},
	{"No before the profile", rows{pass, check("User-Profile", ":=", "gold"), reply("Fall-Through", ":=", "No"), member("gold", "g", "1"), greply("g", "Reply-Message", "=", "g")}, cleartext},
	{"the last group says No", rows{pass, check("User-Profile", ":=", "gold"), member("alice", "a", "1"), greply("a", "Fall-Through", "=", "No"), member("gold", "g", "1"), greply("g", "Reply-Message", "=", "g")}, cleartext},
	{"default profile", rows{pass, member("DEFAULT", "g", "1"), greply("g", "Reply-Message", "=", "default"), gcheck("g", "Simultaneous-Use", ":=", "1")}, cleartext + " [Reply-Message=default] sessions 0/1"},

	// Money, time and sessions.
	{"balance left", rows{pass, check("Radpool-Balance", ":=", "1"), greply("radpool-restricted", "Filter-Id", "=", "pay")}, cleartext},
	{"no balance", rows{pass, check("Radpool-Balance", ":=", "0"), reply("Filter-Id", "=", "full"), greply("radpool-restricted", "Filter-Id", "=", "pay")}, cleartext + " no-money [Filter-Id=full] restricted[Filter-Id=pay]"},
	{"no balance, no restricted profile", rows{pass, check("Radpool-Balance", ":=", "-5")}, cleartext + " no-money"},
	{"credit", rows{pass, check("Radpool-Balance", ":=", "-5"), check("Radpool-Credit", ":=", "6")}, cleartext},
	{"credit used up", rows{pass, check("Radpool-Balance", ":=", "-6"), check("Radpool-Credit", ":=", "6")}, cleartext + " no-money"},
	{"sum beyond 64 bits", rows{pass, check("Radpool-Balance", ":=", "9223372036854775807"), check("Radpool-Credit", ":=", "9223372036854775807")}, cleartext},
	{"debt beyond 64 bits", rows{pass, check("Radpool-Balance", ":=", "-9223372036854775808"), check("Radpool-Credit", ":=", "-1")}, cleartext + " no-money"},
	{"credit without balance", rows{pass, check("Radpool-Credit", ":=", "-6")}, cleartext},
	{"credit of the group", rows{pass, check("Radpool-Balance", ":=", "-5"), member("alice", "g", "1"), gcheck("g", "Radpool-Credit", ":=", "10")}, cleartext},
	{"balance that is no number", rows{pass, check("Radpool-Balance", ":=", "1.5")}, "error radcheck Radpool-Balance"},
	{"bad restricted profile", rows{pass, check("Radpool-Balance", ":=", "0"), greply("radpool-restricted", "No-Such", "=", "pay")}, "error radgroupreply No-Such"},
	{"blocked", rows{pass, check("Radpool-Blocked", ":=", "1"), check("Radpool-Balance", ":=", "0")}, cleartext + " blocked"},
	{"not blocked", rows{pass, check("Radpool-Blocked", ":=", "No")}, cleartext},
	{"expiration", rows{pass, check("Expiration", ":=", "10 Jul 2024")}, cleartext + " until 2024-07-10T00:00:00"},
	{"expiration in the past", rows{pass, check("Expiration", ":=", "Jul 10 2020 12:30:00")}, cleartext + " until 2020-07-10T12:30:00"},
	{"expiration of the wrong form", rows{pass, check("Expiration", ":=", "10.07.2020")}, "error radcheck Expiration"},
	{"expiration compared and greater", rows{pass, check("Expiration", ">", "10 Jul 2020")}, cleartext},
	{"expiration to come is not greater", rows{pass, check("Expiration", ">", "10 Jul 2024")}, "none expired"},
	{"expiration compared", rows{pass, check("Expiration", "==", "10 Jul 2020")}, "none expired"},
	{"login time, within", rows{pass, check("Login-Time", ":=", "Tu2200-2229,Sa")}, cleartext + " until 2023-11-14T22:30:00"},
	{"login time, outside", rows{pass, check("Login-Time", ":=", "Wk0900-1800")}, cleartext + " not-now"},
	{"login time, malformed", rows{pass, check("Login-Time", ":=", "Xx0900-1800")}, "error radcheck Login-Time"},
	{"login time does not lengthen", rows{pass, check("Login-Time", ":=", "Wk"), check("Expiration", ":=", "14 Nov 2023 22:20:00")}, cleartext + " until 2023-11-14T22:20:00"},
	{"current time", rows{pass, check("Current-Time", "==", "Wk0900-1800")}, "none not-now"},
	{"time of day", rows{pass, check("Time-Of-Day", ">=", "22:00:00"), check("Time-Of-Day", "<", "22:30:00")}, cleartext},
	{"another time of day", rows{pass, check("Time-Of-Day", "<", "22:00:00")}, "none not-now"},
	{"where the packet came from", rows{pass, check("Client-IP-Address", "==", "198.51.100.1"), check("Packet-Src-IPv6-Address", "!*", "")}, cleartext},
	{"where it did not", rows{pass, check("Packet-Src-IP-Address", "==", "198.51.100.2")}, "none rejected"},
	{"what another module would set", rows{pass, check("Stripped-User-Name", "==", "alice")}, "none rejected"},
	{"limit that is not enforced", rows{pass, check("Max-Daily-Session", ":=", "3600")}, "error radcheck Max-Daily-Session"},
	{"none at once", rows{pass, check("Simultaneous-Use", ":=", "0")}, cleartext + " too-many-sessions"},
}

// aliceRequest is what the evaluations are asked.
func aliceRequest(t testing.TB) *billing.AccessRequest {
	t.Helper()
	p := radius.New(radius.CodeAccessRequest, []byte("sharedsecret"))
	for _, err := range []error{
		rfc2865.UserName_SetString(p, "alice"), rfc2865.UserPassword_SetString(p, "secret"),
		rfc2865.CallingStationID_SetString(p, "aa:bb:cc:dd:ee:ff"), rfc2865.NASIdentifier_SetString(p, "bras1"),
		rfc2865.NASPort_Set(p, 5), rfc2865.NASPortType_Set(p, 15), rfc2865.NASIPAddress_Set(p, nas1.AsSlice()),
		rfc2865.Class_AddString(p, "one"), rfc2865.Class_AddString(p, "two"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	req := radpool.NewRequest(p, nil)
	req.RemoteAddr = netip.MustParseAddrPort("198.51.100.1:4242")
	return &billing.AccessRequest{Request: req, Time: at(0), UserName: "alice"}
}

func TestEvaluate(t *testing.T) {
	for _, c := range evaluations {
		g, err := sqlbilling.EvaluateRows(aliceRequest(t), c.rows, time.UTC, "DEFAULT", "radpool-restricted")
		if got := summary(g, err); got != c.want {
			t.Errorf("%s: %s\nwant %s (%v)", c.name, got, c.want, err)
		}
	}
}

// The statements, that for one user and that for many, find what the evaluation
// is to be given: the same Grants come out of the database.
func TestAuthorizeEvaluates(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{DefaultProfile: "DEFAULT", Names: sqlbilling.NamesExact})
		for _, c := range evaluations {
			for _, table := range []string{"radcheck", "radreply", "radgroupcheck", "radgroupreply", "radusergroup"} {
				f.exec("DELETE FROM " + table)
			}
			tx := f.raw.MustBegin()
			for i, r := range c.rows {
				var err error
				switch r[0] {
				case "radusergroup":
					_, err = tx.Exec(f.raw.Rebind("INSERT INTO radusergroup (id, username, groupname, priority) VALUES (?, ?, ?, ?)"), i+1, r[1], r[2], r[3])
				case "radcheck", "radreply":
					_, err = tx.Exec(f.raw.Rebind("INSERT INTO "+r[0]+" (id, username, attribute, op, value) VALUES (?, ?, ?, ?, ?)"), i+1, r[1], r[2], r[3], r[4])
				default:
					_, err = tx.Exec(f.raw.Rebind("INSERT INTO "+r[0]+" (id, groupname, attribute, op, value) VALUES (?, ?, ?, ?, ?)"), i+1, r[1], r[2], r[3], r[4])
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
			want, wantErr := sqlbilling.EvaluateRows(aliceRequest(t), c.rows, time.UTC, "DEFAULT", "radpool-restricted")
			got, err := f.Authorize(t.Context(), aliceRequest(t))
			grants, errs := make([]billing.Grant, 2), make([]error, 2)
			f.AuthorizeBatch(t.Context(), []*billing.AccessRequest{{UserName: "bob", Time: at(0)}, aliceRequest(t)}, grants, errs)
			for _, got := range []struct {
				grant billing.Grant
				err   error
			}{{got, err}, {grants[1], errs[1]}} {
				if !reflect.DeepEqual(got.grant, want) || fmt.Sprint(got.err) != fmt.Sprint(wantErr) {
					t.Errorf("%s: %s (%v)\nwant %s (%v)", c.name, summary(got.grant, got.err), got.err, summary(want, wantErr), wantErr)
				}
			}
		}
	})
}

// A request made by hand has no packet: its fields stand for it.
func TestFieldsStandForThePacket(t *testing.T) {
	req := &billing.AccessRequest{UserName: "alice", Time: at(0), NASAddr: nas1, CallingStationID: "aa", NASPort: 5, NASPortType: 15}
	g, err := sqlbilling.EvaluateRows(req, rows{pass, check("Calling-Station-Id", "==", "aa"), check("NAS-IP-Address", "==", "192.0.2.1"),
		check("NAS-Port-Type", "==", "Ethernet"), check("User-Name", "=~", "^al"), check("Class", "!*", "")}, time.UTC, "", "")
	if got := summary(g, err); got != cleartext {
		t.Error(got)
	}
}

// An error never shows the value, which may be a password.
func TestRowErrorHidesValue(t *testing.T) {
	for _, attr := range []string{"NT-Password", "Crypt-Password", "Session-Timeout", "PBKDF2-Password", "SSHA-Password", "Framed-IP-Address"} {
		_, err := sqlbilling.EvaluateRows(aliceRequest(t), rows{check(attr, ":=", "hunter2")}, time.UTC, "", "")
		if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "radcheck, id 1, attribute \""+attr+"\"") {
			t.Errorf("%s: %v", attr, err)
		}
	}
}

// Whatever stands in a row, it is evaluated or named in an error.
func FuzzEvaluate(f *testing.F) {
	for _, c := range evaluations {
		for _, r := range c.rows {
			f.Add(r[2], r[3], r[4])
		}
	}
	f.Add("Expiration", "=~", "x")
	req := aliceRequest(f)
	f.Fuzz(func(t *testing.T, attr, op, value string) {
		_, err := sqlbilling.EvaluateRows(req, rows{pass, check(attr, op, value), reply("Reply-Message", "=", "hi"), reply(attr, op, value),
			member("alice", "g", "1"), gcheck("g", attr, op, value), greply("g", attr, op, value)}, time.UTC, "", "")
		if re, ok := errors.AsType[*sqlbilling.RowError](err); err != nil && (!ok || re.ID != 2 && re.ID != 4 && re.ID < 6) {
			t.Fatal(err)
		}
	})
}

func TestHours(t *testing.T) {
	tuesday := time.Date(2023, 11, 14, 22, 13, 20, 0, time.UTC)
	for s, want := range map[string]string{
		"Al": "true 0001", "Any": "true 0001", "Wk": "true 2023-11-18 00:00", "Mo-Fr": "true 2023-11-18 00:00", "MoTu": "true 2023-11-15 00:00",
		"Tu2213-2213": "true 2023-11-14 22:14", "Tu2212-2212": "false 0001", "Wk2200-0100": "true 2023-11-15 01:01", "Sa-Tu": "true 2023-11-15 00:00",
		"We-Mo": "false 0001", "Su|Tu0000-2400": "true 2023-11-15 00:00", "tu 2200-2300, we": "true 2023-11-14 23:01",
		"Tu2200-2359,We0000-0100": "true 2023-11-15 01:01",
	} {
		in, until, err := sqlbilling.Hours(s, tuesday)
		if got := fmt.Sprint(in, " ", until.Format("2006-01-02 15:04")); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s (%v), want %s", s, got, err, want)
		}
	}
	for _, s := range []string{"", ",", "0900-1800", "Xx", "Wk09-18", "Wk0900", "Wk0960-1000", "Wk2401-2402", "-Mo", "Mo-", "Wk-Mo", "Mo-Wk", "T", "Wk0900-1800x"} {
		if in, _, err := sqlbilling.Hours(s, tuesday); err == nil {
			t.Errorf("%q is %v, want an error", s, in)
		}
	}
}

func FuzzHours(f *testing.F) {
	for _, s := range []string{"Al", "Wk0900-1800,Sa", "Mo-Fr|Su2200-0100", "any"} {
		f.Add(s, int64(0))
	}
	f.Fuzz(func(t *testing.T, s string, sec int64) {
		now := time.Unix(sec%(1<<35), 0).UTC()
		in, until, err := sqlbilling.Hours(s, now)
		if err != nil {
			return
		}
		if in && !until.IsZero() {
			if !until.After(now) || until.Sub(now) > 8*24*time.Hour {
				t.Fatalf("%q at %v until %v", s, now, until)
			}
			if still, _, _ := sqlbilling.Hours(s, until); still {
				t.Fatalf("%q at %v until %v, but it goes on", s, now, until)
			}
		}
	})
}
