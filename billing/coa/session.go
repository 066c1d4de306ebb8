package coa

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"
	"layeh.com/radius/rfc3162"
	"layeh.com/radius/rfc6911"
)

// A Session is one that is open, as its accounting tells.
type Session struct {
	// Key tells it from all others: billing.AccountingRecord.UniqueID.
	Key string

	SessionID        string // Acct-Session-Id
	UserName         string
	CallingStationID string
	NASPort          string     // NAS-Port-Id, else NAS-Port in decimal, as in billing.AccountingRecord
	NASAddr          netip.Addr // NAS-IP-Address or NAS-IPv6-Address
	FramedAddr       netip.Addr
	FramedIPv6Addr   netip.Addr
	Vendor           string    // of the NAS, where it is known: as in FreeRADIUS's nas.type
	Seen             time.Time // of its last accounting record
}

// A Want is what a session is to have.
type Want struct {
	Mode Mode

	// Attributes are those of the CoA-Request that brings it about; see Changeable.
	Attributes radius.Attributes

	// Relogin: only a new login can bring it about, so the session is ended.
	Relogin bool

	// Fallback: where the NAS refuses the CoA-Request the session is ended.
	Fallback bool
}

// An Item is an open session, what it is to have, and how far that is.
type Item struct {
	Session Session
	Want    Want
	State   State
}

// A Store is where a back end keeps its open sessions. It is used by one goroutine for
// Sessions and by several for Save.
type Store interface {
	// Sessions returns open sessions in the order of their keys: those with a key
	// above after, limit of them at most, and of these users alone, unless there are
	// none. It may leave out those of which it is sure that they have what they are
	// to have. more is the key to go on after; empty: that was all.
	Sessions(ctx context.Context, now time.Time, users []string, after string, limit int) (items []Item, more string, err error)

	// Save replaces the State of an open session, if its Version is still that of s,
	// and adds 1 to it: durably when it returns. Otherwise saved is false: another
	// server was faster, or the session has ended.
	Save(ctx context.Context, key string, s State) (saved bool, err error)
}

// A NAS changes and ends sessions: Client is one. The error is nil for an ACK,
// ErrNotFound, ErrRefused or ErrUnreachable (errors.Is), and any other where there was
// no reply. The methods are called from many goroutines at once.
type NAS interface {
	Change(ctx context.Context, s *Session, to radius.Attributes) error
	Disconnect(ctx context.Context, s *Session) error
}

// Errors of a NAS.
var (
	ErrNotFound    = errors.New("coa: the NAS has no such session")
	ErrRefused     = errors.New("coa: the NAS refused")
	ErrUnreachable = errors.New("coa: there is no way to ask the NAS")
)

// outcomeOf is what an error of a NAS means.
func outcomeOf(err error) Outcome {
	switch {
	case err == nil:
		return ACK
	case errors.Is(err, ErrNotFound):
		return NotFound
	case errors.Is(err, ErrRefused):
		return NAK
	case errors.Is(err, ErrUnreachable):
		return Unreachable
	}
	return Silence
}

// notChangeable are attributes that say in a CoA-Request which session is meant, or
// which NAS (RFC 5176 section 3), and those that it cannot have (section 3.6).
var notChangeable = map[radius.Type]bool{
	rfc2865.UserName_Type: true, rfc2865.UserPassword_Type: true, rfc2865.CHAPPassword_Type: true,
	rfc2865.NASIPAddress_Type: true, rfc2865.NASPort_Type: true, rfc2865.NASIdentifier_Type: true,
	rfc2865.FramedIPAddress_Type: true, rfc2865.ReplyMessage_Type: true, rfc2865.State_Type: true, rfc2865.Class_Type: true,
	rfc2865.CalledStationID_Type: true, rfc2865.CallingStationID_Type: true, rfc2865.ProxyState_Type: true,
	rfc2866.AcctSessionID_Type: true, rfc2866.AcctMultiSessionID_Type: true,
	rfc2869.EAPMessage_Type: true, rfc2869.MessageAuthenticator_Type: true, rfc2869.NASPortID_Type: true, rfc2869.EventTimestamp_Type: true,
	rfc3162.NASIPv6Address_Type: true, rfc3162.FramedInterfaceID_Type: true, rfc3162.FramedIPv6Prefix_Type: true,
	rfc6911.FramedIPv6Address_Type: true,
}

// Changeable are those of the attributes of an Access-Accept that a CoA-Request can
// change. The others would say which session is meant, and wrongly: an address that the
// session has not would make the NAS refuse. attrs is not changed.
func Changeable(attrs radius.Attributes) radius.Attributes {
	var list radius.Attributes
	for _, avp := range attrs {
		if !notChangeable[avp.Type] {
			list = append(list, avp)
		}
	}
	return list
}

// Replaces reports whether every kind of attribute of old is in attrs as well, so that
// a CoA-Request with attrs leaves nothing of old behind: it changes what it names, and
// cannot take away the rest.
func Replaces(attrs, old radius.Attributes) bool {
	kinds := make(map[kind]bool)
	for _, avp := range Changeable(attrs) {
		kinds[kindOf(avp)] = true
	}
	for _, avp := range Changeable(old) {
		if !kinds[kindOf(avp)] {
			return false
		}
	}
	return true
}

// A kind tells attributes from each other, those of vendors too.
type kind struct {
	attribute radius.Type
	vendor    uint32
	code      byte
}

func kindOf(avp *radius.AVP) kind {
	k := kind{attribute: avp.Type}
	if avp.Type == rfc2865.VendorSpecific_Type && len(avp.Attribute) > 4 {
		k.vendor, _, _ = radius.VendorSpecific(avp.Attribute)
		k.code = avp.Attribute[4]
	}
	return k
}
