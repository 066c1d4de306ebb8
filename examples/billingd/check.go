package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/radpool/radpool/billing/sqlbilling"
	"github.com/radpool/radpool/radpool"
)

// maxFindings is how many findings are printed; the others are counted.
const maxFindings = 1000

// checkCommand says what is wrong in a configuration, what of it is passed over, what is
// missing in the database and which rows of it cannot be used. It takes the flags of
// serving, so that a unit can check what it is about to start. Exit status 1: something has
// to be mended; 2: wrong flags. Notes alone leave it 0.
func checkCommand(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseFlagsOf("billingd check", args, stderr)
	switch wrong := (*radpool.ConfError)(nil); {
	case errors.Is(err, errHelp):
		return 0
	case errors.As(err, &wrong):
		complain(stderr, err)
		return 1
	case err != nil:
		complain(stderr, err)
		return 2
	}
	if o.conf != "" {
		if err := o.resolve(ctx); err != nil {
			complain(stderr, err)
			return 1
		}
		missing := o.needsDatabase()
		if err := o.checkedConf(stdout, missing); err != nil {
			complain(stderr, fmt.Errorf("check: %w", err))
			return 1
		}
		switch {
		case missing != nil:
			return 1
		case o.memoryUsers > 0:
			return 0
		}
	}
	if o.memoryUsers > 0 {
		complain(stderr, fmt.Errorf("-db %s: there is no database, see -db", o.db))
		return 2
	}
	serious, err := o.checkDatabase(ctx, stdout)
	switch {
	case err != nil:
		complain(stderr, err)
		return 1
	case serious > 0:
		return 1
	}
	return 0
}

// checkedConf prints what is missing in the file, if it is not nil, what of it is passed
// over, and what is taken.
func (o *options) checkedConf(stdout io.Writer, missing error) error {
	conf := o.file.conf
	wrong := 0
	if missing != nil {
		wrong = 1
		if _, err := fmt.Fprintf(stdout, "wrong: %v\n", missing); err != nil {
			return err
		}
	}
	notes := o.passedOver()
	for _, line := range notes {
		if _, err := fmt.Fprintf(stdout, "%s\n", line); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(stdout, "%s: %d to fix, %d for information; %d clients, %d sockets, %d databases\n",
		o.conf, wrong, len(notes), len(conf.Clients), len(o.listen), len(conf.SQL))
	return err
}

// checkDatabase prints what is to fix and what else is worth knowing, and returns how much is to fix.
func (o *options) checkDatabase(ctx context.Context, stdout io.Writer) (serious int, err error) {
	db, err := o.openForReading(ctx)
	if err != nil {
		return 0, fmt.Errorf("-db %s: %w", o.database(), err)
	}
	findings := 0
	err = db.Check(ctx, func(f sqlbilling.Finding) error {
		if findings++; findings <= maxFindings {
			if _, err := fmt.Fprintln(stdout, f); err != nil {
				return err
			}
		}
		if f.Severity != sqlbilling.Note {
			serious++
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		return 0, fmt.Errorf("check: %w", err)
	}
	if findings > maxFindings {
		_, _ = fmt.Fprintf(stdout, "and %d more\n", findings-maxFindings)
	}
	_, _ = fmt.Fprintf(stdout, "%s: %d to fix, %d for information\n", o.database(), serious, findings-serious)
	return serious, nil
}
