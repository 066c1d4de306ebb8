// Package sqlbilling is a [billing.Handler] on an SQL database with the standard
// FreeRADIUS schema (radcheck, radreply, radgroupcheck, radgroupreply,
// radusergroup, radacct, radpostauth, nas, nasreload, radippool), so that what works
// with that schema goes on working beside it.
//
//	import _ "github.com/radpool/radpool/billing/sqlbilling/sqlite"
//
//	backend, err := sqlbilling.Open(ctx, "sqlite:/var/lib/radpool/radius.db", sqlbilling.Options{})
//
//	Access-Requests that wait ──► one statement ──► rows ──► operators, groups ──► a Grant each
//	                              (radcheck, radreply, radusergroup, ..., open sessions)
//	accounting that waits     ──► one row a session ──► one upsert, one commit ──► acknowledged
//	authentications that ended ─► radpostauth, in the background
//
// This package compiles no driver: the packages below it do, one each, and a
// program imports those that it uses: sqlite, mysql (MariaDB as well) and postgres.
// Their documentation says what is particular to each.
//
// # The database
//
// An empty database gets the schema. One that exists is taken as it is: columns
// and tables that are optional and missing are named once in the log, and what is
// needed and missing is an error of Open. The only tables that are added to it are
// radpool_reload, which keeps the last 32 restarts of each NAS, and radippool. Where
// they cannot be created, nasreload has to do, which keeps one restart, and no
// addresses are leased.
//
// Where the server cannot be reached, is starting or has too many connections, the error
// of Open is billing.ErrAway, and billing.OpenLater opens the database when it is there:
//
//	later, err := billing.OpenLater(ctx, func(ctx context.Context) (billing.BatchHandler, error) {
//		return sqlbilling.Open(ctx, dsn, sqlbilling.Options{})
//	}, logger)
//
// A name that is not known is away as well: its server may start after this. A DSN that
// cannot be, a password that is refused and a database that does not exist are not.
//
// Columns may come and go while it runs: where a statement fails since one is not what it
// was, the tables are read again, what failed is tried once more on what there is, and one
// line in the log names what changed. A new column makes no statement fail: it is seen
// within a minute. Where one that is needed is gone, requests fail until it is back.
//
// radacct needs a unique index on acctuniqueid. With another one, or none, one
// transaction with accounting runs at a time, which is slower, and two processes may
// make two rows of one session. Counting the sessions of subscribers with
// Simultaneous-Use needs one on (username, acctstoptime), and Accounting-On one on
// (nasipaddress, acctstoptime). One that is missing is named in the log and not
// created: on a large table that takes long.
//
// # Authorize
//
// One statement reads everything for one Access-Request, or for a whole batch of
// them; on MariaDB, MySQL and PostgreSQL one more reads the groups of a profile
// (User-Profile) that a group sets, or that is the first in radcheck for a hundred
// names. As many statements run at once as there are Readers; who finds none free
// waits, and shares the next statement with all who wait. The rows are evaluated as
// FreeRADIUS's rlm_sql does: see the operators in
// users(5), Fall-Through, and groups by priority. A row that cannot be understood
// (an attribute that is not in the dictionary, an operator, a date) is a [RowError]
// that names it, and an Access-Reject, as in FreeRADIUS: half a configuration is not
// granted. Passwords are taken from Cleartext-Password,
// NT-Password, Crypt-Password and the like; Expiration, Simultaneous-Use,
// Login-Time, User-Profile, SQL-Group, Current-Time, Time-Of-Day, Client-IP-Address
// and Auth-Type work. Auth-Type := Accept lets in whatever the
// password, but behind MS-CHAP, whose subscriber wants a proof of it; PAP, CHAP and
// MS-CHAP reject who comes by another method. Pool-Name leases an address, see below.
// Others that FreeRADIUS's other modules would use are known and have no effect.
//
// Not supported, and an error where they stand: values in back-quotes,
// Huntgroup-Name, LM-Password, and the limits of rlm_sqlcounter (Max-Daily-Session
// and the like): a limit that is not enforced must not look as if it were.
// Expiration is also read in ISO 8601. Attributes of a reply that are encrypted on the
// wire, such as Tunnel-Password, stand in the clear in their rows.
//
// Money stands in radcheck or radgroupcheck: Radpool-Balance and Radpool-Credit,
// whole millionths of a unit of currency. At a sum of 0 or less the
// subscriber gets the replies of the group Options.RestrictedGroup instead of
// their own, or a reject where that group has none. Radpool-Blocked := Yes blocks.
//
// # Addresses
//
// Pool-Name := NAME in radcheck or radgroupcheck gives the subscriber an address of
// radippool, as FreeRADIUS's sqlippool does: the rows of the pool are inserted by the
// operator, one for each IPv4 address. All that wait for an address at one moment share
// a transaction and a round trip. A subscriber gets, of the rows of the pool,
//
//  1. the one that the same User-Name had last on the same device, also while its lease
//     lasts. A device is a Calling-Station-Id, or, without one, a NAS with its NAS-Port
//     (else NAS-Port-Id): two sessions that nothing of this tells apart share an
//     address;
//  2. one that the same User-Name had, and whose lease has ended;
//  3. the one whose lease has ended first.
//
// A lease lasts LeaseTime from the Access-Accept, and from the time of each Start and
// Interim-Update of a session with that address that has not ended. The Stop ends it
// at the Stop's time, an Accounting-On or Accounting-Off of the NAS at its own, but
// only what was given or renewed before that time: a record that comes late, of the
// session before, does not free the address of the next one, and none revives what
// the end of its own session freed. The lease is that of a session if the address is
// the same and the Calling-Station-Id, or, where one of them has none, the NAS and the
// User-Name. Times are compared with those of NASes, whose clocks should be right:
// where one is wrong, addresses are not freed by a Stop and wait for the end of
// LeaseTime, and they are never free too early.
//
// Each lease is written and committed before the Access-Accept, also when its holder has
// it already and only the time changes: by that time is known that the Stop of the
// session before, which may come late, is not of this one.
//
// A radippool that lacks id, pool_name, framedipaddress, expiry_time or username, or is
// gone, is an error for who wants an address, and not a full pool.
//
// MariaDB and MySQL answer all that wait with two statements. Servers without
// JSON_TABLE (before MariaDB 10.6 and MySQL 8) get two for each, which costs them about
// three times as much; so do the users of a group who want addresses for several
// devices at once, and have none yet. Texts that the character set of radippool lacks
// are stored as question marks and a digest.
//
// All servers of a database, FreeRADIUS among them, may lease from one radippool.
// pool_key is NAS-Port, as in FreeRADIUS's default. Without indexes on (pool_name,
// expiry_time), (pool_name, username), (framedipaddress) and (nasipaddress) all works,
// and slower with every address; the second is not in FreeRADIUS's schema. Check says
// which one is missing.
//
// # Account
//
// A record is written before Account returns nil: it returns after the COMMIT.
// Whatever waits at the same time is written in one transaction, which is tried anew
// after a deadlock and the like, and after a connection that was lost. A record that
// the database refuses fails alone, with an error that is billing.ErrRecord. Several
// servers may share a database. Any order of the
// records of a session, each any number of times, gives the same row of radacct:
//
//   - acctstarttime is the earliest start that any record tells: of a Start its own
//     time, of others their time less Acct-Session-Time. acctupdatetime is the time
//     of the latest record, and acctinterval how many seconds before it the latest
//     one with another time was: NULL after the first. A Stop counts as
//     well, as in FreeRADIUS's queries for PostgreSQL; in those for MySQL it
//     changes neither column.
//   - acctsessiontime and the octets are the largest reported.
//   - acctstoptime and acctterminatecause are those of the Stop; of several with
//     different times, the earliest.
//   - Accounting-On and Accounting-Off close the sessions of that NAS that had
//     started by then, with cause NAS-Reboot, at their own time, also when a
//     record of such a session comes later. A Stop of the session itself wins over
//     that, unless its cause is NAS-Reboot as well: then the earlier time counts.
//     Session time and octets stay what was last reported.
//   - Everything else: known wins over unknown, and of values that contradict each
//     other the greater in octet order.
//   - realm stays what the schema has as its default: it is of FreeRADIUS's proxy.
//
// A NAS that uses one Acct-Session-Id for two sessions of the same user and port
// makes one session of them, since their acctuniqueid is the same.
package sqlbilling
