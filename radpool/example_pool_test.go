package radpool_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/radpool/radpool/radpool"
)

// A pool runs any jobs, not only RADIUS requests: here, sending mail over
// connections that belong to the workers.
func ExamplePool() {
	type mail struct{ to string }

	pool, err := radpool.NewPool(radpool.PoolConfig[mail]{
		MaxQueueSize: 1000,
		Policy:       radpool.Fixed(1),
		MaxBatch:     10, // what waits is sent over the connection at once
		WorkerStart:  func(w *radpool.Worker) { w.State = "connection" },
		WorkerStop:   func(w *radpool.Worker) { fmt.Println("close", w.State) },
		Run: func(w *radpool.Worker, jobs []mail) {
			for _, m := range jobs {
				fmt.Println("send to", m.to, "over", w.State)
			}
		},
		Drop: func(m mail, _ radpool.Class, why radpool.Drop) {
			fmt.Println("not sent to", m.to, "because", why)
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	deadline := time.Now().Add(time.Minute)
	for _, to := range []string{"ann", "bob"} {
		if err := pool.Submit(radpool.ClassAccess, deadline, mail{to}); err != nil {
			fmt.Println(err) // the queue is full: this job is still ours
		}
	}
	if err := pool.Shutdown(context.Background()); err != nil {
		fmt.Println(err)
	}
	fmt.Println(pool.Stats().Completed, "sent")
	// Output:
	// send to ann over connection
	// send to bob over connection
	// close connection
	// 2 sent
}

// A policy is a pure function, so that what a pool would do can be looked at
// without one.
func ExampleSpare() {
	policy := radpool.Spare{StartServers: 1, MinSpareServers: 8, MaxSpareServers: 32, MaxServers: 128}
	if err := policy.Validate(); err != nil {
		fmt.Println(err)
		return
	}
	now := time.Now()
	for _, s := range []radpool.Snapshot{
		{},
		{Workers: 8, Busy: 6, Idle: 2, LastSpawn: now},
		{Workers: 126, Busy: 126, LastSpawn: now},
		{Workers: 128, Idle: 128, LastSpawn: now.Add(-2 * time.Second)},
		{Workers: 128, Idle: 128, LastSpawn: now.Add(-time.Minute)},
		{Workers: 32, Idle: 32, LastSpawn: now.Add(-time.Hour)},
	} {
		d := policy.Decide(now, s)
		fmt.Printf("%3d busy, %3d idle: start %d, end %d", s.Busy, s.Idle, d.Spawn, d.Retire)
		if !d.Next.IsZero() {
			fmt.Printf(", look again in %v", d.Next.Sub(now))
		}
		fmt.Println()
	}
	// Output:
	//   0 busy,   0 idle: start 8, end 0
	//   6 busy,   2 idle: start 6, end 0
	// 126 busy,   0 idle: start 2, end 0
	//   0 busy, 128 idle: start 0, end 0, look again in 3s
	//   0 busy, 128 idle: start 0, end 1, look again in 1s
	//   0 busy,  32 idle: start 0, end 0
}

// A full queue gives up what costs least.
func ExampleQueue() {
	queue, err := radpool.NewQueue(radpool.QueueConfig[string]{MaxQueueSize: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Now()
	push := func(class radpool.Class, patience time.Duration, v string) {
		if out, _ := queue.Push(now, class, 0, now.Add(patience), v); out.Why != radpool.DropNone {
			fmt.Println(out.Value, "is", out.Why)
		}
	}
	push(radpool.ClassInterim, 9*time.Second, "interim 1")
	push(radpool.ClassInterim, 9*time.Second, "interim 2")
	push(radpool.ClassAccess, 3*time.Second, "access 1")
	push(radpool.ClassInterim, 9*time.Second, "interim 3")
	push(radpool.ClassAccess, 5*time.Second, "access 2")

	now = now.Add(4 * time.Second)
	push(radpool.ClassStatus, time.Second, "status 1")

	var run []string
	for {
		it, ok := queue.Pop(now)
		if !ok {
			break
		}
		run = append(run, it.Value)
	}
	fmt.Println("run:", strings.Join(run, ", "))
	// Output:
	// interim 3 is refused
	// interim 2 is evicted
	// access 1 is expired
	// run: status 1, access 2, interim 1
}
