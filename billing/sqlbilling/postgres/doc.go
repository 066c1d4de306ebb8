// Package postgres lets sqlbilling use PostgreSQL. Import it for its effect:
//
//	import _ "github.com/radpool/radpool/billing/sqlbilling/postgres"
//
// and open "postgres://USER:PASSWORD@HOST:PORT/DATABASE", or what else
// github.com/jackc/pgx takes after "postgres:", as in "postgres:host=/run/postgresql
// dbname=radius". "postgresql:" is the same. Tables are looked for along the
// search_path, which the DSN may set.
//
//	sqlbilling, ledger --- statements of this dialect --- github.com/jackc/pgx --- PostgreSQL
//
// Names compare as their column does: exactly, in the standard schema, and without
// regard to case where the column is of type citext. sqlbilling.NamesIgnoreCase
// compares lower(username), for which the standard schema has indexes in comments.
//
// PostgreSQL stores no NUL, and a database in UTF-8 nothing that is not UTF-8: a
// name that it cannot hold is nobody's, and accounting stores =00 and =FF in place
// of such octets, as FreeRADIUS does. Text that is longer than a varchar loses its
// end, which sqlbilling.Stats counts. Columns of type inet hold addresses, and NULL
// where there is none.
//
// What is acknowledged survives what a COMMIT survives: with synchronous_commit off
// that is not much.
//
// Connections are set to use indexes, whatever the statistics say, and keep their
// statements prepared: behind a pooler such as PgBouncer its session mode is needed.
package postgres
