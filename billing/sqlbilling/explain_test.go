package sqlbilling_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/radpool/radpool/billing/sqlbilling"
)

// traced is a Trace as text.
func traced(t *sqlbilling.Trace) string {
	var b strings.Builder
	for _, s := range t.Steps {
		fmt.Fprintln(&b, s)
	}
	if t.Row != nil {
		fmt.Fprintln(&b, t.Row)
	}
	fmt.Fprintf(&b, "accepted %t restricted %t reason %v", t.Accepted, t.Restricted, t.Reason)
	fmt.Fprintf(&b, " password %v/%t", t.Password, t.NoPassword)
	if t.Limit > 0 {
		fmt.Fprintf(&b, " sessions %d/%d", t.Sessions, t.Limit)
	}
	return fmt.Sprintf("%s %q", b.String(), t.Reply)
}

const passStep = `radcheck, id 1: Cleartext-Password := ***: is set` + "\n"

var explanations = []struct {
	name    string
	rows    rows
	request []string
	want    string
}{
	{"nobody", nil, nil,
		"radcheck has no row of this user, so that radreply is not looked at\n" +
			`accepted false restricted false reason unknown-user password none/false ["Reply-Message = Invalid user name or password"]`},
	{"a password", rows{pass, reply("Session-Timeout", ":=", "60")}, nil,
		passStep + `radreply, id 1: Session-Timeout := "60": is set` + "\n" +
			`accepted true restricted false reason none password ` + cleartext + `/false ["Session-Timeout = 60"]`},
	{"no password", rows{check("Simultaneous-Use", ":=", "2")}, nil,
		`radcheck, id 1: Simultaneous-Use := "2": is set` + "\n" +
			`accepted false restricted false reason no-password password none/false sessions 0/2 ["Reply-Message = Password required"]`},
	{"the check item that failed", rows{pass, check("NAS-IP-Address", "==", "192.0.2.1"), check("NAS-Port", "==", "7"), check("Login-Time", ":=", "Al")},
		[]string{"NAS-IP-Address=192.0.2.1", "NAS-Port = 8"},
		`radcheck, id 2: NAS-IP-Address == "192.0.2.1": matches` + "\n" + `radcheck, id 3: NAS-Port == "7": does not match` + "\n" +
			`radcheck, id 4: Login-Time := "Al": is not looked at any more` + "\n" + "radreply is not looked at: radcheck does not match\n" +
			`accepted false restricted false reason rejected password none/false ["Reply-Message = Rejected"]`},
	{"a group's operators", rows{
		pass, reply("Session-Timeout", ":=", "60"), reply("Idle-Timeout", ":=", "5"),
		member("alice", "gold", "1"), member("alice", "silver", "2"),
		gcheck("gold", "NAS-Port-Type", "==", "Ethernet"),
		greply("gold", "Session-Timeout", "=", "90"), greply("gold", "Idle-Timeout", ":=", "9"),
		greply("silver", "Reply-Message", "=", "never"),
	}, []string{"NAS-Port-Type=Ethernet"},
		passStep + `radreply, id 1: Session-Timeout := "60": is set` + "\n" + `radreply, id 2: Idle-Timeout := "5": is set` + "\n" +
			`radgroupcheck, id 1, group "gold": NAS-Port-Type == "Ethernet": matches` + "\n" +
			`radgroupreply, id 1, group "gold": Session-Timeout = "90": has no effect beside radreply, id 1` + "\n" +
			`radgroupreply, id 2, group "gold": Idle-Timeout := "9": is set in place of radreply, id 2` + "\n" +
			`radusergroup, group "gold" goes no further: this group says no Fall-Through = Yes` + "\n" +
			`accepted true restricted false reason none password ` + cleartext + `/false ["Session-Timeout = 60" "Idle-Timeout = 9"]`},
	{"a row that cannot be used", rows{pass, check("Cleartxt-Password", ":=", "hunter2")}, nil,
		`sqlbilling: radcheck, id 2, attribute "Cleartxt-Password": unknown attribute` + "\n" +
			`accepted false restricted false reason unavailable password none/false ["Reply-Message = Invalid user name or password"]`},
	{"Expiration", rows{pass, check("Expiration", ":=", "10 Jul 2020")}, nil,
		passStep + `radcheck, id 2: Expiration := "10 Jul 2020": is set` + "\n" +
			`accepted false restricted false reason expired password ` + cleartext + `/false ["Reply-Message = Account expired"]`},
	{"a password within a text", rows{pass, reply("Cisco-AVPair", "+=", "psk=hunter2"), reply("Cisco-AVPair", "+=", "shell:priv-lvl=15")}, nil,
		passStep + `radreply, id 1: Cisco-AVPair += "psk=***": is set` + "\n" + `radreply, id 2: Cisco-AVPair += "shell:priv-lvl=15": is set` + "\n" +
			`accepted true restricted false reason none password ` + cleartext + `/false ["Cisco-AVPair = psk=***" "Cisco-AVPair = shell:priv-lvl=15"]`},
	{"no money", rows{pass, check("Radpool-Balance", ":=", "0"), greply("radpool-restricted", "Filter-Id", "=", "pay")}, nil,
		passStep + `radcheck, id 2: Radpool-Balance := "0": is set` + "\n" +
			`radgroupreply, id 1, group "the restricted profile": Filter-Id = "pay": is set` + "\n" +
			`accepted true restricted true reason no-money password ` + cleartext + `/false ["Filter-Id = pay"]`},
	{"two of one attribute in a group", rows{
		pass, reply("Idle-Timeout", ":=", "5"), member("alice", "gold", "1"), greply("gold", "Idle-Timeout", ":=", "6"), greply("gold", "Idle-Timeout", ":=", "7"),
	}, nil,
		passStep + `radreply, id 1: Idle-Timeout := "5": is set` + "\n" +
			`radgroupreply, id 1, group "gold": Idle-Timeout := "6": is set in place of radreply, id 1` + "\n" +
			`radgroupreply, id 2, group "gold": Idle-Timeout := "7": is set` + "\n" +
			`accepted true restricted false reason none password ` + cleartext + `/false ["Idle-Timeout = 6" "Idle-Timeout = 7"]`},
	{"a profile, and no money", rows{
		pass, check("User-Profile", ":=", "base"), member("base", "all", "1"), greply("all", "Idle-Timeout", "=", "6"),
		check("Radpool-Balance", ":=", "0"), greply("radpool-restricted", "Filter-Id", "=", "pay"),
	}, nil,
		passStep + `radcheck, id 2: User-Profile := "base": is set` + "\n" + `radcheck, id 3: Radpool-Balance := "0": is set` + "\n" +
			`radgroupreply, id 1, group "all", profile "base": Idle-Timeout = "6": is set` + "\n" +
			`radgroupreply, id 2, group "the restricted profile": Filter-Id = "pay": is set` + "\n" +
			`accepted true restricted true reason no-money password ` + cleartext + `/false ["Filter-Id = pay"]`},
	{"Fall-Through = No", rows{pass, reply("Fall-Through", "=", "No"), member("alice", "gold", "1"), greply("gold", "Idle-Timeout", "=", "1")}, nil,
		passStep + `radreply, id 1: Fall-Through = "No": is set` + "\n" + "radusergroup is not looked at: Fall-Through = No\n" +
			`accepted true restricted false reason none password ` + cleartext + `/false []`},
	{"vendors and tags", rows{check("Auth-Type", ":=", "Accept"), reply("Mikrotik-Rate-Limit", "=", "1M/1M"), reply("Tunnel-Type:1", "=", "VLAN"), reply("Tunnel-Private-Group-Id:1", "=", "123")}, nil,
		`radcheck, id 1: Auth-Type := "Accept": is set` + "\n" + `radreply, id 1: Mikrotik-Rate-Limit = "1M/1M": is set` + "\n" +
			`radreply, id 2: Tunnel-Type:1 = "VLAN": is set` + "\n" + `radreply, id 3: Tunnel-Private-Group-Id:1 = "123": is set` + "\n" +
			`accepted true restricted false reason none password none/true ["Mikrotik-Rate-Limit = 1M/1M" "Tunnel-Type:1 = VLAN" "Tunnel-Private-Group-Id:1 = 123"]`},
}

func TestExplain(t *testing.T) {
	for _, c := range explanations {
		t.Run(c.name, func(t *testing.T) {
			f := open(t, sqlbilling.Options{})
			f.rows(c.rows...)
			trace, err := f.Explain(t.Context(), "alice", c.request...)
			if err != nil {
				t.Fatal(err)
			}
			if got := traced(trace); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// It is the same on every kind of database, and what cannot be sent is named.
func TestExplainEngines(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		f.rows(pass, check("NAS-Port", "==", "7"), reply("Session-Timeout", ":=", "60"))
		trace, err := f.Explain(t.Context(), "alice", "NAS-Port=7", "User-Password=hunter2")
		want := "radcheck, id 2: NAS-Port == \"7\": matches\n" + passStep + `radreply, id 1: Session-Timeout := "60": is set` + "\n" +
			`accepted true restricted false reason none password ` + cleartext + `/false ["Session-Timeout = 60"]`
		if err != nil || traced(trace) != want {
			t.Errorf("%v\ngot\n%s\nwant\n%s", err, traced(trace), want)
		}
		if trace, err = f.Explain(t.Context(), ""); err != nil || trace.Accepted || trace.Row != nil {
			t.Errorf("without a name: %+v, %v", trace, err)
		}
		for item, want := range map[string]string{
			"hunter2": "is not Attribute=Value", "Nonsense=1": "no attribute of a request", "Pool-Name=x": "no attribute of a request",
			"NAS-Port=x": "NAS-Port", "NAS-Port=`x`": "back-quotes",
		} {
			if _, err := f.Explain(t.Context(), "alice", item); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", item, err)
			}
		}
	})
}
