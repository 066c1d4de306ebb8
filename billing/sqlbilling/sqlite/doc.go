// Package sqlite lets sqlbilling use SQLite, without cgo. Import it for its effect:
//
//	import _ "github.com/radpool/radpool/billing/sqlbilling/sqlite"
//
// and open "sqlite:FILE", or "sqlite::memory:" for tests.
//
//	sqlbilling, ledger --- statements of this dialect --- modernc.org/sqlite --- a file
//
// A file that is made here is its owner's alone, since it holds passwords. One that is
// removed or replaced while it is open is not written to any more, and what comes to
// have its name is served instead.
//
// The file is put into WAL mode, so that reading does not wait for writing, and
// is written with synchronous=FULL, so that what is committed survives a power
// failure. There is one connection that writes, and a few that read. Times are
// seconds since 1970, as FreeRADIUS writes them to SQLite; text that SQLite
// understands as a time is read as well. Names compare octet by octet
// (BINARY), unless the column of an existing database says otherwise.
package sqlite
