package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

// What Prometheus and expvar get is what was done, and nothing that is secret.
func TestMetrics(t *testing.T) {
	dir := t.TempDir()
	for _, schema := range []string{standardSchema, radpoolSchema} {
		b := start(t, "-schema", schema, "-db", "sqlite:"+dir+"/"+schema+".db", "-journal", dir+"/"+schema+"-journal.db", "-http", "0")
		n := dial(t, b.auth)
		n.send(accessRequest(1, "user1", "pass1"))
		if n.receive(time.Minute) == nil {
			t.Fatal("no answer")
		}
		text := get(t, "http://"+b.http+"/metrics")
		for _, want := range []string{
			`radpool_requests_total{request="access"} 1`, `radpool_replies_total{reply="access-accept"} 1`,
			`radpool_response_seconds_count{request="access"} 1`, `radpool_response_seconds_bucket{request="access",le="+Inf"} 1`,
			`radpool_billing_decisions_total{decision="accepted"} 1`, `radpool_sql_authorized_total 1`, `radpool_journal_queued_records 0`,
			`go_goroutines `,
		} {
			if !strings.Contains(text, "\n"+want) {
				t.Errorf("%s: no %s", schema, want)
			}
		}
		problems, err := promlint.New(strings.NewReader(text)).Lint()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			if strings.HasPrefix(p.Metric, "radpool_") {
				t.Errorf("%s: %s: %s", schema, p.Metric, p.Text)
			}
		}
		vars := get(t, "http://"+b.http+"/debug/vars")
		var all struct {
			Radpool  map[string]any
			Memstats map[string]any
		}
		if err := json.Unmarshal([]byte(vars), &all); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(all.Radpool["radpool_requests_total"]); got != "map[access:1 accounting:0 coa:0 disconnect:0]" || len(all.Memstats) == 0 {
			t.Errorf("%s: /debug/vars has %s", schema, got)
		}
		for _, secret := range []string{"testing123", "user1", "pass1", dir} {
			if strings.Contains(text+vars, secret) {
				t.Errorf("%s: the metrics have %q", schema, secret)
			}
		}
	}
}
