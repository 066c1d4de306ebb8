// Package plot draws line charts as SVG, for the figures in docs: a few lines over
// two axes, each linear or logarithmic, in an image that needs no script or font of
// its own and whose text a diff can show. In a page that sets the image between its own
// elements, a style sheet can give it other colours: the parts have the classes
// plot-paper, plot-grid, plot-axis and plot-0, plot-1, ... for the lines.
package plot

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/radpool/radpool/internal/decimal"
)

// A Chart is lines over two axes. Its zero Axes are linear and begin at 0 or at the
// least value, if that is below 0.
type Chart struct {
	Title string // may be empty where the page says it
	X, Y  Axis
	Lines []Line

	// Width and Height are those of the image in pixels, at least 240 by 160. Zero: 760
	// by 420.
	Width, Height int
}

// An Axis is one of the two of a Chart.
type Axis struct {
	Label string
	Log   bool // logarithmic: all values must be more than 0

	// Low and High are values that a linear axis spans in any case, so that images
	// of several moments have the same one.
	Low, High float64
}

// A Line is points, joined in their order.
type Line struct {
	Name   string
	Points []Point
}

// A Point is a value Y at X.
type Point struct{ X, Y float64 }

// MaxLines is how many lines a Chart may have: as many as there are colours that
// can be told apart.
const MaxLines = 6

// The colours are those of Okabe and Ito, which people with any colour vision can
// tell apart.
var colours = [MaxLines]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}

// WriteSVG writes the chart as an SVG document. It is an error if the chart has no
// points or more than MaxLines lines, if a value is not finite, or not positive
// on a logarithmic axis, or if the image is too small; then nothing is written.
func (c *Chart) WriteSVG(w io.Writer) error {
	l, err := c.layout()
	if err != nil {
		return err
	}
	x, y, err := c.scales(l)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">`+"\n",
		l.width, l.height, l.width, l.height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white" class="plot-paper"/>`+"\n", l.width, l.height)
	if c.Title != "" {
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle" font-size="15">%s</text>`+"\n", (l.left+l.right)/2, title, escape(c.Title))
	}
	c.writeAxes(&b, l, x, y)
	lx := l.left
	for i, line := range c.Lines {
		writeLine(&b, line, i, x, y)
		fmt.Fprintf(&b, `<path d="M%d %dh20" stroke="%s" stroke-width="2" class="plot-%d"/><text x="%d" y="%d">%s</text>`+"\n",
			lx, l.legend, colours[i], i, lx+26, l.legend+4, escape(line.Name))
		lx += 26 + letter*utf8.RuneCountInString(line.Name) + 14
	}
	b.WriteString("</svg>\n")
	_, err = io.WriteString(w, b.String())
	return err
}

func (c *Chart) scales(l layout) (x, y scale, err error) {
	if len(c.Lines) > MaxLines {
		return x, y, fmt.Errorf("plot: %d lines, must be at most %d", len(c.Lines), MaxLines)
	}
	var xs, ys []float64
	for _, line := range c.Lines {
		for _, p := range line.Points {
			xs, ys = append(xs, p.X), append(ys, p.Y)
		}
	}
	if len(xs) == 0 {
		return x, y, errors.New("plot: no points")
	}
	x, errX := newScale(c.X, xs, float64(l.left), float64(l.right))
	y, errY := newScale(c.Y, ys, float64(l.bottom), float64(l.top))
	return x, y, errors.Join(errX, errY)
}

func (c *Chart) writeAxes(b *strings.Builder, l layout, x, y scale) {
	for _, v := range x.ticks() {
		at := x.at(v)
		fmt.Fprintf(b, `<path d="M%.1f %dV%d" stroke="#ddd" class="plot-grid"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n",
			at, l.bottom, l.top, at, l.bottom+18, format(v))
	}
	for _, v := range y.ticks() {
		at := y.at(v)
		fmt.Fprintf(b, `<path d="M%d %.1fH%d" stroke="#ddd" class="plot-grid"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			l.left, at, l.right, l.left-6, at+4, format(v))
	}
	fmt.Fprintf(b, `<path d="M%d %dV%dH%d" fill="none" stroke="black" class="plot-axis"/>`+"\n", l.left, l.top, l.bottom, l.right)
	if c.X.Label != "" {
		fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", (l.left+l.right)/2, l.height-16, escape(c.X.Label))
	}
	if c.Y.Label != "" {
		middle := (l.top + l.bottom) / 2
		fmt.Fprintf(b, `<text x="14" y="%d" text-anchor="middle" transform="rotate(-90 14 %d)">%s</text>`+"\n", middle, middle, escape(c.Y.Label))
	}
}

// writeLine writes the i-th line.
func writeLine(b *strings.Builder, l Line, i int, x, y scale) {
	if len(l.Points) == 0 {
		return
	}
	fmt.Fprintf(b, `<polyline fill="none" stroke="%s" stroke-width="2" class="plot-%d" points="`, colours[i], i)
	for i, p := range l.Points {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(b, "%.1f,%.1f", x.at(p.X), y.at(p.Y))
	}
	b.WriteString("\"/>\n")
	if len(l.Points) > mostMarked {
		return
	}
	for _, p := range l.Points {
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s" class="plot-%d"><title>%s: %s, %s</title></circle>`+"\n",
			x.at(p.X), y.at(p.Y), colours[i], i, escape(l.Name), format(p.X), format(p.Y))
	}
}

// mostMarked is how many points a line may have for each to be marked.
const mostMarked = 40

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace

// format writes a number as in the text around the chart: 1,000,000 and 0.25.
func format(v float64) string {
	s := fmt.Sprintf("%.6g", v)
	if a := math.Abs(v); a < 1000 || a >= 1e15 {
		return s
	}
	return decimal.Grouped(fmt.Sprintf("%.0f", v))
}
