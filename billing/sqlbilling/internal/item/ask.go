package item

import (
	"context"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/internal/dict"
	"github.com/radpool/radpool/radpool"
)

// TakeForRight makes g need no password where there is one, as if the right one had been
// given: a billing.Processor then decides on all the rest.
func TakeForRight(g *billing.Grant) {
	if g.Reason == billing.ReasonNone && g.Password.IsZero() && !g.NoPassword {
		g.Reason = billing.ReasonNoPassword
	}
	g.Password, g.NoPassword = billing.Password{}, true
}

// Ask is the reply, an attribute a line, that a billing.Processor with h gives to an
// Access-Request of user with these attributes, each as Request reads it.
func Ask(ctx context.Context, d *dict.Dictionary, h billing.Handler, user string, attributes []string, loc *time.Location) ([]string, error) {
	req, err := Request(d, user, attributes, loc)
	if err != nil {
		return nil, err
	}
	resp := radpool.NewResponse(req)
	(&billing.Processor{Handler: h}).Handle(ctx, req, resp)
	var reply []string
	for _, avp := range resp.Attributes {
		reply = append(reply, Text(d, avp))
	}
	return reply, nil
}
