// Package bound is how options get their defaults and say what is out of its bounds.
package bound

import (
	"cmp"
	"fmt"
)

// Field gives a field its default where it is zero, and says what is wrong with its
// value. The error begins with the name.
func Field[T cmp.Ordered](name string, v *T, otherwise, least, most T) error {
	var zero T
	if *v == zero {
		*v = otherwise
	}
	if *v < least || *v > most {
		return fmt.Errorf("%s is %v, must be %v to %v", name, *v, least, most)
	}
	return nil
}
