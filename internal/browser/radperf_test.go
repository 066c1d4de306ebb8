package browser_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// radperf runs a load and returns the page that it has made.
func radperf(t *testing.T, args ...string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "page.html")
	if args[0] == "sweep" {
		args = append([]string{"sweep", "-plot", file}, args[1:]...)
	} else {
		args = append([]string{"-plot", file}, args...)
	}
	if out, err := exec.CommandContext(t.Context(), build(t, "radperf"), args...).CombinedOutput(); err != nil {
		t.Fatalf("radperf %v: %v\n%s", args, err, out)
	}
	return file
}

// number is what stands at an id of a page of radperf's.
func number(b *tab, id string) float64 {
	b.t.Helper()
	return eval[float64](b, fmt.Sprintf("Number(document.getElementById(%q).textContent.replaceAll(',', ''))", id))
}

// plots fails the test unless each of the plots has lines, within its image.
func plots(b *tab, ids ...string) {
	b.t.Helper()
	for _, id := range ids {
		lines := eval[int](b, fmt.Sprintf("[...document.querySelectorAll('#%s svg polyline')].filter(l => l.getBBox().width >= 0 && l.points.length > 0).length", id))
		if lines == 0 {
			b.t.Errorf("%s has no line", id)
		}
	}
}

// The page of a run says what the server has counted, in figures, in a table and as data.
func TestRadperfRun(t *testing.T) {
	server := startBillingd(t, "-db", "memory:100")
	file := radperf(t, "-auth", server.auth, "-acct", server.acct, "-rate", "500:1500", "-duration", "2s", "-every", "100ms", "-mix", "pap", "-quiet")
	b := open(t)
	b.do(chromedp.Navigate("file://" + file))
	n := number(b, "requests")
	if n < 100 {
		t.Errorf("%v requests in 2 s, 500 to 1,500 a second", n)
	}
	for id, want := range map[string]float64{"answered": n, "accepts": n, "lost": 0, "wrong": 0} {
		if got := number(b, id); got != want {
			t.Errorf("%s: %v, want %v", id, got, want)
		}
	}
	plots(b, "plot-rate", "plot-latency", "plot-losses")
	if rows := eval[int](b, "document.querySelectorAll('#table tbody tr').length"); rows == 0 {
		t.Error("the table is empty")
	}
	var data struct {
		Result struct {
			Sent, Answered, Accepts float64
		}
	}
	if err := json.Unmarshal([]byte(eval[string](b, "document.getElementById('data').textContent")), &data); err != nil {
		t.Fatal(err)
	}
	sent := number(b, "sent")
	if c := data.Result; c.Answered != n || c.Accepts != n || c.Sent != sent {
		t.Errorf("its data are %+v, sent were %v", c, sent)
	}
	toggle(b)
	b.screenshots("radperf")
	b.quiet()
	stats := server.end()
	if stats["received"] != sent || stats["replied"] != n {
		t.Errorf("the server has counted %v; radperf says that it sent %v", stats, sent)
	}
}

// The page of a sweep has the graphs of throughput against workers, and of throughput and
// total time against requests.
func TestRadperfSweep(t *testing.T) {
	server := startBillingd(t, "-db", "memory:100")
	b := open(t)
	b.do(chromedp.Navigate("file://" + radperf(t, "sweep", "-auth", server.auth, "-acct", server.acct, "-workers", "4,16", "-n", "100,1000", "-quiet")))
	plots(b, "plot-requests", "plot-time", "plot-workers")
	if rows := eval[int](b, "document.querySelectorAll('#table tbody tr').length"); rows != 4 {
		t.Errorf("%d rows, want one for each of 4 measurements", rows)
	}
	if lost, wrong := number(b, "lost"), number(b, "wrong"); lost+wrong != 0 {
		t.Errorf("%v lost, %v wrong", lost, wrong)
	}
	toggle(b)
	b.screenshots("radperf-sweep")
	b.quiet()
	if stats := server.end(); stats["replied"] != 2*(100+1000) {
		t.Errorf("the server has counted %v", stats)
	}
}

// toggle closes and opens the table.
func toggle(b *tab) {
	b.t.Helper()
	const opened = "document.getElementById('numbers').open"
	for range 2 {
		before := eval[bool](b, opened)
		b.do(chromedp.Click(chromedp.CSS("#numbers summary")))
		b.until(fmt.Sprintf("%s !== %v", opened, before))
	}
	if text := eval[string](b, "document.querySelector('#numbers').textContent"); !strings.Contains(text, "p99") {
		b.t.Errorf("the table does not say p99: %.200q", text)
	}
}
