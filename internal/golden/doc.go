// Package golden reads and writes golden packets: requests and the replies that are
// expected, as text in radclient's syntax, in a txtar archive. billingtest runs them, and
// radpool/record makes them of live traffic.
//
//	What stands before the first file is a comment.
//	-- alice.request --
//	User-Name = "alice"
//	User-Password = "wonderland"
//	-- alice.reply --
//	Access-Accept
//	Session-Timeout = *
//
// Each case is two files with one name. A packet is attributes by name, separated by lines
// or commas, with # comments; the first line may be the code of the request, and must be
// what comes of it.
package golden
