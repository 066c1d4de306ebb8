package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// runBenchmark runs one benchmark of the binary in a process of its own.
func runBenchmark(ctx context.Context, binary, benchmark string, each time.Duration) (figures, error) {
	cmd := exec.CommandContext(ctx, binary, "-test.run", "^$", "-test.cpu", "1", "-test.timeout", "1m",
		"-test.benchtime", each.String(), "-test.bench", pattern(benchmark))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return figures{}, fmt.Errorf("%s: %w\n%s", benchmark, err, out.Bytes())
	}
	f, err := parseOutput(out.String())
	if err != nil {
		return figures{}, fmt.Errorf("%s: %w\n%s", benchmark, err, out.Bytes())
	}
	return f, nil
}

// pattern matches the benchmark of that name and no other.
func pattern(benchmark string) string {
	levels := strings.Split("Benchmark"+benchmark, "/")
	for i := range levels {
		levels[i] = "^" + regexp.QuoteMeta(levels[i]) + "$"
	}
	return strings.Join(levels, "/")
}

// parseOutput finds the one line of a benchmark in what go test prints: a name, a
// number of operations, then figures, each followed by its unit.
func parseOutput(out string) (f figures, err error) {
	lines := 0
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		lines++
		units := make(map[string]float64)
		for i := 2; i+1 < len(fields); i += 2 {
			if units[fields[i+1]], err = strconv.ParseFloat(fields[i], 64); err != nil {
				return f, err
			}
		}
		cpu, timed := units["cpu-ns/op"]
		allocs, counted := units["mallocs/op"]
		f = figures{cpu, math.Round(10*allocs) / 10}
		if !timed || !counted {
			return f, errors.New("cpu-ns/op or mallocs/op is missing")
		}
	}
	if lines != 1 {
		return f, fmt.Errorf("want one benchmark, found %d", lines)
	}
	return f, nil
}
