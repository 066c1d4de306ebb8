package ledger_test

import (
	"context"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing/coa"
)

// A fakeNAS does what it is asked for, and says what that was.
type fakeNAS struct{ asked chan string }

func (n *fakeNAS) Change(_ context.Context, s *coa.Session, to radius.Attributes) error {
	n.asked <- "change " + s.SessionID + " " + string(to.Get(rfc2865.FilterID_Type))
	return nil
}

func (n *fakeNAS) Disconnect(_ context.Context, s *coa.Session) error {
	n.asked <- "disconnect " + s.SessionID
	return nil
}
