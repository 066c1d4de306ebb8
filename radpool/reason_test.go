package radpool_test

import (
	"testing"

	"layeh.com/radius"

	"github.com/radpool/radpool/radpool"
)

// counted counts how often it is turned into text.
type counted struct{ n int }

func (c *counted) String() string { c.n++; return "because" }

// A reason costs nothing until somebody asks for it, and changes nothing.
func TestReason(t *testing.T) {
	resp := radpool.NewResponse(radpool.NewRequest(radius.New(radius.CodeAccessRequest, []byte(testSecret)), nil))
	if got := resp.Reason(); got != "" {
		t.Errorf("got %q before there is one", got)
	}
	why := new(counted)
	if n := testing.AllocsPerRun(100, func() { resp.SetReason(why) }); n != 0 || why.n != 0 {
		t.Errorf("%v allocations, %d texts", n, why.n)
	}
	if got := resp.Reason(); got != "because" || resp.Code != 0 || resp.Err() != nil {
		t.Errorf("got %q, code %v, %v", got, resp.Code, resp.Err())
	}
}
