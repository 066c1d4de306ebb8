package billing

import (
	"net/netip"
	"time"

	"github.com/radpool/radpool/radpool"
)

// A StatusType is the value of Acct-Status-Type (RFC 2866 section 5.1): Start,
// InterimUpdate, Stop, AccountingOn or AccountingOff. Values
// without a name here, such as those of RFC 2867 for tunnels, reach Handler.Account
// too: it returns nil for those that it does not keep, or the NAS sends them for
// ever.
type StatusType uint32

// Status types.
const (
	Start         StatusType = 1
	Stop          StatusType = 2
	InterimUpdate StatusType = 3
	AccountingOn  StatusType = 7
	AccountingOff StatusType = 8
)

// String returns the name in the dictionary.
func (s StatusType) String() string {
	switch s {
	case Start:
		return "Start"
	case Stop:
		return "Stop"
	case InterimUpdate:
		return "Interim-Update"
	case AccountingOn:
		return "Accounting-On"
	case AccountingOff:
		return "Accounting-Off"
	}
	return "Unknown"
}

// An AccountingRecord is an Accounting-Request as a billing system wants it. It
// belongs to the Processor, and is valid until Account returns; its strings are
// ordinary ones and may be kept, Class may not.
//
// SessionTime, octets and packets are totals since the session began, and not what was
// used since the record before (RFC 2866 sections 5.3 to 5.9, RFC 2869 section 2.1): the
// greatest are the newest, and the record after a lost one makes up for it. A Start has
// none of them. Time less SessionTime is when the session began, by each of its records:
// so one whose Start was lost has a beginning. UniqueID says which session it is;
// SessionID is one NAS's own, and comes again.
type AccountingRecord struct {
	// Request is the request itself, for attributes that have no field here.
	Request *radpool.Request

	Status    StatusType
	SessionID string // Acct-Session-Id
	UniqueID  string // 32 hexadecimal digits that tell the session from any other, as FreeRADIUS's acct_unique makes them
	UserName  string // User-Name

	// Time is when the event happened: Event-Timestamp if the NAS sent it (and not
	// 0, a clock that was never set), else the arrival less Acct-Delay-Time.
	Time        time.Time
	SessionTime time.Duration // Acct-Session-Time, whole seconds
	HasSession  bool          // whether Acct-Session-Time was sent

	// Octets are 64-bit: Acct-Input-Octets and Acct-Input-Gigawords (RFC 2869
	// section 5.1), and the same for output. Input is from the subscriber.
	InputOctets, OutputOctets   uint64
	InputPackets, OutputPackets uint64

	TerminateCause uint32 // Acct-Terminate-Cause; 0 when there is none
	Authentic      uint32 // Acct-Authentic; 0 when there is none

	NASAddr       netip.Addr // NAS-IP-Address or NAS-IPv6-Address, else the address the packet came from
	NASIdentifier string     // NAS-Identifier
	NASPort       string     // NAS-Port-Id, else NAS-Port in decimal, else empty
	NASPortType   uint32     // NAS-Port-Type
	HasPortType   bool       // whether NAS-Port-Type was sent

	CallingStationID string
	CalledStationID  string
	ServiceType      uint32     // Service-Type; 0 when there is none
	FramedProtocol   uint32     // Framed-Protocol; 0 when there is none
	FramedAddr       netip.Addr // Framed-IP-Address; the zero Addr when there is none
	FramedIPv6Addr   netip.Addr // Framed-IPv6-Address (RFC 6911)

	FramedIPv6Prefix    netip.Prefix // Framed-IPv6-Prefix (RFC 3162)
	DelegatedIPv6Prefix netip.Prefix // Delegated-IPv6-Prefix (RFC 4818)
	FramedInterfaceID   string       // Framed-Interface-Id, as four groups of hexadecimal digits

	ConnectInfo string // Connect-Info
	Class       []byte // Class, in the request's memory
}
