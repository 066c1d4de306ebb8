package sqlbilling_test

import (
	"strings"
	"testing"

	"github.com/radpool/radpool/billing/sqlbilling"
)

func TestCheckOfPools(t *testing.T) {
	eachEngine(t, func(t *testing.T, e engine) {
		f := e.open(t, sqlbilling.Options{})
		f.fillPool("main", 3)
		f.fillPool("other", 1) // the same address in another network
		check := func() (found []string) {
			t.Helper()
			err := f.Check(t.Context(), func(finding sqlbilling.Finding) error {
				if finding.Table == "radippool" && finding.Severity == sqlbilling.Wrong {
					found = append(found, finding.Reason)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		if found := check(); found != nil {
			t.Errorf("of a pool that is right: %q", found)
		}
		nonsense := "::1" // which inet takes as well
		if e.Name == sqliteEngine.Name {
			nonsense = "tbd"
		}
		f.exec("INSERT INTO radippool (pool_name, framedipaddress, expiry_time) VALUES ('main', '10.9.0.2', '2001-02-03 04:05:06'), ('main', ?, '2001-02-03 04:05:06')", nonsense)
		found := check()
		if len(found) != 2 || !strings.Contains(found[0], `"`+nonsense+`" is not an IPv4 address`) || !strings.Contains(found[1], `"10.9.0.2" stands in other rows`) {
			t.Errorf("%q", found)
		}
	})
}
