package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/radpool/radpool/internal/loadgen"
)

// report is what a run was and how it ended. Its JSON is the form in which it is kept: durations in nanoseconds, no
// secret, no password.
type report struct {
	Server     string          `json:"server"`
	Accounting string          `json:"accounting"`
	Load       string          `json:"load"`
	Mix        string          `json:"mix"`
	Users      int             `json:"users"`
	Throughput float64         `json:"throughput"` // requests a second that were answered
	Wrong      uint64          `json:"wrong"`
	Result     *loadgen.Result `json:"result"`
}

func newReport(c loadgen.Config, r *loadgen.Result) *report {
	return &report{
		Server: c.Auth.String(), Accounting: c.Acct.String(), Load: load(c), Mix: c.Mix.String(), Users: c.Users.Len(),
		Throughput: r.Throughput(), Wrong: r.Wrong(), Result: r,
	}
}

// load says in words what a run is.
func load(c loadgen.Config) string {
	switch {
	case c.Storm:
		return fmt.Sprintf("%s at once", count(uint64(c.Requests)))
	case c.Workers > 0 && c.Requests > 0:
		return fmt.Sprintf("%s workers, %s in all", count(uint64(c.Workers)), count(uint64(c.Requests)))
	case c.Workers > 0:
		return fmt.Sprintf("%s workers for %v", count(uint64(c.Workers)), c.Duration)
	}
	var parts []string
	for _, s := range c.Profile {
		part := fmt.Sprintf("%g/s for %v", s.From, s.For)
		if s.To != s.From {
			part = fmt.Sprintf("%g/s to %g/s in %v", s.From, s.To, s.For)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// A figure is one of those that are printed, and stand on the page.
type figure struct {
	ID, Name, Value string
	Wrong           bool // it should be 0
}

// figures are the counters that a run has, those that must be seen and others that are not 0.
func (r *report) figures() []figure {
	n := &r.Result.Counters
	all := []struct {
		id, name string
		value    uint64
		always   bool
		wrong    bool
	}{
		{"requests", "requests", n.Requests, true, false},
		{"sent", "datagrams sent", n.Sent, true, false},
		{"retransmitted", "retransmissions", n.Retransmitted, true, false},
		{"duplicated", "duplicates", n.Duplicated, false, false},
		{"answered", "answered", n.Answered, true, false},
		{"accepts", "Access-Accept", n.Accepts, false, false},
		{"rejects", "Access-Reject", n.Rejects, false, false},
		{"challenges", "Access-Challenge", n.Challenges, false, false},
		{"accounting", "Accounting-Response", n.AccountingResponses, false, false},
		{"status", "answers to Status-Server", n.StatusResponses, false, false},
		{"lost", "lost", n.Lost, true, true},
		{"unsent", "never sent, for want of an Identifier", n.Unsent, false, true},
		{"senderrors", "datagrams that the system would not send", n.SendErrors, false, true},
		{"drops", "replies dropped by this host's sockets", r.Result.SocketDrops, false, true},
		{"extra", "second and late replies", n.Extra, false, false},
		{"wrong", "wrong replies", n.Wrong(), true, true},
		{"malformed", "malformed", n.Malformed, false, true},
		{"badsignature", "with a wrong authenticator or Identifier", n.BadSignature, false, true},
		{"unprotected", "without Message-Authenticator at their head", n.Unprotected, false, true},
		{"badcode", "with a code that is no answer", n.BadCode, false, true},
		{"unexpected", "with another code than expected", n.Unexpected, false, true},
		{"unproven", "without the right MS-CHAP2-Success", n.UnprovenMSCHAP2, false, true},
		{"wrongkeys", "with MS-CHAP-MPPE-Keys of another password", n.WrongMSCHAPKeys, false, true},
		{"foreign", "datagrams from elsewhere", n.Foreign, false, true},
	}
	var figures []figure
	for _, f := range all {
		if f.always || f.value > 0 {
			figures = append(figures, figure{f.id, f.name, count(f.value), f.wrong && f.value > 0})
		}
	}
	return figures
}

// latencies are the percentiles, likewise.
func (r *report) latencies() []figure {
	l := r.Result.Latency
	return []figure{
		{"mean", "mean", milliseconds(l.Mean), false},
		{"p50", "p50", milliseconds(l.P50), false},
		{"p90", "p90", milliseconds(l.P90), false},
		{"p99", "p99", milliseconds(l.P99), false},
		{"p999", "p99.9", milliseconds(l.P999), false},
		{"max", "max", milliseconds(l.Max), false},
	}
}

// print writes the report for people.
func (r *report) print(w io.Writer) {
	stopped := ""
	if r.Result.Stopped {
		stopped = ", stopped before its end"
	}
	_, _ = fmt.Fprintf(w, "%s: %s, %s%s\n", r.Server, r.Load, r.Mix, stopped)
	_, _ = fmt.Fprintf(w, "%14s  answered a second, in %s\n", rounded(r.Throughput), seconds(r.Result.Elapsed))
	for _, f := range r.figures() {
		_, _ = fmt.Fprintf(w, "%14s  %s\n", f.Value, f.Name)
	}
	for _, f := range r.latencies() {
		_, _ = fmt.Fprintf(w, "%14s  %s\n", f.Value, f.Name)
	}
}
