package metrics

import "slices"

// A Kind says how the values of a metric move.
type Kind uint8

// Kinds.
const (
	KindCounter   Kind = iota // only grows, from the start of the program
	KindGauge                 // goes up and down
	KindHistogram             // counts what was measured, by size
)

// A Desc says what a metric is.
type Desc struct {
	Name   string // as radpool_replies_total
	Help   string // one sentence
	Kind   Kind
	Labels []string // the names of the labels; empty: the metric has one value
}

// A Histogram is the value of a metric of that kind.
type Histogram struct {
	// Counts are how many were up to the bound of the same index in Bounds, and above
	// the bound before it. Those above all bounds are in Count alone.
	Bounds []float64
	Counts []uint64
	Count  uint64  // all
	Sum    float64 // of what was measured
}

// A Sample is one value of a metric.
type Sample struct {
	Desc        *Desc
	LabelValues []string // one for each of Desc.Labels
	Value       float64
	Histogram   *Histogram // of a KindHistogram; Value is not used then
}

// A Source has metrics. [New] makes one.
type Source interface {
	// Descs are the metrics that it has, always the same. They are not to be changed.
	Descs() []*Desc
	// Collect calls emit for each value that there is now. It may be called from
	// several goroutines at once.
	Collect(emit func(Sample))
}

// A Metric takes the value of a metric out of statistics of type S. Count, Level,
// Counts, Levels and Times make one.
type Metric[S any] struct {
	Desc
	emit func(s *S, d *Desc, emit func(Sample))
}

// Count is a counter without labels.
func Count[S any](name, help string, value func(*S) uint64) Metric[S] {
	return Metric[S]{Desc{Name: name, Help: help, Kind: KindCounter}, one(func(s *S) float64 { return float64(value(s)) })}
}

// Level is a gauge without labels.
func Level[S any](name, help string, value func(*S) float64) Metric[S] {
	return Metric[S]{Desc{Name: name, Help: help, Kind: KindGauge}, one(value)}
}

func one[S any](value func(*S) float64) func(*S, *Desc, func(Sample)) {
	return func(s *S, d *Desc, emit func(Sample)) { emit(Sample{Desc: d, Value: value(s)}) }
}

// Counts is a counter with labels. each calls add for each combination of their
// values, in the order of labels.
func Counts[S any](name, help string, labels []string, each func(s *S, add func(value uint64, labels ...string))) Metric[S] {
	return Metric[S]{Desc{Name: name, Help: help, Kind: KindCounter, Labels: slices.Clone(labels)}, func(s *S, d *Desc, emit func(Sample)) {
		each(s, func(value uint64, labels ...string) {
			emit(Sample{Desc: d, LabelValues: labels, Value: float64(value)})
		})
	}}
}

// Levels is a gauge with labels. each calls add for each combination of their
// values, in the order of labels.
func Levels[S any](name, help string, labels []string, each func(s *S, add func(value float64, labels ...string))) Metric[S] {
	return Metric[S]{Desc{Name: name, Help: help, Kind: KindGauge, Labels: slices.Clone(labels)}, func(s *S, d *Desc, emit func(Sample)) {
		each(s, func(value float64, labels ...string) { emit(Sample{Desc: d, LabelValues: labels, Value: value}) })
	}}
}

// Times is a histogram with labels. each calls add for each combination of their
// values, in the order of labels.
func Times[S any](name, help string, labels []string, each func(s *S, add func(h Histogram, labels ...string))) Metric[S] {
	return Metric[S]{Desc{Name: name, Help: help, Kind: KindHistogram, Labels: slices.Clone(labels)}, func(s *S, d *Desc, emit func(Sample)) {
		each(s, func(h Histogram, labels ...string) { emit(Sample{Desc: d, LabelValues: labels, Histogram: &h}) })
	}}
}

// New makes a Source of statistics that the function returns, which is called once for
// each Collect and must be safe to be called from several goroutines.
func New[S any](stats func() S, list ...Metric[S]) Source {
	t := &table[S]{stats: stats, list: slices.Clone(list)}
	for i := range t.list {
		t.descs = append(t.descs, &t.list[i].Desc)
	}
	return t
}

type table[S any] struct {
	stats func() S
	list  []Metric[S]
	descs []*Desc
}

func (t *table[S]) Descs() []*Desc { return t.descs }

func (t *table[S]) Collect(emit func(Sample)) {
	s := t.stats()
	for i := range t.list {
		m := &t.list[i]
		m.emit(&s, &m.Desc, emit)
	}
}

// Join makes one Source of several.
func Join(sources ...Source) Source { return joined(slices.Clone(sources)) }

type joined []Source

func (j joined) Descs() []*Desc {
	var all []*Desc
	for _, s := range j {
		all = append(all, s.Descs()...)
	}
	return all
}

func (j joined) Collect(emit func(Sample)) {
	for _, s := range j {
		s.Collect(emit)
	}
}
