package journal_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/journal"
)

// Records that are acknowledged while the back end is away, durable, from 256 callers.
func BenchmarkJournal(b *testing.B) {
	c := newCore()
	j := open(b, newFile(b), c, journal.Options{ProbeInterval: journal.DefaultProbeInterval, MaxRecords: 50_000_000, MaxOctets: 1 << 38})
	c.set(func(c *core) { c.down = true })
	for range journal.OpensAfter {
		account(b, j, record("opening", billing.Start, 0))
	}
	sessions := make([]*billing.AccountingRecord, 10_000)
	for i := range sessions {
		sessions[i] = full(b)
		sessions[i].UniqueID = record(fmt.Sprint("s", i), billing.InterimUpdate, i).UniqueID
		sessions[i].SessionID, sessions[i].UserName, sessions[i].CalledStationID, sessions[i].CallingStationID = "81000001", "user1", "isp", "02-00-00-00-00-01"
		sessions[i].ConnectInfo, sessions[i].FramedInterfaceID, sessions[i].NASPort, sessions[i].NASIdentifier = "", "", "7", "bras1"
	}
	h := j.Handler()
	var n atomic.Int64
	b.SetParallelism(128) // of GOMAXPROCS, which is 2 where this was measured
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := h.Account(b.Context(), sessions[n.Add(1)*7919%10_000]); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// What the journal costs while the back end is there.
func BenchmarkThrough(b *testing.B) {
	m := billing.NewMemory(0)
	rec := record("s1", billing.InterimUpdate, 1)
	for what, h := range map[string]billing.Handler{"direct": m, "journal": open(b, newFile(b), m, journal.Options{}).Handler()} {
		b.Run(what, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := h.Account(b.Context(), rec); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	data := journal.Encode(nil, full(b))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := journal.Decode(data); err != nil {
			b.Fatal(err)
		}
	}
}
