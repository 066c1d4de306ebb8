package record_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/radpool"
	"github.com/radpool/radpool/radpool/record"
)

// Alice logs in while a recorder listens. Her password is not in the file, and a test that
// runs it needs a back end whose subscribers have the password that is.
func Example() {
	dir, err := os.MkdirTemp("", "record")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "traffic.txtar")
	recorder, err := record.Create(file, record.Options{MaxCases: 100})
	if err != nil {
		fmt.Println(err)
		return
	}
	shop := billing.NewMemory(0)
	shop.Put("alice", billing.Grant{Password: billing.Cleartext("wonderland")})
	live := radpool.Chain(&billing.Processor{Handler: shop}, recorder.Middleware) // the Handler of a radpool.Server

	ctx := context.Background()
	if _, err := billingtest.Do(ctx, live, billingtest.CHAP("alice", "wonderland")); err != nil {
		fmt.Println(err)
	}
	if err := recorder.Close(); err != nil {
		fmt.Println(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s", text)

	// In a test: billingtest.Golden(t, handler, "testdata/*.txtar").
	shop.Put("alice", billing.Grant{Password: billing.Cleartext(record.DefaultPassword)})
	_, err = billingtest.CheckGolden(ctx, &billing.Processor{Handler: shop}, "traffic.txtar", text)
	fmt.Println("differences:", err)
	// Output:
	// Recorded by radpool. Each password that was right is "test-password" here.
	//
	// -- 1.request --
	// Access-Request
	// Packet-Src-IP-Address = 192.0.2.1
	// User-Name = "alice"
	// NAS-IP-Address = 192.0.2.1
	// CHAP-Password = "test-password"
	// -- 1.reply --
	// Access-Accept
	// differences: <nil>
}
