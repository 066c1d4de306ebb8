// Package benchmarks measures the parts of radpool beside others that do the
// same work: well-known libraries, and the simplest thing that one would write
// by hand. It holds benchmarks alone, and is a module of its own so that who
// imports radpool never sees the libraries that it is compared with.
//
//	BenchmarkQueue           one job pushed and popped                 lists, channel
//	BenchmarkHandOff         one job to an idle worker and back        channel, ants, pond
//	BenchmarkBurst           256 jobs at once to 8 workers             channel, ants, pond
//	BenchmarkPolicy          one decision how many workers             fixed, naive
//	BenchmarkArena           the memory of a request                   plain, syncpool
//	BenchmarkDuplicateTable  requests remembered with their replies    map, otter
//	BenchmarkRequest         datagram to verified, decoded packet      layeh, layeh-ma
//	BenchmarkReply           packet to signed datagram                 layeh, layeh-ma
//	BenchmarkServer          datagram to reply, without the kernel     radpool-adapter, layeh
//	BenchmarkWaiting         memory of requests that wait, and after   layeh
//
// # Running
//
//	go test -bench . -count 7 ./... | tee new.txt
//	benchstat -col /impl new.txt
//
// go test runs the counts of one benchmark one after the other, so on a machine
// whose speed changes over minutes, as a shared one's does, the implementations
// are better run in turn:
//
//	go test -c -o bench.test .
//	for i in 1 2 3 4 5 6 7; do ./bench.test -test.run '^$' -test.bench . ; done | tee new.txt
//
// The duplicate table at 2,097,152 entries and 1,048,576 requests that wait take
// minutes and are left out without -large.
//
// # Method
//
// The last element of each name, impl=, is what differs; everything before it
// is the same work on the same data in the same process. An operation is one
// job, one request or one datagram, also where several are in progress at once.
// Each operation's result is looked at inside the loop, by a comparison or two,
// and the implementations are checked to agree, octet for octet where that is
// possible, before the clock starts. The figures therefore hold the cost of
// looking, which is the same for all.
//
// Where an implementation does less than another (a channel has no deadlines;
// layeh.com/radius verifies nothing in an Access-Request) the benchmark says so
// in its comment, and where it can be made to do the same, that stands beside
// it as an implementation of its own.
//
// # Load tests
//
// Command series draws the graphs of a series of load tests, and series/sqlite.sh
// runs one, of billingd on SQLite.
//
// # In CI
//
// Command guard compares the parts with the naive ones, and with what was recorded
// in guard/guard.json, and fails when one became slower or allocates more.
package benchmarks
