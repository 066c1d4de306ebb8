package cache_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/radpool/radpool/cache"
)

// start is when the tests' time begins.
var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// script reads operations from octets; it gives zeros at its end.
type script []byte

func (s *script) next() int {
	if len(*s) == 0 {
		return 0
	}
	b := (*s)[0]
	*s = (*s)[1:]
	return int(b)
}

// player runs a script on a Cache and on the reference, and compares all
// that can be seen.
type player struct {
	t       *testing.T
	cache   *cache.Cache
	ref     *reference
	now     time.Time
	spread  int // keys
	forward bool
	hashes  uint64 // which bits of a hash are left, to have many keys in one bucket
	tickets []cache.Ticket
	wants   []*refEntry
	dst     []byte
	replies uint32 // so far
}

func newPlayer(t *testing.T, s scriptConfig) *player {
	t.Helper()
	config := s.config
	c, err := cache.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return &player{
		t: t, cache: c, ref: newReference(config), now: start,
		spread: s.spread, forward: s.forward, hashes: ^s.collide,
	}
}

var addresses = [...]netip.Addr{
	netip.MustParseAddr("192.0.2.1"),
	netip.MustParseAddr("::ffff:192.0.2.1"),
	netip.MustParseAddr("fe80::1%ppp0"),
	netip.MustParseAddr("fe80::1%ppp1"),
	netip.MustParseAddr("fe80::1"),
	{},
}

// request makes the nth key, with one of a few authenticators and lengths.
func request(n, authenticator int) cache.Request {
	r := cache.Request{Length: uint16(20 + authenticator%2)}
	r.Client = netip.AddrPortFrom(addresses[n%len(addresses)], uint16(n/7))
	r.Code, r.Identifier = byte(1+n%3), byte(n)
	r.Listener = uint32(n % 2)
	binary.BigEndian.PutUint32(r.Authenticator[6:], uint32(authenticator/2))
	return r
}

// play runs operations to the script's end.
func (p *player) play(s script) {
	p.t.Helper()
	for i := 0; len(s) > 0 && !p.t.Failed(); i++ {
		switch op := s.next() % 16; {
		case op < 7:
			p.begin(s.next()|s.next()<<8, s.next())
		case op < 10:
			p.finish(s.next()|s.next()<<8, s.next())
		case op == 10:
			p.finish(s.next()|s.next()<<8, 0)
		case op == 11:
			p.abandon(s.next() | s.next()<<8)
		case op < 15:
			p.step(s.next())
		default:
			p.expire()
		}
		if p.t.Failed() {
			p.t.Logf("at operation %d", i)
		}
	}
	p.expire()
}

func (p *player) begin(key, authenticator int) {
	req := request(key%p.spread, authenticator%6)
	wantEntry, want, wantReply := p.ref.begin(p.now, req)
	hash := cache.Hash(p.cache, req.Key) & p.hashes
	ticket, got, out := cache.BeginHashed(p.cache, p.now, &req, append(p.dst[:0], "dst"...), hash)
	if got != want {
		p.t.Fatalf("Begin says %v, want %v", got, want)
	}
	if !bytes.Equal(out, append([]byte("dst"), wantReply...)) {
		p.t.Fatalf("%v: got %d octets, want %d", got, len(out)-3, len(wantReply))
	}
	if live := wantEntry != nil; ticket.Current() != live {
		p.t.Fatalf("%v: Current() is %v, want %v", got, !live, live)
	}
	if wantEntry != nil {
		p.tickets, p.wants = append(p.tickets, ticket), append(p.wants, wantEntry)
	}
	p.dst = out
}

// pick chooses a Ticket, mostly among the newest, and checks what it says of itself.
func (p *player) pick(n int) (cache.Ticket, *refEntry) {
	if len(p.tickets) == 0 {
		return cache.Ticket{}, nil
	}
	back := n % min(len(p.tickets), 12)
	if n%5 == 0 {
		back = n % len(p.tickets)
	}
	i := len(p.tickets) - 1 - back
	ticket, want := p.tickets[i], p.wants[i]
	live := p.ref.current(want)
	if ticket.Current() != live {
		p.t.Fatalf("Current() is %v, want %v", !live, live)
	}
	last, duplicates := ticket.Seen()
	switch {
	case !live && (!last.IsZero() || duplicates != 0):
		p.t.Fatalf("Seen() of a dead Ticket is %v, %d", last, duplicates)
	case live && (!last.Equal(want.seen) || duplicates != want.duplicates):
		p.t.Fatalf("Seen() is %v, %d, want %v, %d", last, duplicates, want.seen, want.duplicates)
	}
	return ticket, want
}

func (p *player) finish(n, length int) {
	ticket, want := p.pick(n)
	if want == nil {
		return
	}
	reply := make([]byte, length*length%(cache.MaxReply+1))
	if length%8 != 0 {
		reply = make([]byte, length)
	}
	p.replies++ // no two replies of four octets or more are the same
	for i := range reply {
		reply[i] = byte(p.replies>>(8*(i%4))) ^ byte(i/4)
	}
	if got, want := ticket.Finish(p.now, reply), p.ref.finish(p.now, want, reply); got != want {
		p.t.Fatalf("Finish returns %v, want %v", got, want)
	}
	clear(reply) // what is retained must be a copy
}

func (p *player) abandon(n int) {
	ticket, want := p.pick(n)
	if want == nil {
		return
	}
	if got, want := ticket.Abandon(), p.ref.abandon(want); got != want {
		p.t.Fatalf("Abandon returns %v, want %v", got, want)
	}
}

func (p *player) step(n int) {
	d := time.Duration(n) * 10 * time.Millisecond
	switch n % 8 {
	case 0:
		if !p.forward {
			d = -d
		}
	case 1:
		d *= 4
	}
	p.now = p.now.Add(d)
}

func (p *player) expire() {
	if got, want := p.cache.Expire(p.now), p.ref.expire(p.now); !got.Equal(want) && p.cacheIsOneShard() {
		p.t.Fatalf("Expire returns %v, want %v", got, want)
	}
	got, want := p.cache.Stats(), p.ref.snapshot()
	if got.Bytes < got.ReplyBytes+(got.InFlight+got.Retained)*cache.EntrySize {
		p.t.Fatalf("Bytes is %d with %d entries and %d octets of replies", got.Bytes, got.InFlight+got.Retained, got.ReplyBytes)
	}
	if got.InFlight+got.Retained == 0 && got.Bytes != 0 {
		p.t.Fatalf("Bytes is %d with no entry", got.Bytes)
	}
	checkIdentities(p.t, got)
	got.Bytes = 0
	if !p.cacheIsOneShard() {
		// An entry that was extended to MaxAge is freed with the one before
		// it, which is another where the shards are.
		want.Entries, want.Retained, want.ReplyBytes, want.Expired = got.Entries, got.Retained, got.ReplyBytes, got.Expired
	}
	if got != want {
		p.t.Fatalf("Stats:\n got %+v\nwant %+v", got, want)
	}
}

func (p *player) cacheIsOneShard() bool { return p.ref.config.Shards == 1 }

type scriptConfig struct {
	name    string
	config  cache.Config
	spread  int
	forward bool
	collide uint64 // bits that all hashes have in common
}

var scriptConfigs = []scriptConfig{
	{"one entry", cache.Config{MaxRequests: 1, Shards: 1}, 3, false, 0},
	{"pressure", cache.Config{MaxRequests: 7, Shards: 1}, 12, false, 0},
	{"room", cache.Config{MaxRequests: 100, Shards: 1}, 40, false, 0},
	{"many", cache.Config{MaxRequests: 3000, Shards: 1}, 8000, false, 0},
	{"shards", cache.Config{MaxRequests: 5000, Shards: 5}, 60, true, 0},
	{"one hash", cache.Config{MaxRequests: 60, Shards: 1}, 100, false, 1<<64 - 1},
	{"one tag", cache.Config{MaxRequests: 2000, Shards: 1}, 3000, false, 0xff << 24},
	{"few buckets", cache.Config{MaxRequests: 300, Shards: 1}, 400, false, 0xff_fffc},
}

func scriptConfigOf(i int) scriptConfig {
	s := scriptConfigs[i%len(scriptConfigs)]
	s.config.CleanupDelay = 10 * time.Second
	s.config.MaxAge = 25 * time.Second
	s.config.MaxRequestTime = 9 * time.Second
	return s
}

// Random operations, a Cache beside the reference.
func TestAgainstReference(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.NewChaCha8([32]byte(binary.LittleEndian.AppendUint64(make([]byte, 24), seed)))
	for i, s := range scriptConfigs {
		t.Run(s.name, func(t *testing.T) {
			for range 20 {
				data := make([]byte, 20_000)
				if _, err := random.Read(data); err != nil {
					t.Fatal(err)
				}
				newPlayer(t, scriptConfigOf(i)).play(data)
			}
		})
	}
}

func FuzzAgainstReference(f *testing.F) {
	f.Add(1, []byte{0, 1, 0, 0, 7, 0, 0, 40, 0, 1, 0, 0, 12, 255, 15})
	f.Add(0, []byte{0, 1, 0, 0, 0, 2, 0, 0, 11, 0, 0, 0, 2, 0, 0, 10, 0, 0, 0, 3, 0, 0})
	f.Add(5, []byte{0, 1, 0, 0, 7, 0, 0, 40, 0, 2, 0, 0, 7, 0, 0, 70, 0, 1, 0, 0, 0, 2, 0, 0, 13, 1, 15})
	f.Fuzz(func(t *testing.T, kind int, data []byte) {
		newPlayer(t, scriptConfigOf(int(uint(kind)%uint(len(scriptConfigs))))).play(data)
	})
}
