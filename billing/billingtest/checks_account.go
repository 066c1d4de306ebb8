package billingtest

import (
	"fmt"
	"strings"
	"time"

	"layeh.com/radius/rfc2866"

	"github.com/radpool/radpool/billing"
)

const (
	ruleOrder  = "any order of Start, Interim-Updates and Stop, each any number of times, must end in the same session"
	ruleStored = "a session must have what its records say"
)

// visit is a subscriber's session with all its records.
type visit struct {
	start, interim1, interim2, stop Request

	began time.Time
	open  Session // what it must be after start
	ended Session // what it must be after all
}

// visit returns a session of alice with this Acct-Session-Id.
func (s *suite) visit(id string) *visit { return newVisit(id, "alice", DefaultNAS.String(), s.began) }

func newVisit(id, user, nas string, began time.Time) *visit {
	record := func(status billing.StatusType, after time.Duration, in, out uint64) Request {
		r := Accounting(status, user, id).NAS(nas).Port(7).CallingStation("02-00-00-00-00-01").
			FramedAddr("198.51.100.7").Class("class of " + id).EventTime(began.Add(after))
		if status == billing.Start {
			return r
		}
		return r.SessionTime(after).Octets(in, out).Packets(uint32(in/500), uint32(out/500))
	}
	l := &visit{
		start:    record(billing.Start, 0, 0, 0),
		interim1: record(billing.InterimUpdate, 300*time.Second, 1_000, 20_000),
		interim2: record(billing.InterimUpdate, 600*time.Second, 30_000, 4_000_000_000),
		stop:     record(billing.Stop, 900*time.Second, 500_000, 6_000_000_000).Cause(rfc2866.AcctTerminateCause_Value_UserRequest),
		began:    began,
	}
	l.open = Session{SessionID: id, UserName: user, Start: began, Class: "class of " + id}
	l.ended = l.open
	l.ended.Stop, l.ended.SessionTime = began.Add(900*time.Second), 900*time.Second
	l.ended.InputOctets, l.ended.OutputOctets = 500_000, 6_000_000_000
	return l
}

// id is the session's UniqueID.
func (l *visit) id(s *suite) string { return s.record(l.start).UniqueID }

// lasting is what the session must be after interim2.
func (l *visit) lasting() Session {
	x := l.open
	x.SessionTime, x.InputOctets, x.OutputOctets = 600*time.Second, 30_000, 4_000_000_000
	return x
}

// expectVisit compares what there is of l with want.
func (s *suite) expectVisit(rule, how string, l *visit, want Session) Session {
	got, found := s.sessions()[l.id(s)]
	s.expect(rule, how, got, found, want)
	return got
}

func checkSessions(s *suite) {
	l := s.visit("s-1")
	s.send(l.start)
	s.expectVisit(ruleStored, "after Start", l, l.open)
	s.send(l.interim1, l.interim2)
	s.expectVisit(ruleStored, "after two Interim-Updates", l, l.lasting())
	s.send(l.stop)
	s.expectVisit(ruleStored, "after Stop", l, l.ended)

	// An Acct-Session-Id is a NAS's own: two NASes have the same one, and so has
	// one NAS after a reset, for somebody else.
	const rule = "sessions that differ in UniqueID must stay apart"
	others := []*visit{
		newVisit("s-1", "alice", "192.0.2.77", l.began.Add(time.Minute)),
		newVisit("s-1", "bob", DefaultNAS.String(), l.began.Add(2*time.Minute)),
	}
	for _, o := range others {
		s.send(o.start)
	}
	s.expectVisit(rule, "after the Start of another user, and of another NAS, with the same Acct-Session-Id", l, l.ended)
	for _, o := range others {
		s.expectVisit(rule, "after a session of another user, and of another NAS, with the same Acct-Session-Id", o, o.open)
	}
}

func checkRepeated(s *suite) {
	const rule = "a record that comes again must change nothing"
	l := s.visit("repeated")
	thrice := func(r Request) { s.send(r, r, r) }
	thrice(l.start)
	s.expectVisit(rule, "after Start three times", l, l.open)
	thrice(l.interim1)
	thrice(l.interim2)
	s.expectVisit(rule, "after each Interim-Update three times", l, l.lasting())
	thrice(l.stop)
	s.expectVisit(rule, "after Stop three times", l, l.ended)
	s.send(l.start, l.interim1, l.interim2, l.stop)
	s.expectVisit(rule, "after all records once more", l, l.ended)
	if n := len(s.sessions()); n != 1 {
		s.fail("Account", rule, "there are %d sessions, must be 1", n)
	}
}

func checkAnyOrder(s *suite) {
	var told []ordered
	for i, order := range orders() {
		l := s.visit(fmt.Sprintf("order-%d", i))
		s.inOrder(order, []Request{l.start, l.interim1, l.interim2, l.stop})
		told = append(told, ordered{l.id(s), inWords(order, recordNames[:]), l.ended})
	}
	all := s.sessions()
	detail := all[told[0].id].Detail // of the natural order
	for i := range told {
		told[i].want.Detail = detail
	}
	s.expectOrders(ruleOrder, "its records say", told, all)
	if len(all) != len(told) {
		s.fail("Account", ruleOrder, "of %d sessions there are %d", len(told), len(all))
	}
	s.otherTimes()
	s.otherClasses()
}

// otherTimes sends Starts and Stops that disagree on the time, in every order. A NAS
// without a clock makes them: it sends a record again with another Acct-Delay-Time,
// and what is left after subtracting that is a second or two off. Which time is
// kept is the back end's to say.
func (s *suite) otherTimes() {
	const (
		rule   = "Starts, and Stops, that differ in time must end in the same session whatever the order in which they arrive"
		differ = 2 * time.Second
	)
	names := []string{"Start", "Start 2 s later", "Stop", "Stop 2 s later"}
	var told []ordered
	for i, order := range permutations(len(names)) {
		l := s.visit(fmt.Sprintf("times-%d", i))
		s.inOrder(order, []Request{
			l.start, l.start.EventTime(l.began.Add(differ)),
			l.stop, l.stop.EventTime(l.ended.Stop.Add(differ)),
		})
		told = append(told, ordered{l.id(s), inWords(order, names), l.ended})
	}
	all := s.sessions()
	first := all[told[0].id]
	if first.Stop.IsZero() {
		s.fail("Account", rule, "%s: the session is open", told[0].order)
		return
	}
	for i := range told {
		id := told[i].want.SessionID
		told[i].want = first
		told[i].want.SessionID, told[i].want.Class = id, ""
	}
	s.expectOrders(rule, "after "+told[0].order, told, all)
}

// otherClasses sends records of one session that disagree on its Class, in every order.
// A server that is asked anew in mid-session gives another Class, and some NASes leave
// it out of a record. Which of two is kept is the back end's to say.
func (s *suite) otherClasses() {
	const rule = "a session whose records differ in Class, or have none, must keep one and the same whatever the order in which they arrive"
	for _, classes := range [...][3]string{{"class of all"}, {"class-a", "", "class-b"}} {
		var first Session
		var natural string
		for i, order := range permutations(len(classes)) {
			id := fmt.Sprintf("%s-%d", strings.ReplaceAll(classes[0], " ", "-"), i)
			records := [...]Request{
				Start("alice", id).EventTime(s.began),
				Interim("alice", id).SessionTime(300 * time.Second).EventTime(s.began.Add(300 * time.Second)),
				Stop("alice", id).SessionTime(900 * time.Second).EventTime(s.began.Add(900 * time.Second)),
			}
			names := [...]string{"Start", "Interim-Update", "Stop"}
			var told []string
			for _, k := range order {
				r := records[k]
				if classes[k] != "" {
					r = r.Class(classes[k])
				}
				told = append(told, fmt.Sprintf("%s with Class %q", names[k], classes[k]))
				s.send(r)
			}
			got, how := s.sessions()[s.record(records[0]).UniqueID], strings.Join(told, ", ")
			if i == 0 {
				first, natural = got, how
			} else if got.Class != first.Class {
				s.fail("Account", rule, "in the order %s: Class is %q; it was %q in the order %s", how, got.Class, first.Class, natural)
				return
			}
		}
	}
}

func checkOctets(s *suite) {
	const rule = "octets are 64-bit and exact"
	for i, octets := range [][2]uint64{
		{1<<32 - 1, 1 << 32}, {1<<32 + 1, 1<<40 + 12345}, {1<<53 + 1, 1<<62 + 1},
	} {
		l := s.visit(fmt.Sprintf("octets-%d", i))
		s.send(l.start, l.stop.Octets(octets[0], octets[1]))
		want := l.ended
		want.InputOctets, want.OutputOctets = octets[0], octets[1]
		s.expectVisit(rule, "after Stop", l, want)
	}
}

func checkStrangeRecords(s *suite) {
	const rule = "names in a record are data: whatever they are, it must be stored"
	l := s.visit("plain")
	s.send(l.start)
	for i, name := range strangeNames() {
		how := fmt.Sprintf("user %q", name)
		x := newVisit(fmt.Sprintf("strange-%d", i), name, DefaultNAS.String(), s.began)
		records := []Request{x.start, x.interim1, x.interim2, x.stop}
		for _, r := range records {
			r = r.CallingStation(name).CalledStation(name)
			if rec := s.record(r); !s.account(rec, describe(rec)) {
				return
			}
		}
		want := x.ended
		got, found := s.sessions()[s.record(x.start).UniqueID]
		if found && !storable(name) {
			want.UserName = got.UserName // a column of text may not take it as it is
		}
		s.expect(rule, how, got, found, want)
	}
	for i, id := range []string{"'; DROP TABLE radacct; --", "%", "\\", "\"", "\x00id", "\xff\xfe"} {
		x := newVisit(id, "bob", DefaultNAS.String(), s.began.Add(time.Duration(i)*time.Second))
		s.send(x.start, x.stop)
		want := x.ended
		got, found := s.sessions()[x.id(s)]
		if found && !storable(id) {
			want.SessionID = got.SessionID
		}
		s.expect(rule, fmt.Sprintf("Acct-Session-Id %q", id), got, found, want)
	}
	s.expectVisit(rule, "a session that was open before", l, l.open)
}

// storable reports whether a database's text of 64 characters takes the name as it
// is: all others may be cut or escaped.
func storable(name string) bool {
	return len(name) <= 64 && strings.ToValidUTF8(name, "") == name && !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' })
}
