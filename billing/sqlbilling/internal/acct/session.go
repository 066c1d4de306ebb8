package acct

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/internal/dict"
)

// NASReboot is the cause with which a reboot of the NAS closes its sessions.
const NASReboot = "NAS-Reboot"

// A Session is what is known of one session. Times are seconds since 1970, 0 where
// they are unknown.
//
// Sessions merge: the result of merging records does not depend on their order,
// nor on how often each comes, because each field is a maximum, a minimum, or the
// better of two ends (see better).
type Session struct {
	ID int64 // radacctid; 0: not stored yet

	UniqueID, SessionID, UserName string

	NASAddr, PortID, PortType string

	Start, Update, Stop int64
	Interval            int64 // Update less the time of the newest record before it; 0: there was none
	Seconds             int64 // Acct-Session-Time, the largest reported
	Input, Output       int64 // octets, the largest reported

	Authentic, ConnectStart, ConnectStop string
	Called, Calling                      string
	Cause                                string // acctterminatecause; belongs to stop
	Service, Protocol                    string
	Addr, Addr6, Prefix6, InterfaceID    string
	Delegated, Class                     string
}

// NewSession turns one record into the session as far as it tells. The result
// owns its memory. The error names the field that is not usable.
func NewSession(rec *billing.AccountingRecord) (Session, error) {
	if len(rec.UniqueID) != 32 {
		return Session{}, fmt.Errorf("the UniqueID has %d characters, must have 32", len(rec.UniqueID))
	}
	if _, err := hex.DecodeString(rec.UniqueID); err != nil {
		return Session{}, errors.New("the UniqueID is not hexadecimal")
	}
	event := rec.Time.Unix()
	if event <= 0 {
		return Session{}, errors.New("the Time is missing or before 1970")
	}
	seconds := max(int64(rec.SessionTime/time.Second), 0)
	s := Session{
		UniqueID: rec.UniqueID, SessionID: rec.SessionID, UserName: rec.UserName,
		NASAddr: AddrText(rec.NASAddr), PortID: rec.NASPort,
		Start: event, Update: event, Seconds: seconds,
		Input: clampOctets(rec.InputOctets), Output: clampOctets(rec.OutputOctets),
		Called: rec.CalledStationID, Calling: rec.CallingStationID,
		Addr: AddrText(rec.FramedAddr), Addr6: AddrText(rec.FramedIPv6Addr),
		Prefix6: prefixText(rec.FramedIPv6Prefix), Delegated: prefixText(rec.DelegatedIPv6Prefix),
		InterfaceID: rec.FramedInterfaceID,
		Authentic:   nameOf("Acct-Authentic", rec.Authentic),
		Service:     nameOf("Service-Type", rec.ServiceType),
		Protocol:    nameOf("Framed-Protocol", rec.FramedProtocol),
	}
	if rec.HasPortType {
		s.PortType = dict.ValueName("NAS-Port-Type", uint64(rec.NASPortType))
	}
	if len(rec.Class) > 0 {
		s.Class = "0x" + hex.EncodeToString(rec.Class)
	}
	switch rec.Status {
	case billing.Start:
		s.ConnectStart = rec.ConnectInfo
	case billing.InterimUpdate:
		s.Start = max(event-seconds, 1)
		s.ConnectStart = rec.ConnectInfo
	case billing.Stop:
		s.Start = max(event-seconds, 1)
		s.Stop, s.Cause = event, nameOf("Acct-Terminate-Cause", rec.TerminateCause)
		s.ConnectStop = rec.ConnectInfo
	default:
		return Session{}, fmt.Errorf("the Acct-Status-Type %d (%s) is not one of a session", rec.Status, rec.Status)
	}
	return s, nil
}

// Merge adds to s what o knows of the same session.
func (s *Session) Merge(o *Session) {
	s.ID = max(s.ID, o.ID)
	s.Start = earlier(s.Start, o.Start)
	s.Update, s.Interval = latest(s.Update, s.Interval, o.Update, o.Interval)
	s.Seconds = max(s.Seconds, o.Seconds)
	s.Input, s.Output = max(s.Input, o.Input), max(s.Output, o.Output)
	if better(o.Stop, o.Cause, s.Stop, s.Cause) {
		s.Stop, s.Cause = o.Stop, o.Cause
	}
	// What does not change within a session: known wins over unknown, which is
	// empty, and two values that contradict each other are decided by their
	// octets, because nothing else is there to decide in every order alike.
	for _, f := range [...]struct{ to, from *string }{
		{&s.SessionID, &o.SessionID}, {&s.UserName, &o.UserName}, {&s.NASAddr, &o.NASAddr},
		{&s.PortID, &o.PortID}, {&s.PortType, &o.PortType}, {&s.Authentic, &o.Authentic},
		{&s.ConnectStart, &o.ConnectStart}, {&s.ConnectStop, &o.ConnectStop},
		{&s.Called, &o.Called}, {&s.Calling, &o.Calling}, {&s.Service, &o.Service},
		{&s.Protocol, &o.Protocol}, {&s.Addr, &o.Addr}, {&s.Addr6, &o.Addr6},
		{&s.Prefix6, &o.Prefix6}, {&s.InterfaceID, &o.InterfaceID},
		{&s.Delegated, &o.Delegated}, {&s.Class, &o.Class},
	} {
		*f.to = max(*f.to, *f.from)
	}
}

// Reboot closes s if one of the NAS's reloads ends it: the first one at or after
// its start. A Stop of the session itself wins over that.
func (s *Session) Reboot(reloads []int64) {
	first := int64(0)
	for _, r := range reloads {
		if r >= s.Start {
			first = earlier(first, r)
		}
	}
	if better(first, NASReboot, s.Stop, s.Cause) {
		s.Stop, s.Cause = first, NASReboot
	}
}

// better reports whether a session's end (stop, cause) is to be kept rather than
// (stop2, cause2): an end over none; what the session's own Stop says over the
// reboot of its NAS; the earlier; and the cause that is greater, so that one that
// is known wins over none.
func better(stop int64, cause string, stop2 int64, cause2 string) bool {
	if stop == 0 || stop2 == 0 {
		return stop != 0
	}
	if own, own2 := cause != NASReboot, cause2 != NASReboot; own != own2 {
		return own
	}
	if c := cmp.Compare(stop, stop2); c != 0 {
		return c < 0
	}
	return cause > cause2
}

// maxInterval is what the column of MySQL holds. To be told of a longer time as of this
// one depends on no order either.
const maxInterval = math.MaxInt32

// latest is the newest of some times, and how long before it the one before was, out of
// the same of two parts of them: the two newest of all are among the two newest of each.
// An update is 0 where there is no time, an interval where there is no second one.
func latest(update, interval, update2, interval2 int64) (newest, since int64) {
	switch {
	case update < update2:
		return latest(update2, interval2, update, interval)
	case update2 == 0:
		return update, max(interval, 0)
	case update == update2:
		return update, earlier(max(interval, 0), max(interval2, 0))
	}
	return update, min(earlier(max(interval, 0), update-update2), maxInterval)
}

// earlier is the smaller of two times, where 0 is unknown.
func earlier(a, b int64) int64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// clampOctets keeps a counter within what the column holds, 8 EiB.
func clampOctets(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

// nameOf is the name of an enumerated value, or nothing for 0, which is none.
func nameOf(attr string, v uint32) string {
	if v == 0 {
		return ""
	}
	return dict.ValueName(attr, uint64(v))
}

// AddrText is an address as it is stored, or nothing for none.
func AddrText(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.Unmap().String()
}

func prefixText(p netip.Prefix) string {
	if !p.IsValid() {
		return ""
	}
	return p.String()
}
