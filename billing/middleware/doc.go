// Package middleware has what stands between a billing.Processor and a back end: a cache of
// Grants, a limit for each subscriber, a circuit breaker, and tracing.
//
//	radpool.Server
//	      |
//	Tracer.Requests      radpool.Middleware: one operation for each request
//	      |
//	billing.Processor    checks passwords, writes replies
//	      |
//	Limit                attempts to log in, for each subscriber
//	Cache                the last Grant, for seconds; one question for all who ask the same
//	Breaker              no question while the back end does not answer
//	Tracer.Backend       one operation for each question
//	      |
//	back end             a billing.Handler
//
// They are put together with billing.Chain, the outermost first:
//
//	handler := billing.Chain(backend, limit.Middleware, cache.Middleware, breaker.Middleware)
//
// The order is that of the picture for a reason: what is limited should not reach the
// cache, and what the cache answers needs no back end. Each of them is optional. A back end
// that takes batches is still given them; what it does besides (billing.PostAuther,
// billing.AddressPooler) reaches it. Middleware of one's own is made with billing.Around.
//
// All that is kept is bounded, and each has Stats, and Metrics for package metrics.
package middleware
