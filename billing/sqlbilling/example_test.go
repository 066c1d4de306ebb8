package sqlbilling_test

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
	_ "github.com/radpool/radpool/billing/sqlbilling/sqlite"
)

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "radpool")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()

	// A file that does not exist gets the standard schema.
	backend, err := sqlbilling.Open(ctx, "sqlite:"+filepath.Join(dir, "radius.db"), sqlbilling.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = backend.Close() }()
	if _, err := backend.EnsureDemo(ctx, 10); err != nil {
		fmt.Println(err)
		return
	}

	grant, err := backend.Authorize(ctx, &billing.AccessRequest{UserName: "user3", Time: time.Now()})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(grant.Password.VerifyPAP([]byte("pass3")))
	for _, attr := range grant.Reply {
		if attr.Type == rfc2865.ReplyMessage_Type {
			fmt.Println(string(attr.Attribute))
		}
	}
	// Output:
	// none
	// hello
}

func ExampleBackend_Account() {
	ctx := context.Background()
	backend, err := sqlbilling.Open(ctx, "sqlite::memory:", sqlbilling.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = backend.Close() }()

	stop := &billing.AccountingRecord{
		Status:      billing.Stop,
		UniqueID:    "0123456789abcdef0123456789abcdef",
		SessionID:   "80000001",
		UserName:    "alice",
		NASAddr:     netip.MustParseAddr("192.0.2.1"),
		Time:        time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		SessionTime: time.Hour,
		HasSession:  true,
		InputOctets: 5 << 32,
	}
	// nil means durable. A record that comes again changes nothing.
	fmt.Println(backend.Account(ctx, stop), backend.Account(ctx, stop))
	s := backend.Stats()
	fmt.Println(s.Records, "records,", s.Rows, "row")
	// Output:
	// <nil> <nil>
	// 2 records, 1 row
}
