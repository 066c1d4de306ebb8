// Package rating says what a session costs: arithmetic alone, without a database
// and without a clock.
//
//	records ──► Usage.Merge ──► Usage ──► Tariff.Price ──► owed
//	any order,  the largest     as far       whole         owed - charged so far:
//	any number  of each         as seen    millionths      the next ledger entry
//
// A price is a function of the Usage of the whole session. Usage merges by maximum
// and minimum, so the order of accounting records, and how often each comes, does
// not matter; and a ledger whose entries are each what is owed now less what was
// charged before adds up to the price of the final Usage, to the last millionth. An
// entry may be negative, where a late record shows that less was owed.
//
// [Money] is whole millionths of a unit of currency. Nothing here is floating point.
//
// All of a package's values are immutable while they are used, and safe for
// several goroutines then.
package rating
