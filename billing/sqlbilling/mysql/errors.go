package mysql

import (
	"database/sql/driver"
	"errors"
	"io"
	"net"

	"github.com/go-sql-driver/mysql"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// classes are those of the server's errors that are not about the whole database.
var classes = map[uint16]dialect.Class{
	1020: dialect.Busy, // ER_CHECKREAD: the row changed since it was read
	1205: dialect.Busy, // ER_LOCK_WAIT_TIMEOUT
	1213: dialect.Busy, // ER_LOCK_DEADLOCK
	1412: dialect.Busy, // ER_TABLE_DEF_CHANGED
	1467: dialect.Busy, // ER_AUTOINC_READ_FAILED: of a lock as well, that of the table's next id

	1062: dialect.Conflict, // ER_DUP_ENTRY

	1048: dialect.BadRow, // ER_BAD_NULL_ERROR
	1264: dialect.BadRow, // ER_WARN_DATA_OUT_OF_RANGE
	1265: dialect.BadRow, // WARN_DATA_TRUNCATED
	1292: dialect.BadRow, // ER_TRUNCATED_WRONG_VALUE
	1366: dialect.BadRow, // ER_TRUNCATED_WRONG_VALUE_FOR_FIELD
	1406: dialect.BadRow, // ER_DATA_TOO_LONG
	1451: dialect.BadRow, // ER_ROW_IS_REFERENCED_2
	1452: dialect.BadRow, // ER_NO_REFERENCED_ROW_2
	1526: dialect.BadRow, // ER_NO_PARTITION_FOR_GIVEN_VALUE
	1644: dialect.BadRow, // ER_SIGNAL_EXCEPTION, of a trigger
	1690: dialect.BadRow, // ER_DATA_OUT_OF_RANGE
	1977: dialect.BadRow, // ER_CANNOT_CONVERT_CHARACTER
	3819: dialect.BadRow, // ER_CHECK_CONSTRAINT_VIOLATED, MySQL's
	4025: dialect.BadRow, // ER_CONSTRAINT_FAILED, MariaDB's

	1054: dialect.Changed, // ER_BAD_FIELD_ERROR
	1146: dialect.Changed, // ER_NO_SUCH_TABLE
	1364: dialect.Changed, // ER_NO_DEFAULT_FOR_FIELD: a new column that must be written

	1040: dialect.Away, // ER_CON_COUNT_ERROR
	1047: dialect.Away, // ER_UNKNOWN_COM_ERROR: a node of a cluster that is not ready
	1129: dialect.Away, // ER_HOST_IS_BLOCKED, until mariadb-admin flush-hosts
	1203: dialect.Away, // ER_TOO_MANY_USER_CONNECTIONS
	1226: dialect.Away, // ER_USER_LIMIT_REACHED

	1060: dialect.Exists, // ER_DUP_FIELDNAME
	1061: dialect.Exists, // ER_DUP_KEYNAME

	1615: dialect.Lost, // ER_NEED_REPREPARE
	1053: dialect.Lost, // ER_SERVER_SHUTDOWN
	1317: dialect.Lost, // ER_QUERY_INTERRUPTED, by somebody's KILL QUERY: as good as its connection
	1927: dialect.Lost, // ER_CONNECTION_KILLED
	4031: dialect.Lost, // ER_CLIENT_INTERACTION_TIMEOUT
}

func classify(err error) dialect.Class {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return classes[e.Number]
	}
	if lost(err) {
		return dialect.Lost
	}
	if dialect.Unreachable(err) {
		return dialect.Away
	}
	return dialect.Broken
}

// lost reports whether a connection went away that was there. One that cannot be
// made in the first place is another matter.
func lost(err error) bool {
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "dial" {
		return false
	}
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return classes[e.Number] == dialect.Lost
	}
	_, network := errors.AsType[*net.OpError](err)
	return network || errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}
