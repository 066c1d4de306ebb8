package sqlbilling

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing/internal/bound"
	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// Options say how a [Backend] works. The zero Options are the defaults; a value
// out of its bounds is an error of Open that names it.
type Options struct {
	// Logger gets what the operator should know. nil: nothing is logged.
	Logger *zap.Logger

	// Readers is the number of connections for Access-Requests: 1 to 64. Requests
	// that find none free wait, and share a statement then. 0: what was measured to
	// be best, which is 8 for a database that is more than a millisecond away, and
	// for one that is near one connection, so that statements are large, and a
	// second while a statement on the first takes longer than 10 ms.
	Readers int

	// Writers is how many transactions with accounting run at once: 1 to 16; on
	// SQLite, and without a unique index on acctuniqueid, always 1. 0: 2.
	Writers int

	// Names is how user names are compared with those of the database.
	Names Comparison

	// EscapeNames makes =2B of "+" and the like in user names, for looking up and in
	// what accounting stores, as FreeRADIUS does for all that is not one of its
	// safe_characters. For databases whose names were written that way.
	EscapeNames bool

	// Dictionary has a dictionary in the format of FreeRADIUS, whose attributes are
	// known beside those that are embedded. What it defines again is as it says, but
	// for FreeRADIUS's internal attributes and radpool's, which stay. It is read by
	// Open alone, up to 2048 files and 32 MiB; what is not supported in it, such as
	// TLVs, is passed over and logged. An error of Open names file and line. nil: none.
	Dictionary fs.FS

	// DictionaryFile is the file of Dictionary to begin with; it can $INCLUDE others,
	// from beside it or, after a /, from the root. Empty: "dictionary".
	DictionaryFile string

	// MustExist refuses a database that does not exist or has no tables, instead
	// of creating it.
	MustExist bool

	// Location is the time zone of Expiration and Login-Time. nil: time.Local.
	Location *time.Location

	// DefaultProfile is the user whose groups everybody gets who falls through
	// their own (FreeRADIUS: default_user_profile). Empty: none.
	DefaultProfile string

	// GroupsByFallThrough reads the groups of a user only where radreply says
	// Fall-Through = Yes for it (FreeRADIUS: read_groups = no). false: unless it says No.
	GroupsByFallThrough bool

	// ProfilesByFallThrough reads the groups of the profile only where the last reply
	// that was read before says Fall-Through = Yes (FreeRADIUS: read_profiles = no).
	// false: unless it says No.
	ProfilesByFallThrough bool

	// QueryTimeout bounds one statement of Access-Requests (FreeRADIUS:
	// query_timeout), from when there is a connection for it; those that it answers
	// fail then, and get no answer: 10 ms to 10 min. 0: as long as somebody waits for it. See WriteTimeout for accounting.
	QueryTimeout time.Duration

	// RestrictedGroup is the group whose radgroupreply is the restricted profile
	// of a subscriber who is out of money. Empty: "radpool-restricted".
	RestrictedGroup string

	// MaxGroup is the most accounting records of one transaction: 1 to 65,536. 0: 1024.
	MaxGroup int

	// MaxPending is the most accounting records that wait to be written; beyond
	// them Account fails with ErrOverloaded: 1 to 16,777,216. 0: 65,536.
	MaxPending int

	// WriteTimeout bounds one transaction, attempts after a lock included: 10 ms
	// to 10 min. 0: 5 s.
	WriteTimeout time.Duration

	// LeaseTime is how long an address of radippool is a subscriber's from the
	// Access-Accept, or from the last Start or Interim-Update: FreeRADIUS's
	// lease_duration. It must be longer than the time between two Interim-Updates,
	// and the same for all servers of a database. Whole seconds, 10 s to 366 days.
	// 0: 1 hour.
	LeaseTime time.Duration

	// PostAuthBuffer is how many results of authentications may wait to be
	// written to radpostauth; what comes on top is dropped and counted: 1 to
	// 1,048,576. 0: 8192. Negative: radpostauth is not written.
	PostAuthBuffer int

	// StorePasswords writes the password that a subscriber gave into
	// radpostauth, as FreeRADIUS does. false: "***" in its place, or nothing
	// where none was given.
	StorePasswords bool
}

// A Comparison says how user names are compared.
type Comparison uint8

const (
	// NamesAsColumn compares as the columns of the database do. In MariaDB and
	// MySQL that is mostly without regard to case, accents and trailing spaces, as
	// their collation says; in PostgreSQL and SQLite it is mostly exact.
	NamesAsColumn = Comparison(dialect.AsColumn)

	// NamesExact compares octet by octet, whatever the collation.
	NamesExact = Comparison(dialect.Exact)

	// NamesIgnoreCase compares without regard to case. PostgreSQL needs indexes on
	// lower(username) for it, as the standard schema has them in comments.
	NamesIgnoreCase = Comparison(dialect.IgnoreCase)
)

var comparisons = [...]string{NamesAsColumn: "column", NamesExact: "exact", NamesIgnoreCase: "ignore-case"}

// String returns the word for c, as in a flag: "column", "exact" or "ignore-case".
func (c Comparison) String() string {
	if int(c) < len(comparisons) {
		return comparisons[c]
	}
	return "invalid"
}

// MarshalText returns what String returns, for flag.TextVar and the like.
func (c Comparison) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what String returns.
func (c *Comparison) UnmarshalText(text []byte) error {
	i := slices.Index(comparisons[:], string(text))
	if i < 0 {
		return fmt.Errorf("%.32q is none of %s", text, strings.Join(comparisons[:], ", "))
	}
	*c = Comparison(i)
	return nil
}

// withDefaults returns o with its zero fields set, or an error that names a field
// and its bounds.
func (o Options) withDefaults() (Options, error) {
	err := errors.Join(
		bound.IfSet("sqlbilling: Readers", &o.Readers, 1, 64),
		bound.IfSet("sqlbilling: Writers", &o.Writers, 1, 16),
		bound.IfSet("sqlbilling: QueryTimeout", &o.QueryTimeout, 10*time.Millisecond, 10*time.Minute),
		bound.Field("sqlbilling: MaxGroup", &o.MaxGroup, 1024, 1, 1<<16),
		bound.Field("sqlbilling: MaxPending", &o.MaxPending, 1<<16, 1, 1<<24),
		bound.Field("sqlbilling: WriteTimeout", &o.WriteTimeout, 5*time.Second, 10*time.Millisecond, 10*time.Minute),
	)
	if o.PostAuthBuffer >= 0 { // else radpostauth is not written
		err = errors.Join(err, bound.Field("sqlbilling: PostAuthBuffer", &o.PostAuthBuffer, 8192, 1, 1<<20))
	}
	if err != nil {
		return o, err
	}
	if o.LeaseTime == 0 {
		o.LeaseTime = time.Hour
	}
	if o.LeaseTime < 10*time.Second || o.LeaseTime > 366*24*time.Hour || o.LeaseTime%time.Second != 0 {
		return o, fmt.Errorf("sqlbilling: LeaseTime is %v, must be whole seconds from 10s to 8784h (366 days)", o.LeaseTime)
	}
	if o.Names > NamesIgnoreCase {
		return o, fmt.Errorf("sqlbilling: Names is %d, which is none of the Comparisons", o.Names)
	}
	if o.Logger == nil {
		o.Logger = zap.NewNop()
	}
	if o.Location == nil {
		o.Location = time.Local
	}
	if o.RestrictedGroup == "" {
		o.RestrictedGroup = "radpool-restricted"
	}
	return o, nil
}
