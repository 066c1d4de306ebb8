package rating_test

import (
	"fmt"
	"time"

	"github.com/radpool/radpool/billing/rating"
)

// What who logs in at 22:00 gets: an hour costs half from 23:00 on, so the session ends then, or
// earlier with the money.
func ExampleTariff_Standing() {
	tariff := rating.Tariff{
		Prices:    rating.Prices{Hour: 1_000_000},
		Intervals: []rating.Interval{{From: 23 * 60, To: 7 * 60, Prices: rating.Prices{Hour: 500_000}}},
		Quota:     300e9,
	}
	if err := tariff.Validate(); err != nil {
		fmt.Println(err)
		return
	}
	evening := time.Date(2026, time.June, 5, 22, 0, 0, 0, time.UTC)
	for _, account := range []rating.Account{
		{Balance: 12_500_000},
		{Balance: 250_000},
		{Balance: -4_000_000, Credit: 5_000_000, Used: 400e9},
		{Balance: -5_000_001, Credit: 5_000_000},
	} {
		s := tariff.Standing(evening, account)
		fmt.Println(account.Balance, "out of money:", s.OutOfMoney, "over quota:", s.OverQuota, "for", s.Until.Sub(evening))
	}
	// Output:
	// 12.5 out of money: false over quota: false for 1h0m0s
	// 0.25 out of money: false over quota: false for 15m0s
	// -4 out of money: false over quota: true for 1h0m0s
	// -5.000001 out of money: true over quota: false for 1h0m0s
}
