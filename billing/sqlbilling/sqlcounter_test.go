package sqlbilling_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/radpool/radpool/billing/sqlbilling"
)

// A limit of sqlcounter keeps out also where a dictionary knows its name: else it would be an
// attribute of another module, which has no effect.
func TestCounterLimitOfDictionary(t *testing.T) {
	words := fstest.MapFS{"dictionary": {Data: []byte("ATTRIBUTE Max-Daily-Session 3003 integer\nATTRIBUTE Max-Frobs 3004 integer\n")}}
	f := open(t, sqlbilling.Options{Dictionary: words, DictionaryFile: "dictionary"})
	f.rows(pass, check("Max-Frobs", ":=", "3600"))
	if got := f.findings(); len(got) != 0 {
		t.Errorf("found %q", got)
	}
	f.rows(check("Max-Daily-Session", ":=", "3600"))
	if got := f.findings(); len(got) != 1 || !strings.Contains(got[0], "limits of sqlcounter are not enforced") {
		t.Errorf("found %q", got)
	}
	_, err := f.Authorize(t.Context(), aliceRequest(t))
	if err == nil || !strings.Contains(err.Error(), "Max-Daily-Session") {
		t.Errorf("got %v", err)
	}
}
