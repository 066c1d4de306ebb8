package loadgen

import (
	"encoding/binary"

	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"

	"github.com/radpool/radpool/internal/wire"
)

// The attributes that requests have and answers are read for.
const (
	typeUserName         = rfc2865.UserName_Type
	typeUserPassword     = rfc2865.UserPassword_Type
	typeCHAPPassword     = rfc2865.CHAPPassword_Type
	typeNASIPAddress     = rfc2865.NASIPAddress_Type
	typeNASPort          = rfc2865.NASPort_Type
	typeServiceType      = rfc2865.ServiceType_Type
	typeFramedProtocol   = rfc2865.FramedProtocol_Type
	typeFramedIPAddress  = rfc2865.FramedIPAddress_Type
	typeClass            = rfc2865.Class_Type
	typeVendorSpecific   = rfc2865.VendorSpecific_Type
	typeSessionTimeout   = rfc2865.SessionTimeout_Type
	typeCallingStationID = rfc2865.CallingStationID_Type
	typeNASIdentifier    = rfc2865.NASIdentifier_Type
	typeNASPortType      = rfc2865.NASPortType_Type
	typeStatusType       = rfc2866.AcctStatusType_Type
	typeInputOctets      = rfc2866.AcctInputOctets_Type
	typeOutputOctets     = rfc2866.AcctOutputOctets_Type
	typeSessionID        = rfc2866.AcctSessionID_Type
	typeAuthentic        = rfc2866.AcctAuthentic_Type
	typeSessionTime      = rfc2866.AcctSessionTime_Type
	typeInputPackets     = rfc2866.AcctInputPackets_Type
	typeOutputPackets    = rfc2866.AcctOutputPackets_Type
	typeTerminateCause   = rfc2866.AcctTerminateCause_Type
	typeInputGigawords   = rfc2869.AcctInputGigawords_Type
	typeOutputGigawords  = rfc2869.AcctOutputGigawords_Type
	typeEventTimestamp   = rfc2869.EventTimestamp_Type
	typeInterimInterval  = rfc2869.AcctInterimInterval_Type
)

// Microsoft's vendor number and attributes (RFC 2548).
const (
	vendorMicrosoft = 311

	msCHAPResponse  = 1
	msCHAPChallenge = 11
	msCHAPMPPEKeys  = 12
	msCHAP2Response = 25
	msCHAP2Success  = 26
)

// uint32Of reads a number; ok is false where value is none.
func uint32Of(value []byte) (v uint32, ok bool) {
	if len(value) != 4 {
		return 0, false
	}
	return binary.BigEndian.Uint32(value), true
}

// microsoft returns the value of Microsoft's attribute t in a Vendor-Specific, which may hold several.
func microsoft(vsa []byte, t byte) (value []byte, ok bool) {
	for kind, value := range wire.VendorAttributes(vsa, vendorMicrosoft) {
		if kind == t {
			return value, true
		}
	}
	return nil, false
}
