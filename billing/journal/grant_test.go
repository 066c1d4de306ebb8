package journal_test

import (
	"testing"
	"testing/synctest"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/billing/journal"
)

// With GrantAge subscribers are let in while the back end is away, with the right
// password and for a time; those who were not let in last are not.
func TestAccessWhileAway(t *testing.T) {
	both(t, func(t *testing.T, c *core, backend billing.Handler) {
		j := open(t, "", backend, journal.Options{GrantAge: time.Hour})
		p := &billing.Processor{Handler: j.Handler()}
		ask := func(what, user, password string, want radius.Code) {
			t.Helper()
			reply := billingtest.Run(t, p, billingtest.PAP(user, password))
			if ok := reply.Failed() && want == 0 || reply.Packet != nil && reply.Code == want; !ok {
				t.Errorf("%s: %s, want %v", what, reply.Outcome(), want)
			}
		}
		blocked := false
		c.set(func(c *core) {
			c.grant = func(user string) (billing.Grant, error) {
				switch {
				case user == "nobody":
					return billing.Grant{Reason: billing.ReasonUnknownUser}, nil
				case user == "broken":
					return billing.Grant{}, billing.ErrSubscriber
				case user == "bob" && blocked:
					return billing.Grant{Reason: billing.ReasonBlocked, Password: billing.Cleartext("pw")}, nil
				}
				return billing.Grant{Password: billing.Cleartext("pw")}, nil
			}
		})
		ask("alice", "alice", "pw", radius.CodeAccessAccept)
		ask("bob", "bob", "pw", radius.CodeAccessAccept)
		blocked = true
		ask("bob, blocked", "bob", "pw", radius.CodeAccessReject)
		ask("nobody", "nobody", "pw", radius.CodeAccessReject)
		ask("broken", "broken", "pw", radius.CodeAccessReject)
		c.set(func(c *core) { c.down = true })
		for range journal.OpensAfter + 2 {
			ask("away: alice", "alice", "pw", radius.CodeAccessAccept)
			ask("away: alice with a wrong password", "alice", "wrong", radius.CodeAccessReject)
			ask("away: bob", "bob", "pw", 0)
			ask("away: nobody", "nobody", "pw", 0)
			ask("away: broken", "broken", "pw", 0)
			ask("away: carol, who was not there before", "carol", "pw", 0)
		}
		if s := j.Stats(); s.Remembered != 2*(journal.OpensAfter+2) || !s.AccessAway || s.Grants != 1 || s.Unanswered == 0 {
			t.Errorf("%+v", s)
		}
		time.Sleep(time.Hour + 1)
		ask("away: alice, too late", "alice", "pw", 0)
		c.set(func(c *core) { c.down, blocked = false, false })
		time.Sleep(journal.DefaultProbeInterval)
		ask("back: bob", "bob", "pw", radius.CodeAccessAccept)
		ask("back: carol", "carol", "pw", radius.CodeAccessAccept)
	})
}

// Without GrantAge there is no answer, and none is remembered.
func TestNoGrantByDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore()
		j := open(t, "", batchCore{c}, journal.Options{})
		h := j.Handler().(billing.BatchHandler)
		reqs := []*billing.AccessRequest{access("alice"), access("bob")}
		grants, errs := make([]billing.Grant, 2), make([]error, 2)
		h.AuthorizeBatch(t.Context(), reqs, grants, errs)
		if errs[0] != nil || errs[1] != nil {
			t.Fatal(errs)
		}
		c.set(func(c *core) { c.down = true })
		for range journal.OpensAfter + 1 {
			h.AuthorizeBatch(t.Context(), reqs, grants, errs)
			if errs[0] == nil || errs[1] == nil {
				t.Errorf("%v", errs)
			}
		}
		if c.access != 2*(1+journal.OpensAfter) {
			t.Errorf("%d were asked for", c.access)
		}
		c.set(func(c *core) { c.down = false })
		time.Sleep(journal.DefaultProbeInterval)
		h.AuthorizeBatch(t.Context(), reqs, grants, errs)
		if errs[0] != nil || errs[1] != nil {
			t.Error(errs)
		}
	})
}
