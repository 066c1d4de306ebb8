package main

import (
	_ "embed"
	"html/template"
	"io"
	"strings"

	"github.com/radpool/radpool/internal/plot"
)

// The ids of a page's elements are for those who read it with a program:
//
//	figures                      all figures, each with an id of its own:
//	pps, elapsed                 answered requests a second; seconds
//	p50, p90, p99, p999, max     latency in ms
//	requests, sent, retransmitted, answered, lost, wrong, and others that are not 0: see report.figures
//	plot-rate, plot-latency, plot-losses               the plots of a run
//	plot-requests, plot-time, plot-workers             the plots of a sweep
//	table                        what the plots show, in numbers
//	data                         everything, as the JSON that -json writes
//
//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page is what page.html shows.
type page struct {
	Title        string
	Lead         []string
	Figures      []figure
	Plots        []pagePlot
	TableCaption string
	Columns      []string
	Rows         [][]string
	Data         any
}

type pagePlot struct {
	ID, Title, Caption string
	SVG                template.HTML
}

func (p *page) write(w io.Writer) error { return pageTemplate.Execute(w, p) }

// draw adds a plot. One of no points, or of what a logarithmic axis cannot show, is left out: the table has the numbers.
func (p *page) draw(id, caption string, c plot.Chart) {
	var lines []plot.Line
	for _, l := range c.Lines {
		if len(l.Points) > 0 {
			lines = append(lines, l)
		}
	}
	if len(lines) == 0 {
		return
	}
	title := c.Title
	c.Title, c.Lines = "", lines
	var b strings.Builder
	if err := c.WriteSVG(&b); err != nil {
		caption += " (" + err.Error() + ")"
	}
	// What plot writes is SVG, whose texts it has escaped.
	p.Plots = append(p.Plots, pagePlot{ID: id, Title: title, Caption: caption, SVG: template.HTML(b.String())}) //nolint:gosec // as said
}
