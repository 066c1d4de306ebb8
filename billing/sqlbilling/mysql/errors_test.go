package mysql_test

import (
	"fmt"
	"testing"

	driver "github.com/go-sql-driver/mysql"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
	"github.com/radpool/radpool/billing/sqlbilling/mysql"
)

// What passes by itself is tried again, and only what is wrong with one row is its
// record's fault: that record alone is put aside then.
func TestClassify(t *testing.T) {
	for number, want := range map[uint16]dialect.Class{
		1213: dialect.Busy,     // deadlock
		1467: dialect.Busy,     // the same, over the next id of the table
		1205: dialect.Busy,     // lock wait timeout
		1317: dialect.Lost,     // KILL QUERY
		1927: dialect.Lost,     // KILL
		1062: dialect.Conflict, // duplicate entry
		1060: dialect.Exists,   // duplicate column
		1061: dialect.Exists,   // duplicate index
		1406: dialect.BadRow,   // data too long
		1364: dialect.Changed,  // a column without default, of the table
		1114: dialect.Broken,   // the disk is full
		1054: dialect.Changed,  // no such column
		1146: dialect.Changed,  // no such table
		1045: dialect.Broken,   // the password is refused
		1040: dialect.Away,     // too many connections
	} {
		err := fmt.Errorf("radacct: %w", &driver.MySQLError{Number: number})
		if got := mysql.Old().Classify(err); got != want {
			t.Errorf("error %d: class %v, want %v", number, got, want)
		}
	}
}
