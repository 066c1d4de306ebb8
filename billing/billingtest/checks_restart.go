package billingtest

import (
	"fmt"
	"time"
)

const ruleLate = "a session that began before an Accounting-On or Accounting-Off of its NAS must be closed, also when its records come after that"

// restarts are both ways in which a NAS says that none of its sessions is left.
var restarts = []struct {
	name, nas string
	request   func(nas string) Request
}{{"Accounting-On", "192.0.2.11", On}, {"Accounting-Off", "192.0.2.12", Off}}

func checkNASRestart(s *suite) {
	const (
		rule  = "Accounting-On and Accounting-Off must close the sessions of their NAS that began before, and no others"
		other = "192.0.2.10"
	)
	began := s.began
	at := began.Add(30 * time.Minute)
	for _, test := range restarts {
		nas := test.nas
		first := newVisit(test.name+"-1", "alice", nas, began)
		second := newVisit(test.name+"-2", "bob", nas, began.Add(time.Second))
		elsewhere := newVisit(test.name+"-3", "alice", other, began)
		over := newVisit(test.name+"-4", "bob", nas, began)
		later := newVisit(test.name+"-5", "bob", nas, began.Add(time.Hour))
		s.send(first.start, second.start, second.interim1, elsewhere.start, over.start, over.stop, later.start)

		restart := test.request(nas).EventTime(at)
		s.send(restart, restart)
		how := "after " + test.name

		s.expectClosed(rule, how, at, first, second)
		s.expectVisit(rule, how+": a session of another NAS", elsewhere, elsewhere.open)
		s.expectVisit(rule, how+": a session that had ended", over, over.ended)
		s.expectVisit(rule, how+" that came late: a session that began after it", later, later.open)
		s.lateRecords(how, test.name, nas, at)
		s.expectVisit(rule, how+" and late records of others: a session that began after it", later, later.open)
		s.send(later.stop, elsewhere.stop)
	}
	if !s.reopens() {
		return
	}
	// Late records come after a crash as well.
	s.lasts()
	for _, test := range restarts {
		s.lateRecords("after "+test.name+" and Reopen", test.name+"-again", test.nas, at)
	}
}

// lateRecords sends what a NAS had queued when it restarted, or what the network
// delivers late: of one session the Start, of one an Interim-Update, and of one both.
// No Stop follows, since the NAS has forgotten them.
func (s *suite) lateRecords(how, id, nas string, at time.Time) {
	visit := func(i int) *visit {
		return newVisit(fmt.Sprintf("%s-late-%d", id, i), "carol@example.net", nas, s.began)
	}
	start, interim, both, swapped := visit(1), visit(2), visit(3), visit(4)
	s.send(start.start, interim.interim1, both.start, both.interim2, swapped.interim2, swapped.start)
	s.expectClosed(ruleLate, how+": its Start came late", at, start)
	s.expectClosed(ruleLate, how+": an Interim-Update of it came late", at, interim)
	s.expectClosed(ruleLate, how+": its Start and an Interim-Update came late", at, both)
	s.expectClosed(ruleLate, how+": an Interim-Update of it and its Start came late", at, swapped)
}

// expectClosed checks that the restart of their NAS has ended these sessions. What
// they used, and for how long, is the back end's to say.
func (s *suite) expectClosed(rule, how string, at time.Time, visits ...*visit) {
	all := s.sessions()
	for _, l := range visits {
		got, found := all[l.id(s)]
		want := got
		want.SessionID, want.UserName, want.Start, want.Stop = l.open.SessionID, l.open.UserName, l.open.Start, at
		s.expect(rule, how, got, found, want)
	}
}
