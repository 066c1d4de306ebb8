package status

import (
	"fmt"
	"html/template"
	"strings"
)

// Bars are SVG, whose widths are attributes: a style attribute would want a weaker
// Content-Security-Policy. They are 1,000 units wide, whatever that is on the screen,
// and say nothing that the words beside them do not say.
const barWidth = 1000

// part is a stretch of a bar.
type part struct {
	class    string
	from, to float64
}

func drawBar(most float64, parts ...part) template.HTML {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="bar" viewBox="0 0 %d 10" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="%d" height="10"/>`, barWidth, barWidth)
	for _, p := range parts {
		if most <= 0 || p.to <= p.from {
			continue
		}
		from, to := min(p.from/most, 1)*barWidth, min(p.to/most, 1)*barWidth
		fmt.Fprintf(&b, `<rect class="%s" x="%.1f" width="%.1f" height="10"/>`, p.class, from, max(to-from, 3))
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) // numbers, and classes of this package
}

// bar shows n of most.
func bar(n, most any) template.HTML { return drawBar(number(most), part{"busy", 0, number(n)}) }

// workersBar shows the busy and the idle workers of as many as there can be, and
// between what numbers of them the idle ones are within the spare band.
func workersBar(w Workers) template.HTML {
	most := float64(max(w.Max, w.Workers, w.HighWater))
	busy, all := float64(w.Busy), float64(w.Workers)
	return drawBar(most,
		part{"band", busy + float64(w.MinSpare), busy + float64(w.MaxSpare)},
		part{"busy", 0, busy},
		part{"idle", busy, all},
	)
}
