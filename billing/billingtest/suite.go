package billingtest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/radpool/radpool/billing"
)

// maxFailures is how many failures of one check are reported: the first ones tell
// what is wrong, and a broken rule is often seen hundreds of times.
const maxFailures = 8

// patience is how long a method may take after its context has ended. It bounds
// a hang, and measures nothing.
var patience = 10 * time.Second

// subscribers are those that most checks have the back end know.
var subscribers = []Subscriber{
	{"alice", "wonderland-1"},
	{"bob", "builder of 2 houses"},
	{"carol@example.net", "c@rol:3$x"},
}

// suite is one check while it runs.
type suite struct {
	ctx     context.Context
	check   *check
	backend *Backend
	began   time.Time // when the sessions of the check begin: lately, since a back end may distrust times that are far off

	mu       sync.Mutex
	failures []error
	refused  map[string]bool // UniqueIDs of records that came back with an error
}

// stopped is what a check panics with to end early; what there is to say has been
// said.
type stopped struct{}

// run makes the check, and returns what is wrong.
func (c *check) run(ctx context.Context, factory Factory) []error {
	s := &suite{ctx: ctx, check: c, began: time.Now().Add(-2 * time.Hour).Truncate(time.Second), refused: make(map[string]bool)}
	known := slices.Concat(subscribers, c.subscribers)
	if !s.open(factory, known) {
		return s.failures
	}
	if missing := s.missing(); missing != "" {
		s.failures = append(s.failures, &SkipError{c.name, missing})
	} else {
		s.perform()
	}
	s.close()
	s.mu.Lock() // a method that hangs may still be there
	defer s.mu.Unlock()
	return slices.Clone(s.failures)
}

// perform runs the check until it ends or stops.
func (s *suite) perform() {
	defer func() {
		if v := recover(); v != nil && v != any(stopped{}) {
			panic(v)
		}
	}()
	s.check.perform(s)
	if s.check.lasting && s.reopens() {
		s.lasts()
	}
}

// open makes the back end.
func (s *suite) open(factory Factory, known []Subscriber) bool {
	const rule = "the factory must make a back end"
	b, err := factory(s.ctx, slices.Clone(known))
	switch {
	case err != nil:
		s.fail("Factory", rule, "%v", err)
	case b == nil || b.Handler == nil:
		s.fail("Factory", rule, "the Backend has no Handler")
	default:
		s.backend = b
		return true
	}
	return false
}

func (s *suite) close() {
	if s.backend.Close == nil {
		return
	}
	if err := s.backend.Close(); err != nil {
		s.fail("Backend.Close", "a back end must close", "%v", err)
	}
}

// missing says what the check needs and the Backend does not have.
func (s *suite) missing() string {
	var all []string
	if s.check.needs&needSessions != 0 && s.backend.Sessions == nil {
		all = append(all, "Backend.Sessions is nil")
	}
	if s.check.needs&needReopen != 0 && s.backend.Reopen == nil {
		all = append(all, "Backend.Reopen is nil")
	}
	if s.check.needs&needStall != 0 && s.backend.Stall == nil {
		all = append(all, "Backend.Stall is nil")
	}
	if s.check.needs&needBatch != 0 && s.batch() == nil {
		all = append(all, "the Handler is not a billing.BatchHandler")
	}
	return strings.Join(all, ", ")
}

// batch is the Handler as a billing.BatchHandler, or nil.
func (s *suite) batch() billing.BatchHandler {
	b, _ := s.backend.Handler.(billing.BatchHandler)
	return b
}

// fail notes that a rule is broken.
func (s *suite) fail(method, rule, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.failures) < maxFailures {
		s.failures = append(s.failures, &Failure{s.check.name, method, rule, fmt.Sprintf(format, args...)})
	}
}

// failed reports whether a rule was seen broken.
func (s *suite) failed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.failures) > 0
}

// stop ends the check.
func (s *suite) stop() { panic(stopped{}) }

// guard calls f, and makes a failure of its panic. It reports whether f returned.
func (s *suite) guard(method string, f func()) (returned bool) {
	defer func() {
		if v := recover(); v != nil {
			s.fail(method, "a back end must not panic", "%v\n%s", v, debug.Stack())
		}
	}()
	f()
	return true
}

// authorize asks the back end. It reports whether there is an answer at all.
func (s *suite) authorize(ctx context.Context, req *billing.AccessRequest) (g billing.Grant, ok bool, err error) {
	ok = s.guard("Authorize", func() { g, err = s.backend.Handler.Authorize(ctx, req) })
	return g, ok, err
}

// account stores a record that must be stored.
func (s *suite) account(rec *billing.AccountingRecord, what string) bool {
	var err error
	if !s.guard("Account", func() { err = s.backend.Handler.Account(s.ctx, rec) }) {
		return false
	}
	if err != nil {
		s.refuse(rec)
		s.fail("Account", "a record that the NAS may send must be stored", "%s: %v", what, err)
	}
	return err == nil
}

// refuse notes that rec came back with an error: it may be stored or not.
func (s *suite) refuse(rec *billing.AccountingRecord) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused[rec.UniqueID] = true
}

// send is account for requests, one after the other. It ends the check when one
// is not stored.
func (s *suite) send(reqs ...Request) {
	for _, r := range reqs {
		rec := s.record(r)
		if !s.account(rec, describe(rec)) {
			s.stop()
		}
	}
}

// soon calls f, and ends the check where that takes longer than patience: then f
// goes on in its goroutine.
func (s *suite) soon(method string, f func()) {
	if !s.within(method, f) {
		s.stop()
	}
}

// within calls f, and reports whether it returned within patience.
func (s *suite) within(method string, f func()) bool {
	done := make(chan bool, 1)
	go func() { done <- s.guard(method, f) }()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case ok := <-done:
		return ok
	case <-timer.C:
		s.fail(method, "a method must return soon after its context has ended", "it had not returned after %v", patience)
		return false
	}
}

// access makes an AccessRequest of r as the Processor does. It owns its memory.
func (s *suite) access(r Request) *billing.AccessRequest {
	var rec Recorder
	s.process(&rec, r)
	if len(rec.access) != 1 {
		panic("billingtest: an Access-Request of the suite did not reach the Handler")
	}
	return rec.access[0]
}

// record makes an AccountingRecord of r as the Processor does. It owns its memory.
func (s *suite) record(r Request) *billing.AccountingRecord {
	var rec Recorder
	s.process(&rec, r)
	if len(rec.records) != 1 {
		panic("billingtest: an Accounting-Request of the suite did not reach the Handler")
	}
	return rec.records[0]
}

func (s *suite) process(h billing.Handler, r Request) {
	// Not the check's context: what it is for does not depend on it.
	if _, err := Do(context.Background(), &billing.Processor{Handler: h}, r); err != nil {
		panic("billingtest: a request of the suite cannot be sent: " + err.Error())
	}
}

// sessions returns what the back end knows, by UniqueID.
func (s *suite) sessions() map[string]Session {
	list, err := s.backend.Sessions(s.ctx)
	if err != nil {
		s.fail("Backend.Sessions", "sessions must be readable", "%v", err)
		s.stop()
	}
	byID := make(map[string]Session, len(list))
	for _, x := range list {
		if _, twice := byID[x.UniqueID]; twice {
			s.fail("Account", "all records of a session must end in one session",
				"there are two with the UniqueID %s", x.UniqueID)
		}
		byID[x.UniqueID] = x
	}
	return byID
}

// expect compares a session with what it must be. It compares Class and Detail
// only where want has them.
func (s *suite) expect(rule, how string, got Session, found bool, want Session) {
	if !found {
		s.fail("Account", rule, "%s: there is no session of user %q with Acct-Session-Id %q", how, want.UserName, want.SessionID)
		return
	}
	if diff := want.diff(got); diff != "" {
		s.fail("Account", rule, "%s: %s", how, diff)
	}
}

// diff says in what got is not as want.
func (want Session) diff(got Session) string {
	var all []string
	differ := func(what string, got, want any) {
		all = append(all, fmt.Sprintf("%s is %v, must be %v", what, got, want))
	}
	if got.SessionID != want.SessionID {
		differ("SessionID", fmt.Sprintf("%q", got.SessionID), fmt.Sprintf("%q", want.SessionID))
	}
	if got.UserName != want.UserName {
		differ("UserName", fmt.Sprintf("%q", got.UserName), fmt.Sprintf("%q", want.UserName))
	}
	if !sameSecond(got.Start, want.Start) {
		differ("Start", moment(got.Start), moment(want.Start))
	}
	if !sameSecond(got.Stop, want.Stop) {
		differ("Stop", moment(got.Stop), moment(want.Stop))
	}
	if got.SessionTime != want.SessionTime {
		differ("SessionTime", got.SessionTime, want.SessionTime)
	}
	if got.InputOctets != want.InputOctets {
		differ("InputOctets", got.InputOctets, want.InputOctets)
	}
	if got.OutputOctets != want.OutputOctets {
		differ("OutputOctets", got.OutputOctets, want.OutputOctets)
	}
	if want.Class != "" && got.Class != "" && got.Class != want.Class {
		differ("Class", fmt.Sprintf("%q", got.Class), fmt.Sprintf("%q", want.Class))
	}
	if want.Detail != "" && got.Detail != want.Detail {
		differ("Detail", fmt.Sprintf("%q", got.Detail), fmt.Sprintf("%q", want.Detail))
	}
	return strings.Join(all, "; ")
}

// changed is diff for one session at two times: all of it is compared.
func (want Session) changed(got Session) string {
	diff := want.diff(got)
	if diff != "" || want.Class == got.Class && want.Detail == got.Detail {
		return diff
	}
	return fmt.Sprintf("Class is %q and Detail %q, must be %q and %q", got.Class, got.Detail, want.Class, want.Detail)
}

func sameSecond(a, b time.Time) bool {
	if a.IsZero() || b.IsZero() {
		return a.IsZero() == b.IsZero()
	}
	return a.Unix() == b.Unix()
}

func moment(t time.Time) string {
	if t.IsZero() {
		return "none"
	}
	return t.UTC().Format(time.RFC3339)
}

func describe(rec *billing.AccountingRecord) string {
	return fmt.Sprintf("%v of user %q with Acct-Session-Id %q", rec.Status, rec.UserName, rec.SessionID)
}

var errNone = errors.New("none")

// orNone makes an error printable.
func orNone(err error) error {
	if err == nil {
		return errNone
	}
	return err
}
