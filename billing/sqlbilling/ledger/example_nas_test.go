package ledger_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling/ledger"
	"github.com/radpool/radpool/radpool"
)

// The NASes of the table are the clients of a server. A subscriber whose row cannot be used is
// rejected, and the error says where.
func ExampleBackend_NASes() {
	dir, err := os.MkdirTemp("", "radpool")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()
	file := filepath.Join(dir, "isp.db")
	own, err := ledger.Open(ctx, "sqlite:"+file, ledger.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = own.Close() }()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = db.Close() }()
	for _, statement := range []string{
		`INSERT INTO radpool_nas (address, name, vendor, secret) VALUES ('192.0.2.1', 'bras1', 'mikrotik', 's3cret')`,
		`INSERT INTO radpool_tariff (name, zone) VALUES ('home', 'Europe/Nowhere')`,
		`INSERT INTO radpool_subscriber (username, password, tariff) VALUES ('alice', 'wonderland', 'home')`,
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			fmt.Println(err)
		}
	}

	nases, err := own.NASes(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	list := make([]radpool.Client, len(nases))
	for i := range nases {
		list[i] = nases[i].Client()
		fmt.Printf("%+v %s\n", nases[i], nases[i].Vendor) // without its secret
	}
	_, err = radpool.NewClients(list...)
	fmt.Println(err)

	_, err = own.Authorize(ctx, &billing.AccessRequest{UserName: "alice", Time: time.Now()})
	if wrong, ok := errors.AsType[*ledger.SubscriberError](err); ok {
		fmt.Println(wrong.UserName, "at", wrong.Where+":", errors.Is(err, billing.ErrSubscriber))
	}
	// Output:
	// bras1 (192.0.2.1/32) mikrotik
	// <nil>
	// alice at radpool_tariff: true
}
