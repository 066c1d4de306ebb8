package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/radpool/radpool/internal/loadgen"
)

// outputs are the files that are asked for. They are opened before anything is measured, so that a wrong name costs no run.
type outputs struct {
	csv, json, plot io.Writer
	files           []*os.File
	printed         bool // standard output is one of them
}

func openOutputs(o *options, stdout io.Writer) (*outputs, error) {
	out := new(outputs)
	for _, f := range []struct {
		flag, name string
		w          *io.Writer
	}{{"-csv", o.csv, &out.csv}, {"-json", o.json, &out.json}, {"-plot", o.plot, &out.plot}} {
		switch {
		case f.name == "":
		case f.name == "-" && out.printed:
			return nil, errors.Join(wrong("%s -: standard output is taken", f.flag), out.close())
		case f.name == "-":
			*f.w, out.printed = stdout, true
		default:
			file, err := os.Create(f.name)
			if err != nil {
				return nil, errors.Join(wrong("%s: %w", f.flag, err), out.close())
			}
			*f.w = file
			out.files = append(out.files, file)
		}
	}
	return out, nil
}

func (out *outputs) close() error {
	var err error
	for _, f := range out.files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// write writes a run.
func (out *outputs) write(r *report) error {
	return out.each(func(w io.Writer) error { return writeCSV(w, r.Result.Samples) }, r, func(w io.Writer) error { return writeRunPage(w, r) })
}

func (out *outputs) each(table func(io.Writer) error, data any, page func(io.Writer) error) error {
	var errs []error
	if out.csv != nil {
		errs = append(errs, table(out.csv))
	}
	if out.json != nil {
		e := json.NewEncoder(out.json)
		e.SetIndent("", "  ")
		errs = append(errs, e.Encode(data))
	}
	if out.plot != nil {
		errs = append(errs, page(out.plot))
	}
	return errors.Join(errs...)
}

// sampleColumns are those of the CSV of a run. Times are in seconds.
var sampleColumns = []struct {
	name  string
	value func(*loadgen.Sample) string
}{
	{"at_s", func(s *loadgen.Sample) string { return inSeconds(s.At) }},
	{"span_s", func(s *loadgen.Sample) string { return inSeconds(s.Span) }},
	{"offered_per_s", func(s *loadgen.Sample) string { return fmt.Sprintf("%.1f", s.Offered) }},
	{"replies_per_s", func(s *loadgen.Sample) string { return fmt.Sprintf("%.1f", s.Throughput()) }},
	{"goodput_per_s", func(s *loadgen.Sample) string { return fmt.Sprintf("%.1f", s.Goodput()) }},
	{"requests", func(s *loadgen.Sample) string { return number(s.Requests) }},
	{"sent", func(s *loadgen.Sample) string { return number(s.Sent) }},
	{"retransmitted", func(s *loadgen.Sample) string { return number(s.Retransmitted) }},
	{"duplicated", func(s *loadgen.Sample) string { return number(s.Duplicated) }},
	{"answered", func(s *loadgen.Sample) string { return number(s.Answered) }},
	{"accepts", func(s *loadgen.Sample) string { return number(s.Accepts) }},
	{"rejects", func(s *loadgen.Sample) string { return number(s.Rejects) }},
	{"accounting_responses", func(s *loadgen.Sample) string { return number(s.AccountingResponses) }},
	{"lost", func(s *loadgen.Sample) string { return number(s.Lost) }},
	{"extra", func(s *loadgen.Sample) string { return number(s.Extra) }},
	{"wrong", func(s *loadgen.Sample) string { return number(s.Wrong()) }},
	{"in_flight", func(s *loadgen.Sample) string { return strconv.Itoa(s.InFlight) }},
	{"behind_s", func(s *loadgen.Sample) string { return inSeconds(s.Behind) }},
	{"p50_s", func(s *loadgen.Sample) string { return inSeconds(s.Latency.P50) }},
	{"p90_s", func(s *loadgen.Sample) string { return inSeconds(s.Latency.P90) }},
	{"p99_s", func(s *loadgen.Sample) string { return inSeconds(s.Latency.P99) }},
	{"p999_s", func(s *loadgen.Sample) string { return inSeconds(s.Latency.P999) }},
	{"max_s", func(s *loadgen.Sample) string { return inSeconds(s.Latency.Max) }},
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

func inSeconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 6, 64) }

func writeCSV(w io.Writer, samples []loadgen.Sample) error {
	c := csv.NewWriter(w)
	row := make([]string, len(sampleColumns))
	for i, column := range sampleColumns {
		row[i] = column.name
	}
	_ = c.Write(row) // kept for Error
	for i := range samples {
		for k, column := range sampleColumns {
			row[k] = column.value(&samples[i])
		}
		_ = c.Write(row)
	}
	c.Flush()
	return c.Error()
}
