package sqlite_test

import (
	"context"
	"fmt"

	"github.com/radpool/radpool/billing/sqlbilling"
	_ "github.com/radpool/radpool/billing/sqlbilling/sqlite" // for "sqlite:"
)

func Example() {
	backend, err := sqlbilling.Open(context.Background(), "sqlite::memory:", sqlbilling.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	added, err := backend.EnsureDemo(context.Background(), 3)
	fmt.Println(added, err, backend.Close())
	// Output: 3 <nil> <nil>
}
