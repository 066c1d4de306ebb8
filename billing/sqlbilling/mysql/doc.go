// Package mysql lets sqlbilling use MariaDB and MySQL. Import it for its effect:
//
//	import _ "github.com/radpool/radpool/billing/sqlbilling/mysql"
//
// and open "mysql:" followed by a DSN of github.com/go-sql-driver/mysql, as in
// "mysql:radius:PASSWORD@tcp(127.0.0.1:3306)/radius". "mariadb:" is the same.
//
//	sqlbilling, ledger --- statements of this dialect --- github.com/go-sql-driver/mysql --- MariaDB, MySQL
//
// MariaDB from 10.6 and MySQL from 8.0.4 on know JSON_TABLE: a statement then asks
// for any number of users, and writes any number of rows. With older ones, or one that
// cannot give its columns a collation, the number of users
// is padded to a power of two, and rows are written one by one in a transaction. Which it is,
// the server is asked when it is opened.
//
// # Versions
//
// The tests run on MariaDB 10.11, and there with what is used for older servers as well. MySQL
// is not tested, for want of a server in Debian. What is asked of it is:
//
//   - indexes on 253 characters of utf8mb4, for the tables that are made: MySQL
//     5.7.7 or MariaDB 10.2.2. Tables that exist already need neither.
//   - JSON_TABLE, and a collation in it, where the server has them.
//   - VALUES() in ON DUPLICATE KEY UPDATE (package ledger), and assignments to
//     user variables within an UPDATE (addresses of radippool): both are deprecated in
//     MySQL, since 8.0.20 and 8.0.13, and there in all versions so far. MariaDB has no
//     other form of the first.
//   - CHECK constraints of package ledger: older ones than MySQL 8.0.16 and MariaDB
//     10.2.1 read and forget them, so that what an operator writes is not checked.
//   - GET_LOCK, LOCK IN SHARE MODE, multi-table UPDATE, STRAIGHT_JOIN: all versions.
//     @@binlog_format may be missing.
//
// Not used are RETURNING, common table expressions, window functions, SKIP LOCKED and
// aliases of new rows, which one of the two lacks, or had late.
//
// # Text and time
//
// Names compare as the collation of their column says, mostly without regard to
// case, accents and trailing spaces; sqlbilling.NamesExact compares octets. A
// name that the character set of its column cannot hold is nobody's, and an
// accounting record with such text is refused with an error that says so. Octets that are no UTF-8, and NUL, are
// stored as =FF and =00, as FreeRADIUS does; texts that are too long lose their
// end, which sqlbilling.Stats counts. Times are of the time zone of the session, as
// FreeRADIUS writes them: where time_zone is not that of the other programs, set it
// in the DSN.
//
// What is acknowledged survives what a COMMIT survives: innodb_flush_log_at_trx_commit
// must be 1, its default, and the tables InnoDB's.
//
// Transactions are READ COMMITTED, except where the server writes a binary log of
// statements, which does not allow it.
package mysql
