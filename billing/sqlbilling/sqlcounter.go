package sqlbilling

import (
	"strings"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// counterLimit is why a row with a limit of rlm_sqlcounter cannot be used.
const counterLimit = "limits of sqlcounter are not enforced, so nobody gets in by this row: " +
	"delete it, or use quotas with -schema radpool (docs/own-schema.md)"

// isCounterLimit reports whether it is the name of an attribute that rlm_sqlcounter compares
// with what was used: Max-Daily-Session, Max-All-Octets and the like, Expire-After, Access-Period.
func isCounterLimit(name string) bool {
	if strings.EqualFold(name, "Expire-After") || strings.EqualFold(name, "Access-Period") {
		return true
	}
	if len(name) < 4 || !strings.EqualFold(name[:4], "Max-") {
		return false
	}
	switch period, of, _ := strings.Cut(name[4:], "-"); strings.ToLower(period) {
	case "hourly", "daily", "weekly", "monthly", "yearly", "all", "total":
		return of != ""
	}
	return false
}

// unenforced reports whether the row is a limit of sqlcounter. A dictionary may know its name,
// which is no reason to let in whom the limit may keep out.
func (r *row) unenforced() bool {
	return (r.kind == dialect.RowCheck || r.kind == dialect.RowGroupCheck) && isCounterLimit(blanksOff(r.attribute))
}
