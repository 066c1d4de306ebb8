package sqlbilling_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
)

// oldMySQLEngine is MariaDB as a server without JSON_TABLE is served.
func oldMySQLEngine() engine {
	registerOld()
	e := mysqlEngine
	create := e.Create
	e.Create = func(tb testing.TB) (dsn, driver, rawDSN string) {
		dsn, driver, rawDSN = create(tb)
		return strings.Replace(dsn, "mysql:", "mysql-old:", 1), driver, rawDSN
	}
	return e
}

// eachLeaser runs a test on every kind of database, and on every way to lease there.
func eachLeaser(t *testing.T, test func(t *testing.T, e engine)) {
	eachEngine(t, test)
	t.Run("MariaDB without JSON_TABLE", func(t *testing.T) {
		mysqlEngine.Need(t)
		test(t, oldMySQLEngine())
	})
}

// who is what tells lessees apart where names are compared without regard to case.
func who(l *billing.AddressLease) string {
	return strings.ToLower(l.Pool + " " + l.UserName + " " + l.Access.CallingStationID)
}

// Groups of many who ask at once, some of them twice, under a name in other letters, for
// several devices, or of several pools: each lessee has one address and each address one
// lessee, who has a lease keeps its address, and a pool is full when all of it is leased.
func TestLeasesOfOneGroup(t *testing.T) {
	eachLeaser(t, func(t *testing.T, e engine) { leaseInGroups(t, e, e.open(t, sqlbilling.Options{})) })
}

// FreeRADIUS's own radippool has no index for the rows that a user had.
func TestLeasesWithoutIndexOfUsers(t *testing.T) {
	eachLeaser(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		drop := "DROP INDEX radippool_poolname_username"
		if e.Name == mysqlEngine.Name {
			drop += " ON radippool"
		}
		f.exec(drop)
		leaseInGroups(t, e, f.again(sqlbilling.Options{}))
	})
}

func leaseInGroups(t *testing.T, e engine, f *fixture) {
	t.Helper()
	const addresses, rounds = 24, 25
	f.fillPool("main", addresses)
	f.exec("INSERT INTO radippool (pool_name, framedipaddress, expiry_time) SELECT 'other', REPLACE(" + addrAsText(e) + ", '10.9.', '10.8.')" + addrCast(e) +
		", expiry_time FROM radippool WHERE pool_name = 'main'")
	rnd := rand.New(rand.NewPCG(9, 1))
	ignoresCase := e.Name == mysqlEngine.Name
	held, holder := make(map[string]string), make(map[string]string)
	for range rounds {
		leases := make([]*billing.AddressLease, 1+rnd.IntN(2*addresses))
		for i := range leases {
			user := fmt.Sprintf("%s%d", []string{"user", "usör", "пользователь"}[rnd.IntN(3)], rnd.IntN(8))
			leases[i] = wish(user, []string{"", "a", "b"}[rnd.IntN(3)])
			leases[i].Pool = []string{"main", "other"}[rnd.IntN(2)]
			if ignoresCase && !strings.HasPrefix(user, "п") && rnd.IntN(3) == 0 {
				leases[i].UserName = strings.ToUpper(user)
			}
		}
		f.LeaseAddresses(t.Context(), leases)
		used := make(map[string]int)
		for _, l := range leases {
			addr := addrText(l)
			switch {
			case l.Err != nil:
				t.Fatal(l.Err)
			case held[who(l)] != "" && held[who(l)] != addr:
				t.Fatalf("%s has %s, and now %s", who(l), held[who(l)], addr)
			case addr == "none":
				used[l.Pool]++
				continue
			case holder[addr] != "" && holder[addr] != who(l):
				t.Fatalf("%s is of %s, and given to %s", addr, holder[addr], who(l))
			}
			held[who(l)], holder[addr] = addr, who(l)
		}
		for pool := range used {
			var free int
			f.get(&free, "SELECT COUNT(*) FROM radippool WHERE expiry_time < '2020-01-01 00:00:00' AND pool_name = '"+pool+"'")
			if free > 0 {
				t.Fatalf("%d had none of %s, and %d are free", used[pool], pool, free)
			}
		}
		// Some leases end.
		for lessee, addr := range held {
			if rnd.IntN(4) == 0 {
				f.exec("UPDATE radippool SET expiry_time = '2011-02-03 04:05:06' WHERE framedipaddress = ?", addr)
				delete(held, lessee)
				delete(holder, addr)
			}
		}
	}
}

// addrAsText and addrCast are for SQL that computes addresses.
func addrAsText(e engine) string {
	if e.Name == postgresEngine.Name {
		return "host(framedipaddress)"
	}
	return "framedipaddress"
}

func addrCast(e engine) string {
	if e.Name == postgresEngine.Name {
		return "::inet"
	}
	return ""
}

// Everyone whose lease has ended gets the address that they had, also where all of them
// ask at once and others, who had none, stand before them.
func TestLeasesOfOneGroupAreSticky(t *testing.T) {
	eachLeaser(t, func(t *testing.T, e engine) {
		const users = 30
		f := e.open(t, sqlbilling.Options{})
		f.fillPool("main", users+5)
		ask := func(from, to int) map[string]string {
			var leases []*billing.AddressLease
			for i := from; i < to; i++ {
				leases = append(leases, wish(fmt.Sprintf("user%d", i), fmt.Sprintf("device %d", i)))
			}
			f.LeaseAddresses(t.Context(), leases)
			addrs := make(map[string]string)
			for _, l := range leases {
				if l.Err != nil {
					t.Fatal(l.Err)
				}
				addrs[l.UserName] = addrText(l)
			}
			return addrs
		}
		before := ask(0, users)
		again := ask(0, users)
		f.exec("UPDATE radippool SET expiry_time = '2011-02-03 04:05:06' WHERE username <> ''")
		after := ask(0, users+5)
		for user, addr := range before {
			expect(t, user+" while the lease lasts", again[user], addr)
			expect(t, user+" after it", after[user], addr)
		}
		expect(t, "one more", ask(users+5, users+6)[fmt.Sprintf("user%d", users+5)], "none")
		if q := f.Stats().LeaseQueries; q != 4 {
			t.Errorf("%d transactions, want 4", q)
		}
	})
}
