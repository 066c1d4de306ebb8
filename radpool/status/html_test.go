package status_test

import (
	"fmt"
	"io"
	"math"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/radpool/radpool/radpool"
	"github.com/radpool/radpool/radpool/status"
)

// hostile is a name that would do harm if it were taken for HTML.
const hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)>`

// richPage is a page that has all its parts, with hostile names wherever one can be given.
func richPage(t *testing.T) *status.Page {
	t.Helper()
	clients, err := radpool.NewClients(radpool.Client{Name: hostile, Prefix: netip.MustParsePrefix("192.0.2.0/24"), Secret: []byte("a-shared-secret")})
	if err != nil {
		t.Fatal(err)
	}
	s := serving()
	s.stats.MaxWorkers, s.stats.MinSpare, s.stats.MaxSpare = 128, 8, 32
	s.waiting = []radpool.WaitingNAS{{Addr: netip.MustParseAddr("192.0.2.7"), Client: hostile, Total: 5}}
	p := newPage(t, s, status.Options{
		Title: hostile, Clients: clients,
		Figures: func() []status.Figure {
			return []status.Figure{
				{Group: hostile, Name: hostile, Value: 1.5, Unit: status.Seconds, Alert: hostile},
				{Group: "Other", Name: "octets", Value: 2048, Unit: status.Octets},
				{Group: hostile, Name: "count", Value: 12345, Unit: "furlongs"},
			}
		},
	})
	for range 30 {
		s.count(func(st *radpool.Stats) {
			add(st, 1234567, 3*time.Millisecond)
			st.Shed++
			st.Received++
			st.Pool.Limit, st.Pool.Queued, st.Pool.Busy, st.Pool.Workers = 16, 9, 3, 5
		})
		time.Sleep(5 * time.Second)
		synctest.Wait()
	}
	return p
}

func TestNothingIsTakenForHTML(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := richPage(t)
		html := ask(p, "/").Body.String()
		for _, bad := range []string{"<script>", "<img", "a-shared-secret", "style=", "javascript:", "<iframe", "<form"} {
			if strings.Contains(html, bad) {
				t.Errorf("the page has %s", bad)
			}
		}
		if m := regexp.MustCompile(`<[^>]*\son[a-z]+=`).FindString(html); m != "" {
			t.Errorf("the page has an event handler: %s", m)
		}
		if n := strings.Count(html, "alert(1)"); n < 6 {
			t.Errorf("the name stands on the page %d times, want it in the title, the heading, an alert, two tables and a figure", n)
		}
		if json := ask(p, "/status.json").Body.String(); strings.Contains(json, "a-shared-secret") || strings.Contains(json, "<script>") {
			t.Error("status.json has the secret, or a name as HTML")
		}
		for _, from := range regexp.MustCompile(`(?:src|href)="([^"#]*)`).FindAllStringSubmatch(html, -1) {
			if strings.Contains(from[1], ":") && from[1] != "data:," || strings.HasPrefix(from[1], "/") {
				t.Errorf("the page wants %s", from[1])
			}
		}
	})
}

// The page is one that a screen reader and a keyboard find their way in.
func TestPageIsAccessible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		html := ask(richPage(t), "/").Body.String()
		ids := make(map[string]int)
		for _, m := range regexp.MustCompile(`\sid="([^"]*)"`).FindAllStringSubmatch(html, -1) {
			ids[m[1]]++
		}
		for id, n := range ids {
			if n > 1 {
				t.Errorf("id %s stands %d times", id, n)
			}
		}
		for _, m := range regexp.MustCompile(`(?:href="#|aria-labelledby=")([^"]*)"`).FindAllStringSubmatch(html, -1) {
			if ids[m[1]] == 0 {
				t.Errorf("#%s leads nowhere", m[1])
			}
		}
		for _, part := range []string{`<html lang="en">`, "<header>", "<nav aria-label=", "<main ", "<footer>", `class="skip" href="#status"`, `name="viewport"`} {
			if strings.Count(html, part) != 1 {
				t.Errorf("%d of %s, want one", strings.Count(html, part), part)
			}
		}
		if n := strings.Count(html, "<h1"); n != 1 {
			t.Errorf("%d headings of the first level", n)
		}
		for _, table := range strings.Split(html, "<table>")[1:] {
			table, _, _ = strings.Cut(table, "</table>")
			if !strings.Contains(table, "<caption>") || !strings.Contains(table, `scope="col"`) {
				t.Errorf("a table without a caption or heads of columns:\n%.200s", table)
			}
		}
		sections, named := strings.Count(html, "<section "), len(regexp.MustCompile(`<section [^>]*aria-label`).FindAllString(html, -1))
		if sections < 9 || named != sections {
			t.Errorf("%d of %d sections have a name", named, sections)
		}
		images, words := strings.Count(html, "<svg"), strings.Count(html, `role="img" aria-label="`)+strings.Count(html, `aria-hidden="true"`)
		if images < 8 || words != images {
			t.Errorf("%d of %d images are described or hidden", words, images)
		}
		if n := strings.Count(html, `role="status"`) + strings.Count(html, "aria-live"); n != 1 {
			t.Errorf("%d parts speak by themselves, want one", n)
		}
	})
}

func TestWithoutJavaScript(t *testing.T) {
	p := newPage(t, serving(), status.Options{})
	const again = `<noscript><meta http-equiv="refresh" content="10"></noscript>`
	if html := ask(p, "/").Body.String(); !strings.Contains(html, again) || !strings.Contains(html, `href="?refresh=off"`) {
		t.Error("it is not loaded again, or that cannot be stopped")
	}
	if html := ask(p, "/?refresh=off").Body.String(); strings.Contains(html, again) {
		t.Error("it is loaded again although that was stopped")
	}
}

// What is read is what is counted.
func TestNumbersOfPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := richPage(t)
		html, s := ask(p, "/").Body.String(), snapshot(t, p)
		for id, want := range map[string]uint64{"received": s.Received, "outcome-replied": 30 * 1234567, "outcome-shed": 30, "in-flight": 0} {
			m := regexp.MustCompile(` id="` + id + `"><data value="(\d+)">([^<]*)</data>`).FindStringSubmatch(html)
			if m == nil || m[1] != fmt.Sprint(want) || strings.ReplaceAll(m[2], ",", "") != m[1] {
				t.Errorf("%s: %q, want %d", id, m, want)
			}
		}
		for _, want := range []string{"37,037,010", ">1.5 s<", ">2 KiB<", ">12,345<", "answered 246,913 a second, at most 246,913"} {
			if !strings.Contains(html, want) {
				t.Errorf("the page does not say %s", want)
			}
		}
	})
}

// Text has a contrast of 4.5 to 1 at least (WCAG 2, 1.4.3), and what is drawn 3 to 1
// (1.4.11), in light and dark.
func TestContrast(t *testing.T) {
	css, err := io.ReadAll(ask(newPage(t, serving(), status.Options{}), "/status.css").Body)
	if err != nil {
		t.Fatal(err)
	}
	light, dark, ok := strings.Cut(string(css), "prefers-color-scheme: dark")
	if !ok {
		t.Fatal("there is no dark style")
	}
	dark, _, _ = strings.Cut(dark, "* {")
	for name, text := range map[string]string{"light": light, "dark": dark} {
		colours := make(map[string]string)
		for _, m := range regexp.MustCompile(`--([a-z]+): (#[0-9a-f]+)`).FindAllStringSubmatch(text, -1) {
			colours[m[1]] = m[2]
		}
		for _, tc := range []struct {
			front, back string
			least       float64
		}{
			{"ink", "paper", 4.5},
			{"ink", "card", 4.5},
			{"soft", "card", 4.5},
			{"soft", "paper", 4.5},
			{"link", "paper", 4.5},
			{"link", "card", 4.5},
			{"bad", "card", 4.5},
			{"good", "card", 3},
			{"one", "card", 3},
			{"two", "card", 3},
			{"three", "card", 3},
			{"busy", "track", 3},
		} {
			a, b := luminance(t, colours[tc.front]), luminance(t, colours[tc.back])
			if c := (max(a, b) + 0.05) / (min(a, b) + 0.05); c < tc.least {
				t.Errorf("%s: %s on %s has a contrast of %.2f, want %.1f", name, tc.front, tc.back, c, tc.least)
			}
		}
	}
}

// luminance is the relative luminance of WCAG 2.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	if len(colour) == 4 {
		colour = fmt.Sprintf("#%c%[1]c%c%[2]c%c%[3]c", colour[1], colour[2], colour[3])
	}
	var sum float64
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		if len(colour) != 7 {
			t.Fatalf("%q is no colour", colour)
		}
		v, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		if c := float64(v) / 255; c <= 0.04045 {
			sum += weight * c / 12.92
		} else {
			sum += weight * math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return sum
}
