package ledger

import (
	"context"
	"encoding/hex"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/radpool/radpool/billing/coa"
)

// A liveRow is a session in progress, and what its NAS was asked for.
type liveRow struct {
	UniqueID string `db:"unique_id"`
	Session  string `db:"session_id"`
	User     string `db:"username"`
	Account  string `db:"account"`
	Calling  string `db:"calling_station_id"`
	Port     string `db:"nas_port"`
	NAS      string `db:"nas_address"`
	Addr     string `db:"framed_address"`
	Addr6    string `db:"framed_ipv6_address"`
	Class    string `db:"class"`
	Update   int64  `db:"update_time"`
	Version  int    `db:"version"`
	Applied  uint8  `db:"applied"`
	Wanted   uint8  `db:"wanted"`
	Phase    uint8  `db:"phase"`
	Instead  int    `db:"instead"`
	Unsure   int    `db:"unsure"`
	Tries    int    `db:"tries"`
	Next     int64  `db:"next_at"`
}

const liveColumns = `SELECT s.unique_id, s.session_id, s.username, s.account, s.calling_station_id, s.nas_port, s.nas_address,
	s.framed_address, s.framed_ipv6_address, s.class, s.update_time, COALESCE(c.version, 0) AS version,
	COALESCE(c.applied, 0) AS applied, COALESCE(c.wanted, 0) AS wanted, COALESCE(c.phase, 0) AS phase,
	COALESCE(c.instead, 0) AS instead, COALESCE(c.unsure, 0) AS unsure, COALESCE(c.tries, 0) AS tries, COALESCE(c.next_at, 0) AS next_at`

// liveRows reads sessions in progress.
func (b *Backend) liveRows(ctx context.Context, now time.Time, users []string, after string, limit int) (rows []liveRow, err error) {
	end, err := b.readingPlace(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	if len(users) == 0 {
		class := func(m coa.Mode) string { return "0x" + hex.EncodeToString([]byte(classPrefix+strconv.Itoa(int(m)))) }
		err = b.live.all.SelectContext(b.db.Context(ctx), &rows, after, now.Unix(), class(coa.OverQuota), class(coa.Restricted), limit)
		return rows, err
	}
	users = distinct(users)
	size := len(users)
	if b.d.ListLength > 0 {
		size = b.d.ListLength
	}
	for some := range slices.Chunk(users, size) {
		var more []liveRow
		if err := b.live.users.SelectContext(b.db.Context(ctx), &more, append(b.d.List(some), after, limit)...); err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	slices.SortFunc(rows, func(x, y liveRow) int { return strings.Compare(x.UniqueID, y.UniqueID) })
	return rows[:min(len(rows), limit)], nil
}

// item is the session and its state, without what it is to have.
func (r *liveRow) item(nas netip.Addr, vendor string) coa.Item {
	addr, _ := netip.ParseAddr(r.Addr)
	addr6, _ := netip.ParseAddr(r.Addr6)
	s := coa.State{
		Applied: coa.Mode(r.Applied), Wanted: coa.Mode(r.Wanted), Phase: coa.Phase(r.Phase), Tries: r.Tries,
		Instead: r.Instead != 0, Unsure: r.Unsure != 0, Version: r.Version,
	}
	if r.Next != 0 {
		s.Next = time.Unix(r.Next, 0)
	}
	if !s.Valid() { // written by somebody else: as if nothing were known
		s = coa.State{Version: r.Version}
	}
	if s.Applied == coa.Unknown {
		s.Applied = modeOf(r.Class)
	}
	return coa.Item{
		Session: coa.Session{
			Key: r.UniqueID, SessionID: r.Session, UserName: r.Account, CallingStationID: r.Calling, NASPort: r.Port, NASAddr: nas,
			FramedAddr: addr, FramedIPv6Addr: addr6, Vendor: vendor, Seen: time.Unix(r.Update, 0),
		},
		State: s,
	}
}

// distinct returns the values of list in order, each once, as a new list.
func distinct(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}
