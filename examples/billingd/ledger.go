package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing/sqlbilling/ledger"
	"github.com/radpool/radpool/radpool"
)

// The values of -schema.
const (
	standardSchema = "standard"
	radpoolSchema  = "radpool"
)

// openLedger opens radpool's own schema, creates it when it is missing, and fills it
// with demo users when it has no subscriber.
func openLedger(ctx context.Context, o *options, log *zap.Logger) (*database, error) {
	opts := ledger.Options{Logger: log, Readers: o.readers, Control: o.coa}
	if !o.postAuth {
		opts.PostAuthBuffer = -1
	}
	var err error
	if opts.Dictionary, opts.DictionaryFile, err = o.dictionaryFile(); err != nil {
		return nil, err
	}
	db, err := ledger.Open(ctx, o.db, opts)
	if err != nil {
		return nil, err
	}
	if err := fill(ctx, db, o, log); err != nil {
		return nil, err
	}
	return &database{BatchHandler: db, ledger: db, ping: db.Ping, nas: func(ctx context.Context) ([]radpool.Client, error) {
		nases, err := db.NASes(ctx)
		var list []radpool.Client
		for _, n := range nases {
			if len(n.Secret) > 0 {
				list = append(list, n.Client())
			}
		}
		return list, err
	}}, nil
}

// migrate is billingd migrate: it takes subscribers over from one schema to the other
// in the same database, and prints what could not be taken over. It returns the exit
// status.
func migrate(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o := new(options)
	var from, to string
	f := migrateFlags(o, &from, &to)
	err := parse(f, args, stderr)
	switch {
	case errors.Is(err, errHelp):
		return 0
	case err != nil:
	case f.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q: all is said by flags, see -h", f.Arg(0))
	case from != standardSchema || to != radpoolSchema:
		err = fmt.Errorf("-from %.32s -to %.32s: only -from standard -to radpool is possible", from, to)
	}
	if err != nil {
		complain(stderr, fmt.Errorf("migrate: %w", err))
		return 2
	}
	report, err := takeOver(ctx, o)
	if err != nil {
		complain(stderr, fmt.Errorf("migrate: -db %s: %w", o.database(), err))
		return 1
	}
	for _, left := range report.Left {
		_, err = fmt.Fprintf(stdout, "not taken over: %s\n", left)
	}
	_, last := fmt.Fprintf(stdout, "taken over: %d subscribers, %d tariffs, %d attributes of replies, %d NASes; not taken over: %d rows, named above; radacct stays where it is\n",
		report.Subscribers, report.Tariffs, report.Attributes, report.NASes, len(report.Left))
	if err = errors.Join(err, last); err != nil { // all is done, and nobody can read it
		complain(stderr, fmt.Errorf("migrate: the report: %w", err))
		return 1
	}
	return 0
}

func migrateFlags(o *options, from, to *string) *flag.FlagSet {
	f := flag.NewFlagSet("billingd migrate", flag.ContinueOnError)
	f.SetOutput(io.Discard) // errors are one line, and printed by the caller
	f.StringVar(&o.db, "db", "sqlite:radpool.db", "the database, as in billingd -h: `DSN`")
	dictionaryFlag(f, o)
	f.StringVar(from, "from", standardSchema, "`schema` to read: standard")
	f.StringVar(to, "to", radpoolSchema, "`schema` to write: radpool")
	return f
}

// takeOver opens the database for migrate.
func takeOver(ctx context.Context, o *options) (*ledger.Report, error) {
	var opts ledger.Options
	var err error
	if opts.Dictionary, opts.DictionaryFile, err = o.dictionaryFile(); err != nil {
		return nil, err
	}
	db, err := ledger.Open(ctx, o.db, opts)
	if err != nil {
		return nil, err
	}
	report, err := db.FromStandard(ctx)
	return report, errors.Join(err, db.Close())
}
