package billingtest

import (
	"net/netip"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"

	"github.com/radpool/radpool/billing"
)

// Accounting is an Accounting-Request with Acct-Status-Type, User-Name and
// Acct-Session-Id; an empty user or session is left out.
func Accounting(status billing.StatusType, user, session string) Request {
	r := Request{code: radius.CodeAccountingRequest}
	r = r.Uint32(rfc2866.AcctStatusType_Type, uint32(status))
	if user != "" {
		r = r.User(user)
	}
	if session != "" {
		r = r.String(rfc2866.AcctSessionID_Type, session)
	}
	return r
}

// Start is the Accounting-Request at the begin of a session.
func Start(user, session string) Request { return Accounting(billing.Start, user, session) }

// Interim is an Interim-Update, of a session that lasts.
func Interim(user, session string) Request { return Accounting(billing.InterimUpdate, user, session) }

// Stop is the Accounting-Request at the end of a session.
func Stop(user, session string) Request { return Accounting(billing.Stop, user, session) }

// On is the Accounting-On of a NAS that has started: no session of it is left.
func On(nas string) Request { return Accounting(billing.AccountingOn, "", "").NAS(nas) }

// Off is the Accounting-Off of a NAS that stops: no session of it is left.
func Off(nas string) Request { return Accounting(billing.AccountingOff, "", "").NAS(nas) }

// Octets sets Acct-Input-Octets and Acct-Output-Octets, with Acct-Input-Gigawords
// and Acct-Output-Gigawords for what exceeds 32 bits (RFC 2869 sections 5.1 and
// 5.2). Input is what the subscriber sent.
func (r Request) Octets(in, out uint64) Request {
	r = r.Uint32(rfc2866.AcctInputOctets_Type, uint32(in)).Without(rfc2869.AcctInputGigawords_Type)
	r = r.Uint32(rfc2866.AcctOutputOctets_Type, uint32(out)).Without(rfc2869.AcctOutputGigawords_Type)
	if high := uint32(in >> 32); high != 0 {
		r = r.Uint32(rfc2869.AcctInputGigawords_Type, high)
	}
	if high := uint32(out >> 32); high != 0 {
		r = r.Uint32(rfc2869.AcctOutputGigawords_Type, high)
	}
	return r
}

// Packets sets Acct-Input-Packets and Acct-Output-Packets.
func (r Request) Packets(in, out uint32) Request {
	return r.Uint32(rfc2866.AcctInputPackets_Type, in).Uint32(rfc2866.AcctOutputPackets_Type, out)
}

// SessionTime sets Acct-Session-Time, in whole seconds.
func (r Request) SessionTime(d time.Duration) Request {
	return r.Uint32(rfc2866.AcctSessionTime_Type, uint32(d/time.Second))
}

// EventTime sets Event-Timestamp, in whole seconds.
func (r Request) EventTime(t time.Time) Request {
	return r.Uint32(rfc2869.EventTimestamp_Type, uint32(t.Unix()))
}

// Delay sets Acct-Delay-Time, in whole seconds: for how long the NAS has tried
// to send this.
func (r Request) Delay(d time.Duration) Request {
	return r.Uint32(rfc2866.AcctDelayTime_Type, uint32(d/time.Second))
}

// Cause sets Acct-Terminate-Cause.
func (r Request) Cause(c rfc2866.AcctTerminateCause) Request {
	return r.Uint32(rfc2866.AcctTerminateCause_Type, uint32(c))
}

// FramedAddr sets Framed-IP-Address. It panics when addr is not an IP address.
func (r Request) FramedAddr(addr string) Request {
	a, err := netip.ParseAddr(addr)
	if err != nil {
		panic("billingtest: Request.FramedAddr: " + err.Error())
	}
	return r.Addr(rfc2865.FramedIPAddress_Type, a)
}

// Class sets Class.
func (r Request) Class(value string) Request { return r.String(rfc2865.Class_Type, value) }
