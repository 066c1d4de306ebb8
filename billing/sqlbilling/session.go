package sqlbilling

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

// nasReboot is the cause with which a reboot of the NAS closes its sessions.
const nasReboot = "NAS-Reboot"

// A session is what a row of radacct says. Zero times are unknown; seconds since
// 1970 otherwise.
//
// Sessions merge: the result of merging records does not depend on their order,
// nor on how often each comes, because each field is a maximum, a minimum, or the
// better of two ends (see better).
type session struct {
	id int64 // radacctid; 0: not stored yet

	uniqueID, sessionID, userName string

	nasAddr, portID, portType string

	start, update, stop int64
	seconds             int64 // Acct-Session-Time, the largest reported
	input, output       int64 // octets, the largest reported

	authentic, connectStart, connectStop string
	called, calling                      string
	cause                                string // acctterminatecause; belongs to stop
	service, protocol                    string
	addr, addr6, prefix6, interfaceID    string
	delegated, class                     string
}

// newSession turns one record into the session as far as it tells. The result
// owns its memory. The error names the field that is not usable.
func newSession(rec *billing.AccountingRecord) (session, error) {
	if len(rec.UniqueID) != 32 {
		return session{}, fmt.Errorf("the UniqueID has %d characters, must have 32", len(rec.UniqueID))
	}
	if _, err := hex.DecodeString(rec.UniqueID); err != nil {
		return session{}, errors.New("the UniqueID is not hexadecimal")
	}
	event := rec.Time.Unix()
	if event <= 0 {
		return session{}, errors.New("the Time is missing or before 1970")
	}
	seconds := max(int64(rec.SessionTime/time.Second), 0)
	s := session{
		uniqueID: rec.UniqueID, sessionID: rec.SessionID, userName: rec.UserName,
		nasAddr: addrText(rec.NASAddr), portID: rec.NASPort,
		start: event, update: event, seconds: seconds,
		input: clampOctets(rec.InputOctets), output: clampOctets(rec.OutputOctets),
		called: rec.CalledStationID, calling: rec.CallingStationID,
		addr: addrText(rec.FramedAddr), addr6: addrText(rec.FramedIPv6Addr),
		prefix6: prefixText(rec.FramedIPv6Prefix), delegated: prefixText(rec.DelegatedIPv6Prefix),
		interfaceID: rec.FramedInterfaceID,
		authentic:   nameOf("Acct-Authentic", rec.Authentic),
		service:     nameOf("Service-Type", rec.ServiceType),
		protocol:    nameOf("Framed-Protocol", rec.FramedProtocol),
	}
	if rec.HasPortType {
		s.portType = dict.ValueName("NAS-Port-Type", uint64(rec.NASPortType))
	}
	if len(rec.Class) > 0 {
		s.class = "0x" + hex.EncodeToString(rec.Class)
	}
	switch rec.Status {
	case billing.Start:
		s.connectStart = rec.ConnectInfo
	case billing.InterimUpdate:
		s.start = max(event-seconds, 1)
		s.connectStart = rec.ConnectInfo
	case billing.Stop:
		s.start = max(event-seconds, 1)
		s.stop, s.cause = event, nameOf("Acct-Terminate-Cause", rec.TerminateCause)
		s.connectStop = rec.ConnectInfo
	default:
		return session{}, fmt.Errorf("the Acct-Status-Type %d (%s) is not one of a session", rec.Status, rec.Status)
	}
	return s, nil
}

// merge adds to s what o knows of the same session.
func (s *session) merge(o *session) {
	s.id = max(s.id, o.id)
	s.start = earlier(s.start, o.start)
	s.update = max(s.update, o.update)
	s.seconds = max(s.seconds, o.seconds)
	s.input, s.output = max(s.input, o.input), max(s.output, o.output)
	if better(o.stop, o.cause, s.stop, s.cause) {
		s.stop, s.cause = o.stop, o.cause
	}
	// What does not change within a session: known wins over unknown, which is
	// empty, and two values that contradict each other are decided by their
	// octets, because nothing else is there to decide in every order alike.
	for _, f := range [...]struct{ to, from *string }{
		{&s.sessionID, &o.sessionID}, {&s.userName, &o.userName}, {&s.nasAddr, &o.nasAddr},
		{&s.portID, &o.portID}, {&s.portType, &o.portType}, {&s.authentic, &o.authentic},
		{&s.connectStart, &o.connectStart}, {&s.connectStop, &o.connectStop},
		{&s.called, &o.called}, {&s.calling, &o.calling}, {&s.service, &o.service},
		{&s.protocol, &o.protocol}, {&s.addr, &o.addr}, {&s.addr6, &o.addr6},
		{&s.prefix6, &o.prefix6}, {&s.interfaceID, &o.interfaceID},
		{&s.delegated, &o.delegated}, {&s.class, &o.class},
	} {
		*f.to = max(*f.to, *f.from)
	}
}

// reboot closes s if one of the NAS's reloads ends it: the first one at or after
// its start. A Stop of the session itself wins over that.
func (s *session) reboot(reloads []int64) {
	first := int64(0)
	for _, r := range reloads {
		if r >= s.start {
			first = earlier(first, r)
		}
	}
	if better(first, nasReboot, s.stop, s.cause) {
		s.stop, s.cause = first, nasReboot
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
	if own, own2 := cause != nasReboot, cause2 != nasReboot; own != own2 {
		return own
	}
	if c := cmp.Compare(stop, stop2); c != 0 {
		return c < 0
	}
	return cause > cause2
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

func addrText(a netip.Addr) string {
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
