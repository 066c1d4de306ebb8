package sqlbilling_test

import (
	"strings"
	"testing"

	"github.com/radpool/radpool/billing/sqlbilling"
)

// Not even root can write to /proc, so this runs where the other one cannot.
func TestFolderThatNobodyCanWriteTo(t *testing.T) {
	_, err := sqlbilling.Open(t.Context(), "sqlite:/proc/radius.db", sqlbilling.Options{})
	if err == nil || !strings.Contains(err.Error(), "/proc/radius.db") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, want one line that names the file", err)
	}
}
