package dialect

import (
	"context"
	"strings"
)

// An Ask is one wish for an address of radippool. Its texts fit into their columns.
type Ask struct {
	Pool, User, NAS, Calling, Called, Key string

	Addr string // the answer: framedipaddress as it stands there; empty: the pool has none left
}

// A Leaser leases addresses. It is used by one goroutine at a time.
type Leaser interface {
	// Lease answers asks, all of them or none, in one transaction, and does not
	// wait longer than it must for the clock of the database: a lease lasts from
	// its now. Each ask gets the row that its user had last on the same device; else
	// one that its user had and that has expired; else the one that expired first.
	Lease(ctx context.Context, asks []*Ask) error

	Close() error
}

// MaxAsks is how many asks a Leaser takes at once, at most.
const MaxAsks = 256

// leaseColumns are the columns of radippool that say who has an address.
var leaseColumns = []struct {
	name  string
	value func(*Ask) *string
}{
	{"pool_name", func(a *Ask) *string { return &a.Pool }},
	{"username", func(a *Ask) *string { return &a.User }},
	{"nasipaddress", func(a *Ask) *string { return &a.NAS }},
	{"callingstationid", func(a *Ask) *string { return &a.Calling }},
	{"calledstationid", func(a *Ask) *string { return &a.Called }},
	{"pool_key", func(a *Ask) *string { return &a.Key }},
}

// Values are what leaseColumns hold of an ask, each with its place: 0 is the pool.
func (a *Ask) Values() []string {
	list := make([]string, len(leaseColumns))
	for i, c := range leaseColumns {
		list[i] = *c.value(a)
	}
	return list
}

// LeaseColumns are the columns of t for Values; the name of one that t lacks is empty.
func LeaseColumns(t Tables) []Column {
	list := make([]Column, len(leaseColumns))
	for i, l := range leaseColumns {
		list[i], _ = t.Column("radippool", l.name)
	}
	return list
}

// Fit makes the texts such as the columns of t can hold.
func (a *Ask) Fit(t Tables, fit func(s string, c Column) string) {
	for _, l := range leaseColumns {
		if c, ok := t.Column("radippool", l.name); ok {
			*l.value(a) = fit(*l.value(a), c)
		}
	}
}

// A LeaseSQL are the parts of the statements that lease. Value is an expression for
// the i-th of an ask's Values, Stored what a column of it is set to, and Text a
// column as text.
type LeaseSQL struct {
	Value        func(i int) string
	Stored, Text func(expr string, c Column) string
}

// Sets are the assignments to the columns of t that say who has an address.
func (q *LeaseSQL) Sets(t Tables) string {
	var sets []string
	for i, l := range leaseColumns[1:] {
		if c, ok := t.Column("radippool", l.name); ok {
			sets = append(sets, l.name+" = "+q.Stored(q.Value(i+1), c))
		}
	}
	return strings.Join(sets, ", ")
}

// Device is the condition that a row was last leased to the device that asks: that
// of the same Calling-Station-Id, or, without one, that on the same port of the
// same NAS.
func (q *LeaseSQL) Device(t Tables) string {
	var port []string
	calling := ""
	for i, l := range leaseColumns {
		c, ok := t.Column("radippool", l.name)
		if !ok {
			continue
		}
		same := q.Text(l.name, c) + " = " + q.Value(i)
		switch l.name {
		case "callingstationid":
			calling = q.Value(i) + " <> '' AND " + same
			port = append(port, q.Value(i)+" = ''", same)
		case "nasipaddress", "pool_key":
			port = append(port, same)
		}
	}
	switch {
	case calling == "" && len(port) == 0:
		return "(1 = 1)"
	case calling == "":
		return "(" + strings.Join(port, " AND ") + ")"
	}
	return "(" + calling + " OR " + strings.Join(port, " AND ") + ")"
}

// NeededPool are the columns without which no address is leased.
var NeededPool = []string{"id", "pool_name", "framedipaddress", "expiry_time", "username"}
