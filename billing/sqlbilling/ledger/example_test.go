package ledger_test

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling/ledger"
	_ "github.com/radpool/radpool/billing/sqlbilling/sqlite" // for "sqlite:"
)

// A subscriber with money, a session that costs, and the same record again.
func Example() {
	ctx := context.Background()
	b, err := ledger.Open(ctx, "sqlite::memory:", ledger.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = b.Close() }()
	if _, err := b.EnsureDemo(ctx, 1); err != nil { // user0, on a tariff that costs nothing
		fmt.Println(err)
		return
	}
	now := time.Now()
	if err := b.Deposit(ctx, "user0", "invoice 17", 12_500_000, now); err != nil {
		fmt.Println(err)
		return
	}
	g, err := b.Authorize(ctx, &billing.AccessRequest{UserName: "user0", Time: now})
	fmt.Println(g.Reason, g.Password.VerifyPAP([]byte("pass0")), err)

	stop := &billing.AccountingRecord{
		Status: billing.Stop, SessionID: "1", UniqueID: "0123456789abcdef0123456789abcdef", UserName: "user0",
		Time: now, SessionTime: time.Hour, OutputOctets: 1 << 30, NASAddr: netip.MustParseAddr("192.0.2.1"),
	}
	fmt.Println(b.Account(ctx, stop), b.Account(ctx, stop))
	// Output:
	// none none <nil>
	// <nil> <nil>
}
