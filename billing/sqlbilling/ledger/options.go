package ledger

import (
	"errors"
	"io/fs"
	"time"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing/internal/bound"
)

// Options say how a [Backend] works. The zero Options are the defaults; a value
// out of its bounds is an error of Open that names it.
type Options struct {
	// Logger gets what the operator should know. nil: nothing is logged.
	Logger *zap.Logger

	// Readers is how many statements for Access-Requests run at once: 1 to 64. 0:
	// what is best for the database.
	Readers int

	// Writers is how many transactions with accounting run at once: 1 to 16; on
	// SQLite always 1. 0: 2.
	Writers int

	// Dictionary has a dictionary in the format of FreeRADIUS, as Dictionary of
	// sqlbilling.Options. nil: none.
	Dictionary fs.FS

	// DictionaryFile is the file of Dictionary to begin with. Empty: "dictionary".
	DictionaryFile string

	// MustExist refuses a database that does not exist or has not this schema,
	// instead of creating it.
	MustExist bool

	// Control says that a [coa.Controller] with the Backend as its Store changes
	// sessions in progress: an Access-Accept then has a Class that says what the session
	// was given, and Watch is called.
	Control bool

	// MaxGroup is the most accounting records of one transaction: 1 to 65,536. 0: 1024.
	MaxGroup int

	// MaxPending is the most accounting records that wait to be written; beyond
	// them Account fails with ErrOverloaded: 1 to 16,777,216. 0: 65,536.
	MaxPending int

	// PostAuthBuffer is how many results of authentications may wait to be written to
	// radpool_postauth; what comes on top is dropped and counted: 1 to 1,048,576. 0:
	// 8192. Negative: it is not written.
	PostAuthBuffer int

	// WriteTimeout bounds one transaction, attempts after a lock included: 10 ms
	// to 10 min. 0: 5 s.
	WriteTimeout time.Duration
}

func (o Options) withDefaults() (Options, error) {
	err := errors.Join(
		bound.IfSet("ledger: Readers", &o.Readers, 1, 64),
		bound.IfSet("ledger: Writers", &o.Writers, 1, 16),
		bound.Field("ledger: MaxGroup", &o.MaxGroup, 1024, 1, 1<<16),
		bound.Field("ledger: MaxPending", &o.MaxPending, 1<<16, 1, 1<<24),
		bound.Field("ledger: WriteTimeout", &o.WriteTimeout, 5*time.Second, 10*time.Millisecond, 10*time.Minute),
	)
	if o.PostAuthBuffer >= 0 { // else radpool_postauth is not written
		err = errors.Join(err, bound.Field("ledger: PostAuthBuffer", &o.PostAuthBuffer, 8192, 1, 1<<20))
	}
	if o.Logger == nil {
		o.Logger = zap.NewNop()
	}
	return o, err
}
