package postgres

// Generation is generation.
type Generation struct{ g generation }

// Failed tells it of an error.
func (g *Generation) Failed(err error) { g.g.failed(err) }

// Now is which one it is.
func (g *Generation) Now() uint64 { return g.g.Now() }
