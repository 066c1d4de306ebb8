package sqlbilling

import (
	"context"
	"slices"
	"strings"
)

// An index is one that a table should have.
type index struct {
	table   string
	columns []string
	unique  bool
	why     string
}

// acctIndexes are those of radacct. Without them all works, and slower with every
// session that is stored.
var acctIndexes = []index{
	{"radacct", []string{"acctuniqueid"}, true, "each accounting record looks its session up by it"},
	{"radacct", []string{"username", "acctstoptime"}, false, "sessions of those with Simultaneous-Use are counted by it"},
	{"radacct", []string{"nasipaddress", "acctstoptime"}, false, "Accounting-On and Accounting-Off close sessions by it"},
}

// nameIndexes are those of the tables that each Access-Request is looked up in.
var nameIndexes = []index{
	{"radcheck", []string{"username"}, false, "each Access-Request looks its user up by it"},
	{"radreply", []string{"username"}, false, "each Access-Request looks its user up by it"},
	{"radusergroup", []string{"username"}, false, "each Access-Request looks its user up by it"},
	{"radgroupcheck", []string{"groupname"}, false, "each Access-Request looks its groups up by it"},
	{"radgroupreply", []string{"groupname"}, false, "each Access-Request looks its groups up by it"},
}

// poolIndexes are those of radippool. They are looked for once it holds addresses.
var poolIndexes = []index{
	{"radippool", []string{"pool_name", "expiry_time"}, false, "free addresses are found by it"},
	{"radippool", []string{"pool_name", "username"}, false, "the address that a user had is found by it"},
	{"radippool", []string{"framedipaddress"}, false, "accounting records renew and free leases by it"},
	{"radippool", []string{"nasipaddress"}, false, "Accounting-On and Accounting-Off free leases by it"},
}

// words name the columns, as in "UNIQUE (acctuniqueid)".
func (i *index) words() string {
	s := "(" + strings.Join(i.columns, ", ") + ")"
	if i.unique {
		return "UNIQUE " + s
	}
	return s
}

// statement creates the index.
func (i *index) statement() string {
	create := "CREATE INDEX "
	if i.unique {
		create = "CREATE UNIQUE INDEX "
	}
	return create + i.table + "_" + strings.Join(i.columns, "_") + " ON " + i.table + " (" + strings.Join(i.columns, ", ") + ")"
}

// missingIndexes are those of list that the database lacks.
func (b *Backend) missingIndexes(ctx context.Context, list []index) (missing []index, err error) {
	for _, i := range list {
		if slices.ContainsFunc(i.columns, func(name string) bool { _, there := b.now().l.tables.Column(i.table, name); return !there }) {
			continue
		}
		lacks, err := b.d.Lacks(ctx, b.db, i.table, i.columns...)
		if err == nil && !lacks && i.unique { // one that is not unique is not enough
			var unique bool
			unique, err = b.d.Unique(ctx, b.db)
			lacks = !unique
		}
		if err != nil {
			return missing, err
		}
		if lacks {
			missing = append(missing, i)
		}
	}
	return missing, nil
}
