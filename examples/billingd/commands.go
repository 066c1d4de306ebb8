package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
	"github.com/radpool/radpool/billing/sqlbilling/ledger"
)

// commands are what billingd does instead of serving, by the first argument. Each
// returns the exit status: 0, 1, or 2 for wrong flags.
func commands() map[string]func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return map[string]func(ctx context.Context, args []string, stdout, stderr io.Writer) int{
		"check":      checkCommand,
		"completion": completionCommand,
		"explain":    explainCommand,
		"migrate":    migrate,
		"version":    versionCommand,
	}
}

// An inspected database is what the commands look at, in either schema.
type inspected interface {
	Check(ctx context.Context, found func(sqlbilling.Finding) error) error
	Explain(ctx context.Context, user string, attributes ...string) (*sqlbilling.Trace, error)
	Close() error
}

// openForReading parses the arguments of a command and opens its database. It
// neither creates one nor adds a subscriber. If the status is not negative the
// command has ended with it.
func openForReading(ctx context.Context, name string, args []string, stderr io.Writer) (db inspected, o *options, rest []string, status int) {
	o = new(options)
	f := newFlags("billingd "+name, o)
	err := parse(f, args, stderr)
	for err == nil && f.NArg() > 0 { // flags may come after arguments as well
		rest = append(rest, f.Arg(0))
		err = parse(f, f.Args()[1:], stderr)
	}
	if errors.Is(err, errHelp) {
		return nil, o, nil, 0
	}
	if err == nil {
		err = o.takeConf(f)
	}
	if err == nil {
		err = o.needsDatabase()
	}
	if err == nil {
		_, err = o.checkDB()
	}
	if err == nil {
		err = o.checkSchema()
	}
	if err == nil && o.memoryUsers > 0 {
		err = fmt.Errorf("-db %s: there is no database, see -db", o.db)
	}
	if err != nil {
		complain(stderr, err)
		return nil, o, nil, 2
	}
	db, err = o.openForReading(ctx)
	if err != nil {
		complain(stderr, fmt.Errorf("-db %s: %w", o.database(), err))
		return nil, o, nil, 1
	}
	return db, o, rest, -1
}

// openForReading opens the database of a command.
func (o *options) openForReading(ctx context.Context) (inspected, error) {
	words, file, err := o.dictionaryFile()
	if err != nil {
		return nil, err
	}
	if o.schema == radpoolSchema {
		return ledger.Open(ctx, o.db, ledger.Options{MustExist: true, PostAuthBuffer: -1, Dictionary: words, DictionaryFile: file, Readers: 1, Writers: 1})
	}
	opts := sqlbilling.Options{MustExist: true, PostAuthBuffer: -1, Readers: 1, Writers: 1, Dictionary: words, DictionaryFile: file}
	o.takeRules(&opts)
	return sqlbilling.Open(ctx, o.db, opts)
}

// explainCommand says how an Access-Request of a user is answered, and why. Exit
// status 1 is that of a reject.
func explainCommand(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	db, _, rest, status := openForReading(ctx, "explain", args, stderr)
	if status >= 0 {
		return status
	}
	if len(rest) == 0 {
		complain(stderr, errors.Join(errors.New("explain: which user? As in billingd explain user1 NAS-IP-Address=192.0.2.1"), db.Close()))
		return 2
	}
	trace, err := db.Explain(ctx, rest[0], rest[1:]...)
	if err := errors.Join(err, db.Close()); err != nil {
		complain(stderr, fmt.Errorf("explain: %w", err))
		return 1
	}
	for _, s := range trace.Steps {
		_, _ = fmt.Fprintln(stdout, s)
	}
	_, _ = fmt.Fprintln(stdout, verdict(trace))
	for _, attribute := range trace.Reply {
		_, _ = fmt.Fprintln(stdout, "   ", attribute)
	}
	if trace.Pool != "" {
		_, _ = fmt.Fprintf(stdout, "    Framed-IP-Address = one of the pool %q\n", trace.Pool)
	}
	if !trace.Accepted {
		return 1
	}
	return 0
}

// verdict is how it ends, in one line.
func verdict(t *sqlbilling.Trace) string {
	var s string
	switch {
	case t.Row != nil:
		return "Access-Reject, since a row cannot be used: " + t.Row.Error()
	case !t.Accepted:
		s = "Access-Reject: " + t.Reason.Text()
	case t.Password == billing.FormNone:
		s = "Access-Accept, without a password"
	case t.NoPassword:
		s = "Access-Accept, without a password or with the right one (" + t.Password.String() + ")"
	default:
		s = "Access-Accept, with the right password (" + t.Password.String() + ")"
	}
	if t.Restricted {
		s += ", with the restricted profile: " + t.Reason.Text()
	}
	if t.Limit > 0 {
		s += fmt.Sprintf("; %d of %d sessions are open", t.Sessions, t.Limit)
	}
	return s
}
