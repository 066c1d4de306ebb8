package sqlbilling_test

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
)

// A radippool with other columns is used as it is: here the least that there may be,
// short texts, and, on servers, seconds instead of a time.
func TestLeaseOnOtherLayouts(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		first := e.open(t, sqlbilling.Options{})
		first.exec("DROP TABLE radippool")
		expiry := "BIGINT NOT NULL DEFAULT 0"
		if e.Name == "SQLite" {
			expiry = "DATETIME NOT NULL DEFAULT '2001-01-01 00:00:00'"
		}
		first.exec("CREATE TABLE radippool (id INTEGER PRIMARY KEY, pool_name VARCHAR(10), framedipaddress VARCHAR(15), expiry_time " + expiry + ", username VARCHAR(20), callingstationid VARCHAR(17))")
		for i, addr := range []string{"10.9.0.1", "10.9.0.2"} {
			first.exec("INSERT INTO radippool (id, pool_name, framedipaddress) VALUES (?, 'main', ?)", i+1, addr)
		}
		core, logs := observer.New(zap.WarnLevel)
		f := first.again(sqlbilling.Options{Logger: zap.New(core)})
		long := strings.Repeat("long name ", 7)
		one, two := f.ask(long+"1", "02:00:00:00:00:01"), f.ask(long+"2", "02:00:00:00:00:01")
		if one == two || one == "none" || two == "none" {
			t.Error("two users whose names begin alike:", one, two)
		}
		expect(t, "the first again", f.ask(long+"1", "02:00:00:00:00:01"), one)
		var indexes []string
		for _, line := range logs.FilterMessage("radippool lacks an index").All() {
			indexes = append(indexes, line.ContextMap()["index"].(string))
		}
		expect(t, "indexes", strings.Join(indexes, ", "), "(pool_name, expiry_time), (pool_name, username), (framedipaddress)")
		stop := live("s", long+"1", billing.Stop, leased, 1)
		stop.CallingStationID = "02:00:00:00:00:01"
		if one != leased.String() {
			stop.UserName = long + "2"
		}
		f.account(stop)
		expect(t, "a third user, after the Stop of the first", f.ask("carol", "c"), leased.String())
	})
}

// With a table of another kind a lease is an error, and no full pool, and all else
// works.
func TestNoUsablePool(t *testing.T) {
	f := open(t, sqlbilling.Options{})
	f.exec("DROP TABLE radippool")
	f.exec("CREATE TABLE radippool (id INTEGER PRIMARY KEY, address TEXT, username TEXT, expiry_time DATETIME)")
	core, logs := observer.New(zap.WarnLevel)
	again := f.again(sqlbilling.Options{Logger: zap.New(core)})
	l := wish("alice", "a")
	again.LeaseAddresses(t.Context(), []*billing.AddressLease{l})
	if l.Err == nil || !strings.Contains(l.Err.Error(), "lacks pool_name, framedipaddress") || l.Addr.IsValid() {
		t.Errorf("%v, %v", l.Addr, l.Err)
	}
	again.account(live("s", "alice", billing.Start, leased, 0))
	again.account(live("", "alice", billing.AccountingOn, leased, 0))
	if logs.FilterField(zap.String("missing", "radippool.pool_name")).Len() != 1 {
		t.Errorf("%v", logs.All())
	}
}

// A column that leases need may go and come back: in between nobody who wants an address
// is let in, and then everyone has theirs.
func TestPoolLosesColumn(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		f.fillPool("main", 2)
		f.rows(pass, check("Pool-Name", ":=", "main"))
		first := f.ask("alice", "a")
		f.exec("ALTER TABLE radippool RENAME COLUMN framedipaddress TO addr")
		for range 2 {
			if resp := f.process("alice", billing.PoolFullAccept); resp.Code != 0 {
				t.Errorf("%v without radippool.framedipaddress", resp.Code)
			}
		}
		f.account(live("s", "alice", billing.Start, leased, 0))
		if s := f.Stats(); s.PoolFull != 0 || s.LeaseFailed != 2 {
			t.Errorf("%+v", s)
		}
		f.exec("ALTER TABLE radippool RENAME COLUMN addr TO framedipaddress")
		until(t, "the column is back", func() bool {
			l := wish("alice", "a")
			f.LeaseAddresses(t.Context(), []*billing.AddressLease{l})
			return l.Err == nil && addrText(l) == first
		})
	})
}

// Check asks for the indexes of pools once there is an address.
func TestCheckPools(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		f.fillPool("main", 1)
		f = f.again(sqlbilling.Options{})
		expect(t, "with all indexes", strings.Join(f.findings(), "\n"), "")
		drop := "DROP INDEX radippool_poolname_username"
		if e.Name == "MariaDB" {
			drop += " ON radippool"
		}
		f.exec(drop)
		want := "slow: radippool: lacks an index: the address that a user had is found by it: " +
			"CREATE INDEX radippool_pool_name_username ON radippool (pool_name, username)"
		expect(t, "without one", strings.Join(f.findings(), "\n"), want)
		f.exec("DELETE FROM radippool")
		expect(t, "without an address", strings.Join(f.again(sqlbilling.Options{}).findings(), "\n"), "")
	})
}

func TestLeaseTimeHasBounds(t *testing.T) {
	for _, wrong := range []time.Duration{-time.Second, 9 * time.Second, 10500 * time.Millisecond, 366*24*time.Hour + time.Second} {
		if _, err := sqlbilling.Open(t.Context(), "sqlite::memory:", sqlbilling.Options{LeaseTime: wrong}); err == nil || !strings.Contains(err.Error(), "LeaseTime") {
			t.Errorf("%v: %v", wrong, err)
		}
	}
}
