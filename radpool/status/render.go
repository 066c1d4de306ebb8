package status

import (
	"bytes"
	_ "embed"
	"html/template"
	"slices"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(funcs).Parse(pageText))

// view is what the template sees.
type view struct {
	*Snapshot
	Plots   []figure
	Minutes []Point // the newest first
	Groups  []group
	Again   bool // to be loaded again by a browser without JavaScript
}

// group is the Figures that have one heading.
type group struct {
	Name    string
	Figures []Figure
}

// groupsOf puts figures together, in the order in which the first of each group comes.
func groupsOf(figures []Figure) (groups []group) {
	for _, f := range figures {
		at := slices.IndexFunc(groups, func(g group) bool { return g.Name == f.Group })
		if at < 0 {
			at = len(groups)
			groups = append(groups, group{Name: f.Group})
		}
		groups[at].Figures = append(groups[at].Figures, f)
	}
	return groups
}

// render writes the page. minutes are the points of each minute.
func render(s *Snapshot, minutes []Point, again bool) ([]byte, error) {
	plots, err := figuresOf(s.History, s.Time)
	if err != nil {
		return nil, err
	}
	slices.Reverse(minutes)
	var b bytes.Buffer
	err = pageTemplate.Execute(&b, view{Snapshot: s, Plots: plots, Minutes: minutes, Groups: groupsOf(s.Figures), Again: again})
	return b.Bytes(), err
}
