package radpool_test

import (
	"encoding/binary"
	"hash/maphash"
	"net/netip"
	"sync"
	"testing"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/simnet"
	"github.com/radpool/radpool/internal/wire"
	"github.com/radpool/radpool/radpool"
)

// reaches marks what is verified and goes on to the cache: the judge foretells
// every outcome that comes before it.
const reaches = radpool.Outcome(255)

// record is what the judge knows of one request, by its serial number, which
// stands in the last 8 octets of the datagram and of every reply: in a
// Proxy-State, which the server returns.
type record struct {
	verdict       radpool.Outcome // what must become of it, or reaches
	code          radius.Code
	socket, slot  int32 // the NAS's socket and its slot
	authenticator [16]byte

	wasRead   bool
	runs      uint8  // how often the handler was called with it
	since     uint8  // the first of the calls that are for what the server knows now; those before it are void
	running   uint8  // how many of these go on
	answered  bool   // the NAS has a reply
	completed bool   // a call has ended with an answer or with silence
	digest    uint64 // of the reply of the first call

	// All since the start.
	began  time.Duration // the last call
	doneAt time.Duration // completed

	// retaken is when the server last read it although it had read another
	// under the same key since: a copy that took a detour. That is a new request
	// to the server.
	retaken time.Duration
}

// key is one Identifier of one port and code.
type key struct {
	read   uint32 // the last request that the server has read
	readAt time.Duration
}

// judge watches both ends of the server's sockets and its handler, and knows
// what must not happen.
type judge struct {
	t         *testing.T
	name      string
	seed      uint64
	start     time.Time
	retention time.Duration
	patience  time.Duration
	secret    *wire.Secret
	hash      maphash.Seed

	mu        sync.Mutex
	records   []record
	keys      []key
	digests   map[uint64]uint64 // of replies of later calls, by serial and call
	reads     uint64
	foretold  [radpool.NumOutcomes]uint64
	writes    uint64
	told      [radpool.NumOutcomes]uint64 // calls of the Drop hook
	again     uint64                      // requests completed twice although retained
	panics    uint64
	complaint int
}

func (j *judge) errorf(format string, args ...any) {
	j.t.Helper()
	if j.complaint++; j.complaint <= 10 {
		j.t.Errorf("%s, seed %d, at %v: "+format, append([]any{j.name, j.seed, time.Since(j.start)}, args...)...)
	}
}

func serialOf(b []byte) uint32 { return uint32(binary.BigEndian.Uint64(b[len(b)-8:])) }

// tap is a socket of the server, watched.
type tap struct {
	*simnet.Conn
	judge *judge
}

func (c *tap) ReadFromUDPAddrPort(b []byte) (int, netip.AddrPort, error) {
	n, from, err := c.Conn.ReadFromUDPAddrPort(b)
	if err == nil {
		c.judge.read(b[:n])
	}
	return n, from, err
}

func (c *tap) WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error) {
	c.judge.wrote(b)
	return c.Conn.WriteToUDPAddrPort(b, to)
}

func (j *judge) read(b []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.reads++
	serial := serialOf(b)
	r := &j.records[serial]
	if r.verdict != reaches {
		j.foretold[r.verdict]++
		return
	}
	k := &j.keys[r.slot]
	now := time.Since(j.start)
	if k.read != serial && r.wasRead {
		r.retaken = now
	}
	k.read, k.readAt, r.wasRead = serial, now, true
}

// givenUp reports whether the server has been told, at an earlier moment than
// now, that the NAS uses the Identifier of this request for another. At the same
// moment both may rightly happen at once.
func (j *judge) givenUp(serial uint32, now time.Duration) bool {
	k := &j.keys[j.records[serial].slot]
	return k.read != serial && k.readAt < now
}

func (j *judge) wrote(b []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.writes++
	serial := serialOf(b)
	if r := &j.records[serial]; r.verdict == reaches && j.givenUp(serial, time.Since(j.start)) {
		j.errorf("a reply was sent to request %d, which was given up", serial)
	}
}

// begin is called by the handler. It returns which call it is for this request.
func (j *judge) begin(req *radpool.Request, serial uint32) uint8 {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := &j.records[serial]
	now := time.Since(j.start)
	r.runs++
	if r.retaken >= r.began {
		r.since, r.running, r.completed = r.runs, 0, false
	}
	switch {
	case r.verdict != reaches || req.Code != r.code || req.Authenticator != r.authenticator:
		j.errorf("the handler was called with request %d, which is %v", serial, r.verdict)
	case r.running > 0:
		j.errorf("the handler runs twice at the same time for request %d", serial)
	case j.givenUp(serial, now):
		j.errorf("the handler was called for request %d, which was given up", serial)
	case time.Since(req.Received) >= j.patience:
		j.errorf("the handler was called for request %d, %v old", serial, time.Since(req.Received))
	}
	if r.completed && now-r.doneAt < j.retention {
		j.again++
	}
	r.running++
	r.began = now
	return r.runs
}

func (j *judge) end(serial uint32, call uint8, completed bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := &j.records[serial]
	if call < r.since {
		return
	}
	r.running--
	if completed {
		r.completed, r.doneAt = true, time.Since(j.start)
	}
}

// received judges what came to a NAS.
func (j *judge) received(socket int, b []byte) {
	shape, fault := wire.Parse(b, 0)
	j.mu.Lock()
	defer j.mu.Unlock()
	if fault != wire.WellFormed || len(b) < wire.HeaderLength+10 {
		j.errorf("a malformed reply: % x", b)
		return
	}
	serial := serialOf(b)
	r := &j.records[serial]
	code, ok := replyTo(r.code), wire.VerifyResponse(b, &shape, r.authenticator, j.secret)
	if !ok || shape.Code != code || int(r.socket) != socket {
		j.errorf("socket %d got a reply with code %v, verified: %v; want %v at socket %d", socket, shape.Code, ok, code, r.socket)
		return
	}
	r.answered = true
	if r.verdict == radpool.StatusServer {
		return
	}
	call := b[wire.HeaderLength+2]
	if shape.HasMessageAuthenticator() {
		call = b[wire.HeaderLength+18+2]
	}
	digest := maphash.Bytes(j.hash, b)
	first := r.digest
	if call != 1 {
		first = j.digests[uint64(serial)<<8|uint64(call)]
	}
	switch {
	case first == 0 && call == 1:
		r.digest = digest
	case first == 0:
		j.digests[uint64(serial)<<8|uint64(call)] = digest
	case first != digest:
		j.errorf("the replies to request %d differ", serial)
	}
}

func replyTo(c radius.Code) radius.Code {
	if c == radius.CodeAccountingRequest {
		return radius.CodeAccountingResponse
	}
	return radius.CodeAccessAccept
}

func (j *judge) dropped(i radpool.DropInfo) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.told[i.Outcome]++
	if i.Outcome != radpool.Malformed && i.Outcome != radpool.UnknownClient && i.Client == nil {
		j.errorf("the hook is not told the client of what was dropped as %v", i.Outcome)
	}
}

// check compares what the server has counted with what was seen. Nothing is
// moving while it does.
func (j *judge) check(st radpool.Stats, most radpool.Config) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if got := st.Ended() + st.InFlight; st.Received != j.reads || got != j.reads {
		j.errorf("%d datagrams were read: Received %d, outcomes and in flight %d: %+v", j.reads, st.Received, got, st)
	}
	for o := range radpool.Outcome(radpool.NumOutcomes) {
		got := st.Outcome(o)
		switch o {
		case radpool.Malformed, radpool.UnknownClient, radpool.WrongCode, radpool.Unauthentic, radpool.StatusServer:
			if got != j.foretold[o] {
				j.errorf("%d datagrams are counted %v, want %d", got, o, j.foretold[o])
			}
		}
		switch o {
		case radpool.StatusServer, radpool.Replayed, radpool.Replied, radpool.Unanswered:
			if j.told[o] != 0 {
				j.errorf("the Drop hook was called for %v", o)
			}
		default:
			if j.told[o] != got {
				j.errorf("the Drop hook was called %d times for %v, which is counted %d", j.told[o], o, got)
			}
		}
	}
	if sent := st.StatusServer + st.Replayed + st.Replied; j.writes != sent {
		j.errorf("%d replies were written, %d are counted", j.writes, sent)
	}
	if st.Replied != st.AccessAccepts+st.AccountingResponses {
		j.errorf("the kinds of replies do not add up to %d: %+v", st.Replied, st)
	}
	if st.WriteErrors+st.ReadErrors+st.HookPanics != 0 || st.Panics != j.panics {
		j.errorf("errors, or other than %d panics: %+v", j.panics, st)
	}
	if running := st.InFlight - uint64(st.Pool.Queued); uint64(st.Arena.InUse) > running || uint64(st.Cache.InFlight) > st.InFlight {
		// A request that waits has no arena; of a batch that runs some may have been void.
		j.errorf("%d in flight, %d of them running, but %d arenas and %d places in the cache in use", st.InFlight, running, st.Arena.InUse, st.Cache.InFlight)
	}
	if st.Pool.Queued > most.MaxQueueSize || st.Cache.Entries > most.MaxRequests || st.Pool.Workers > most.MaxServers {
		j.errorf("a bound is exceeded: %+v", st)
	}
	c := &st.Cache
	if c.Begun != c.Finished+c.Unanswered+c.Abandoned+uint64(c.InFlight) ||
		c.Finished+c.Unanswered != c.Expired+c.Evicted+c.Replaced+uint64(c.Retained) {
		j.errorf("the cache's counters do not add up: %+v", c)
	}
	if j.again > c.Evicted {
		j.errorf("%d requests were completed again while their replies should be retained, only %d had to make room", j.again, c.Evicted)
	}
}
