package radclient

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"
	"layeh.com/radius/rfc3162"
	"layeh.com/radius/rfc3576"
	"layeh.com/radius/rfc6911"
)

// Ports at which NASes listen for CoA-Requests and Disconnect-Requests.
const (
	PortCoA         = 3799 // RFC 5176 section 2.1; RouterOS from version 6 on
	PortCoAMikroTik = 1700 // RouterOS before version 6, and where "/radius incoming" says so
	PortCoACisco    = 1700 // IOS, "aaa server radius dynamic-author"
)

// A Profile says which attributes a NAS knows a session by (RFC 5176 section 3): one that it does not know it may answer with
// Unsupported-Attribute, and none that it knows with Session-Context-Not-Found. The zero Profile sends all that the Session has.
type Profile uint16

// What a Profile is made of. NAS-IP-Address, NAS-IPv6-Address and NAS-Identifier say which NAS is meant.
const (
	BySessionID Profile = 1 << iota
	ByUserName
	ByFramedAddr // and Framed-IPv6-Address
	ByCallingStationID
	ByNASPortID
	ByNASAddr
	ByNASIdentifier
)

// Profiles of vendors.
const (
	// MikroTik: RouterOS finds a PPP, DHCP or HotSpot session by these.
	MikroTik = BySessionID | ByUserName | ByFramedAddr | ByNASAddr

	// Cisco: IOS and IOS-XE find a session by its number, and check the rest.
	Cisco = BySessionID | ByUserName | ByFramedAddr | ByCallingStationID

	// AccelPPP: accel-ppp's dae-server finds a session by any of these.
	AccelPPP = BySessionID | ByUserName | ByFramedAddr | ByCallingStationID | ByNASPortID | ByNASAddr | ByNASIdentifier
)

// Session says which session a CoA-Request or Disconnect-Request is for: as many fields as are known from its accounting. Each
// must fit the session, or nothing is done. What is empty is not sent.
type Session struct {
	SessionID        string // Acct-Session-Id
	UserName         string
	FramedAddr       netip.Addr // IPv4
	FramedIPv6Addr   netip.Addr // RFC 6911
	CallingStationID string
	NASPortID        string // RFC 2869 section 5.17

	// Of the NAS, as it says of itself in its requests.
	NASAddr       netip.Addr // NAS-IP-Address or NAS-IPv6-Address
	NASIdentifier string
}

// attributes are those of the session that the profile sends.
func (s *Session) attributes(p Profile) (radius.Attributes, error) {
	if p == 0 {
		p = ^p
	}
	var list radius.Attributes
	add := func(by Profile, t radius.Type, value []byte) {
		if p&by != 0 && len(value) > 0 {
			list.Add(t, value)
		}
	}
	add(ByNASAddr, addrType(s.NASAddr, rfc2865.NASIPAddress_Type, rfc3162.NASIPv6Address_Type), s.NASAddr.Unmap().AsSlice())
	add(ByNASIdentifier, rfc2865.NASIdentifier_Type, []byte(s.NASIdentifier))
	ofNAS := len(list)
	add(ByUserName, rfc2865.UserName_Type, []byte(s.UserName))
	add(BySessionID, rfc2866.AcctSessionID_Type, []byte(s.SessionID))
	if a := s.FramedAddr.Unmap(); a.IsValid() {
		if !a.Is4() {
			return nil, fmt.Errorf("radclient: Session.FramedAddr is %v: must be IPv4", a)
		}
		add(ByFramedAddr, rfc2865.FramedIPAddress_Type, a.AsSlice())
	}
	if a := s.FramedIPv6Addr; a.IsValid() {
		if !a.Is6() || a.Is4In6() {
			return nil, fmt.Errorf("radclient: Session.FramedIPv6Addr is %v: must be IPv6", a)
		}
		add(ByFramedAddr, rfc6911.FramedIPv6Address_Type, a.AsSlice())
	}
	add(ByCallingStationID, rfc2865.CallingStationID_Type, []byte(s.CallingStationID))
	add(ByNASPortID, rfc2869.NASPortID_Type, []byte(s.NASPortID))
	if len(list) == ofNAS {
		return nil, ErrNoSession
	}
	return list, nil
}

func addrType(a netip.Addr, v4, v6 radius.Type) radius.Type {
	if a.Unmap().Is4() {
		return v4
	}
	return v6
}

// ErrNoSession is an error of [Client.Disconnect] and [Client.ChangeAuthorization]: nothing of what the Profile sends says which session
// is meant. A NAS could take that for all of them.
var ErrNoSession = errors.New("radclient: nothing identifies the session")

// A NAKError is the answer of a NAS that did nothing of what it was asked for.
type NAKError struct {
	Server netip.AddrPort
	Code   radius.Code        // CoA-NAK or Disconnect-NAK, or Protocol-Error
	Cause  rfc3576.ErrorCause // 0: the NAS does not say
}

func (e *NAKError) Error() string {
	cause := "without an Error-Cause"
	if e.Cause != 0 {
		cause = fmt.Sprintf("%v (%d)", e.Cause, uint32(e.Cause))
	}
	return fmt.Sprintf("radclient: %v answered %v: %s", e.Server, e.Code, cause)
}

// NotFound reports whether the NAS has no such session: Session-Context-Not-Found.
func (e *NAKError) NotFound() bool {
	return e.Cause == rfc3576.ErrorCause_Value_SessionContextNotFound
}

// Disconnect asks a NAS, one of Config.Servers or Config.Others, to end a session (RFC 5176 section 2.1). nil: it has. The session's Stop
// says when, and what it used. Otherwise the error is a [*NAKError], [ErrNoSession], or one of [Client.Do].
func (c *Client) Disconnect(ctx context.Context, nas netip.AddrPort, p Profile, s Session) error {
	return c.change(ctx, radius.CodeDisconnectRequest, nas, p, s, nil)
}

// ChangeAuthorization asks a NAS to apply these attributes to a session (CoA-Request, RFC 5176 section 2.2): a Filter-Id, a
// Session-Timeout, a rate as the vendor has it. nil: it has, all of them. Errors are as for Disconnect.
func (c *Client) ChangeAuthorization(ctx context.Context, nas netip.AddrPort, p Profile, s Session, to radius.Attributes) error {
	return c.change(ctx, radius.CodeCoARequest, nas, p, s, to)
}

func (c *Client) change(ctx context.Context, code radius.Code, nas netip.AddrPort, profile Profile, s Session, to radius.Attributes) error {
	list, err := s.attributes(profile)
	if err != nil {
		return err
	}
	p := &radius.Packet{Code: code, Attributes: append(list, to...)}
	if _, ok := p.Lookup(rfc2869.EventTimestamp_Type); !ok {
		// So that a recorded request is of no use later (RFC 5176 section 6.3).
		p.Add(rfc2869.EventTimestamp_Type, radius.NewInteger(uint32(time.Now().Unix())))
	}
	var r Reply
	if err := c.ExchangeWith(ctx, nas, p, &r); err != nil {
		return err
	}
	if r.Code == radius.CodeCoAACK || r.Code == radius.CodeDisconnectACK {
		return nil
	}
	return &NAKError{Server: r.Server, Code: r.Code, Cause: rfc3576.ErrorCause_Get(r.Packet)}
}
