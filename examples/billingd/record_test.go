package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/radpool/record"
)

// What -record writes of a running billingd is run as golden packets against a back end of
// the same subscribers, with the test password.
func TestRecord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "traffic.txtar")
	b := start(t, "-db", "memory:3", "-record", file)
	for _, password := range []string{"pass1", "guess"} {
		p := radius.New(radius.CodeAccessRequest, []byte("testing123"))
		_ = rfc2865.UserName_SetString(p, "user1")
		_ = rfc2865.UserPassword_SetString(p, password)
		if _, err := radius.Exchange(t.Context(), p, b.auth); err != nil {
			t.Fatal(err)
		}
	}
	if status := b.end(os.Interrupt); status != 0 {
		t.Errorf("exit status %d", status)
	}
	if !strings.Contains(b.log.String(), `"cases": 2`) {
		t.Errorf("the log: %s", b.log)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "pass1") || strings.Contains(string(text), "guess") {
		t.Errorf("a password is in the file:\n%s", text)
	}
	m := memory(3).(*billing.Memory)
	g, err := m.Authorize(t.Context(), &billing.AccessRequest{UserName: "user1"})
	if err != nil {
		t.Fatal(err)
	}
	g.Password = billing.Cleartext(record.DefaultPassword)
	m.Put("user1", g)
	if _, err := billingtest.CheckGolden(t.Context(), &billing.Processor{Handler: m}, file, text); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}
