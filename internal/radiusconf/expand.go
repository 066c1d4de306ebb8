package radiusconf

import "strings"

// Value returns the value of a pair, with what it refers to put in, but where it stands
// in single quotes. A backslash before the quote is taken away and all others stay,
// since FreeRADIUS 3 reads secrets so. A word alone has the value "".
func (t *Tree) Value(p *Pair) (string, error) {
	v, err := t.value(p)
	if err != nil {
		return "", err
	}
	return v, nil
}

// Referenced reports whether the text refers to a pair of that name anywhere: then it
// is a variable.
func (t *Tree) Referenced(name string) bool { return t.referenced[name] }

func (t *Tree) value(p *Pair) (string, *Error) {
	switch p.state {
	case known:
		return p.value, nil
	case asked:
		return "", p.fail("refers to itself")
	}
	if t.chain >= MaxChain {
		return "", p.fail(limit("stands at the end of more than", MaxChain, "references to references"))
	}
	p.state = asked
	t.chain++
	v, err := t.expand(p)
	t.chain--
	p.state = unknown
	if err != nil {
		return "", err
	}
	if t.expanded += len(v); t.expanded > MaxExpanded {
		return "", p.fail(limit("makes all values together longer than", MaxExpanded, "octets"))
	}
	p.state, p.value, p.raw = known, v, ""
	return v, nil
}

func (p *Pair) fail(problem string) *Error {
	return &Error{Pos: p.Pos, Field: p.Name, Problem: problem}
}

func (t *Tree) expand(p *Pair) (string, *Error) {
	raw := p.raw
	if p.quote != 0 {
		raw = strings.ReplaceAll(raw, `\`+string(p.quote), string(p.quote))
	}
	if p.quote == '\'' {
		return raw, nil
	}
	var b strings.Builder
	for {
		before, _, found := strings.Cut(raw, "$")
		piece, n := "", 0
		if raw = raw[len(before):]; found {
			var err *Error
			if piece, n, err = t.reference(p, raw); err != nil {
				return "", err
			}
			if n == 0 {
				piece, n = "$", 1
			}
		}
		if b.Len()+len(before)+len(piece) > MaxValue {
			return "", p.fail(limit("is, with what it refers to, longer than", MaxValue, "octets"))
		}
		b.WriteString(before)
		b.WriteString(piece)
		if raw = raw[n:]; raw == "" {
			return b.String(), nil
		}
	}
}

// reference returns what the reference at the beginning of s stands for, and its
// length, which is 0 if none begins there.
func (t *Tree) reference(p *Pair, s string) (string, int, *Error) {
	open := "${"
	if strings.HasPrefix(s, "$ENV{") {
		open = "$ENV{"
	} else if !strings.HasPrefix(s, open) {
		return "", 0, nil
	}
	end := strings.IndexByte(s, '}')
	if end < 0 {
		return "", 0, p.fail("has a reference without a } that ends it")
	}
	name := s[len(open):end]
	if !isReference(name) {
		return "", 0, p.fail("has a reference that names nothing")
	}
	if open == "$ENV{" {
		v, ok := t.env(name)
		if !ok {
			return "", 0, p.fail("refers to an environment variable, " + p.mask(name) + ", which is not set")
		}
		return v, end + 1, nil
	}
	v, ok, err := t.lookup(p.in, name)
	if err != nil {
		// The error tells of the pair that cannot be worked out, which is where to look.
		return "", 0, err
	}
	if !ok {
		return "", 0, p.fail("refers to " + p.mask("${"+name+"}") + ", which there is not")
	}
	return v, end + 1, nil
}

// mask is a reference for an error. In a secret it may not have been meant as one.
func (p *Pair) mask(reference string) string {
	if strings.Contains(p.Name, "secret") || strings.Contains(p.Name, "password") {
		return "something"
	}
	return reference
}

// isReference reports whether a name is one that can be shown in an error.
func isReference(name string) bool {
	return name != "" && len(name) <= MaxWord && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`${}"'`, r)
	})
}

// lookup finds what a reference in section from means: "name" in from or the nearest
// section around it, "a.b[c].name" likewise, ".name" in from alone, "..name" in the
// one around it, and so on; ":name" and ":instance" after the dots are those of the
// section.
func (t *Tree) lookup(from *Section, name string) (string, bool, *Error) {
	dots := len(name) - len(strings.TrimLeft(name, "."))
	sec := from
	for range dots - 1 {
		if sec == nil || sec.parent == nil {
			return "", false, nil
		}
		sec = sec.parent
	}
	path := name[dots:]
	if property, ok := strings.CutPrefix(path, ":"); ok {
		return sec.property(property)
	}
	steps := strings.Split(path, ".")
	for ; sec != nil; sec = sec.parent {
		if pair := sec.find(steps); pair != nil {
			v, err := t.value(pair)
			return v, true, err
		}
		if dots > 0 {
			break
		}
	}
	return "", false, nil
}

func (s *Section) property(name string) (string, bool, *Error) {
	switch name {
	case "name":
		return s.Name, true, nil
	case "instance":
		if s.Instance == "" {
			return s.Name, true, nil
		}
		return s.Instance, true, nil
	}
	return "", false, nil
}

// find goes down from s: sections, and at the end a pair. Of several the first counts.
func (s *Section) find(steps []string) *Pair {
	last := len(steps) - 1
	for _, step := range steps[:last] {
		if s = s.look().sections[step]; s == nil {
			return nil
		}
	}
	return s.look().pairs[steps[last]]
}

// index finds the items of a section by name, so that many references into a large
// section cost no more than they must.
type index struct {
	upTo     int // of the items, which become more while the text is read
	pairs    map[string]*Pair
	sections map[string]*Section // by name, and by name[instance]
}

func (s *Section) look() *index {
	x := &s.index
	if x.pairs == nil {
		x.pairs, x.sections = make(map[string]*Pair), make(map[string]*Section)
	}
	for ; x.upTo < len(s.Items); x.upTo++ {
		item := s.Items[x.upTo]
		if item.Pair != nil {
			addFirst(x.pairs, item.Pair.Name, item.Pair)
			continue
		}
		addFirst(x.sections, item.Section.Name, item.Section)
		addFirst(x.sections, item.Section.Name+"["+item.Section.Instance+"]", item.Section)
	}
	return x
}

func addFirst[T any](m map[string]*T, name string, v *T) {
	if m[name] == nil {
		m[name] = v
	}
}

// note remembers what a text refers to.
func (t *Tree) note(text string) {
	for {
		_, rest, found := strings.Cut(text, "${")
		if !found {
			return
		}
		name := strings.TrimLeft(rest[:min(len(rest), MaxWord)], ".")
		if i := strings.IndexAny(name, ".}\n"); i >= 0 {
			t.referenced[name[:i]] = true
		}
		text = rest
	}
}
