package attrs

import (
	"fmt"

	"layeh.com/radius"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/internal/reply"
	"github.com/radpool/radpool/internal/dict"
)

// An Attribute is one attribute of the dictionary, with a tag where its name had
// one. It is an immutable value; [Find] makes it, and the zero Attribute is none.
type Attribute struct{ ref dict.Ref }

// Find finds an attribute by its name, whatever its case: "Framed-IP-Address",
// "Mikrotik-Rate-Limit", with a tag (RFC 2868 section 3.1) "Tunnel-Type:1", or by
// number "Attr-26.14988.8". The error names it: it is not known, or it never goes on
// the wire, as Cleartext-Password does not.
func Find(name string) (Attribute, error) {
	ref, err := dict.Lookup(name)
	if err != nil {
		return Attribute{}, fmt.Errorf("attrs: %w", err)
	}
	if ref.Internal() {
		return Attribute{}, fmt.Errorf("attrs: attribute %s is internal and cannot be sent", ref.Name)
	}
	return Attribute{ref}, nil
}

// Name is the name in the dictionary, without the tag; of the zero Attribute it is empty.
func (a Attribute) Name() string {
	if a.ref.Attr == nil {
		return ""
	}
	return a.ref.Name
}

// Add appends the attribute to g.Reply, or to g.Hidden if it is encrypted on the wire.
// value is text as radreply has it: names of values ("Framed-User"), numbers, addresses,
// dates, octets in hexadecimal after 0x. The error names the attribute and not the value;
// g is then as it was.
func (a Attribute) Add(g *billing.Grant, value string) error {
	var err error
	g.Reply, g.Hidden, err = a.append(g.Reply, g.Hidden, value)
	return err
}

// AddRestricted is Add for g.Restricted and g.RestrictedHidden.
func (a Attribute) AddRestricted(g *billing.Grant, value string) error {
	var err error
	g.Restricted, g.RestrictedHidden, err = a.append(g.Restricted, g.RestrictedHidden, value)
	return err
}

func (a Attribute) append(to radius.Attributes, hidden []billing.Hidden, value string) (radius.Attributes, []billing.Hidden, error) {
	if a.ref.Attr == nil {
		return to, hidden, fmt.Errorf("attrs: the zero Attribute has no value")
	}
	octets, err := a.ref.Parse(value, nil)
	if err == nil {
		to, hidden, err = reply.Append(to, hidden, a.ref, octets)
	}
	if err != nil {
		return to, hidden, fmt.Errorf("attrs: %w", err)
	}
	return to, hidden, nil
}

// present reports whether g has a value of a already.
func (a Attribute) present(g *billing.Grant) bool {
	for range a.ref.Values(g.Reply) {
		return true
	}
	for _, h := range g.Hidden {
		if h.Is(a.ref.Vendor, uint8(a.ref.Code)) {
			return true
		}
	}
	return false
}

// remove takes all values of a out of g, whose lists are g's own.
func (a Attribute) remove(g *billing.Grant) {
	var kept radius.Attributes
	for _, avp := range g.Reply {
		if found, _ := dict.Default().Find(avp); found == nil || !found.Same(a.ref.Attr) {
			kept = append(kept, avp)
		}
	}
	g.Reply = kept
	var hidden []billing.Hidden
	for _, h := range g.Hidden {
		if !h.Is(a.ref.Vendor, uint8(a.ref.Code)) {
			hidden = append(hidden, h)
		}
	}
	g.Hidden = hidden
}
