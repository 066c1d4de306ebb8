package billingtest_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/radpool/radpool/billing/billingtest"
)

var updateDocs = flag.Bool("update-docs", false, "write the table of wrong back ends in docs/conformance.md anew")

// wrongTable lists the wrong back ends by the check that catches them.
func wrongTable() string {
	faults := slices.Concat(accessFaults, accountFaults, batchFaults, crashFaults)
	var b strings.Builder
	fmt.Fprintf(&b, "%d back ends, %d checks:\n\n| check | the back end that it catches | to blame |\n|---|---|---|\n", len(faults), len(billingtest.CheckNames()))
	for _, check := range billingtest.CheckNames() {
		for _, f := range faults {
			if f.check == check {
				fmt.Fprintf(&b, "| `%s` | %s | `%s` |\n", check, f.name, f.method)
			}
		}
	}
	return b.String()
}

// The table in the documentation is that of the back ends that TestWrongBackEndsAreCaught catches.
func TestWrongBackEndsAreDocumented(t *testing.T) {
	const file, begin, end = "../../docs/conformance.md", "<!-- wrong back ends: go test ./billing/billingtest -update-docs -->\n", "<!-- end -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	table, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no place for the table", file)
	}
	want := wrongTable()
	if table == want {
		return
	}
	if !*updateDocs {
		t.Fatalf("%s is not up to date: go test ./billing/billingtest -update-docs", file)
	}
	if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
