// Package decimal writes numbers for people.
package decimal

import "strings"

// Grouped is a whole number in decimal, with a comma before each three digits:
// -1234567 is -1,234,567.
func Grouped(number string) string {
	sign := ""
	if strings.HasPrefix(number, "-") {
		sign, number = "-", number[1:]
	}
	for i := len(number) - 3; i > 0; i -= 3 {
		number = number[:i] + "," + number[i:]
	}
	return sign + number
}
