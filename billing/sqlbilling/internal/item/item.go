// Package item is for attributes as people write and read them, one at a time.
package item

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/internal/dict"
	"github.com/radpool/radpool/radpool"
)

// Request is an Access-Request of a user from 127.0.0.1 with these attributes, each as
// "Name=Value" or "Name = Value". Credentials among them are left out.
func Request(d *dict.Dictionary, user string, attributes []string, loc *time.Location) (*radpool.Request, error) {
	packet := &radius.Packet{Code: radius.CodeAccessRequest, Secret: []byte("what it encrypts is not shown")}
	packet.Add(rfc2865.UserName_Type, radius.Attribute(user))
	for _, text := range attributes {
		avp, err := parse(d, text, loc)
		if err != nil {
			return nil, err
		}
		if avp != nil {
			packet.Attributes = append(packet.Attributes, avp)
		}
	}
	req := radpool.NewRequest(packet, nil)
	req.RemoteAddr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0)
	return req, nil
}

// parse reads an attribute of a request; nil: one that is left out.
func parse(d *dict.Dictionary, text string, loc *time.Location) (*radius.AVP, error) {
	name, value, ok := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	if !ok {
		return nil, fmt.Errorf("%.64q is not Attribute=Value", text)
	}
	ref, err := d.Lookup(name)
	if err != nil || ref.Internal() {
		return nil, fmt.Errorf("%.64q is no attribute of a request", name)
	}
	if dict.Secret(ref.Attr) {
		return nil, nil
	}
	value, err = Unquote(strings.TrimSpace(value))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ref.Name, err)
	}
	octets, err := ref.Parse(value, loc)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ref.Name, err)
	}
	avp, err := ref.Encode(octets)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ref.Name, err)
	}
	return avp, nil
}

// Text is an attribute of a reply as text.
func Text(d *dict.Dictionary, avp *radius.AVP) string {
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
	if dict.Secret(a) {
		return name + " = ***"
	}
	text := a.Format(value)
	if a.Type == dict.TypeString {
		text = dict.HidePairs(text, "***")
	}
	return name + " = " + text
}

// Unquote takes off the quotes of a value that is wholly in quotes.
func Unquote(s string) (string, error) {
	if len(s) < 2 || s[0] != s[len(s)-1] {
		return s, nil
	}
	switch s[0] {
	case '"', '\'':
		return s[1 : len(s)-1], nil
	case '`':
		return "", errors.New("a value in back-quotes is to be expanded, which is not supported")
	}
	return s, nil
}
