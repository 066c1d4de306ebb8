package ledger

import (
	"strings"
	"unicode/utf8"

	"github.com/radpool/radpool/billing/rating"
	"github.com/radpool/radpool/billing/sqlbilling/internal/acct"
	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// A row is a row of radpool_session.
type row struct {
	acct.Session
	account string // the subscriber who pays; empty: none is known yet
	tariff  string // the one of the subscriber when the session became known
	charged int64  // the sum of its entries in the ledger, days excepted
	entries int64  // how many there are
	month   int64  // in whose radpool_usage its octets are
	counted int64  // how many octets are there
}

// sessionColumns are the columns of radpool_session, in the order of fields.
var sessionColumns = []string{
	"unique_id", "session_id", "username", "nas_address", "nas_port", "start_time", "update_time", "stop_time", "session_time",
	"input_octets", "output_octets", "terminate_cause", "calling_station_id", "called_station_id", "framed_address",
	"framed_ipv6_address", "framed_ipv6_prefix", "delegated_ipv6_prefix", "class", "account", "tariff", "charged", "entries",
	"counted_month", "counted_octets",
}

// fields are where the columns of r are.
func (r *row) fields() []any {
	return []any{
		&r.UniqueID, &r.SessionID, &r.UserName, &r.NASAddr, &r.PortID, &r.Start, &r.Update, &r.Stop, &r.Seconds,
		&r.Input, &r.Output, &r.Cause, &r.Calling, &r.Called, &r.Addr,
		&r.Addr6, &r.Prefix6, &r.Delegated, &r.Class, &r.account, &r.tariff, &r.charged, &r.entries,
		&r.month, &r.counted,
	}
}

// values are the columns of r.
func (r *row) values() []any {
	values := r.fields()
	for i, p := range values {
		switch p := p.(type) {
		case *string:
			values[i] = *p
		case *int64:
			values[i] = *p
		}
	}
	return values
}

// fit makes of s what the columns can hold: without what has no column, and with
// text that is valid and not too long.
func fit(s *acct.Session) {
	s.PortType, s.Authentic, s.ConnectStart, s.ConnectStop, s.Service, s.Protocol, s.InterfaceID = "", "", "", "", "", "", ""
	for _, f := range [...]struct {
		text  *string
		limit int
	}{
		{&s.SessionID, 253}, {&s.UserName, 253}, {&s.PortID, 253}, {&s.Calling, 253}, {&s.Called, 253}, {&s.Cause, 64}, {&s.Class, 512},
	} {
		*f.text = dialect.Plain(*f.text, f.limit)
	}
}

// usage is what r tells to the rating.
func (r *row) usage() rating.Usage {
	return rating.Usage{First: r.Start, Last: r.Update, Seconds: r.Seconds, Input: uint64(r.Input), Output: uint64(r.Output)}
}

// mostOctets bounds what one session adds to the usage of a month, 1 PiB, so that
// counters that are nonsense do not make the sum overflow.
const mostOctets = 1 << 50

// octets are those that count for the quota.
func (r *row) octets() int64 { return min(r.Input, mostOctets) + min(r.Output, mostOctets) }

// possible reports whether a subscriber can have this name.
func possible(name string) bool {
	return name != "" && utf8.ValidString(name) && strings.IndexByte(name, 0) < 0 && utf8.RuneCountInString(name) <= 253
}
