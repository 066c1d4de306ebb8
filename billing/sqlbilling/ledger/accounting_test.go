package ledger_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/rating"
	"github.com/radpool/radpool/billing/sqlbilling/ledger"
)

// full is the tariff of fixture.priced.
func full(t testing.TB) *rating.Tariff {
	t.Helper()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return &rating.Tariff{
		Prices: rating.Prices{InputMB: 100_003, OutputMB: 250_007, Hour: 1_000_001}, Day: 5_000_000, MB: 1_000_000, Location: berlin,
		Intervals: []rating.Interval{{From: 1320, To: 360, Prices: rating.Prices{InputMB: 7, OutputMB: 11, Hour: 333_333}}},
	}
}

func priceOf(t testing.TB, stop *billing.AccountingRecord) int64 {
	t.Helper()
	return int64(full(t).Price(rating.Usage{
		First: epoch, Last: stop.Time.Unix(), Seconds: int64(stop.SessionTime / time.Second), Input: stop.InputOctets, Output: stop.OutputOctets,
	}))
}

// Every one of the 24 orders of Start, Interim, Interim and Stop, each twice and
// spread over two servers on one database, ends in the same ledger: the price of
// the final usage, and each day once.
func TestEveryOrderOnTwoServers(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		f := e.open(t)
		other := openAgain(t, f.dsn)
		const days = 2 * 5_000_000
		for n, order := range permutations(4) {
			user := fmt.Sprintf("user%d", n)
			if n == 0 {
				f.priced(user)
			} else {
				f.exec("INSERT INTO radpool_subscriber (username, tariff) VALUES (?, 'full')", user)
			}
			records := story(fmt.Sprint("session", n), user)
			var wg sync.WaitGroup
			for i, k := range append(order, order...) {
				wg.Go(func() {
					b := f.Backend
					if i%2 == 1 {
						b = other
					}
					if err := b.Account(t.Context(), records[k]); err != nil {
						t.Error(err)
					}
				})
				if n%2 == 0 { // else all at once
					wg.Wait()
				}
			}
			wg.Wait()
			want := -priceOf(t, records[3]) - days
			if got := f.number("SELECT SUM(amount) FROM radpool_ledger WHERE username = ? AND reference NOT LIKE 'payment:%'", user); got != want {
				t.Errorf("order %v: the entries add up to %d, want %d", order, got, want)
			}
			paid := f.number("SELECT COALESCE(SUM(amount), 0) FROM radpool_ledger WHERE username = ? AND reference LIKE 'payment:%'", user)
			if got := f.number("SELECT balance FROM radpool_balance WHERE username = ?", user); got != want+paid {
				t.Errorf("order %v: the balance is %d, want %d", order, got, want+paid)
			}
			if got, want := f.number("SELECT octets FROM radpool_usage WHERE username = ? AND month = 202606", user),
				int64(records[3].InputOctets+records[3].OutputOctets); got != want {
				t.Errorf("order %v: %d octets, want %d", order, got, want)
			}
		}
	})
}

func permutations(n int) (all [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for _, p := range permutations(n - 1) {
		for i := range n {
			q := append(append(append([]int{}, p[:i]...), n-1), p[i:]...)
			all = append(all, q)
		}
	}
	return all
}

// Many sessions of many subscribers, in batches of any size and order: each balance is
// the sum of its entries, and that is what the naive reference says.
func TestBalancesAreSums(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		seed := uint64(time.Now().UnixNano())
		r := rand.New(rand.NewPCG(seed, 1))
		f := e.open(t)
		f.priced("alice", "bob")
		var records []*billing.AccountingRecord
		want := map[string]int64{"alice": 100_000_000 - 2*5_000_000, "bob": 100_000_000 - 2*5_000_000}
		for n := range 20 {
			user := []string{"alice", "bob"}[n%2]
			s := story(fmt.Sprint("s", n), user)
			want[user] -= priceOf(t, s[3])
			records = append(append(records, s...), s...)
		}
		r.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		for len(records) > 0 {
			n := min(1+r.IntN(40), len(records))
			errs := make([]error, n)
			f.AccountBatch(t.Context(), records[:n], errs)
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			records = records[n:]
		}
		for user, want := range want {
			if got := f.number("SELECT balance FROM radpool_balance WHERE username = ?", user); got != want {
				t.Errorf("seed %d: the balance of %s is %d, want %d", seed, user, got, want)
			}
			if got := f.number("SELECT SUM(amount) FROM radpool_ledger WHERE username = ?", user); got != want {
				t.Errorf("seed %d: the entries of %s add up to %d, want %d", seed, user, got, want)
			}
		}
	})
}

// A session of somebody who is no subscriber yet, or whose tariff cannot be used, is
// stored, and charged in full by the first record after that was put right.
func TestChargedWhenPossible(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		f := e.open(t)
		f.priced()
		s := story("s", "carol")
		account := func(rec *billing.AccountingRecord, want int64) {
			t.Helper()
			if err := f.Account(t.Context(), rec); err != nil {
				t.Fatal(err)
			}
			if got := f.number("SELECT COALESCE(SUM(amount), 0) FROM radpool_ledger WHERE reference LIKE 'session:%'"); got != want {
				t.Errorf("the entries add up to %d, want %d", got, want)
			}
		}
		account(s[0], 0)
		f.exec("INSERT INTO radpool_subscriber (username, tariff) VALUES ('carol', 'full')")
		f.exec("UPDATE radpool_tariff SET zone = 'Nowhere/Land'")
		account(s[1], 0)
		f.exec("UPDATE radpool_tariff SET zone = 'Europe/Berlin'")
		account(s[2], -priceOf(t, s[2]))
		f.exec("UPDATE radpool_tariff SET zone = 'Nowhere/Land'")
		account(s[3], -priceOf(t, s[2]))
		f.exec("UPDATE radpool_tariff SET zone = 'Europe/Berlin'")
		account(s[1], -priceOf(t, s[3]))
		if got, want := f.number("SELECT SUM(octets) FROM radpool_usage"), int64(s[3].InputOctets+s[3].OutputOctets); got != want {
			t.Errorf("%d octets, want %d", got, want)
		}
	})
}

// What is committed is there when another process opens the files, and is not
// counted again when the NAS sends it again.
func TestReopenAfterAnAbruptEnd(t *testing.T) {
	f := engines[0].open(t)
	f.priced("alice")
	s := story("s", "alice")
	for _, rec := range s[:3] {
		if err := f.Account(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	copyFiles(t, f.dsn, copied) // nothing was closed
	g := openAgain(t, "sqlite:"+copied)
	for _, rec := range s {
		if err := g.Account(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := f.balance(copied), 100_000_000-priceOf(t, s[3])-2*5_000_000; got != want {
		t.Errorf("the balance is %d, want %d", got, want)
	}
}

// A balance that 64 bits do not hold is refused, and never becomes a fraction.
func TestBalanceHasBounds(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		f := e.open(t)
		f.priced("alice")
		f.exec("UPDATE radpool_balance SET balance = -4000000000000000000")
		err := f.Account(t.Context(), story("s", "alice")[3])
		if !errors.Is(err, billing.ErrRecord) {
			t.Errorf("got %v, want a refused record", err)
		}
		if n := f.number("SELECT COUNT(*) FROM radpool_session"); n != 0 {
			t.Errorf("%d sessions of a record that was refused", n)
		}
	})
}

func TestDeposit(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		f := e.open(t)
		f.priced("alice") // 100 units
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if err := f.Deposit(t.Context(), "alice", "invoice 1", 2_500_000, at(1)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got := f.number("SELECT balance FROM radpool_balance"); got != 102_500_000 {
			t.Errorf("the balance is %d", got)
		}
		if err := f.Deposit(t.Context(), "alice", "invoice 1", 2_500_001, at(1)); err == nil {
			t.Error("another amount under the same reference was taken")
		}
		if err := f.Deposit(t.Context(), "nobody", "x", 1, at(1)); !errors.Is(err, ledger.ErrUnknownSubscriber) {
			t.Errorf("nobody: %v", err)
		}
		if err := f.Deposit(t.Context(), "alice", "", 1, at(1)); err == nil {
			t.Error("an empty reference was taken")
		}
		if err := f.Deposit(t.Context(), "alice", "x", rating.MaxMoney+1, at(1)); err == nil {
			t.Error("too much was taken")
		}
	})
}

func TestClosed(t *testing.T) {
	b, err := ledger.Open(t.Context(), "sqlite::memory:", ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.Close(), b.Close()); err != nil {
		t.Error(err)
	}
	if err := b.Account(t.Context(), story("s", "x")[0]); !errors.Is(err, ledger.ErrClosed) {
		t.Errorf("Account: %v", err)
	}
	if _, err := b.Authorize(t.Context(), &billing.AccessRequest{UserName: "x"}); err == nil {
		t.Error("Authorize: no error")
	}
}
