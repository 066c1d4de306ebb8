package decimal_test

import (
	"fmt"
	"testing"

	"github.com/radpool/radpool/internal/decimal"
)

func TestGrouped(t *testing.T) {
	for number, want := range map[string]string{
		"": "", "0": "0", "999": "999", "1000": "1,000", "12345": "12,345", "999999": "999,999", "1000000": "1,000,000",
		"-1": "-1", "-999": "-999", "-1000": "-1,000", "-123456": "-123,456", "18446744073709551615": "18,446,744,073,709,551,615",
	} {
		if got := decimal.Grouped(number); got != want {
			t.Errorf("%q is %q, want %q", number, got, want)
		}
	}
}

func ExampleGrouped() {
	fmt.Println(decimal.Grouped("-1234567"))
	// Output: -1,234,567
}
