package rating_test

import (
	"fmt"

	"github.com/radpool/radpool/billing/rating"
)

// A session is charged by what is owed now less what was charged before: a record
// that comes twice, or late, costs nothing more.
func Example() {
	tariff := rating.Tariff{Prices: rating.Prices{OutputMB: 500_000, Hour: 1_000_000}, MB: 1_000_000}
	interim := rating.Usage{First: 1000, Last: 2800, Seconds: 1800, Output: 10_000_000}
	stop := rating.Usage{First: 1000, Last: 4600, Seconds: 3600, Output: 25_000_000}

	var seen rating.Usage
	var charged rating.Money
	for _, record := range []rating.Usage{interim, stop, interim, stop} {
		seen = seen.Merge(record)
		entry := tariff.Price(seen) - charged
		charged += entry
		fmt.Println(entry, charged)
	}
	// Output:
	// 5.5 5.5
	// 8 13.5
	// 0 13.5
	// 0 13.5
}
