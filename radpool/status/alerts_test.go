package status_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/radpool/radpool/radpool"
	"github.com/radpool/radpool/radpool/status"
)

// What somebody should look at is said while it is so, and a minute longer where it is
// counted. What happens all the time, or hurts nobody, is none of it.
func TestAlerts(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*radpool.Stats)
		want   []string // how the alerts begin
	}{
		{"nothing", func(*radpool.Stats) {}, nil},
		{"answered", func(st *radpool.Stats) {
			st.Replied, st.Replayed, st.Duplicate, st.Unanswered, st.Superseded = 1, 1, 1, 1, 1
		}, nil},
		{"the Internet", func(st *radpool.Stats) { st.Malformed, st.UnknownClient, st.WrongCode = 1, 1, 1 }, nil},
		{"a wrong secret", func(st *radpool.Stats) { st.Unauthentic = 1 }, []string{"Requests are unauthentic"}},
		{"overload", func(st *radpool.Stats) { st.QueueFull, st.Shed, st.Expired = 1, 2, 3 }, []string{"The queue is full", "Requests are shed", "Requests expire"}},
		{"a small table", func(st *radpool.Stats) { st.TableFull = 1 }, []string{"The table of requests is full"}},
		{"errors", func(st *radpool.Stats) { st.Failed = 1 }, []string{"Requests fail"}},
		{"small buffers", func(st *radpool.Stats) { st.SocketDrops = 1 }, []string{"The system drops"}},
		{"old requests", func(st *radpool.Stats) { st.Stale = 1 }, []string{"CoA-Requests are stale"}},
		{"a handler that hangs", func(st *radpool.Stats) { st.Unresponsive = 1 }, []string{"A handler has not returned"}},
		{"late", func(st *radpool.Stats) { st.Pool.Classes[radpool.ClassInterim].NewestFirst = true }, []string{"Requests wait"}},
		{"all busy", func(st *radpool.Stats) { st.MaxWorkers, st.Pool.Busy, st.Pool.Queued = 32, 32, 1 }, []string{"All workers are busy"}},
		{"all busy, and nothing waits", func(st *radpool.Stats) { st.MaxWorkers, st.Pool.Busy = 32, 32 }, nil},
		{"some idle", func(st *radpool.Stats) { st.MaxWorkers, st.Pool.Busy, st.Pool.Queued = 32, 31, 1 }, nil},
		{"not there yet", func(st *radpool.Stats) { st.Started = time.Time{} }, []string{"The server does not serve"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := serving()
			p := newPage(t, s, status.Options{})
			s.count(tc.change)
			got := snapshot(t, p).Alerts
			if !slices.EqualFunc(got, tc.want, strings.HasPrefix) {
				t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
			}
			if html := ask(p, "/").Body.String(); strings.Contains(html, "All is well") == (len(tc.want) > 0) {
				t.Errorf("%s: the page says all is well: %v", tc.name, len(tc.want) > 0)
			}
		})
	}
}

func TestAlertsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, away := serving(), "The database is away."
		figure := status.Figure{Group: "Database", Name: "away", Value: 1, Alert: away}
		p := newPage(t, s, status.Options{Figures: func() []status.Figure { return []status.Figure{figure} }})
		s.count(func(st *radpool.Stats) { st.Expired = 1 })
		if got := snapshot(t, p).Alerts; len(got) != 2 || got[0] != away {
			t.Errorf("%q", got)
		}
		figure.Alert = ""
		time.Sleep(55 * time.Second)
		if got := snapshot(t, p).Alerts; len(got) != 1 {
			t.Errorf("after 55 s %q", got)
		}
		time.Sleep(11 * time.Second)
		if got := snapshot(t, p).Alerts; len(got) != 0 {
			t.Errorf("after 66 s %q", got)
		}
	})
}
