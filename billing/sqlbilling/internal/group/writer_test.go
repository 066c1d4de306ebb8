package group_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
	"github.com/radpool/radpool/billing/sqlbilling/internal/group"
)

var errClosed = errors.New("closed")

func config(most int) group.Config {
	return group.Config{
		DB: &dialect.DB{}, Dialect: &dialect.Dialect{Classify: func(error) dialect.Class { return dialect.Broken }},
		MaxGroup: most, MaxPending: 1 << 20, Timeout: time.Hour,
		What: "strings", Package: "group", Overloaded: errors.New("overloaded"), Closed: errClosed, Log: zap.NewNop(),
	}
}

func key(s *string) string { return *s }

func items(keys ...string) []group.Item[string] {
	list := make([]group.Item[string], len(keys))
	for i, k := range keys {
		list[i].Value = k
	}
	return list
}

// While a key is written the others of it wait, and nothing else does.
func TestWriterKeepsKeysApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var groups [][]string
		write := func(_ context.Context, items []*group.Item[string]) (int, error) {
			var keys []string
			for _, it := range items {
				keys = append(keys, it.Value)
			}
			mu.Lock()
			groups = append(groups, keys)
			long := time.Duration(len(groups)) * time.Second
			mu.Unlock()
			time.Sleep(long)
			return len(items), nil
		}
		w := group.Start(config(8), key, []group.Write[string]{write, write})
		var all sync.WaitGroup
		var took [4]time.Duration
		for i, keys := range [][]string{{"a", "b"}, {"b", "c", "c"}, {"b"}, {"d"}} {
			all.Go(func() {
				start := time.Now()
				if err := w.Submit(t.Context(), items(keys...)); err != nil {
					t.Error(err)
				}
				took[i] = time.Since(start)
			})
			synctest.Wait()
		}
		all.Wait()
		w.Close()
		// c goes at once, beside a and b; the other two of b, and d, for which there is no
		// goroutine, when the first has ended.
		want := [][]string{{"a", "b"}, {"c", "c"}, {"b", "b", "d"}}
		if !slices.EqualFunc(groups, want, slices.Equal) {
			t.Errorf("%q, want %q", groups, want)
		}
		if took[0] != time.Second || took[1] != 4*time.Second || took[2] != 4*time.Second || took[3] != 4*time.Second {
			t.Errorf("the calls took %v, want 1, 4, 4, 4 seconds", took)
		}
	})
}

// Whatever is submitted is written once, in groups that are not too large, and no two
// transactions have a key in common; Close writes what waits.
func TestWriterWritesEverythingOnce(t *testing.T) {
	const writers, most, callers, calls = 3, 5, 40, 25
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running, written := make(map[string]int), make(map[string]int)
		submitted := make(map[string]int)
		var writes []group.Write[string]
		for i := range writers {
			writes = append(writes, func(_ context.Context, items []*group.Item[string]) (int, error) {
				if len(items) > most {
					t.Errorf("a group of %d", len(items))
				}
				mu.Lock()
				for _, it := range items {
					if by, there := running[it.Value]; there && by != i {
						t.Errorf("%s is in two transactions", it.Value)
					}
					running[it.Value] = i
				}
				mu.Unlock()
				time.Sleep(rand.N(time.Second))
				mu.Lock()
				defer mu.Unlock()
				for _, it := range items {
					delete(running, it.Value)
					written[it.Value]++
				}
				return len(items), nil
			})
		}
		w := group.Start(config(most), key, writes)
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				for range calls {
					keys := make([]string, 1+rand.N(7))
					mu.Lock()
					for i := range keys {
						keys[i] = strconv.Itoa(rand.N(30))
						submitted[keys[i]]++
					}
					mu.Unlock()
					if err := w.Submit(context.Background(), items(keys...)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if err := w.Submit(context.Background(), nil); err != nil {
			t.Errorf("no items: %v", err)
		}
		late := make(chan error, 1)
		go func() { late <- w.Submit(context.Background(), items("late", "late")) }()
		synctest.Wait()
		w.Close()
		if err := <-late; err != nil || written["late"] != 2 {
			t.Errorf("what waited at Close: %v, written %d times, want 2", err, written["late"])
		}
		if err := w.Submit(context.Background(), items("x")); !errors.Is(err, errClosed) {
			t.Errorf("after Close: %v", err)
		}
		records := 2
		for key, n := range submitted {
			records += n
			if written[key] != n {
				t.Errorf("%s: %d written of %d", key, written[key], n)
			}
		}
		if c := w.Counts(); c.Records != uint64(records) || c.Pending != 0 || c.Rows != uint64(records) {
			t.Errorf("%+v, want %d records", c, records)
		}
	})
}

// An item whose caller has gone is dropped before it is written.
func TestWriterDropsTheAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		w := group.Start(config(4), key, []group.Write[string]{func(_ context.Context, items []*group.Item[string]) (int, error) {
			<-hold
			return len(items), nil
		}})
		first := make(chan error, 1)
		go func() { first <- w.Submit(context.Background(), items("a")) }()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error, 1)
		go func() { gone <- w.Submit(ctx, items("b", "c")) }()
		synctest.Wait()
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		close(hold)
		if err := <-first; err != nil {
			t.Error(err)
		}
		w.Close()
		if c := w.Counts(); c.Records != 1 || c.Abandoned != 2 || c.Pending != 0 {
			t.Errorf("%+v, want one record and two abandoned", c)
		}
	})
}
