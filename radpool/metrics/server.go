package metrics

import (
	"slices"
	"time"

	"github.com/radpool/radpool/radpool"
)

// Server has the metrics of a server. They are zero before its first Serve.
func Server(s *radpool.Server) Source {
	return New(s.Stats, slices.Concat(datagrams(), replies(), sockets(), workers(), queue(), duplicates(), memory())...)
}

// stats is shorter in the tables.
type stats = radpool.Stats

func datagrams() []Metric[stats] {
	return []Metric[stats]{
		Level("radpool_start_time_seconds", "When the server began to serve, since the epoch of Unix; 0: it has not yet.", func(s *stats) float64 {
			if s.Started.IsZero() {
				return 0
			}
			return float64(s.Started.UnixNano()) / 1e9
		}),
		Count("radpool_datagrams_received_total", "Datagrams that were received.", func(s *stats) uint64 { return s.Received }),
		Counts("radpool_datagrams_total", "Datagrams by what they asked for and how they ended: each in exactly one outcome.", []string{"request", "outcome"},
			func(s *stats, add func(uint64, ...string)) {
				for o := range radpool.Outcome(radpool.NumOutcomes) {
					access, accounting := s.AccessOutcomes[o], s.AccountingOutcomes[o]
					add(access, "access", o.String())
					add(accounting, "accounting", o.String())
					add(s.Outcome(o)-access-accounting, "other", o.String())
				}
			}),
		Level("radpool_in_flight_requests", "Requests that wait or run now.", func(s *stats) float64 { return float64(s.InFlight) }),
		Counts("radpool_requests_total", "Requests that were verified and new.", []string{"request"},
			func(s *stats, add func(uint64, ...string)) {
				add(s.AccessRequests, "access")
				add(s.AccountingRequests, "accounting")
				add(s.CoARequests, "coa")
				add(s.DisconnectRequests, "disconnect")
			}),
	}
}

func replies() []Metric[stats] {
	return []Metric[stats]{
		Counts("radpool_replies_total", "Requests that were replied, by the reply.", []string{"reply"},
			func(s *stats, add func(uint64, ...string)) {
				add(s.AccessAccepts, "access-accept")
				add(s.AccessRejects, "access-reject")
				add(s.AccessChallenges, "access-challenge")
				add(s.AccountingResponses, "accounting-response")
				add(s.ACKs, "ack")
				add(s.NAKs, "nak")
				add(s.OtherReplies, "other")
			}),
		Times("radpool_response_seconds", "Time from the arrival of a request to its reply.", []string{"request"},
			func(s *stats, add func(Histogram, ...string)) {
				add(Responses(&s.AccessTimes), "access")
				add(Responses(&s.AccountingTimes), "accounting")
				add(Responses(&s.CoATimes), "coa")
			}),
	}
}

// responseBounds are 1, 2.5 and 5 times each power of ten, from 10 us to 10 s.
var responseBounds = func() (bounds []time.Duration) {
	for d := 10 * time.Microsecond; d < 10*time.Second; d *= 10 {
		bounds = append(bounds, d, d*5/2, d*5)
	}
	return append(bounds, 10*time.Second)
}()

// Responses is a histogram of response times, with some of the bounds that it has
// in radpool.
func Responses(t *radpool.ResponseTimes) Histogram {
	h := Histogram{Count: t.Count(), Sum: t.Sum.Seconds()}
	i := 0
	for _, bound := range responseBounds {
		var n uint64
		for ; radpool.ResponseTimeBound(i) <= bound; i++ {
			n += t.Buckets[i]
		}
		h.Bounds = append(h.Bounds, bound.Seconds())
		h.Counts = append(h.Counts, n)
	}
	return h
}

func sockets() []Metric[stats] {
	return []Metric[stats]{
		Count("radpool_socket_read_errors_total", "Errors of reading from sockets.", func(s *stats) uint64 { return s.ReadErrors }),
		Count("radpool_socket_write_errors_total", "Replies that the system would not send.", func(s *stats) uint64 { return s.WriteErrors }),
		Count("radpool_socket_drops_total", "Datagrams that the system dropped before they could be read, mostly since a receive buffer was full.", func(s *stats) uint64 { return s.SocketDrops }),
		Level("radpool_sockets_uncounted", "Sockets of which the system does not tell what it drops.", func(s *stats) float64 { return float64(s.SocketsUncounted) }),
		Level("radpool_socket_receive_buffer_bytes", "Size of the smallest receive buffer; 0: not known.", func(s *stats) float64 { return float64(s.ReceiveBuffer) }),
		Count("radpool_run_in_reader_total", "Requests that the reader of their socket ran itself.", func(s *stats) uint64 { return s.RunInReader }),
		Count("radpool_readers_held_up_total", "Readers that a handler held up until another took over.", func(s *stats) uint64 { return s.ReadersHeldUp }),
	}
}

func workers() []Metric[stats] {
	return []Metric[stats]{
		Levels("radpool_workers", "Workers by what they do.", []string{"state"}, func(s *stats, add func(float64, ...string)) {
			add(float64(s.Pool.Idle), "idle")
			add(float64(s.Pool.Busy), "busy")
			add(float64(s.Pool.Starting), "starting")
		}),
		Level("radpool_workers_max", "Most workers that there may be; 0: not known.", func(s *stats) float64 { return float64(s.MaxWorkers) }),
		Level("radpool_workers_high_water", "Most workers that there have been.", func(s *stats) float64 { return float64(s.Pool.WorkersHighWater) }),
		Level("radpool_workers_busy_high_water", "Most workers that were busy at once.", func(s *stats) float64 { return float64(s.Pool.BusyHighWater) }),
		Level("radpool_workers_unresponsive", "Workers in a handler that has not returned although max_request_time is over.", func(s *stats) float64 { return float64(s.Unresponsive) }),
		Counts("radpool_worker_changes_total", "Workers that were started, ended and replaced.", []string{"change"}, func(s *stats, add func(uint64, ...string)) {
			add(s.Pool.Spawned, "spawned")
			add(s.Pool.Retired, "retired")
			add(s.Pool.Recycled, "recycled")
		}),
		Level("radpool_service_seconds", "What a request took of a worker, on the average of the last minute or so.", func(s *stats) float64 { return s.ServiceTime.Seconds() }),
		Count("radpool_handler_panics_total", "Panics of the handler.", func(s *stats) uint64 { return s.Panics }),
		Count("radpool_hook_panics_total", "Panics of hooks.", func(s *stats) uint64 { return s.HookPanics }),
	}
}

func queue() []Metric[stats] {
	each := func(s *stats, f func(name string, c *radpool.ClassStats)) {
		for c := range radpool.Class(radpool.NumClasses) {
			f(c.String(), &s.Pool.Classes[c])
		}
	}
	return []Metric[stats]{
		Levels("radpool_queue_requests", "Requests that wait for a worker.", []string{"class"}, func(s *stats, add func(float64, ...string)) {
			each(s, func(name string, c *radpool.ClassStats) { add(float64(c.Queued), name) })
		}),
		Levels("radpool_queue_oldest_seconds", "How long the first of those that wait has waited.", []string{"class"}, func(s *stats, add func(float64, ...string)) {
			each(s, func(name string, c *radpool.ClassStats) { add(c.Oldest.Seconds(), name) })
		}),
		Levels("radpool_queue_newest_first", "1 while the class is lastingly late, so that the newest run first.", []string{"class"}, func(s *stats, add func(float64, ...string)) {
			each(s, func(name string, c *radpool.ClassStats) {
				if c.NewestFirst {
					add(1, name)
				} else {
					add(0, name)
				}
			})
		}),
		Level("radpool_queue_max_requests", "Most requests that may wait.", func(s *stats) float64 { return float64(s.Pool.MaxQueueSize) }),
		Level("radpool_queue_high_water_requests", "Most requests that have waited.", func(s *stats) float64 { return float64(s.Pool.QueueHighWater) }),
		Counts("radpool_queue_submitted_total", "Requests that were given to the queue.", []string{"class"}, func(s *stats, add func(uint64, ...string)) {
			each(s, func(name string, c *radpool.ClassStats) { add(c.Submitted, name) })
		}),
		Counts("radpool_queue_dropped_total", "Requests that the queue did not take or did not keep.", []string{"class", "reason"}, func(s *stats, add func(uint64, ...string)) {
			each(s, func(name string, c *radpool.ClassStats) {
				add(c.Refused, name, "refused")
				add(c.Evicted, name, "evicted")
				add(c.Expired, name, "expired")
				add(c.Closed, name, "closed")
			})
		}),
	}
}

func duplicates() []Metric[stats] {
	return []Metric[stats]{
		Levels("radpool_cache_entries", "Requests in the table for duplicates.", []string{"state"}, func(s *stats, add func(float64, ...string)) {
			add(float64(s.Cache.InFlight-s.Cache.Tombstones), "in-flight")
			add(float64(s.Cache.Tombstones), "overdue")
			add(float64(s.Cache.Retained), "answered")
		}),
		Level("radpool_cache_max_entries", "Most requests that the table holds.", func(s *stats) float64 { return float64(s.Cache.MaxRequests) }),
		Level("radpool_cache_bytes", "Memory of the table, replies included.", func(s *stats) float64 { return float64(s.Cache.Bytes) }),
		Level("radpool_cache_reply_bytes", "Octets of the replies that are kept.", func(s *stats) float64 { return float64(s.Cache.ReplyBytes) }),
		Counts("radpool_cache_lookups_total", "What the table said of requests.", []string{"verdict"}, func(s *stats, add func(uint64, ...string)) {
			add(s.Cache.Begun, "new")
			add(s.Cache.InFlightCopies, "in-flight")
			add(s.Cache.Replayed, "replay")
			add(s.Cache.SilencedCopies, "silent")
			add(s.Cache.Superseded, "superseded")
			add(s.Cache.Full, "full")
		}),
		Counts("radpool_cache_removed_total", "Replies that are kept no more, by why.", []string{"reason"}, func(s *stats, add func(uint64, ...string)) {
			add(s.Cache.Expired, "expired")
			add(s.Cache.Evicted, "evicted")
			add(s.Cache.Replaced, "replaced")
		}),
	}
}

func memory() []Metric[stats] {
	return []Metric[stats]{
		Count("radpool_arena_gets_total", "Arenas that were taken.", func(s *stats) uint64 { return s.Arena.Gets }),
		Count("radpool_arena_made_total", "Arenas that had to be made, since none was idle.", func(s *stats) uint64 { return s.Arena.Made }),
		Level("radpool_arena_in_use", "Arenas that requests have now.", func(s *stats) float64 { return float64(s.Arena.InUse) }),
		Levels("radpool_arena_used_bytes", "What requests of late have used of their arenas.", []string{"mark"}, func(s *stats, add func(float64, ...string)) {
			add(float64(s.Arena.LowWater), "low")
			add(float64(s.Arena.P50), "p50")
			add(float64(s.Arena.P90), "p90")
			add(float64(s.Arena.P99), "p99")
			add(float64(s.Arena.HighWater), "high")
		}),
		Level("radpool_arena_chunk_bytes", "Size of an arena's chunk now.", func(s *stats) float64 { return float64(s.Arena.ChunkSize) }),
		Count("radpool_arena_resizes_total", "How often the size of chunks has changed.", func(s *stats) uint64 { return s.Arena.Resizes }),
		Count("radpool_arena_overflows_total", "Allocations that found the chunk used up.", func(s *stats) uint64 { return s.Arena.Overflows }),
		Count("radpool_arena_overflow_bytes_total", "Octets of those.", func(s *stats) uint64 { return s.Arena.OverflowBytes }),
	}
}
