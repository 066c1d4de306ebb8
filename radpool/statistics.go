package radpool

import (
	"encoding/binary"
	"net/netip"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/wire"
)

// vendorFreeRADIUS is the Private Enterprise Number of FreeRADIUS. Its attributes
// here are those of its dictionary.freeradius.
const vendorFreeRADIUS = 11344

const typeVendorSpecific = 26 // RFC 2865 section 5.26

// What FreeRADIUS-Statistics-Type asks for: a set.
const (
	statisticsOfAuth uint32 = 1 << iota
	statisticsOfAcct
	statisticsOfProxyAuth
	statisticsOfProxyAcct
	statisticsInternal
	statisticsOfClient
	statisticsOfListener
	statisticsOfHomeServer
)

// FreeRADIUS's attributes in a request.
const (
	frStatisticsType = 127
	frClientAddress  = 167 // in replies, too
	frClientNumber   = 168 // in replies, too
	frClientAddress6 = 188 // in replies, too
)

// FreeRADIUS's attributes in a reply. Those of one kind follow one another from the
// one that is named.
const (
	frAuth          = 128 // to 137
	frProxyAuth     = 138 // to 147
	frAcct          = 148 // to 154
	frProxyAcct     = 155 // to 161
	frQueueLen      = 162 // to 166: internal, proxy, auth, acct, detail
	frClientNetmask = 169
	frStartTime     = 176
	frHUPTime       = 177
	frPPSIn         = 181
	frPPSOut        = 182
	frQueueUse      = 183 // percent
	frError         = 187
	frAuthConflicts = 191
	frAcctConflicts = 192
	frThreads       = 193 // to 195: active, total, max
)

// statisticsRequest is what a Status-Server asks for.
type statisticsRequest struct {
	what     uint32
	addr     netip.Addr // of a client; not valid: not said
	number   uint32     // of a client
	byNumber bool
}

// readStatisticsRequest reads the attributes of a packet that is well-formed. What is
// not of the length that it must have is as if it were not there.
func readStatisticsRequest(attributes []byte) statisticsRequest {
	var ask statisticsRequest
	for t, value := range wire.Attributes(attributes) {
		if t != typeVendorSpecific {
			continue
		}
		for kind, value := range wire.VendorAttributes(value, vendorFreeRADIUS) {
			ask.read(kind, value)
		}
	}
	return ask
}

func (ask *statisticsRequest) read(kind byte, value []byte) {
	switch {
	case kind == frStatisticsType && len(value) == 4:
		ask.what = binary.BigEndian.Uint32(value)
	case kind == frClientAddress && len(value) == 4, kind == frClientAddress6 && len(value) == 16:
		ask.addr, _ = netip.AddrFromSlice(value)
	case kind == frClientNumber && len(value) == 4:
		ask.number, ask.byNumber = binary.BigEndian.Uint32(value), true
	}
}

// statistics is an answer to a statisticsRequest, while it is put together from
// what is known.
type statistics struct {
	stats  *Stats
	hup    time.Time    // when the clients were last read
	client *ClientState // who is asked about; nil: nobody who is known

	out radius.Attributes
}

// answer gives what FreeRADIUS gives, in its order.
func (s *statistics) answer(ask *statisticsRequest) radius.Attributes {
	alone := ask.what&(statisticsOfListener|statisticsOfHomeServer) == 0 // neither of which there are
	if alone && ask.what&statisticsOfAuth != 0 {
		s.auth()
	}
	if alone && ask.what&statisticsOfAcct != 0 {
		s.acct()
	}
	if alone && ask.what&statisticsOfProxyAuth != 0 {
		s.integers(frProxyAuth, make([]uint64, 10)...)
	}
	if alone && ask.what&statisticsOfProxyAcct != 0 {
		s.integers(frProxyAcct, make([]uint64, 7)...)
	}
	if ask.what&statisticsInternal != 0 {
		s.internal()
	}
	if ask.what&statisticsOfClient != 0 {
		s.ofClient(ask)
	}
	switch {
	case ask.what&statisticsOfListener != 0:
		s.add(frError, []byte("No statistics of single listeners"))
	case ask.what&statisticsOfHomeServer != 0:
		s.add(frError, []byte("No such home server"))
	}
	return s.out
}

func (s *statistics) auth() {
	st := s.stats
	of := &st.AccessOutcomes
	s.integers(frAuth,
		st.AccessRequests, st.AccessAccepts, st.AccessRejects, st.AccessChallenges, of[Replied],
		of[Duplicate]+of[Replayed], of[Malformed], of[Unauthentic], unanswered(of), of[WrongCode])
	s.integers(frAuthConflicts, of[Superseded])
}

func (s *statistics) acct() {
	st := s.stats
	of := &st.AccountingOutcomes
	s.integers(frAcct,
		st.AccountingRequests, of[Replied],
		of[Duplicate]+of[Replayed], of[Malformed], of[Unauthentic], unanswered(of), of[WrongCode])
	s.integers(frAcctConflicts, of[Superseded])
}

// unanswered are the requests that were new and got no reply, for whatever reason
// but that the NAS gave them up.
func unanswered(of *[NumOutcomes]uint64) uint64 {
	n := of[Unanswered]
	for o := range numOutcomes {
		if isDrop(o) {
			n += of[o]
		}
	}
	return n
}

func (s *statistics) internal() {
	st := s.stats
	q := &st.Pool.Classes
	s.integers(frStartTime, uint64(st.Started.Unix()), uint64(s.hup.Unix()))
	s.integers(frQueueLen,
		uint64(q[ClassStatus].Queued), 0,
		uint64(q[ClassConversation].Queued+q[ClassAccess].Queued), uint64(q[ClassAccounting].Queued+q[ClassInterim].Queued), 0)
	s.integers(frPPSIn, uint64(st.ArrivalRate+0.5), uint64(st.CompletionRate+0.5), uint64(100*st.Pool.Queued/max(st.Pool.MaxQueueSize, 1)))
	most := st.MaxWorkers
	if most == 0 {
		most = st.Config.MaxServers
	}
	s.integers(frThreads, uint64(st.Pool.Busy), uint64(st.Pool.Workers), uint64(most))
}

// ofClient gives what is counted of a client. What is not counted is left out.
func (s *statistics) ofClient(ask *statisticsRequest) {
	c := s.client
	if c == nil {
		s.add(frError, []byte("No such client"))
		return
	}
	if ask.byNumber && !ask.addr.IsValid() {
		s.integers(frClientNumber, uint64(ask.number))
	}
	addr := c.Prefix.Addr()
	if addr.Is4() {
		s.add(frClientAddress, addr.AsSlice())
	} else {
		s.add(frClientAddress6, addr.AsSlice())
	}
	if !c.Prefix.IsSingleIP() {
		s.integers(frClientNetmask, uint64(c.Prefix.Bits()))
	}
	if ask.what&statisticsOfAuth != 0 {
		s.ofClientCount(frAuth, frAuth+5, frAuth+8, c.Access)
	}
	if ask.what&statisticsOfAcct != 0 {
		s.ofClientCount(frAcct, frAcct+2, frAcct+5, c.Accounting)
	}
}

func (s *statistics) ofClientCount(requests, duplicates, dropped byte, n ClientCount) {
	s.integers(requests, n.Requests)
	s.integers(duplicates, n.Duplicates)
	s.integers(dropped, n.Dropped)
}

// integers adds attributes with the numbers from first on. Counters have 32 bits there
// and begin anew after them, as FreeRADIUS's do.
func (s *statistics) integers(first byte, values ...uint64) {
	for i, v := range values {
		s.add(first+byte(i), binary.BigEndian.AppendUint32(nil, uint32(v)))
	}
}

func (s *statistics) add(kind byte, value []byte) {
	b := binary.BigEndian.AppendUint32(nil, vendorFreeRADIUS)
	b = append(b, kind, byte(2+len(value)))
	s.out.Add(typeVendorSpecific, append(b, value...))
}
