package status

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/radpool/radpool/internal/plot"
)

// A figure is one plot of the page, and what it says to those who do not see it.
type figure struct {
	ID, Title string
	SVG       template.HTML
	Words     string
}

// curve is one line of a plot.
type curve struct {
	name  string
	value func(*Point) float64
}

var plots = []struct {
	id, title, unit string
	log             bool // times span decades; where there was no reply there is none
	curves          []curve
}{
	{"rates", "Datagrams a second", "a second", false, []curve{
		{"received", func(p *Point) float64 { return p.Received }},
		{"dropped", func(p *Point) float64 { return p.Dropped }},
		{"answered", func(p *Point) float64 { return p.Answered }},
	}},
	{"times", "Response time in milliseconds", "milliseconds", true, []curve{
		{"access p50", func(p *Point) float64 { return 1000 * p.AccessP50 }},
		{"access p99", func(p *Point) float64 { return 1000 * p.AccessP99 }},
		{"acct p99", func(p *Point) float64 { return 1000 * p.AccountingP99 }},
	}},
	{"queue", "Requests waiting for a worker", "requests", false, []curve{
		{"waiting", func(p *Point) float64 { return float64(p.Waiting) }},
	}},
	{"pool", "Workers", "workers", false, []curve{
		{"all", func(p *Point) float64 { return float64(p.Workers) }},
		{"busy", func(p *Point) float64 { return float64(p.Busy) }},
	}},
}

// Size of a plot in pixels: two beside each other on a screen, and legible on a phone.
const plotWidth, plotHeight = 420, 230

// figuresOf draws the plots of what has happened up to now.
func figuresOf(points []Point, now time.Time) ([]figure, error) {
	figures := make([]figure, 0, len(plots))
	for _, p := range plots {
		f := figure{ID: p.id, Title: p.title}
		if lines := linesOf(points, p.curves, p.log, now); lines != nil {
			var err error
			if f.SVG, err = draw(lines, p.log); err != nil {
				return nil, err
			}
			f.Words = inWords(points, p.curves, p.unit)
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// linesOf returns the lines of a plot, or nil where there is nothing to draw.
func linesOf(points []Point, curves []curve, log bool, now time.Time) (lines []plot.Line) {
	some := false
	for _, curve := range curves {
		line := plot.Line{Name: curve.name}
		for i := range points {
			if v := curve.value(&points[i]); v > 0 || !log {
				line.Points = append(line.Points, plot.Point{X: -now.Sub(points[i].Time).Minutes(), Y: v})
				some = true
			}
		}
		lines = append(lines, line)
	}
	if !some {
		return nil
	}
	return lines
}

func draw(lines []plot.Line, log bool) (template.HTML, error) {
	c := plot.Chart{
		X: plot.Axis{Label: "minutes from now", Low: -HistoryTime.Minutes()}, Y: plot.Axis{Log: log, High: 1},
		Lines: lines, Width: plotWidth, Height: plotHeight,
	}
	var b strings.Builder
	if err := c.WriteSVG(&b); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil // numbers, and words of this package, which WriteSVG escapes besides
}

// inWords is what a plot shows: how high each line is now, and was at most.
func inWords(points []Point, curves []curve, unit string) string {
	var words []string
	for _, c := range curves {
		most := 0.0
		for i := range points {
			most = max(most, c.value(&points[i]))
		}
		last := c.value(&points[len(points)-1])
		words = append(words, fmt.Sprintf("%s %s %s, at most %s", c.name, brief(last), unit, brief(most)))
	}
	return strings.Join(words, "; ")
}
