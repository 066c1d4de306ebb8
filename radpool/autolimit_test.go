package radpool_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/radpool/radpool/radpool"
)

// While twice as many Interim-Updates come as are answered, the limiter keeps the
// queue from becoming full, all the time and not every other second, and what
// matters more is not touched.
func TestAutoLimitAcct(t *testing.T) {
	for limit, refused := range map[bool]bool{false: true, true: false} {
		t.Run(strconv.FormatBool(limit), func(t *testing.T) {
			s := &radpool.Server{
				Config: radpool.Config{MaxServers: 1, MaxQueueSize: 100, AutoLimitAcct: limit},
				Handler: radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
					time.Sleep(10 * time.Millisecond)
					accept(ctx, req, resp)
				}),
			}
			inWorld(t, s, func(w *world) {
				n := w.nas(nasAddr)
				var before radpool.Stats
				for i := range 4000 {
					n.send(accounting(byte(i), 3, strconv.Itoa(i)))
					if i%50 == 0 {
						n.send(access(byte(i/50), uint64(i), "ivan"))
					}
					time.Sleep(5 * time.Millisecond)
					if i == 600 {
						before = w.server.Stats()
					}
				}
				time.Sleep(5 * time.Second)
				st := w.server.Stats()
				full := st.QueueFull - before.QueueFull + st.Pool.Evicted - before.Pool.Evicted
				if full > 0 != refused || st.Shed == 0 {
					t.Errorf("%d requests met a full queue, %d were shed", full, st.Shed)
				}
				if st.AccessAccepts != st.AccessRequests || st.AccessRequests != 80 {
					t.Errorf("%d of %d Access-Requests were accepted, want 80", st.AccessAccepts, st.AccessRequests)
				}
			})
		})
	}
}
