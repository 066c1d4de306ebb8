package sqlbilling

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
	"github.com/radpool/radpool/internal/dict"
)

// A Severity says what a Finding means for those who use the database.
type Severity uint8

// Severities, the least first.
const (
	// Note is something optional that is missing: it is not read or not written.
	Note Severity = iota
	// Slow is an index that is missing: all works, and slower with every row.
	Slow
	// Suspect is a row that has no effect, and was most likely meant to have one.
	Suspect
	// Wrong is a row that cannot be used: whoever it concerns is rejected.
	Wrong
)

var severities = [...]string{Note: "note", Slow: "slow", Suspect: "suspect", Wrong: "wrong"}

// String returns "note", "slow", "suspect" or "wrong".
func (s Severity) String() string {
	if int(s) < len(severities) {
		return severities[s]
	}
	return "invalid"
}

// A Finding is something that Check found. It never holds the value of a row, which
// may be a password.
type Finding struct {
	Severity  Severity
	Table     string
	ID        int64  // of the row; 0: it is not about a row
	Attribute string // of the row, where it has one
	Reason    string
	Fix       string // a statement of SQL that helps; may be empty
}

// String is the finding in one line, whatever the database holds.
func (f Finding) String() string {
	s := f.Severity.String() + ": " + f.Table
	if f.ID != 0 {
		s += fmt.Sprintf(", id %d", f.ID)
	}
	if f.Attribute != "" {
		s += fmt.Sprintf(", attribute %.64q", f.Attribute)
	}
	s += ": " + f.Reason
	if f.Fix != "" {
		s += ": " + f.Fix
	}
	return s
}

// Check looks for what is missing in the database and for rows that cannot be used,
// and calls found for each. It reads the tables of attributes, radippool and the table nas
// as a whole, on one connection, and keeps nothing of them in memory; of radacct it looks
// at columns and indexes alone. An error is found's, the database's, or ctx's; what
// was found before it stands.
func (b *Backend) Check(ctx context.Context, found func(Finding) error) error {
	for _, name := range b.now().l.missing {
		if err := found(Finding{Table: name, Reason: "is not there, and nothing is written to it"}); err != nil {
			return err
		}
	}
	if !b.now().history {
		if err := found(Finding{Table: "radpool_reload", Reason: "is not there and cannot be created: one restart of each NAS is remembered, and not 32"}); err != nil {
			return err
		}
	}
	wanted := slices.Concat(acctIndexes, nameIndexes)
	if b.pools.seen.Load() {
		wanted = append(wanted, poolIndexes...)
	}
	missing, err := b.missingIndexes(ctx, wanted)
	if err != nil {
		return b.named(err)
	}
	for i := range missing {
		m := &missing[i]
		if err := found(Finding{Severity: Slow, Table: m.table, Reason: "lacks an index: " + m.why, Fix: m.statement()}); err != nil {
			return err
		}
	}
	for kind := dialect.RowCheck; kind <= dialect.RowGroupReply; kind++ {
		if kind == dialect.RowMember {
			continue
		}
		if err := b.checkRows(ctx, kind, found); err != nil {
			return err
		}
	}
	if err := b.checkPool(ctx, found); err != nil {
		return err
	}
	return b.checkClients(ctx, found)
}

// named is an error of the database with its name.
func (b *Backend) named(err error) error { return b.db.Named("sqlbilling", err) }

// checkRows looks at each row of a table of attributes.
func (b *Backend) checkRows(ctx context.Context, kind int, found func(Finding) error) error {
	f, table := b.now(), kindTables[kind]
	text := func(name string) string { return b.d.Text(f.l.column(table, name)) }
	query := "SELECT id, " + text("attribute") + ", " + text("op") + ", " + text("value") + " FROM " + table
	r := row{kind: kind}
	return b.db.EachRow(ctx, "sqlbilling", query, []any{&r.id, &r.attribute, &r.op, &r.value}, func() error {
		severity, reason := judge(&r, b.dict, b.opts.Location)
		if reason == "" {
			return nil
		}
		return found(Finding{Severity: severity, Table: table, ID: r.id, Attribute: r.attribute, Reason: reason})
	})
}

// judge says what is wrong with a row, or nothing.
func judge(r *row, d *dict.Dictionary, loc *time.Location) (Severity, string) {
	p, err := parseRow(r, d, loc)
	if err == nil {
		err = usable(&p, d, loc)
	}
	if re, ok := errors.AsType[*RowError](err); ok {
		return Wrong, re.Reason
	}
	return Suspect, idle(&p)
}

// usable evaluates a row as if it were the only one.
func usable(p *pair, d *dict.Dictionary, loc *time.Location) error {
	if isReply(p) {
		_, _, err := encode([]pair{*p})
		return err
	}
	e := evaluation{req: &billing.AccessRequest{}, sub: &subscriber{counted: true}, now: time.Now(), loc: loc, dict: d}
	if _, err := e.match([]pair{*p}); err != nil {
		return err
	}
	e.control = merge(nil, []pair{*p})
	if _, err := e.grant(nil); err != nil {
		return err
	}
	if p.ref.Name == "Radpool-Credit" { // which matters only beside a balance
		_, err := amount(p)
		return err
	}
	return nil
}

func isReply(p *pair) bool {
	return p.row.kind != dialect.RowCheck && p.row.kind != dialect.RowGroupCheck
}

// idle is why a row that can be used has no effect, or nothing.
func idle(p *pair) string {
	_, rank := passwordForm(p.ref.Name)
	switch {
	case isReply(p) && p.ref.Internal() && p.ref.Name != "Fall-Through":
		return "is no attribute of a reply: it is never sent"
	case isReply(p):
		switch p.op {
		case "==", "!=", "<", ">", "=~", "!~", "=*":
			return "the operator " + p.op + " adds nothing to a reply: := or = does"
		}
	case rank != math.MaxInt && !neverCompared[p.ref.Name] && p.ref.Name != "User-Password" && (p.op == "==" || p.op == "="):
		return "the operator " + p.op + " compares it with the request, which never has it: := sets it"
	}
	return ""
}

// checkClients looks at the table nas.
func (b *Backend) checkClients(ctx context.Context, found func(Finding) error) error {
	if lacking := b.lackingNAS(); lacking != "" {
		return found(Finding{Table: lacking, Reason: "is not there: clients cannot be read from the table nas"})
	}
	var stopped error
	_, err := b.readClients(ctx, func(id int64, err error) {
		if stopped == nil {
			stopped = found(Finding{Severity: Wrong, Table: "nas", ID: id, Reason: strings.ReplaceAll(err.Error(), "\n", " ")})
		}
	})
	return errors.Join(err, stopped)
}
