package plot_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/radpool/radpool/internal/plot"
)

func line(name string, xy ...float64) plot.Line {
	l := plot.Line{Name: name}
	for i := 0; i < len(xy); i += 2 {
		l.Points = append(l.Points, plot.Point{X: xy[i], Y: xy[i+1]})
	}
	return l
}

func draw(t *testing.T, c plot.Chart) string {
	t.Helper()
	var b strings.Builder
	if err := c.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// texts returns what the image says, and fails the test if it is not well-formed.
func texts(t *testing.T, svg string) (all []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	inText := false
	for {
		token, err := d.Token()
		switch token := token.(type) {
		case nil:
			if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			return all
		case xml.StartElement:
			inText = token.Name.Local == "text"
		case xml.EndElement:
			inText = false
		case xml.CharData:
			if inText {
				all = append(all, string(token))
			}
		}
	}
}

func TestWhatItSays(t *testing.T) {
	svg := draw(t, plot.Chart{
		Title: `a < b & "c"`,
		X:     plot.Axis{Label: "requests", Log: true},
		Y:     plot.Axis{Label: "a second"},
		Lines: []plot.Line{line("128 workers", 1000, 9000, 1e6, 23_000), line("256 workers", 1000, 12_000, 1e6, 21_000)},
	})
	got := strings.Join(texts(t, svg), "|")
	const want = `a < b & "c"|1,000|10,000|100,000|1,000,000|0|5,000|10,000|15,000|20,000|25,000|requests|a second|128 workers|256 workers`
	if got != want {
		t.Errorf("it says\n%s\nwant\n%s", got, want)
	}
}

// The plot is from x 80 to 700 and from y 360 up to 60 where all is labelled.
func TestWhereThePointsAre(t *testing.T) {
	for _, tc := range []struct {
		name string
		x, y plot.Axis
		line plot.Line
		want string
	}{
		{"linear, from 0", plot.Axis{}, plot.Axis{}, line("", 0, 0, 5, 50, 10, 100), "80.0,360.0 390.0,210.0 700.0,60.0"},
		{"linear, below 0", plot.Axis{}, plot.Axis{}, line("", 0, -100, 10, 100), "80.0,360.0 700.0,60.0"},
		{"logarithmic", plot.Axis{Log: true}, plot.Axis{Log: true}, line("", 1, 0.1, 10, 1, 100, 10), "80.0,360.0 390.0,210.0 700.0,60.0"},
		{"one point", plot.Axis{Log: true}, plot.Axis{}, line("", 100, 7), "80.0,60.0"},
		{"at least so far", plot.Axis{Low: -10}, plot.Axis{High: 100}, line("", -5, 50, 0, 0), "390.0,210.0 700.0,360.0"},
		{"farther", plot.Axis{Low: -1}, plot.Axis{High: 1}, line("", -10, 100, 0, 0), "80.0,60.0 700.0,360.0"},
		{"all zero", plot.Axis{}, plot.Axis{}, line("", 0, 0), "80.0,360.0"},
	} {
		tc.x.Label, tc.y.Label = "x", "y"
		svg := draw(t, plot.Chart{Title: "title", X: tc.x, Y: tc.y, Lines: []plot.Line{tc.line}})
		if want := fmt.Sprintf(`points="%s"`, tc.want); !strings.Contains(svg, want) {
			t.Errorf("%s: no %s in\n%s", tc.name, want, svg)
		}
	}
}

// Whatever the values, they are within the plot, and there are two to ten ticks at
// each axis.
func TestEveryMagnitude(t *testing.T) {
	for exponent := -9; exponent <= 12; exponent++ {
		for _, k := range []float64{1, 1.5, 2.01, 3, 7.3, 9.99} {
			v := k * math.Pow(10, float64(exponent))
			for _, log := range []bool{false, true} {
				svg := draw(t, plot.Chart{
					Title: "title", X: plot.Axis{Label: "x", Log: log}, Y: plot.Axis{Label: "y", Log: log},
					Lines: []plot.Line{line("l", v/3, v, v, v/3)},
				})
				i := strings.Index(svg, `points="`) + len(`points="`)
				var x1, y1, x2, y2 float64
				if _, err := fmt.Sscanf(svg[i:], "%f,%f %f,%f", &x1, &y1, &x2, &y2); err != nil {
					t.Fatal(err)
				}
				if !(80 <= x1 && x1 < x2 && x2 <= 700 && 60 <= y1 && y1 < y2 && y2 <= 360) {
					t.Errorf("%g, log %v: points %g,%g %g,%g", v, log, x1, y1, x2, y2)
				}
				if n := strings.Count(svg, `stroke="#ddd"`); n < 4 || n > 20 {
					t.Errorf("%g, log %v: %d ticks", v, log, n)
				}
			}
		}
	}
}

// A small image without words of its own leaves the room to the plot: 62 pixels are for the
// numbers on the left, 60 for half a number on the right, 36 above and below.
func TestSmallWithoutWords(t *testing.T) {
	svg := draw(t, plot.Chart{Width: 422, Height: 172, Lines: []plot.Line{line("", 0, 0, 10, 100)}})
	for _, want := range []string{`width="422" height="172" viewBox="0 0 422 172"`, `points="62.0,136.0 362.0,36.0"`} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
	if got := strings.Join(texts(t, svg), "|"); got != "0|2|4|6|8|10|0|20|40|60|80|100" {
		t.Errorf("it says %s", got)
	}
}

// Each colour has a class by which a page gives it another.
func TestClasses(t *testing.T) {
	svg := draw(t, plot.Chart{Lines: []plot.Line{line("a", 0, 1, 1, 2), line("b", 0, 2, 1, 1)}})
	for class, want := range map[string]int{"plot-paper": 1, "plot-axis": 1, "plot-0": 4, "plot-1": 4} {
		if n := strings.Count(svg, `class="`+class+`"`); n != want {
			t.Errorf("%d parts of class %s, want %d", n, class, want)
		}
	}
	if n := strings.Count(svg, `class=`); n != strings.Count(svg, "stroke=")+strings.Count(svg, "fill=\"#")+1 {
		t.Errorf("%d parts have a class, not each that has a colour", n)
	}
}

func TestMarks(t *testing.T) {
	if n := strings.Count(draw(t, plot.Chart{Lines: []plot.Line{line("few", 1, 1, 2, 2)}}), "<circle"); n != 2 {
		t.Errorf("%d marks on a line of 2 points", n)
	}
	many := plot.Line{}
	for i := range 1000 {
		many.Points = append(many.Points, plot.Point{X: float64(i), Y: 1})
	}
	if n := strings.Count(draw(t, plot.Chart{Lines: []plot.Line{many, {Name: "none"}}}), "<circle"); n != 0 {
		t.Errorf("%d marks on a line of 1,000 points", n)
	}
}

func TestErrors(t *testing.T) {
	for _, tc := range []struct {
		chart plot.Chart
		want  string
	}{
		{plot.Chart{Lines: []plot.Line{{Name: "empty"}}}, "plot: no points"},
		{plot.Chart{Width: 239, Height: 400}, "plot: an image of 239 by 400, must be at least 240 by 160"},
		{plot.Chart{Width: 400}, "plot: an image of 400 by 0, must be at least 240 by 160"},
		{plot.Chart{Lines: make([]plot.Line, 7)}, "plot: 7 lines, must be at most 6"},
		{plot.Chart{X: plot.Axis{Label: "n", Log: true}, Lines: []plot.Line{line("", 0, 1)}}, `plot: logarithmic axis "n": 0 is not more than 0`},
		{plot.Chart{Y: plot.Axis{Label: "s"}, Lines: []plot.Line{line("", 0, math.NaN())}}, `plot: axis "s": NaN is not finite`},
		{plot.Chart{Y: plot.Axis{Label: "s"}, Lines: []plot.Line{line("", 0, math.Inf(1))}}, `plot: axis "s": +Inf is not finite`},
	} {
		var b strings.Builder
		if err := tc.chart.WriteSVG(&b); err == nil || err.Error() != tc.want || b.Len() > 0 {
			t.Errorf("error %v after %d octets, want %s", err, b.Len(), tc.want)
		}
	}
}
