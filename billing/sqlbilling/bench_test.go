package sqlbilling_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
)

// eachBench runs a benchmark on every kind of database.
func eachBench(b *testing.B, bench func(b *testing.B, e engine)) {
	for _, e := range engines {
		b.Run(e.Name, func(b *testing.B) { bench(b, e) })
	}
}

func demo(b *testing.B, e engine) *fixture {
	b.Helper()
	f := e.open(b, sqlbilling.Options{})
	if _, err := f.EnsureDemo(b.Context(), 10_000); err != nil {
		b.Fatal(err)
	}
	return f
}

func BenchmarkAuthorize(b *testing.B) {
	eachBench(b, func(b *testing.B, e engine) {
		f := demo(b, e)
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			i = (i + 7919) % 10_000
			if _, err := f.Authorize(b.Context(), &billing.AccessRequest{UserName: fmt.Sprintf("user%d", i), Time: at(0)}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkAuthorizeBatch64(b *testing.B) {
	eachBench(b, func(b *testing.B, e engine) {
		f := demo(b, e)
		reqs := make([]*billing.AccessRequest, 64)
		grants, errs := make([]billing.Grant, len(reqs)), make([]error, len(reqs))
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			for j := range reqs {
				i = (i + 7919) % 10_000
				reqs[j] = &billing.AccessRequest{UserName: fmt.Sprintf("user%d", i), Time: at(0)}
			}
			f.AuthorizeBatch(b.Context(), reqs, grants, errs)
			if errs[0] != nil {
				b.Fatal(errs[0])
			}
		}
		b.ReportMetric(float64(b.N)*64/b.Elapsed().Seconds(), "requests/s")
	})
}

// Interim-Updates of 10,000 sessions, in batches as a worker brings them.
func BenchmarkAccountBatch(b *testing.B) {
	for _, size := range []int{1, 32, 256, 1024} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			f := open(b, sqlbilling.Options{})
			recs, errs := make([]*billing.AccountingRecord, size), make([]error, size)
			n := int64(0)
			for b.Loop() {
				for j := range recs {
					n++
					rec := record(fmt.Sprintf("s%d", n*7919%10_000), billing.InterimUpdate, n)
					rec.SessionTime, rec.HasSession, rec.InputOctets = time.Duration(n)*time.Second, true, uint64(n)
					recs[j] = rec
				}
				f.AccountBatch(b.Context(), recs, errs)
				if errs[0] != nil {
					b.Fatal(errs[0])
				}
			}
			b.ReportMetric(float64(b.N*size)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

// Many callers with one record each: the groups form by themselves.
func BenchmarkAccountParallel(b *testing.B) {
	eachBench(b, func(b *testing.B, e engine) {
		f := e.open(b, sqlbilling.Options{})
		var n atomic.Int64
		b.SetParallelism(128)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				i := n.Add(1)
				if err := f.Account(b.Context(), record(fmt.Sprintf("s%d", i*7919%10_000), billing.InterimUpdate, i)); err != nil {
					b.Error(err)
				}
			}
		})
		s := f.Stats()
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
		b.ReportMetric(float64(s.Records)/float64(s.Groups), "records/group")
	})
}
