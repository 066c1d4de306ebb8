package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"layeh.com/radius"

	"github.com/radpool/radpool/radpool"
	"github.com/radpool/radpool/radpool/status"
)

// value is the number at an id, as a JavaScript expression.
func value(id string) string {
	return fmt.Sprintf("Number(document.querySelector('#%s data').value)", id)
}

// shown are the outcomes that are not none, as the page shows them.
func shown(b *tab) map[string]float64 {
	b.t.Helper()
	list := map[string]float64{"received": eval[float64](b, value("received"))}
	for o := range radpool.Outcome(radpool.NumOutcomes) {
		if n := eval[float64](b, value("outcome-"+o.String())); n > 0 {
			list[o.String()] = n
		}
	}
	return list
}

func statusPage(t *testing.T) (*billingd, *tab, map[string]float64) {
	t.Helper()
	b := open(t)
	server := startBillingd(t, "-db", "sqlite:"+t.TempDir()+"/isp.db")
	b.do(chromedp.Navigate("http://" + server.http + "/"))
	if title := ask(b, chromedp.Title()); title != "billingd, sqlite: status" {
		t.Errorf("the title is %q", title)
	}
	want := traffic(t, server)
	b.until(value("received") + fmt.Sprintf(" >= %v", want["received"])) // by itself: it is live
	return server, b, want
}

// What is shown is what was sent, what status.json says and what the server has counted.
func TestStatusPageShowsStats(t *testing.T) {
	server, b, want := statusPage(t)
	got := shown(b)
	if !maps.Equal(got, want) {
		t.Errorf("the page shows %v, sent were %v", got, want)
	}
	if n := eval[float64](b, value("in-flight")); n != 0 {
		t.Errorf("%v in flight", n)
	}
	response, err := http.Get("http://" + server.http + "/status.json")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var s status.Snapshot
	if err := json.NewDecoder(response.Body).Decode(&s); err != nil {
		t.Fatal(err)
	}
	said := map[string]float64{"received": float64(s.Received)}
	for _, o := range s.Outcomes {
		if o.Count > 0 {
			said[o.Name] = float64(o.Count)
		}
	}
	if !maps.Equal(said, want) {
		t.Errorf("status.json says %v, sent were %v", said, want)
	}
	for text, want := range map[string]string{"accepted": "120", "rejected: wrong-password": "9", "accounting stored": "30"} {
		find := fmt.Sprintf("[...document.querySelectorAll('#billing dt')].find(e => e.textContent === %q)?.nextElementSibling.textContent ?? 'nothing'", text)
		if got := eval[string](b, find); got != want {
			t.Errorf("%s: the page shows %s, want %s", text, got, want)
		}
	}
	if alert := eval[string](b, "document.querySelector('#health').innerText"); !strings.Contains(alert, "unauthentic") {
		t.Errorf("forged requests are no alert: %q", alert)
	}
	b.until("document.querySelectorAll('#plots svg').length === 4") // when the first samples are there
	b.screenshots("status")
	b.quiet()
	if stats := server.end(); !maps.Equal(stats, want) {
		t.Errorf("the server ends with %v, sent were %v", stats, want)
	}
}

// The page is clicked through.
func TestStatusPageIsUsed(t *testing.T) {
	server, b, want := statusPage(t)
	links := eval[int](b, "document.querySelectorAll('nav a').length")
	if links < 9 {
		t.Errorf("%d links", links)
	}
	for i := range links {
		link := fmt.Sprintf("nav li:nth-child(%d) a", i+1)
		b.do(chromedp.Click(chromedp.CSS(link)))
		b.until(fmt.Sprintf("location.hash === document.querySelector(%q).hash && document.querySelector(location.hash).getBoundingClientRect().top < innerHeight", link))
	}

	// What was opened stays open while the page renews itself.
	b.do(chromedp.Click(chromedp.CSS("#minutes summary")))
	b.until("document.querySelector('#minutes').open")
	before := eval[string](b, "document.querySelector('#live').textContent")
	b.until(fmt.Sprintf("document.querySelector('#live').textContent.endsWith(', live') && document.querySelector('#live').textContent !== %q", before))
	if !eval[bool](b, "document.querySelector('#minutes').open") {
		t.Error("the table was closed")
	}

	// While it is paused nothing changes, and then all that has.
	b.do(chromedp.Click(chromedp.ID("pause")))
	b.until("document.querySelector('#pause').textContent === 'Go on' && document.querySelector('#live').textContent.endsWith(', paused')")
	dial(t, server.auth).login("user3", "pass3", radius.CodeAccessAccept)
	if got := eval[float64](b, value("outcome-replied")); got != want["replied"] {
		t.Errorf("paused, it shows %v replied, want the %v of before", got, want["replied"])
	}
	b.do(chromedp.Click(chromedp.ID("pause")))
	b.until(value("outcome-replied") + fmt.Sprintf(" === %v", want["replied"]+1))

	// By keyboard one gets past the links.
	b.do(chromedp.Navigate("http://"+server.http+"/"), chromedp.KeyEvent("\t"))
	if where := eval[string](b, "document.activeElement.textContent"); where != "To the numbers" {
		t.Errorf("the first tab leads to %q", where)
	}
	b.do(chromedp.KeyEvent("\r"))
	b.until("document.activeElement.id === 'status'")
	b.quiet()
}

// Without JavaScript it shows the same, and says that it is loaded again.
func TestStatusPageWithoutJavaScript(t *testing.T) {
	server, b, want := statusPage(t)
	b.do(func(ctx context.Context, _ *chromedp.Target) (v chromedp.Void, err error) {
		_, err = chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return v, err
	}, chromedp.Navigate("http://"+server.http+"/"))
	if text := ask(b, chromedp.Text(chromedp.CSS("#outcome-replied"))); text != fmt.Sprint(want["replied"]) {
		t.Errorf("it shows %s replied, want %v", text, want["replied"])
	}
	if text := ask(b, chromedp.Text(chromedp.CSS(".live"))); !strings.Contains(text, "loaded again every 10 s") || strings.Contains(text, "Pause") {
		t.Errorf("it says %q", text)
	}
	b.do(chromedp.Click(chromedp.CSS(".live a")))
	if text := ask(b, chromedp.Text(chromedp.CSS(".live"))); !strings.Contains(text, "Load it again every 10 s") {
		t.Errorf("stopped, it says %q", text)
	}
}
