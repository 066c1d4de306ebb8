// Package sim simulates a RADIUS server under load, in virtual time: NASes with the
// timers of real ones, a network that loses, the server's duplicate table, queue and
// workers, and a back end that serves so many at once.
//
// The queue and the policy are radpool's own, and so is the duplicate table; the
// rest is a model. There is no goroutine and no clock: things happen one after the
// other, at the time at which they are due, so that a minute under ten times the load takes
// a second, and the same [Scenario] gives the same [Result] for the same seed.
//
// What is not in it: what a packet costs but for Server.Cost, the sockets' buffers, and
// batches.
//
// [Scenario] is all of it. [Saturation] is the workers and the back end alone, with
// more work than they can do, to see how well a policy chooses the number of workers.
package sim
