package dict_test

import (
	"fmt"

	"github.com/radpool/radpool/internal/dict"
)

func Example() {
	attr, err := dict.Lookup("Service-Type")
	if err != nil {
		fmt.Println(err)
		return
	}
	value, err := attr.Parse("Framed-User", nil)
	fmt.Printf("%d %x %v\n", attr.Code, value, err)
	fmt.Println(attr.Format(value))

	_, err = attr.Parse("Fram", nil)
	fmt.Println(err)
	// Output:
	// 6 00000002 <nil>
	// Framed-User
	// attribute Service-Type (integer): neither the name of a value nor a number of 32 bits
}
