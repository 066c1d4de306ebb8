package plot

import "fmt"

// Sizes of what stands in an image, in pixels.
const (
	defaultWidth, defaultHeight = 760, 420
	leastWidth, leastHeight     = 240, 160

	digits  = 62 // for the numbers of the vertical axis, beside it
	writing = 18 // more, where it has a label
	half    = 60 // half of a long number stands right of the plot
	below   = 36 // for the numbers of the horizontal axis
	label   = 24 // more, where it has a label
	title   = 24 // where its letters stand
	names   = 20 // where the legend stands, below the title
	gap     = 16 // from there to the plot, where no line comes
	letter  = 7  // of a name in the legend, on average
)

// layout is where things are in an image: the plot from left to right and from top to
// bottom, and the line of the legend.
type layout struct {
	width, height                    int
	left, right, top, bottom, legend int
}

func (c *Chart) layout() (layout, error) {
	l := layout{width: c.Width, height: c.Height, left: digits, legend: names}
	if l.width == 0 && l.height == 0 {
		l.width, l.height = defaultWidth, defaultHeight
	}
	if l.width < leastWidth || l.height < leastHeight {
		return l, fmt.Errorf("plot: an image of %d by %d, must be at least %d by %d", c.Width, c.Height, leastWidth, leastHeight)
	}
	if c.Title != "" {
		l.legend += title
	}
	if c.Y.Label != "" {
		l.left += writing
	}
	l.right, l.top, l.bottom = l.width-half, l.legend+gap, l.height-below
	if c.X.Label != "" {
		l.bottom -= label
	}
	return l, nil
}
