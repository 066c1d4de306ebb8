package sqlbilling_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
	"github.com/radpool/radpool/radpool"
)

// fillPool inserts n addresses, 10.9.0.1 and so on, that are free for a long time.
func (f *fixture) fillPool(pool string, n int) {
	f.t.Helper()
	for i := range n {
		f.exec("INSERT INTO radippool (pool_name, framedipaddress, expiry_time) VALUES (?, ?, '2001-02-03 04:05:06')", pool, fmt.Sprintf("10.9.%d.%d", i>>8, i&255+1))
	}
}

// expire ends the leases of a user.
func (f *fixture) expire(user string) {
	f.exec("UPDATE radippool SET expiry_time = '2011-02-03 04:05:06' WHERE username = ?", user)
}

// ask asks for an address of the pool main.
func (f *fixture) ask(user, device string) string {
	f.t.Helper()
	l := wish(user, device)
	f.LeaseAddresses(f.t.Context(), []*billing.AddressLease{l})
	if l.Err != nil {
		f.t.Fatal(l.Err)
	}
	return addrText(l)
}

func wish(user, device string) *billing.AddressLease {
	return &billing.AddressLease{Access: &billing.AccessRequest{UserName: user, CallingStationID: device, NASAddr: nas1}, UserName: user, Pool: "main"}
}

func addrText(l *billing.AddressLease) string {
	if !l.Addr.IsValid() {
		return "none"
	}
	return l.Addr.String()
}

func expect(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
}

// Who asks again gets the same address; a device more gets one more; and what is free
// goes to others, the oldest first.
func TestLeaseIsSticky(t *testing.T) {
	eachLeaser(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		expect(t, "no pool at all", f.ask("alice", "a1"), "none")
		f.fillPool("main", 3)
		f.exec("INSERT INTO radippool (pool_name, framedipaddress, expiry_time) VALUES ('other', '10.8.0.1', '2000-01-01 00:00:00')")
		first := f.ask("alice", "a1")
		expect(t, "alice again", f.ask("alice", "a1"), first)
		second := f.ask("alice", "a2")
		third := f.ask("bob", "b")
		if first == second || second == third || first == third || third == "none" {
			t.Fatal(first, second, third)
		}
		expect(t, "carol, in a full pool", f.ask("carol", "c"), "none")
		f.expire("alice")
		expect(t, "alice after a long time", f.ask("alice", "a2"), second)
		expect(t, "alice on a new device", f.ask("alice", "a3"), first)
		f.expire("bob")
		expect(t, "carol", f.ask("carol", "c"), third)
		expect(t, "bob, whose address is gone", f.ask("bob", "b"), "none")
		if s := f.Stats(); s.Leased != 7 || s.PoolFull != 3 || s.LeaseFailed != 0 || s.LeaseQueries != 10 {
			t.Errorf("%+v", s)
		}
	})
}

// A device without a Calling-Station-Id is a port of a NAS.
func TestLeaseByPort(t *testing.T) {
	eachLeaser(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		f.fillPool("main", 4)
		ask := func(user string, nas string, port uint32, id string) string {
			l := wish(user, "")
			l.Access.NASAddr, l.Access.NASPort, l.Access.NASPortID = netip.MustParseAddr(nas), port, id
			f.LeaseAddresses(t.Context(), []*billing.AddressLease{l})
			if l.Err != nil {
				t.Fatal(l.Err)
			}
			return addrText(l)
		}
		one := ask("alice", "192.0.2.1", 7, "")
		expect(t, "the same port", ask("alice", "192.0.2.1", 7, ""), one)
		list := []string{one, ask("alice", "192.0.2.1", 8, ""), ask("alice", "192.0.2.2", 7, ""), ask("bob", "192.0.2.1", 0, "ge-0/1")}
		seen := make(map[string]bool)
		for _, addr := range list {
			if addr == "none" || seen[addr] {
				t.Errorf("%v", list)
			}
			seen[addr] = true
		}
		var key string
		f.get(&key, "SELECT pool_key FROM radippool WHERE username = 'bob'")
		expect(t, "the key of bob", key, "ge-0/1")
	})
}

// Several servers on one database, many users who all ask at once, again and again,
// and more of them than addresses: each address has one holder, and each holder one
// address.
func TestLeaseIsNeverGivenTwice(t *testing.T) {
	eachLeaser(t, func(t *testing.T, e engine) {
		const addresses, users, rounds = 40, 60, 4
		one := e.open(t, sqlbilling.Options{})
		one.fillPool("main", addresses)
		servers := []*fixture{one, one.again(sqlbilling.Options{})}
		var mu sync.Mutex
		held := make(map[string]string) // by user
		var wg sync.WaitGroup
		for i := range users {
			for r := range rounds {
				user := fmt.Sprintf("user%d", i)
				wg.Go(func() {
					l := wish(user, "device of "+user)
					servers[(i+r)%2].LeaseAddresses(t.Context(), []*billing.AddressLease{l})
					mu.Lock()
					defer mu.Unlock()
					if l.Err != nil {
						t.Error(l.Err)
					}
					if !l.Addr.IsValid() {
						return
					}
					if was := held[user]; was != "" && was != l.Addr.String() {
						t.Errorf("%s has %s and %s", user, was, l.Addr)
					}
					held[user] = l.Addr.String()
				})
			}
		}
		wg.Wait()
		holder := make(map[string]string)
		for user, addr := range held {
			if holder[addr] != "" {
				t.Errorf("%s is of %s and of %s", addr, holder[addr], user)
			}
			holder[addr] = user
		}
		if len(holder) != addresses {
			t.Errorf("%d addresses were given, want %d", len(holder), addresses)
		}
	})
}

// The same beside accounting, which frees and renews the rows that others are at: a
// naive book says who has what.
func TestLeaseBesideAccounting(t *testing.T) {
	eachLeaser(t, func(t *testing.T, e engine) {
		const addresses, users, turns = 12, 16, 12
		one := e.open(t, sqlbilling.Options{})
		one.fillPool("main", addresses)
		servers := []*fixture{one, one.again(sqlbilling.Options{})}
		var mu sync.Mutex
		book := make(map[string]string) // by address
		var wg sync.WaitGroup
		for i := range users {
			rnd := rand.New(rand.NewPCG(7, uint64(i)))
			user := fmt.Sprintf("user%d", i)
			wg.Go(func() {
				for turn := range turns {
					l := wish(user, user)
					servers[rnd.IntN(2)].LeaseAddresses(t.Context(), []*billing.AddressLease{l})
					if l.Err != nil {
						t.Error(l.Err)
					}
					if !l.Addr.IsValid() {
						continue
					}
					mu.Lock()
					if by := book[l.Addr.String()]; by != "" {
						t.Errorf("%s is of %s, and given to %s", l.Addr, by, user)
					}
					book[l.Addr.String()] = user
					mu.Unlock()
					for k, status := range []billing.StatusType{billing.Start, billing.InterimUpdate, billing.Stop} {
						if status == billing.Stop {
							mu.Lock()
							delete(book, l.Addr.String())
							mu.Unlock()
						}
						rec := live(fmt.Sprintf("%s-%d", user, turn), user, status, l.Addr, int64(k)/2)
						if err := servers[rnd.IntN(2)].Account(t.Context(), rec); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		wg.Wait()
	})
}

// live is a record of now, or of some seconds later.
func live(session, user string, status billing.StatusType, addr netip.Addr, after int64) *billing.AccountingRecord {
	rec := record(session, status, 0)
	rec.Time = time.Now().Add(time.Duration(after) * time.Second)
	rec.UserName, rec.CallingStationID, rec.FramedAddr = user, user, addr
	return rec
}

// A lease that the database refuses is no answer, and nobody's Access-Accept.
func TestLeaseRefused(t *testing.T) {
	eachLeaser(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		f.fillPool("main", 1)
		f.rows(pass, check("Pool-Name", ":=", "main"))
		for _, q := range map[string][]string{
			"SQLite":  {"CREATE TRIGGER refuse BEFORE UPDATE ON radippool BEGIN SELECT RAISE(ABORT, 'no'); END"},
			"MariaDB": {"CREATE TRIGGER refuse BEFORE UPDATE ON radippool FOR EACH ROW SIGNAL SQLSTATE '45000'"},
			"PostgreSQL": {"CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$",
				"CREATE TRIGGER refuse BEFORE UPDATE ON radippool FOR EACH ROW EXECUTE FUNCTION refuse()"},
		}[e.Name] {
			f.exec(q)
		}
		resp := f.process("alice", billing.PoolFullAccept)
		if resp.Code != 0 {
			t.Errorf("%v", resp.Code)
		}
		if s := f.Stats(); s.LeaseFailed != 1 {
			t.Errorf("%+v", s)
		}
	})
}

// process answers an Access-Request of a user with the password secret.
func (f *fixture) process(user string, full billing.PoolFullPolicy) *radpool.Response {
	f.t.Helper()
	packet := radius.New(radius.CodeAccessRequest, []byte("xyzzy5461"))
	packet.Add(rfc2865.UserName_Type, radius.Attribute(user))
	password, err := radius.NewUserPassword([]byte("secret"), packet.Secret, packet.Authenticator[:])
	if err != nil {
		f.t.Fatal(err)
	}
	packet.Add(rfc2865.UserPassword_Type, password)
	packet.Add(rfc2865.NASPort_Type, radius.NewInteger(0))
	packet.Add(rfc2865.CalledStationID_Type, radius.Attribute("pppoe"))
	req := radpool.NewRequest(packet, nil)
	req.RemoteAddr = netip.AddrPortFrom(nas1, 1024)
	resp := radpool.NewResponse(req)
	q := &billing.Processor{Handler: f.Backend, PoolFull: full}
	q.Handle(f.t.Context(), req, resp)
	return resp
}

// From the row with Pool-Name to the attribute of the reply.
func TestPoolName(t *testing.T) {
	eachLeaser(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		f.fillPool("main", 1)
		f.rows(pass, check("Pool-Name", ":=", "main"), member("alice", "g", "1"))
		f.rows([5]string{"radcheck", "bob", "Cleartext-Password", ":=", "secret"}, [5]string{"radcheck", "bob", "Pool-Name", ":=", "main"},
			[5]string{"radcheck", "carol", "Cleartext-Password", ":=", "secret"}, [5]string{"radcheck", "carol", "Pool-Name", ":=", "main"},
			[5]string{"radreply", "carol", "Framed-IP-Address", ":=", "172.16.0.9"})
		for _, c := range []struct {
			user, want string
			full       billing.PoolFullPolicy
		}{
			{"alice", "Access-Accept [Framed-IP-Address=10.9.0.1]", 0},
			{"bob", "Access-Accept []", billing.PoolFullAccept},
			{"bob", "Access-Reject [Reply-Message=No address available]", billing.PoolFullReject},
			{"carol", "Access-Accept [Framed-IP-Address=172.16.0.9]", billing.PoolFullReject},
		} {
			resp := f.process(c.user, c.full)
			expect(t, c.user, fmt.Sprint(resp.Code, " ", show(resp.Attributes)), c.want)
		}
		var row string
		f.get(&row, "SELECT CONCAT(username, ' ', nasipaddress, ' ', pool_key, ' ', calledstationid) FROM radippool")
		expect(t, "radippool", row, "alice 192.0.2.1 0 pppoe")
		trace, err := f.Explain(t.Context(), "bob")
		if err != nil || trace.Pool != "main" || !trace.Accepted {
			t.Errorf("%+v, %v", trace, err)
		}
	})
}

// What stands in framedipaddress is not always an address.
func TestLeaseOfNonsense(t *testing.T) {
	f := open(t, sqlbilling.Options{})
	f.exec("INSERT INTO radippool (pool_name, framedipaddress, expiry_time) VALUES ('main', 'tbd', '2001-02-03 04:05:06')")
	l := wish("alice", "a")
	f.LeaseAddresses(t.Context(), []*billing.AddressLease{l})
	if l.Addr.IsValid() || !errors.Is(l.Err, billing.ErrSubscriber) {
		t.Error(l.Addr, l.Err)
	}
}
