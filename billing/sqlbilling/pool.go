package sqlbilling

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.uber.org/zap"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling/internal/acct"
	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
	"github.com/radpool/radpool/billing/sqlbilling/internal/group"
)

// LeaseAddresses leases addresses of the table radippool, in one round trip for all
// that wait at the same moment. See the package comment for who gets which, and for
// how long. An error is the database's, ErrOverloaded or ErrClosed.
func (b *Backend) LeaseAddresses(ctx context.Context, leases []*billing.AddressLease) {
	items := make([]group.Item[dialect.Ask], len(leases))
	for i, l := range leases {
		items[i].Value = b.ask4(l)
	}
	if err := b.leases.Submit(ctx, items); err != nil {
		for _, l := range leases {
			l.Err = err
		}
		return // the items may still be the writer's
	}
	b.pools.seen.Store(true)
	for i, l := range leases {
		addr := items[i].Value.Addr
		switch l.Err = items[i].Err; {
		case l.Err != nil:
		case addr == "":
			b.stats.poolFull.Add(1)
		default:
			if l.Addr, l.Err = netip.ParseAddr(addr); l.Err != nil || !l.Addr.Is4() {
				l.Addr = netip.Addr{}
				l.Err = fmt.Errorf("sqlbilling: radippool, framedipaddress %.64q: not an IPv4 address (%w)", addr, billing.ErrSubscriber)
				continue
			}
			b.stats.leased.Add(1)
		}
	}
}

// ask4 is a lease as the database is asked for it.
func (b *Backend) ask4(l *billing.AddressLease) dialect.Ask {
	r := l.Access
	a := dialect.Ask{
		Pool: l.Pool, User: b.nameInDB(l.UserName), NAS: acct.AddrText(r.NASAddr),
		Calling: r.CallingStationID, Called: r.CalledStationID, Key: portOf(r),
	}
	a.Fit(b.now().l.tables, fitKey(b.d))
	return a
}

// portOf is what FreeRADIUS's sqlippool takes for the key of a lease unless told
// otherwise: NAS-Port. Where there is none it is NAS-Port-Id.
func portOf(r *billing.AccessRequest) string {
	if r.Request != nil && r.Request.Packet != nil {
		if _, has := r.Request.Lookup(rfc2865.NASPort_Type); has {
			return strconv.FormatUint(uint64(r.NASPort), 10)
		}
	} else if r.NASPort != 0 {
		return strconv.FormatUint(uint64(r.NASPort), 10)
	}
	return r.NASPortID
}

// fitKey returns what makes texts such as columns can hold them. What is too long, or
// has characters that the column lacks, ends in a digest of the whole: two NASes or
// users must not become one by losing them.
func fitKey(d *dialect.Dialect) func(string, dialect.Column) string {
	return func(s string, c dialect.Column) string {
		lacks := d.Holds != nil && !d.Holds(s, c)
		if long := c.Length > 0 && utf8.RuneCountInString(s) > c.Length; long || lacks {
			h := fnv.New64a()
			_, _ = h.Write([]byte(s)) // never fails
			sum := "~" + hex.EncodeToString(h.Sum(nil))
			if lacks {
				s = strings.Map(ascii, s)
			}
			most := utf8.RuneCountInString(s) + len(sum)
			if c.Length > 0 {
				most = min(most, c.Length)
			}
			begin := ""
			if keep := most - len(sum); keep > 0 { // Plain takes 0 for no limit
				begin = dialect.Plain(s, keep)
			}
			s = begin + sum[:min(len(sum), most)]
		}
		if d.Clean == nil {
			return s
		}
		return d.Clean(s, c)
	}
}

// ascii is a character, or a question mark for one that is not in ASCII.
func ascii(r rune) rune {
	if r < utf8.RuneSelf {
		return r
	}
	return '?'
}

// errPool is that there is a radippool, or was, which cannot be used. It is not an
// empty one: nobody knows who has its addresses.
var errPool = errors.New("the table radippool cannot be used")

// equipPools makes ready what leases addresses. Without a radippool there are no
// pools, with one that cannot be used every lease is an error; and all else works.
func (b *Backend) equipPools(ctx context.Context, f *found) error {
	there, err := b.ensure(ctx, &f.l, "radippool", b.d.Pools, "no addresses are leased")
	if err != nil {
		return err
	}
	if !there {
		if b.pools.seen.Load() {
			f.poolErr = fmt.Errorf("%w: it is gone", errPool)
		}
		return nil
	}
	var missing []string
	for _, name := range dialect.NeededPool {
		if _, ok := f.l.tables.Column("radippool", name); !ok {
			missing = append(missing, name)
			f.l.missing = append(f.l.missing, "radippool."+name)
		}
	}
	if f.l.pool = len(missing) == 0; !f.l.pool {
		f.poolErr = fmt.Errorf("%w: it lacks %s", errPool, strings.Join(missing, ", "))
		return nil
	}
	f.leaser, err = b.d.Leases(ctx, b.db, f.l.tables, int64(b.opts.LeaseTime.Seconds()), dialect.Comparison(b.opts.Names))
	return err
}

// checkPoolIndexes logs which indexes radippool lacks, if there is an address in it.
func (b *Backend) checkPoolIndexes(ctx context.Context) error {
	if !b.now().l.pool {
		return nil
	}
	if there, err := b.pools.anyAddress(ctx, b.db.Write); err != nil || !there {
		return err
	}
	missing, err := b.missingIndexes(ctx, poolIndexes)
	for i := range missing {
		b.opts.Logger.Warn("radippool lacks an index", zap.String("database", b.db.Label), zap.String("index", missing[i].words()))
	}
	return err
}

// writeLeases is the group.Write of leases. Where the tables have changed it tries
// again, on what they are by then; where there is no radippool nobody gets an address.
func (b *Backend) writeLeases(ctx context.Context, items []*group.Item[dialect.Ask]) (rows int, err error) {
	asks := make([]*dialect.Ask, len(items))
	for i, it := range items {
		asks[i] = &it.Value
	}
	err = b.onTables(ctx, func(f *found) (err error) {
		rows, err = b.leaseOn(ctx, f, asks)
		return err
	})
	return rows, err
}

func (b *Backend) leaseOn(ctx context.Context, f *found, asks []*dialect.Ask) (rows int, err error) {
	if f.leaser == nil {
		return 0, f.poolErr
	}
	for some := range slices.Chunk(asks, dialect.MaxAsks) {
		if err := f.leaser.Lease(ctx, some); err != nil {
			return rows, err
		}
		b.stats.leaseQueries.Add(1)
		rows += len(some)
	}
	return rows, nil
}
