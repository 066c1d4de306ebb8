package sqlbilling

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/internal/dict"
	"github.com/radpool/radpool/radpool"
)

// A Trace is how an Access-Request comes to its answer. It holds no password.
type Trace struct {
	// Steps are the rows in the order in which they were looked at.
	Steps []Step

	// Row is the row that cannot be used, which is why everything is rejected; nil:
	// there is none.
	Row *RowError

	// Accepted says that the subscriber is let in by whoever gives the right
	// credentials, Restricted that this is with the restricted profile, and Reason
	// why they are not, or why restricted.
	Accepted, Restricted bool
	Reason               billing.Reason

	// Password is the form of the password that decides; FormNone where there is
	// none. NoPassword says that none is needed by a request that carries none.
	Password   billing.Form
	NoPassword bool

	// Sessions and Limit are how many sessions are open and how many may be, where
	// there is a Simultaneous-Use.
	Sessions, Limit int

	// Reply are the attributes of the Access-Accept or Access-Reject, as
	// Name = Value in order.
	Reply []string
}

// Explain says how an Access-Request of user is answered, and what each row has to do
// with it. It looks things up and decides as Authorize and a billing.Processor do, but
// takes the password for right, and changes nothing. attributes are those of the
// request beside User-Name, that check items compare, each as "Name=Value" or
// "Name = Value"; without NAS-IP-Address the request comes from 127.0.0.1. Credentials
// among them are left out. An error is an attribute that cannot be sent, the
// database's, or ctx's.
func (b *Backend) Explain(ctx context.Context, user string, attributes ...string) (*Trace, error) {
	packet := &radius.Packet{Code: radius.CodeAccessRequest, Secret: []byte("what it encrypts is not shown")}
	packet.Add(rfc2865.UserName_Type, radius.Attribute(user))
	for _, text := range attributes {
		avp, err := b.parseItem(text)
		if err != nil {
			return nil, err
		}
		if avp != nil {
			packet.Attributes = append(packet.Attributes, avp)
		}
	}
	req := radpool.NewRequest(packet, nil)
	req.RemoteAddr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0)
	resp := radpool.NewResponse(req)
	x := &explainer{b: b}
	(&billing.Processor{Handler: x}).Handle(ctx, req, resp)
	if x.err != nil {
		return nil, x.err
	}
	for _, avp := range resp.Attributes {
		x.trace.Reply = append(x.trace.Reply, itemText(b.dict, avp))
	}
	return &x.trace, nil
}

// parseItem reads an attribute of a request; nil: one that is left out.
func (b *Backend) parseItem(text string) (*radius.AVP, error) {
	name, value, ok := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	if !ok {
		return nil, fmt.Errorf("sqlbilling: %.64q is not Attribute=Value", text)
	}
	ref, err := b.dict.Lookup(name)
	if err != nil || ref.Internal() {
		return nil, fmt.Errorf("sqlbilling: %.64q is no attribute of a request", name)
	}
	if secretive(ref.Name) || ref.Encrypt != 0 {
		return nil, nil
	}
	value, err = unquote(strings.TrimSpace(value))
	if err != nil {
		return nil, fmt.Errorf("sqlbilling: %s: %w", ref.Name, err)
	}
	octets, err := ref.Parse(value, b.opts.Location)
	if err != nil {
		return nil, fmt.Errorf("sqlbilling: %s: %w", ref.Name, err)
	}
	avp, err := ref.Encode(octets)
	if err != nil {
		return nil, fmt.Errorf("sqlbilling: %s: %w", ref.Name, err)
	}
	return avp, nil
}

// itemText is an attribute of a reply as text.
func itemText(d *dict.Dictionary, avp *radius.AVP) string {
	a, value := d.Find(avp)
	if a == nil {
		return fmt.Sprintf("Attribute %d = 0x%x", avp.Type, []byte(avp.Attribute))
	}
	name := a.Name
	if a.Tagged && len(value) > 0 && value[0] > 0 && value[0] <= 0x1f {
		name = fmt.Sprintf("%s:%d", name, value[0])
		if value = value[1:]; a.Type == dict.TypeInteger && len(value) == 3 { // a number gives its first octet for the tag
			value = append([]byte{0}, value...)
		}
	}
	if secretive(a.Name) || a.Encrypt != 0 {
		return name + " = ***"
	}
	return name + " = " + a.Format(value)
}

// An explainer is the back end behind a Processor that decides on one request.
type explainer struct {
	b     *Backend
	trace Trace
	err   error
}

// Authorize is Backend.Authorize of one request, traced. What it grants needs no
// password where there is one: the Processor is to decide on all the rest.
func (x *explainer) Authorize(ctx context.Context, req *billing.AccessRequest) (billing.Grant, error) {
	q := &question{ctx: ctx, names: []string{x.b.nameInDB(req.UserName)}}
	if req.UserName == "" { // nobody is looked up by it
		q.subs = make([]subscriber, 1)
	} else if x.err = ctx.Err(); x.err == nil {
		x.err = x.b.lookups.find(q)
	}
	if x.err != nil {
		x.err = x.b.named(x.err)
		return billing.Grant{}, x.err
	}
	t := &tracer{}
	e := evaluation{req: req, now: req.Time, loc: x.b.opts.Location, dict: x.b.dict, defaultProfile: x.b.opts.DefaultProfile, sub: &q.subs[0], trace: t}
	g, err := e.evaluate(q.common.restricted)
	x.trace.Steps = t.steps
	if err != nil {
		if row, ok := errors.AsType[*RowError](err); ok {
			x.trace.Row = row
		} else {
			x.err = err
		}
		return g, err
	}
	x.trace.Password, x.trace.NoPassword = g.Password.Form(), g.NoPassword
	x.trace.Sessions, x.trace.Limit = g.OpenSessions, g.SimultaneousUse
	if g.Reason == billing.ReasonNone && g.Password.IsZero() && !g.NoPassword {
		g.Reason = billing.ReasonNoPassword
	}
	g.Password, g.NoPassword = billing.Password{}, true
	return g, nil
}

// Account is never called.
func (x *explainer) Account(context.Context, *billing.AccountingRecord) error { return ErrClosed }

// PostAuth hears how it ended.
func (x *explainer) PostAuth(res *billing.AuthResult) {
	x.trace.Accepted, x.trace.Restricted, x.trace.Reason = res.Accepted, res.Restricted, res.Reason
}
