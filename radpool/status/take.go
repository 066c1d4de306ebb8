package status

import (
	"math"
	"slices"
	"time"

	"github.com/radpool/radpool/radpool"
)

const (
	rateTime = 10 * time.Second // over which the rates of now are taken
	lastTime = time.Minute      // over which response times, drops and alerts are
)

// takeLocked returns the picture of now. The caller holds p.mu.
func (p *Page) takeLocked(now time.Time) *Snapshot {
	to := &sample{now, p.source.Stats()}
	st := &to.stats
	minute := p.history.since(now, lastTime)
	s := &Snapshot{
		Title: p.options.Title, Time: now, Started: st.Started,
		Received: st.Received, InFlight: st.InFlight,
		Outcomes: outcomesBetween(minute, to),
		Sockets: Sockets{
			Dropped: st.SocketDrops, Uncounted: st.SocketsUncounted, ReceiveBuffer: st.ReceiveBuffer,
			ReadErrors: st.ReadErrors, WriteErrors: st.WriteErrors,
		},
		Rates:         ratesBetween(p.history.since(now, rateTime), to),
		Queue:         queueOf(&st.Pool),
		Workers:       workersOf(st),
		ResponseTimes: responseTimesBetween(minute, to),
		Cache: Cache{
			Entries: st.Cache.Entries, Max: st.Cache.MaxRequests, InFlight: st.Cache.InFlight, Retained: st.Cache.Retained,
			Octets: st.Cache.Bytes, Tombstones: st.Cache.Tombstones, Expired: st.Cache.Expired, Evicted: st.Cache.Evicted,
		},
		Arena: Arena{
			InUse: st.Arena.InUse, ChunkSize: st.Arena.ChunkSize, HighWater: st.Arena.HighWater, LowWater: st.Arena.LowWater,
			P50: st.Arena.P50, P90: st.Arena.P90, P99: st.Arena.P99, Overflows: st.Arena.Overflows, Resizes: st.Arena.Resizes,
		},
		Waiting: waitingOf(p.source.Waiting(MaxClients)),
		Figures: p.figures(),
		Advice:  st.Advice().Reasons,

		IntervalSeconds: p.options.Interval.Seconds(),
		History:         p.history.points(1),
	}
	s.Clients, s.ClientsTotal = p.clients.top(now, p.options.Clients)
	s.Alerts = alertsOf(s, minute, st)
	return s
}

func queueOf(p *radpool.PoolStats) Queue {
	q := Queue{Waiting: p.Queued, Max: p.MaxQueueSize, HighWater: p.QueueHighWater, Classes: make([]Class, radpool.NumClasses)}
	for i, c := range p.Classes {
		q.OldestSeconds = max(q.OldestSeconds, c.Oldest.Seconds())
		q.Classes[i] = Class{
			Name: radpool.Class(i).String(), Meaning: classWords[i], Waiting: c.Queued, OldestSeconds: c.Oldest.Seconds(), NewestFirst: c.NewestFirst,
			Submitted: c.Submitted, Refused: c.Refused, Evicted: c.Evicted, Expired: c.Expired,
		}
	}
	return q
}

func workersOf(st *radpool.Stats) Workers {
	p := &st.Pool
	return Workers{
		Workers: p.Workers, Busy: p.Busy, Idle: p.Idle, Starting: p.Starting,
		Max: st.MaxWorkers, Limit: p.Limit, MinSpare: st.MinSpare, MaxSpare: st.MaxSpare,
		HighWater: p.WorkersHighWater, BusyHighWater: p.BusyHighWater,
		Spawned: p.Spawned, Retired: p.Retired, Recycled: p.Recycled, Panics: p.Panics,
		Unresponsive: st.Unresponsive, ServiceTime: st.ServiceTime.Seconds(),
	}
}

func waitingOf(list []radpool.WaitingNAS) []Waiting {
	waiting := make([]Waiting, 0, len(list))
	for _, w := range list {
		waiting = append(waiting, Waiting{Address: w.Addr.String(), Client: w.Client, Waiting: w.Total, OldestSeconds: w.Oldest.Seconds()})
	}
	return waiting
}

func (p *Page) figures() []Figure {
	if p.options.Figures == nil {
		return []Figure{}
	}
	list := p.options.Figures()
	list = slices.Clone(list[:min(len(list), MaxFigures)])
	// What is no number cannot be written as one.
	return slices.DeleteFunc(list, func(f Figure) bool { return math.IsNaN(f.Value) || math.IsInf(f.Value, 0) })
}

// alertsOf is what somebody should look at, of the last minute and of now.
func alertsOf(s *Snapshot, minute *sample, st *radpool.Stats) []string {
	alerts := []string{}
	say := func(when bool, what string) {
		if when && what != "" {
			alerts = append(alerts, what)
		}
	}
	say(s.Started.IsZero(), alertNotServing)
	for _, f := range s.Figures {
		say(true, f.Alert)
	}
	for o := range radpool.Outcome(radpool.NumOutcomes) {
		say(st.Outcome(o) > minute.stats.Outcome(o), outcomeWords[o].alert)
	}
	say(st.SocketDrops > minute.stats.SocketDrops, alertSockets)
	say(st.Unresponsive > 0, alertUnresponsive)
	late := false
	for _, c := range s.Queue.Classes {
		late = late || c.NewestFirst
	}
	say(late, alertLate)
	w := s.Workers
	say(s.Queue.Waiting > 0 && w.Max > 0 && w.Busy >= w.Max, alertAllBusy)
	return alerts
}
