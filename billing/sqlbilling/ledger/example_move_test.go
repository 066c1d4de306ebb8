package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/radpool/radpool/billing/sqlbilling"
	"github.com/radpool/radpool/billing/sqlbilling/ledger"
)

// From FreeRADIUS's tables to radpool's own, in one database: what billingd migrate does.
func ExampleBackend_FromStandard() {
	dir, err := os.MkdirTemp("", "radpool")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()
	dsn := "sqlite:" + filepath.Join(dir, "radius.db")
	standard, err := sqlbilling.Open(ctx, dsn, sqlbilling.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = standard.EnsureDemo(ctx, 100)
	if err = errors.Join(err, standard.Close()); err != nil {
		fmt.Println(err)
		return
	}

	own, err := ledger.Open(ctx, dsn, ledger.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = own.Close() }()
	report, err := own.FromStandard(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Subscribers, "subscribers,", report.NASes, "NASes,", len(report.Left), "rows left")
	_, err = own.FromStandard(ctx)
	fmt.Println(errors.Is(err, ledger.ErrNotEmpty))
	// Output:
	// 100 subscribers, 0 NASes, 0 rows left
	// true
}
