package radpool_test

import (
	"context"
	"fmt"
	"time"

	"github.com/radpool/radpool/radpool"
)

// Who floods waits behind himself, and can be named.
func ExampleQueue_Longest() {
	queue, err := radpool.NewQueue(radpool.QueueConfig[string]{MaxQueueSize: 100, Order: radpool.OldestFirst})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Now()
	const flood, other = 1, 2 // flows: addresses of NASes, for a Server
	for i := range 50 {
		queue.Push(now, radpool.ClassAccess, flood, time.Time{}, fmt.Sprint("flood ", i))
	}
	queue.Push(now, radpool.ClassAccess, other, time.Time{}, "the other one's")

	now = now.Add(time.Second)
	for range 2 {
		it, _ := queue.Pop(now)
		fmt.Println(it.Value, "has waited", it.Waited)
	}
	for _, f := range queue.Longest(now, 1) {
		fmt.Println("flow", f.Flow, "has", f.Queued[radpool.ClassAccess], "waiting, for", f.Oldest)
	}
	// Output:
	// flood 0 has waited 1s
	// the other one's has waited 1s
	// flow 1 has 49 waiting, for 1s
}

// Jobs that come together are submitted together; what does not fit is still the caller's.
func ExamplePool_SubmitBatch() {
	begin := make(chan struct{})
	pool, err := radpool.NewPool(radpool.PoolConfig[string]{
		MaxQueueSize: 2,
		Policy:       radpool.Fixed(1),
		WorkerStart:  func(*radpool.Worker) { <-begin },
		Run: func(_ *radpool.Worker, jobs []string) {
			for _, name := range jobs {
				fmt.Println("run", name)
			}
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	jobs := []radpool.Job[string]{
		{Value: "login", Class: radpool.ClassAccess},
		{Value: "stop", Class: radpool.ClassAccounting},
		{Value: "interim", Class: radpool.ClassInterim},
	}
	fmt.Println(pool.SubmitBatch(jobs), "accepted")
	for _, j := range jobs {
		if j.Err != nil {
			fmt.Println(j.Value+":", j.Err)
		}
	}
	close(begin)
	if err := pool.Shutdown(context.Background()); err != nil {
		fmt.Println(err)
	}
	st := pool.Stats()
	fmt.Println(st.Completed, "done,", st.Classes[radpool.ClassInterim].Refused, "interim refused")
	// Output:
	// 2 accepted
	// interim: radpool: queue is full
	// run login
	// run stop
	// 2 done, 1 interim refused
}
