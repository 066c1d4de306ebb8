// Package grafana has a dashboard, and a test that what it asks for exists.
package grafana

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/coa"
	"github.com/radpool/radpool/billing/journal"
	"github.com/radpool/radpool/billing/sqlbilling"
	"github.com/radpool/radpool/radpool"
	"github.com/radpool/radpool/radpool/metrics"
)

type dashboard struct {
	Panels []struct {
		ID      int
		Type    string
		Title   string
		GridPos struct{ H, W, X, Y int }
		Targets []struct{ Expr, LegendFormat string }
	}
	Templating struct {
		List []struct{ Name, Definition string }
	}
}

var (
	metricName  = regexp.MustCompile(`\bradpool_[a-z0-9_]+`)
	grouping    = regexp.MustCompile(`\bby \(([a-z, ]*)\)`)
	matcher     = regexp.MustCompile(`([a-z]+)(?:=~|!~|!=|=)"`)
	legendLabel = regexp.MustCompile(`\{\{([a-z]+)\}\}`)
)

// known are the metrics that there are, by the names that Prometheus has for them, with
// their labels.
func known() map[string][]string {
	all := make(map[string][]string)
	for _, d := range metrics.Join(
		metrics.Server(new(radpool.Server)), new(billing.Processor).Metrics(), new(coa.Controller).Metrics(),
		new(journal.Journal).Metrics(), new(sqlbilling.Backend).Metrics(),
	).Descs() {
		if d.Kind == metrics.KindHistogram {
			all[d.Name+"_sum"], all[d.Name+"_count"] = d.Labels, d.Labels
			all[d.Name+"_bucket"] = append(slices.Clone(d.Labels), "le")
			continue
		}
		all[d.Name] = d.Labels
	}
	return all
}

// problems are what in an expression does not exist: metrics, and labels that are
// asked for.
func problems(expr, legend string, all map[string][]string) []string {
	var wrong []string
	labels := []string{"job", "instance"}
	names := metricName.FindAllString(expr, -1)
	if len(names) == 0 {
		wrong = append(wrong, "no metric of radpool")
	}
	for _, n := range names {
		l, ok := all[n]
		if !ok {
			wrong = append(wrong, "no metric "+n)
		}
		labels = append(labels, l...)
	}
	var used []string
	for _, m := range grouping.FindAllStringSubmatch(expr, -1) {
		used = append(used, strings.Split(m[1], ", ")...)
	}
	for _, m := range append(matcher.FindAllStringSubmatch(expr, -1), legendLabel.FindAllStringSubmatch(legend, -1)...) {
		used = append(used, m[1])
	}
	for _, u := range used {
		if !slices.Contains(labels, u) {
			wrong = append(wrong, "no label "+u)
		}
	}
	return wrong
}

func TestEachMetricExists(t *testing.T) {
	b, err := os.ReadFile("radpool.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	all := known()
	graphs := 0
	ids := make(map[int]bool)
	for _, p := range d.Panels {
		if ids[p.ID] {
			t.Errorf("%s: the number %d stands there twice", p.Title, p.ID)
		}
		ids[p.ID] = true
		if p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("%s: wider than the page", p.Title)
		}
		if p.Type == "row" {
			continue
		}
		graphs++
		if len(p.Targets) == 0 {
			t.Errorf("%s: shows nothing", p.Title)
		}
		for _, q := range p.Targets {
			for _, problem := range problems(q.Expr, q.LegendFormat, all) {
				t.Errorf("%s: %s in %s", p.Title, problem, q.Expr)
			}
		}
	}
	if graphs < 20 {
		t.Errorf("%d graphs: was the file read?", graphs)
	}
	for _, v := range d.Templating.List {
		if n := metricName.FindString(v.Definition); v.Definition != "" && all[n] == nil && !slices.Contains([]string{"radpool_start_time_seconds"}, n) {
			t.Errorf("variable %s: no metric in %s", v.Name, v.Definition)
		}
	}
}

// The check finds what is wrong.
func TestTheCheckFindsFaults(t *testing.T) {
	all := known()
	for expr, want := range map[string]string{
		`rate(radpool_request_total[1m])`:                      "no metric radpool_request_total",
		`sum by (nas) (radpool_requests_total)`:                "no label nas",
		`radpool_replies_total{code="x"}`:                      "no label code",
		`sum by (le) (rate(radpool_response_seconds_sum[1m]))`: "no label le",
		`up`: "no metric of radpool",
	} {
		if got := problems(expr, "", all); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
	if got := problems(`radpool_workers{state="idle"}`, "{{instance}} {{class}}", all); !slices.Equal(got, []string{"no label class"}) {
		t.Errorf("%q", got)
	}
}
