// Package plot draws line charts as SVG, for the figures in docs: a few lines over
// two axes, each linear or logarithmic, in an image that needs no script or font of
// its own and whose text a diff can show.
package plot

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// A Chart is lines over two axes. Its zero Axes are linear and begin at 0 or at the
// least value, if that is below 0.
type Chart struct {
	Title string
	X, Y  Axis
	Lines []Line
}

// An Axis is one of the two of a Chart.
type Axis struct {
	Label string
	Log   bool // logarithmic: all values must be more than 0
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

// Layout, in pixels.
const (
	width, height = 760, 420
	left, right   = 80, 60 // half of a long number stands on the right
	top, bottom   = 60, 60
	legend        = 44 // above the plot, where no line comes
	letter        = 7  // of a name in the legend, on average
)

// WriteSVG writes the chart as an SVG document. It is an error if the chart has no
// points or more than MaxLines lines, or if a value is not finite, or not positive
// on a logarithmic axis; then nothing is written.
func (c *Chart) WriteSVG(w io.Writer) error {
	x, y, err := c.scales()
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">`+"\n",
		width, height, width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	fmt.Fprintf(&b, `<text x="%d" y="24" text-anchor="middle" font-size="15">%s</text>`+"\n", (left+width-right)/2, escape(c.Title))
	c.writeAxes(&b, x, y)
	lx := left
	for i, l := range c.Lines {
		writeLine(&b, l, colours[i], x, y)
		fmt.Fprintf(&b, `<path d="M%d %dh20" stroke="%s" stroke-width="2"/><text x="%d" y="%d">%s</text>`+"\n",
			lx, legend, colours[i], lx+26, legend+4, escape(l.Name))
		lx += 26 + letter*utf8.RuneCountInString(l.Name) + 14
	}
	b.WriteString("</svg>\n")
	_, err = io.WriteString(w, b.String())
	return err
}

func (c *Chart) scales() (x, y scale, err error) {
	if len(c.Lines) > MaxLines {
		return x, y, fmt.Errorf("plot: %d lines, must be at most %d", len(c.Lines), MaxLines)
	}
	var xs, ys []float64
	for _, l := range c.Lines {
		for _, p := range l.Points {
			xs, ys = append(xs, p.X), append(ys, p.Y)
		}
	}
	if len(xs) == 0 {
		return x, y, errors.New("plot: no points")
	}
	x, errX := newScale(c.X, xs, left, width-right)
	y, errY := newScale(c.Y, ys, height-bottom, top)
	return x, y, errors.Join(errX, errY)
}

func (c *Chart) writeAxes(b *strings.Builder, x, y scale) {
	for _, v := range x.ticks() {
		at := x.at(v)
		fmt.Fprintf(b, `<path d="M%.1f %dV%d" stroke="#ddd"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n",
			at, height-bottom, top, at, height-bottom+18, format(v))
	}
	for _, v := range y.ticks() {
		at := y.at(v)
		fmt.Fprintf(b, `<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			left, at, width-right, left-6, at+4, format(v))
	}
	fmt.Fprintf(b, `<path d="M%d %dV%dH%d" fill="none" stroke="black"/>`+"\n", left, top, height-bottom, width-right)
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", (left+width-right)/2, height-16, escape(c.X.Label))
	middle := (top + height - bottom) / 2
	fmt.Fprintf(b, `<text x="18" y="%d" text-anchor="middle" transform="rotate(-90 18 %d)">%s</text>`+"\n", middle, middle, escape(c.Y.Label))
}

func writeLine(b *strings.Builder, l Line, colour string, x, y scale) {
	if len(l.Points) == 0 {
		return
	}
	fmt.Fprintf(b, `<polyline fill="none" stroke="%s" stroke-width="2" points="`, colour)
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
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"><title>%s: %s, %s</title></circle>`+"\n",
			x.at(p.X), y.at(p.Y), colour, escape(l.Name), format(p.X), format(p.Y))
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
	s = fmt.Sprintf("%.0f", v)
	sign := ""
	if v < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}
