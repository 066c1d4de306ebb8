package billingtest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
)

const ruleAlone = "a batch must give each request the answer that it has alone"

// authorizeBatch asks about all at once.
func (s *suite) authorizeBatch(ctx context.Context, reqs []Request) ([]billing.Grant, []error) {
	list := make([]*billing.AccessRequest, len(reqs))
	for i, r := range reqs {
		list[i] = s.access(r)
	}
	grants, errs := make([]billing.Grant, len(reqs)), make([]error, len(reqs))
	s.soon("AuthorizeBatch", func() { s.batch().AuthorizeBatch(ctx, list, grants, errs) })
	return grants, errs
}

// accountBatch stores all at once.
func (s *suite) accountBatch(ctx context.Context, reqs []Request) []error {
	list := make([]*billing.AccountingRecord, len(reqs))
	for i, r := range reqs {
		list[i] = s.record(r)
	}
	errs := make([]error, len(reqs))
	s.soon("AccountBatch", func() { s.batch().AccountBatch(ctx, list, errs) })
	for i, err := range errs {
		if err != nil {
			s.refuse(list[i])
		}
	}
	return errs
}

// sendBatch is accountBatch for records that must be stored.
func (s *suite) sendBatch(reqs ...Request) {
	for i, err := range s.accountBatch(s.ctx, reqs) {
		if err != nil {
			s.fail("AccountBatch", "a record that the NAS may send must be stored", "record %d of %d, %s: %v",
				i+1, len(reqs), describe(s.record(reqs[i])), err)
		}
	}
}

// expectBatch is expectVisit with AccountBatch to blame.
func (s *suite) expectBatch(rule, how string, all map[string]Session, l *visit, want Session) {
	got, found := all[l.id(s)]
	if !found {
		s.fail("AccountBatch", rule, "%s: there is no session with Acct-Session-Id %q", how, want.SessionID)
	} else if diff := want.diff(got); diff != "" {
		s.fail("AccountBatch", rule, "%s: Acct-Session-Id %q: %s", how, want.SessionID, diff)
	}
}

func checkBatchAuthorize(s *suite) {
	var (
		reqs      []Request
		passwords []string
	)
	add := func(user, password string) {
		reqs, passwords = append(reqs, PAP(user, password)), append(passwords, password)
	}
	for i, sub := range subscribers {
		add(sub.UserName, sub.Password)
		add(fmt.Sprintf("nobody-%d", i), "x")
	}
	add(subscribers[0].UserName, subscribers[0].Password) // twice in one batch
	add("' OR '1'='1", "x")
	for _, n := range []int{len(reqs), 1, 0} {
		s.compareAlone(reqs[:n], passwords[:n])
	}
	// In the opposite order, so that an answer by position shows.
	for i, j := 0, len(reqs)-1; i < j; i, j = i+1, j-1 {
		reqs[i], reqs[j] = reqs[j], reqs[i]
		passwords[i], passwords[j] = passwords[j], passwords[i]
	}
	s.compareAlone(reqs, passwords)
}

func (s *suite) compareAlone(reqs []Request, passwords []string) {
	grants, errs := s.authorizeBatch(s.ctx, reqs)
	for i, r := range reqs {
		alone, ok, err := s.authorize(s.ctx, s.access(r))
		if !ok {
			return
		}
		if (err == nil) != (errs[i] == nil) {
			s.fail("AuthorizeBatch", ruleAlone, "request %d of %d, user %q: the error %v, alone %v",
				i+1, len(reqs), r.userName(), orNone(errs[i]), orNone(err))
			continue
		}
		if got, want := grantText(grants[i], passwords[i]), grantText(alone, passwords[i]); err == nil && got != want {
			s.fail("AuthorizeBatch", ruleAlone, "request %d of %d, user %q: %s; alone %s", i+1, len(reqs), r.userName(), got, want)
		}
	}
}

func checkBatchAccount(s *suite) {
	const rule = "a batch must store each record as if it had come alone"
	visits := make([]*visit, 20)
	steps := make([][]Request, 4)
	for i := range visits {
		visits[i] = s.visit(fmt.Sprintf("batch-%d", i))
		l := visits[i]
		for j, r := range []Request{l.start, l.interim1, l.interim2, l.stop} {
			steps[j] = append(steps[j], r)
		}
	}
	s.sendBatch()
	s.sendBatch(steps[0]...)
	s.sendBatch(steps[1][0])
	s.sendBatch(steps[2]...)
	all := s.sessions()
	for _, l := range visits {
		s.expectBatch(rule, "after a batch of Interim-Updates", all, l, l.lasting())
	}
	s.sendBatch(steps[3]...)
	all = s.sessions()
	for _, l := range visits {
		s.expectBatch(rule, "after a batch of Stops", all, l, l.ended)
	}
	if len(all) != len(visits) {
		s.fail("AccountBatch", rule, "there are %d sessions, must be %d", len(all), len(visits))
	}
}

func checkBatchRepeated(s *suite) {
	const rule = "a batch may hold several records of one session, and one record several times, in any order"
	a, b, c, d := s.visit("twice-a"), s.visit("twice-b"), s.visit("twice-c"), s.visit("twice-d")
	s.sendBatch(a.start, a.start, b.start, b.interim1, b.interim2, b.stop, c.stop, c.interim2, c.stop, c.start, c.interim1, d.start)
	all := s.sessions()
	s.expectBatch(rule, "a Start twice", all, a, a.open)
	s.expectBatch(rule, "Start, Interim-Updates, Stop", all, b, b.ended)
	s.expectBatch(rule, "Stop, Interim-Update, Stop, Start, Interim-Update", all, c, c.ended)
	s.expectBatch(rule, "a Start beside them", all, d, d.open)

	// A restart of the NAS among its sessions' records.
	const nas = "192.0.2.20"
	began := s.began
	before := newVisit("twice-e", "alice", nas, began)
	after := newVisit("twice-f", "bob", nas, began.Add(time.Hour))
	s.sendBatch(before.start)
	s.sendBatch(after.start, On(nas).EventTime(began.Add(30*time.Minute)), a.interim1)
	all = s.sessions()
	if got := all[before.id(s)]; got.Stop.IsZero() {
		s.fail("AccountBatch", rule, "an Accounting-On in a batch: a session of the NAS that began before it is open")
	}
	s.expectBatch(rule, "an Accounting-On in a batch: a session that began after it", all, after, after.open)
}

// checkBatchOneBad puts requests that a back end may have trouble with between
// others. Whether they are in error is its own affair; the others must not be.
func checkBatchOneBad(s *suite) {
	const rule = "one request's failure must be its own: the others of the batch have their answers"
	alice, bob := subscribers[0], subscribers[1]
	for _, name := range []string{"\x00", "alice\x00", "\xff\xfe", strings.Repeat("\xff", 253), strings.Repeat("'", 253), ""} {
		bad := PAP(name, "x").String(rfc2865.NASIdentifier_Type, name)
		if name == "" {
			bad = AccessRequest()
		}
		grants, errs := s.authorizeBatch(s.ctx, []Request{PAP("alice", alice.Password), bad, PAP("bob", bob.Password)})
		for i, sub := range map[int]Subscriber{0: alice, 2: bob} {
			if errs[i] != nil || grants[i].Reason != billing.ReasonNone ||
				grants[i].Password.VerifyPAP([]byte(sub.Password)) != billing.ReasonNone {
				s.fail("AuthorizeBatch", rule, "user %q beside user %q: Reason %v, error %v", sub.UserName, name, because(grants[i].Reason), orNone(errs[i]))
			}
		}
	}
	for i, bad := range badRecords(s.began) {
		first, last := s.visit(fmt.Sprintf("beside-%d-1", i)), s.visit(fmt.Sprintf("beside-%d-2", i))
		errs := s.accountBatch(s.ctx, []Request{first.start, bad.request, last.start})
		all := s.sessions()
		for j, l := range map[int]*visit{0: first, 2: last} {
			if errs[j] != nil {
				s.fail("AccountBatch", rule, "a record beside one with %s: %v", bad.what, errs[j])
			} else {
				s.expectBatch(rule, "a record beside one with "+bad.what, all, l, l.open)
			}
		}
		if _, found := all[s.record(bad.request).UniqueID]; errs[1] == nil && !found {
			s.fail("AccountBatch", "AccountBatch must set the error of each record that is not durable", "a record with %s: no error, and no session", bad.what)
		}
	}
}

type badRecord struct {
	what    string
	request Request
}

func badRecords(now time.Time) []badRecord {
	start := func(user, id string) Request { return Start(user, id).EventTime(now) }
	return []badRecord{
		{"octets of 2^64-1", Interim("alice", "bad-octets").EventTime(now).Octets(1<<64-1, 1<<64-1)},
		{"NUL in its names", start("a\x00b", "bad\x00id")},
		{"names that are not UTF-8", start("\xff\xfe", "bad\xff")},
		{"names of 253 octets", start(strings.Repeat("n", 253), strings.Repeat("'", 253))},
		{"no User-Name", start("", "bad-user")},
		{"a time in 2106", Start("alice", "bad-time").EventTime(time.Unix(1<<32-1, 0))},
		{"a session time of 136 years", Interim("alice", "bad-age").EventTime(now).SessionTime((1<<32 - 1) * time.Second)},
	}
}

func checkBatchCancelled(s *suite) {
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	alice := subscribers[0]
	grants, errs := s.authorizeBatch(ctx, []Request{PAP("alice", alice.Password), PAP("nobody", "x"), PAP("alice", alice.Password)})
	for i, g := range grants {
		name, want := "alice", billing.ReasonNone
		if i == 1 {
			name, want = "nobody", billing.ReasonUnknownUser
		}
		s.judge("AuthorizeBatch", ruleCancelled, name, g, errs[i], want)
	}
	visits := []*visit{s.visit("cancelled-1"), s.visit("cancelled-2")}
	stored := s.accountBatch(ctx, []Request{visits[0].start, visits[1].start})
	all := s.sessions()
	for i, l := range visits {
		if _, found := all[l.id(s)]; stored[i] == nil && !found {
			s.fail("AccountBatch", ruleNotStored, "record %d of %d: there is no session", i+1, len(visits))
		}
	}
}
