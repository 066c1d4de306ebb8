// Package ledger is a [billing.Handler] on radpool's own schema, for those who start
// fresh: subscribers, tariffs and a ledger.
//
//	import _ "github.com/radpool/radpool/billing/sqlbilling/sqlite"
//
//	backend, err := ledger.Open(ctx, "sqlite:/var/lib/radpool/billing.db", ledger.Options{})
//
//	          Authorize, one statement                    Account, one transaction
//	                    |                                            |
//	radpool_subscriber ──► password, expires,       radpool_session  merged: any order,
//	  |      |             sessions at once               |          any number of times
//	  |  radpool_balance ─► restricted profile       rating.Price    of all that is known
//	  v                     when it is used up            |
//	radpool_tariff ──────► quota_profile when        owed - charged ──► radpool_ledger
//	  |      |             radpool_usage is over          |                  +
//	  v      v             the quota                 octets ──► radpool_usage
//	radpool_interval, radpool_profile                     |
//	         └──► attributes for the vendor          sum of entries ──► radpool_balance
//	              that radpool_nas names
//
// Money is whole millionths of a unit of currency, and the balance of a subscriber is
// the sum of its entries in radpool_ledger, always. The entries of a session add up to
// the price of its final usage, see package rating, whatever the order of its records
// and however often each comes; a day that has a price is charged once, however many
// sessions it has. Several servers may share a database.
//
// docs/own-schema.md describes the tables, and how to fill them.
//
// # What a session costs
//
// A session keeps the tariff that the subscriber had when it became known. Where the
// prices of a tariff are changed, its sessions that still send records are charged by
// the new ones from their beginning: for other prices from now on make another tariff.
// The octets of a session count for the quota of the month in which it began.
//
// # Sessions in progress
//
// Session-Timeout ends a session when the money is used up at the price of an hour, when an
// interval ends, and when the subscription does. With Options.Control a [coa.Controller], whose
// Store a Backend is, does the rest: a session whose money or quota ends gets the restricted
// profile or quota_profile by a CoA-Request, or is ended where it cannot, and gets all again when
// that was paid for. Without it they are looked at when the subscriber logs in.
package ledger
