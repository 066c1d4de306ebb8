package mysql_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
	_ "github.com/radpool/radpool/billing/sqlbilling/mysql"
)

// The package is imported for its effect. Nobody listens at this port, which is an error that
// billing.OpenLater waits for the end of.
func Example() {
	backend, err := sqlbilling.Open(context.Background(), "mysql:radius:PASSWORD@tcp(127.0.0.1:1)/radius", sqlbilling.Options{})
	if err != nil {
		fmt.Println("away:", errors.Is(err, billing.ErrAway))
		return
	}
	defer func() { _ = backend.Close() }()
	fmt.Println("open")
	// Output: away: true
}
