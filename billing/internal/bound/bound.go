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

// IfSet is Field for a field whose zero value is none of its values, and stays.
func IfSet[T cmp.Ordered](name string, v *T, least, most T) error {
	var zero T
	if *v == zero {
		return nil
	}
	return Field(name, v, zero, least, most)
}
