package differential_test

import (
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
)

// poolSchema is the table of FreeRADIUS's sqlippool.
const poolSchema = modsConfig + "/sql/ippool/mysql/schema.sql"

// Both servers lease from one radippool, each what the other leaves: who has an
// address at one of them has it at the other, and what a Stop frees at one of them
// the other gives away.
func TestPoolAgainstFreeRADIUS(t *testing.T) {
	path := needFreeRADIUS(t)
	dsn, db := createDatabase(t)
	schema, err := os.ReadFile(poolSchema)
	if err != nil {
		t.Fatal(err)
	}
	insert(t, db, string(schema))
	for _, addr := range []string{"10.9.0.1", "10.9.0.2", "10.9.0.3"} {
		insert(t, db, "INSERT INTO radippool (pool_name, framedipaddress, expiry_time) VALUES ('main', ?, '2001-02-03 04:05:06')", addr)
	}
	ports := map[string]string{"alice": "1", "bob": "2", "carol": "3", "dave": "4"}
	for user := range ports {
		insert(t, db, "INSERT INTO radcheck (username, attribute, op, value) VALUES (?, 'Cleartext-Password', ':=', 'pw'), (?, 'Pool-Name', ':=', 'main')", user, user)
	}
	theirs, ours := peer{startFreeRADIUS(t, path, dsn)}, peer{startOurs(t, dsn)}
	ask := func(p peer, user string) string {
		t.Helper()
		answer := p.ask(t, request(t, user, "pap pw; NAS-IP-Address = 127.0.0.1; NAS-Port = "+ports[user]+"; Calling-Station-Id = of-"+user), false)
		return strings.Join(answer, ", ")
	}
	held := make(map[string]string)
	for _, c := range []struct {
		user          string
		first, second peer
	}{{"alice", ours, theirs}, {"bob", theirs, ours}, {"carol", ours, theirs}, {"dave", theirs, ours}} {
		held[c.user] = ask(c.first, c.user)
		for range 2 {
			if again := ask(c.second, c.user); again != held[c.user] {
				t.Errorf("%s has %q, and at the other server %q", c.user, held[c.user], again)
			}
		}
	}
	t.Log(held)
	if full := "Accept"; held["dave"] != full {
		t.Errorf("in a full pool %q, want %q", held["dave"], full)
	}
	seen := make(map[string]bool)
	for user, addr := range held {
		if seen[addr] || user != "dave" && !strings.HasPrefix(addr, "Accept, Framed-IP-Address = 0a0900") {
			t.Errorf("%v", held)
		}
		seen[addr] = true
	}

	// What bob had from FreeRADIUS is freed here, and FreeRADIUS gives it away.
	backend, err := sqlbilling.Open(t.Context(), "mysql:"+dsn, sqlbilling.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = backend.Close() }()
	_, addr, _ := strings.Cut(strings.TrimSuffix(held["bob"], ")"), "(")
	start := time.Now()
	for _, status := range []billing.StatusType{billing.Start, billing.Stop} {
		if err := backend.Account(t.Context(), &billing.AccountingRecord{
			Status: status, SessionID: "s", UniqueID: strings.Repeat("a", 32), UserName: "bob", Time: start,
			NASAddr: netip.MustParseAddr("127.0.0.1"), CallingStationID: "of-bob", FramedAddr: netip.MustParseAddr(addr),
		}); err != nil {
			t.Fatal(err)
		}
	}
	if got := ask(theirs, "dave"); got != held["bob"] {
		t.Errorf("dave gets %q, want what bob had, %q", got, held["bob"])
	}
	if got := ask(ours, "dave"); got != held["bob"] {
		t.Errorf("dave has %q, want %q", got, held["bob"])
	}
}
