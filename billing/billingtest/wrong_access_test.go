package billingtest_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"layeh.com/radius"

	"github.com/radpool/radpool/billing"
)

var accessFaults = []fault{
	{"an unknown user is an error", "unknown-user", "Authorize", func(w *wrong) {
		w.authorize = func(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
			g, err := w.ledger.Authorize(ctx, req)
			if g.Reason == billing.ReasonUnknownUser {
				return billing.Grant{}, errors.New("sql: no rows in result set")
			}
			return g, err
		}
	}},
	{"an unknown user is a Grant without a Reason", "unknown-user", "Authorize", func(w *wrong) {
		w.authorize = func(_ context.Context, req *billing.AccessRequest) (billing.Grant, error) {
			return w.subscribers[req.UserName], nil
		}
	}},
	{"a prefix of a name is that name", "unknown-user", "Authorize", func(w *wrong) {
		w.authorize = func(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
			for name, g := range w.subscribers {
				if req.UserName != "" && strings.HasPrefix(name, req.UserName) {
					return g, nil
				}
			}
			return w.ledger.Authorize(ctx, req)
		}
	}},
	{"everybody is let in without a password", "known-user", "Authorize", func(w *wrong) {
		for name, g := range w.subscribers {
			g.NoPassword = true
			w.subscribers[name] = g
		}
	}},
	{"the password is folded", "known-user", "Authorize", func(w *wrong) {
		w.subscribers["alice"] = billing.Grant{Password: billing.Cleartext("WONDERLAND-1")}
	}},
	{"the password that was given is the stored one", "known-user", "Authorize", func(w *wrong) {
		w.authorize = func(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
			g, err := w.ledger.Authorize(ctx, req)
			if given, decodeErr := radius.UserPassword(req.Request.Get(2), req.Request.Secret, req.Request.Authenticator[:]); decodeErr == nil && g.Reason == 0 {
				g.Password = billing.Cleartext(string(given))
			}
			return g, err
		}
	}},
	{"it panics", "known-user", "Authorize", func(w *wrong) {
		w.authorize = func(context.Context, *billing.AccessRequest) (billing.Grant, error) { panic("nil map") }
	}},
	{"all Grants share one attribute", "stable-grant", "Authorize", func(w *wrong) {
		shared := &radius.AVP{Type: 27}
		w.authorize = func(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
			g, err := w.ledger.Authorize(ctx, req)
			shared.Attribute = radius.NewInteger(uint32(len(req.UserName)))
			g.Reply = radius.Attributes{shared}
			return g, err
		}
	}},
	{"names are patterns", "strange-users", "Authorize", func(w *wrong) {
		w.authorize = func(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
			if prefix, ok := strings.CutSuffix(req.UserName, "%"); ok {
				for name, g := range w.subscribers {
					if strings.HasPrefix(name, prefix) {
						return g, nil
					}
				}
			}
			return w.ledger.Authorize(ctx, req)
		}
	}},
	{"names end at a NUL", "strange-users", "Authorize", func(w *wrong) {
		w.authorize = func(_ context.Context, req *billing.AccessRequest) (billing.Grant, error) {
			name, _, _ := strings.Cut(req.UserName, "\x00")
			return w.lookup(name), nil
		}
	}},
	{"a quote is an error", "strange-users", "Authorize", func(w *wrong) {
		w.authorize = func(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
			if strings.Count(req.UserName+req.CallingStationID, "'")%2 == 1 {
				return billing.Grant{}, errors.New(`syntax error at or near "'"`)
			}
			return w.ledger.Authorize(ctx, req)
		}
	}},
	{"a cancelled query found nobody", "cancelled-authorize", "Authorize", func(w *wrong) {
		w.authorize = func(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
			g, err := w.ledger.Authorize(ctx, req)
			if err != nil {
				return billing.Grant{Reason: billing.ReasonUnknownUser}, nil
			}
			return g, nil
		}
	}},
	{"a cancelled query is the zero Grant", "cancelled-authorize", "Authorize", func(w *wrong) {
		w.authorize = func(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
			g, _ := w.ledger.Authorize(ctx, req)
			return g, nil
		}
	}},
	{"a database that hangs knows nobody", "stalled", "Authorize", func(w *wrong) {
		w.authorize = func(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
			if g, err := w.ledger.Authorize(ctx, req); err == nil {
				return g, nil
			}
			return billing.Grant{Reason: billing.ReasonUnknownUser}, nil
		}
	}},
	{"while the database hangs everybody is let in", "stalled", "Authorize", func(w *wrong) {
		w.authorize = func(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
			g, err := w.ledger.Authorize(ctx, req)
			if err != nil {
				return billing.Grant{AnyPassword: true}, nil
			}
			return g, nil
		}
	}},
	{"it changes the name in the request", "arguments", "Authorize", func(w *wrong) {
		w.authorize = func(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
			req.CallingStationID = strings.ReplaceAll(req.CallingStationID, "-", ":")
			return w.ledger.Authorize(ctx, req)
		}
	}},
	{"it edits attributes in place", "arguments", "Authorize", func(w *wrong) {
		w.authorize = func(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
			if b := req.Request.Get(31); len(b) > 0 {
				b[0] = 'X'
			}
			return w.ledger.Authorize(ctx, req)
		}
	}},
	{"it caches requests by their memory", "memory", "Authorize", func(w *wrong) {
		type cached struct {
			req *billing.AccessRequest
			billing.Grant
		}
		var cache []cached
		w.authorize = func(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
			for _, c := range cache {
				if c.req.UserName == req.UserName {
					return c.Grant, nil
				}
			}
			g, err := w.ledger.Authorize(ctx, req)
			cache = append(cache, cached{req, g})
			return g, err
		}
	}},
	{"calls share a variable", "concurrent", "Authorize", func(w *wrong) {
		var last string
		w.authorize = func(_ context.Context, req *billing.AccessRequest) (billing.Grant, error) {
			w.mu.Lock()
			last = req.UserName
			w.mu.Unlock()
			w.meet()
			w.mu.Lock()
			name := last
			w.mu.Unlock()
			return w.lookup(name), nil
		}
	}},
	{"it panics while another call runs", "concurrent", "Authorize", func(w *wrong) {
		var running atomic.Int64
		w.authorize = func(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
			if running.Add(1) > 1 {
				panic("concurrent map read and map write")
			}
			defer running.Add(-1)
			w.meet()
			return w.ledger.Authorize(ctx, req)
		}
	}},
}
