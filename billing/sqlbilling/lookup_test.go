package sqlbilling_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/radpool/radpool/billing/sqlbilling"
)

// A question that comes alone is asked alone; those that come meanwhile share the
// next statement, up to its size, and each gets its own answer.
func TestQuestionsThatWaitAreAskedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var sizes []int
		together := sqlbilling.NewTogether(1, 10, func(_ context.Context, names []string) error {
			mu.Lock()
			sizes = append(sizes, len(names))
			mu.Unlock()
			time.Sleep(time.Second)
			return nil
		})
		var wg sync.WaitGroup
		ask := func(names ...string) {
			wg.Go(func() {
				if got, err := together.Find(t.Context(), names...); err != nil || !slices.Equal(got, names) {
					t.Errorf("%q were asked for, and %q answered (%v)", names, got, err)
				}
			})
		}
		ask("first")
		synctest.Wait()
		for i := range 8 {
			ask(fmt.Sprint("a", i), fmt.Sprint("b", i))
			synctest.Wait()
		}
		ask(slices.Repeat([]string{"large"}, 20)...)
		wg.Wait()
		if want := []int{1, 10, 6, 20}; !slices.Equal(sizes, want) {
			t.Errorf("statements of %v names, want %v", sizes, want)
		}
		started := time.Now()
		ask("later") // nothing is left over that it would wait for
		wg.Wait()
		if took := time.Since(started); took != time.Second {
			t.Errorf("a question that comes alone took %v", took)
		}
	})
}

// Whoever does not wait any longer leaves; a statement that nobody waits for any
// more is given up, and one that somebody waits for is not.
func TestQuestionsThatAreGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		together := sqlbilling.NewTogether(1, 10, func(ctx context.Context, names []string) error {
			asked = append(asked, names...)
			select {
			case <-time.After(time.Minute):
				return nil
			case <-ctx.Done():
				asked = append(asked, "given up")
				return ctx.Err()
			}
		})
		var wg sync.WaitGroup
		ask := func(name string, patience time.Duration, want error) {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				if _, err := together.Find(ctx, name); !errors.Is(err, want) {
					t.Errorf("%s: %v, want %v", name, err, want)
				}
			})
			synctest.Wait()
		}
		ask("first", time.Hour, nil)
		ask("gone before it is asked", time.Second, context.DeadlineExceeded)
		ask("gone while it is asked, first of its statement", 90*time.Second, context.DeadlineExceeded)
		ask("second of it", time.Hour, nil)
		wg.Wait()
		ask("third", time.Hour, nil)
		ask("alone in a batch", 70*time.Second, context.DeadlineExceeded)
		ask("and another", 80*time.Second, context.DeadlineExceeded)
		wg.Wait()
		ask("last", time.Hour, nil)
		wg.Wait()
		want := []string{"first", "gone while it is asked, first of its statement", "second of it", "third", "alone in a batch", "and another", "given up", "last"}
		if !slices.Equal(asked, want) {
			t.Errorf("asked: %q\nwant %q", asked, want)
		}
	})
}

// Close lets those finish who are asked for, and fails the others.
func TestQuestionsAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		together := sqlbilling.NewTogether(1, 10, func(context.Context, []string) error {
			time.Sleep(time.Second)
			return nil
		})
		var wg sync.WaitGroup
		for _, want := range []error{nil, sqlbilling.ErrClosed, sqlbilling.ErrClosed} {
			wg.Go(func() {
				if _, err := together.Find(t.Context(), "x"); !errors.Is(err, want) {
					t.Errorf("%v, want %v", err, want)
				}
			})
			synctest.Wait()
		}
		together.Close()
		if _, err := together.Find(t.Context(), "x"); !errors.Is(err, sqlbilling.ErrClosed) {
			t.Error(err)
		}
		wg.Wait()
	})
}

// After a panic all who shared the statement get an error, one who asked alone
// panics, and the connection is free again.
func TestQuestionThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		statement := 0
		together := sqlbilling.NewTogether(1, 10, func(context.Context, []string) error {
			time.Sleep(time.Second)
			if statement++; statement < 3 {
				panic("the driver's")
			}
			return nil
		})
		var wg sync.WaitGroup
		var panicked, failed atomic.Int64
		for range 4 {
			wg.Go(func() {
				defer func() {
					if recover() != nil {
						panicked.Add(1)
					}
				}()
				if _, err := together.Find(t.Context(), "x"); err != nil {
					failed.Add(1)
				}
			})
			synctest.Wait()
		}
		wg.Wait()
		if panicked.Load() != 1 || failed.Load() != 3 {
			t.Errorf("%d panicked and %d failed, want 1 and 3", panicked.Load(), failed.Load())
		}
		if _, err := together.Find(t.Context(), "x"); err != nil {
			t.Error(err)
		}
	})
}
