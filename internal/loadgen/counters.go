package loadgen

import (
	"time"

	"github.com/radpool/radpool/internal/histogram"
)

// Counters are what a run has done so far. Of the datagrams sent
//
//	Sent + SendErrors = Requests + Retransmitted + Duplicated
//
// and once a run has ended, of the requests
//
//	Requests = Answered + Lost
//
// A server that lost nothing on the way has received Sent datagrams, of which Requests were new to it, and has sent
// Replies.
type Counters struct {
	Begun    uint64 `json:"begun"`    // conversations: logins, sessions
	Finished uint64 `json:"finished"` // of them, to their end
	Unsent   uint64 `json:"unsent"`   // conversations of an open loop that no Identifier was free for until the end

	Requests      uint64 `json:"requests"` // new ones
	Sent          uint64 `json:"sent"`     // datagrams
	Retransmitted uint64 `json:"retransmitted"`
	Duplicated    uint64 `json:"duplicated"`
	SendErrors    uint64 `json:"sendErrors"`

	Answered            uint64 `json:"answered"` // requests, by a verified reply in time
	Accepts             uint64 `json:"accepts"`
	Rejects             uint64 `json:"rejects"`
	Challenges          uint64 `json:"challenges"`
	AccountingResponses uint64 `json:"accountingResponses"`
	StatusResponses     uint64 `json:"statusResponses"` // Access-Accepts that answer a Status-Server
	Lost                uint64 `json:"lost"`            // requests given up after the last timer

	Replies uint64 `json:"replies"` // datagrams that came from the server
	Extra   uint64 `json:"extra"`   // of them, verified ones to a request that was answered or given up before

	// Replies that are wrong. Unprotected to WrongMSCHAPKeys are in Answered.
	Malformed       uint64 `json:"malformed"`
	BadSignature    uint64 `json:"badSignature"`    // Response Authenticator, Message-Authenticator, or Identifier
	Unprotected     uint64 `json:"unprotected"`     // no Message-Authenticator in its place where it was asked for
	BadCode         uint64 `json:"badCode"`         // a code that does not answer the request
	Unexpected      uint64 `json:"unexpected"`      // a code that answers, but not the expected one
	UnprovenMSCHAP2 uint64 `json:"unprovenMschap2"` // no MS-CHAP2-Success, or a wrong one
	WrongMSCHAPKeys uint64 `json:"wrongMschapKeys"` // after MS-CHAP version 1, an MS-CHAP-MPPE-Keys of another password
	Foreign         uint64 `json:"foreign"`         // datagrams from who was not asked; wrong nowhere but here
}

// Wrong is how many replies should not have come as they did.
func (c *Counters) Wrong() uint64 {
	return c.Malformed + c.BadSignature + c.Unprotected + c.BadCode + c.Unexpected + c.UnprovenMSCHAP2 + c.WrongMSCHAPKeys
}

// fields are all of them, for sums.
func (c *Counters) fields() []*uint64 {
	return []*uint64{
		&c.Begun, &c.Finished, &c.Unsent, &c.Requests, &c.Sent, &c.Retransmitted, &c.Duplicated, &c.SendErrors,
		&c.Answered, &c.Accepts, &c.Rejects, &c.Challenges, &c.AccountingResponses, &c.StatusResponses, &c.Lost,
		&c.Replies, &c.Extra, &c.Malformed, &c.BadSignature, &c.Unprotected, &c.BadCode, &c.Unexpected,
		&c.UnprovenMSCHAP2, &c.WrongMSCHAPKeys, &c.Foreign,
	}
}

func (c *Counters) add(other *Counters) {
	from := other.fields()
	for i, n := range c.fields() {
		*n += *from[i]
	}
}

// minus is what has been counted since earlier.
func (c Counters) minus(earlier *Counters) Counters {
	from := earlier.fields()
	for i, n := range c.fields() {
		*n -= *from[i]
	}
	return c
}

// Latency is what requests took from when they were to be sent until their answer: retransmissions and, in an open loop,
// the time for which the generator itself was behind are in it, so that a server that stalls cannot hide it (coordinated
// omission). Lost requests are not.
type Latency struct {
	Mean time.Duration `json:"mean"`
	P50  time.Duration `json:"p50"`
	P90  time.Duration `json:"p90"`
	P99  time.Duration `json:"p99"`
	P999 time.Duration `json:"p999"`
	Max  time.Duration `json:"max"`
}

func latencyOf(h *histogram.Histogram) Latency {
	return Latency{
		Mean: h.Mean(), P50: h.Quantile(0.5), P90: h.Quantile(0.9), P99: h.Quantile(0.99), P999: h.Quantile(0.999), Max: h.Max(),
	}
}

// A Sample is one interval of a run.
type Sample struct {
	At       time.Duration `json:"at"`      // its end, since the start of the run
	Span     time.Duration `json:"span"`    // its length
	Offered  float64       `json:"offered"` // conversations a second, in an open loop, at its end
	InFlight int           `json:"inFlight"`
	Behind   time.Duration `json:"behind"` // how late the request is that waits longest for a free Identifier
	Counters
	Latency Latency `json:"latency"`
}

// Throughput is the replies a second that came.
func (s *Sample) Throughput() float64 { return perSecond(s.Replies, s.Span) }

// Goodput is the requests a second that were answered while the NAS waited for it, by a reply that is not wrong.
func (s *Sample) Goodput() float64 { return perSecond(s.Good(), s.Span) }

// Good is how many requests were answered in time and rightly.
func (c *Counters) Good() uint64 {
	return c.Answered - min(c.Answered, c.Unprotected+c.BadCode+c.Unexpected+c.UnprovenMSCHAP2+c.WrongMSCHAPKeys)
}

func perSecond(n uint64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

// Result is a run that has ended.
type Result struct {
	Elapsed     time.Duration `json:"elapsed"` // from the first request to the last answer
	Sockets     int           `json:"sockets"`
	SocketDrops uint64        `json:"socketDrops"` // replies that this host's sockets dropped, where the system tells
	Stopped     bool          `json:"stopped"`     // before its end, by its context
	Counters
	Latency Latency  `json:"latency"`
	Samples []Sample `json:"samples"`
}

// Throughput is the requests a second that were answered.
func (r *Result) Throughput() float64 { return perSecond(r.Answered, r.Elapsed) }

// Join adds the interval after s to it: counters add up, and of latencies the worse stays.
func (s *Sample) Join(next *Sample) {
	s.At, s.Span = next.At, s.Span+next.Span
	s.Offered, s.InFlight, s.Behind = max(s.Offered, next.Offered), next.InFlight, max(s.Behind, next.Behind)
	s.add(&next.Counters)
	l, n := &s.Latency, &next.Latency
	l.Mean, l.P50, l.P90 = max(l.Mean, n.Mean), max(l.P50, n.P50), max(l.P90, n.P90)
	l.P99, l.P999, l.Max = max(l.P99, n.P99), max(l.P999, n.P999), max(l.Max, n.Max)
}
