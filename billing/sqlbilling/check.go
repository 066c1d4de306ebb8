package sqlbilling

import (
	"encoding/binary"
	"regexp"
	"strings"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/internal/dict"
)

// neverCompared are the check items that always match, whatever their operator.
var neverCompared = map[string]bool{
	"Crypt-Password": true, "Auth-Type": true, "Autz-Type": true, "Acct-Type": true, "Session-Type": true,
	"Strip-User-Name": true,
}

// match compares the check items of one table with the request, as FreeRADIUS
// does. If they do not match it returns the one that failed.
func (e *evaluation) match(pairs []pair) (failed *pair, err error) {
	for i := range pairs {
		p := &pairs[i]
		if alwaysMatches(p) {
			continue
		}
		ok, err := e.matches(p)
		if err != nil {
			return nil, err
		}
		if !ok {
			return p, nil
		}
	}
	return nil, nil
}

// alwaysMatches reports whether a check item is not compared.
func alwaysMatches(p *pair) bool { return p.op == ":=" || p.op == "+=" || neverCompared[p.ref.Name] }

func (e *evaluation) matches(p *pair) (bool, error) {
	var values [][]byte
	switch p.ref.Name {
	case "Client-IP-Address", "Packet-Src-IP-Address", "Packet-Src-IPv6-Address":
		values = e.source(p.ref)
	case "Time-Of-Day":
		values = [][]byte{e.now.In(e.loc).AppendFormat(nil, time.TimeOnly)}
	case "SQL-Group":
		for _, m := range e.sub.groups {
			values = append(values, []byte(m.group))
		}
	case "Huntgroup-Name":
		return false, p.row.error("huntgroups are not supported")
	case "Expiration":
		if len(p.value) != 4 || p.op == "=~" || p.op == "!~" {
			return false, p.row.error("a date cannot be compared with this operator")
		}
		// In FreeRADIUS a moment that is not after it counts as equal, and any
		// other as greater.
		if expired := e.now.Unix() > int64(binary.BigEndian.Uint32(p.value)); expired {
			return p.op == "!=" || p.op == ">" || p.op == ">=", nil
		}
		return p.op != "!=" && p.op != ">" && p.op != "<", nil
	case "Current-Time":
		h, err := parseHours(string(p.value))
		if err != nil {
			return false, p.row.error(err.Error())
		}
		in, _ := h.at(e.now.In(e.loc))
		return in == (p.op != "!="), nil
	case "User-Password":
		given, has := e.password()
		if !has {
			return true, nil
		}
		values = [][]byte{given}
	default:
		values = e.values(p.ref)
	}
	if p.op == "!*" {
		return len(values) == 0, nil
	}
	var pattern *regexp.Regexp
	if p.op == "=~" || p.op == "!~" {
		var err error
		if pattern, err = regexp.Compile(string(p.value)); err != nil {
			return false, p.row.error("not a regular expression that is supported (RE2)")
		}
	}
	for _, v := range values {
		if compare(p, v, pattern) {
			return true, nil
		}
	}
	return false, nil
}

// compare compares one value of the request with a check item.
func compare(p *pair, v []byte, pattern *regexp.Regexp) bool {
	switch p.op {
	case "=*":
		return true
	case "=~":
		return pattern.MatchString(p.ref.Format(v))
	case "!~":
		return !pattern.MatchString(p.ref.Format(v))
	}
	order := p.ref.Compare(v, p.value)
	switch p.op {
	case "!=":
		return order != 0
	case ">":
		return order > 0
	case ">=":
		return order >= 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	}
	return order == 0 // ==, and = ^= -=, which FreeRADIUS takes for ==
}

// values are the values of an attribute in the request. A request made by hand,
// without a packet, has those of its fields.
func (e *evaluation) values(ref dict.Ref) [][]byte {
	attrs := e.attrs
	if attrs == nil {
		attrs = fieldAttributes(e.req)
		e.attrs = attrs
	}
	var values [][]byte
	for v := range ref.Values(attrs) {
		values = append(values, v)
	}
	return values
}

// source is the address that the packet came from, if it is of ref's type.
func (e *evaluation) source(ref dict.Ref) [][]byte {
	if e.req.Request == nil {
		return nil
	}
	addr := e.req.Request.RemoteAddr.Addr().Unmap()
	if !addr.IsValid() || addr.Is6() != (ref.Type == dict.TypeIPv6Addr) {
		return nil
	}
	return [][]byte{addr.AsSlice()}
}

// password is the request's User-Password in cleartext.
func (e *evaluation) password() (given []byte, has bool) {
	if e.req.Request == nil || e.req.Request.Packet == nil {
		return nil, false
	}
	p := e.req.Request.Packet
	attr, ok := p.Lookup(rfc2865.UserPassword_Type)
	if !ok {
		return nil, false
	}
	given, err := radius.UserPassword(attr, p.Secret, p.Authenticator[:])
	if err != nil {
		return nil, true
	}
	return given, true
}

// fieldAttributes are the attributes that the fields of a request stand for.
func fieldAttributes(req *billing.AccessRequest) radius.Attributes {
	attrs := radius.Attributes{}
	text := func(t radius.Type, s string) {
		if s != "" {
			attrs.Add(t, radius.Attribute(s))
		}
	}
	number := func(t radius.Type, n uint32) {
		if n != 0 {
			attrs.Add(t, binary.BigEndian.AppendUint32(nil, n))
		}
	}
	text(1, req.UserName)
	text(30, req.CalledStationID)
	text(31, req.CallingStationID)
	text(32, req.NASIdentifier)
	text(44, req.SessionID)
	text(87, req.NASPortID)
	number(5, req.NASPort)
	number(6, req.ServiceType)
	number(61, req.NASPortType)
	if a := req.NASAddr.Unmap(); a.Is4() {
		text(4, string(a.AsSlice()))
	} else if a.IsValid() {
		text(95, string(a.AsSlice()))
	}
	if a := req.FramedAddr.Unmap(); a.Is4() {
		text(8, string(a.AsSlice()))
	}
	return attrs
}

// mismatch is why a request is rejected whose check items did not match, by the
// first that failed.
func mismatch(p *pair) billing.Reason {
	switch {
	case strings.EqualFold(p.ref.Name, "Calling-Station-Id"):
		return billing.ReasonCallingStation
	case p.ref.Name == "Expiration":
		return billing.ReasonExpired
	case p.ref.Name == "Current-Time", p.ref.Name == "Time-Of-Day":
		return billing.ReasonNotNow
	}
	return billing.ReasonRejected
}

// An evaluation is the state while a request is decided.
type evaluation struct {
	req            *billing.AccessRequest
	sub            *subscriber
	now            time.Time
	dict           *dict.Dictionary
	loc            *time.Location
	defaultProfile string

	// Without a word of Fall-Through groups, or the profile, are not read.
	groupsByFallThrough, profilesByFallThrough bool

	attrs radius.Attributes // of the request; nil: not known yet

	control, reply []pair
	found          bool
	failed         *pair // the first check item that did not match

	trace *tracer // nil: nobody wants to know
}
