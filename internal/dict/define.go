package dict

import (
	"fmt"
	"strconv"
	"strings"
)

// attribute is ATTRIBUTE name number type [flag,...] [vendor].
func (r *reader) attribute(f []string) error {
	name, oid, kind := f[0], f[1], strings.ToLower(f[2])
	if r.defined++; r.defined > MaxAttributes {
		return r.errorf("more than %d ATTRIBUTEs", MaxAttributes)
	}
	if len(name) > maxName || strings.Contains(name, ":") {
		return r.errorf("%.64q is no name of an attribute", name)
	}
	a := &Attr{Name: name, wire: format{1, 1}, own: r.own}
	in := r.inside
	for _, flags := range f[3:] {
		if v := r.d.vendors[strings.ToLower(flags)]; v != nil { // as FreeRADIUS 1 wrote it
			in = v
			continue
		}
		for flag := range strings.SplitSeq(flags, ",") {
			if err := a.flag(flag); err != nil {
				return r.errorf("ATTRIBUTE %s: %w", name, err)
			}
		}
	}
	base, size, sized := strings.Cut(kind, "[")
	switch {
	case r.nesting > 0 || strings.Contains(oid, ".") || in != nil && in.hidden:
		return r.skip(name, "attributes within attributes (TLV, extended, WiMAX), which are not supported")
	case compound[base]:
		return r.skip(name, "attributes of type "+base+", which are not supported")
	}
	n, err := parseID(oid, 31)
	if err != nil {
		return r.errorf("ATTRIBUTE %s: %.32q is no number of an attribute", name, oid)
	}
	a.Code = int(n)
	if in != nil {
		a.Vendor, a.wire = in.number, in.format
		if a.Code > a.wire.mostNumber() {
			return r.errorf("ATTRIBUTE %s: number %d, the most of this vendor is %d", name, a.Code, a.wire.mostNumber())
		}
	}
	if a.Type = typesByName[base]; a.Type == 0 {
		return r.errorf("ATTRIBUTE %s: unknown type %.32q", name, f[2])
	}
	if sized {
		n, err := strconv.ParseUint(strings.TrimSuffix(size, "]"), 10, 8)
		if err != nil || n == 0 || n > MaxValue || a.Type != TypeOctets {
			return r.errorf("ATTRIBUTE %s: %.32q is not octets[1 to %d]", name, f[2], MaxValue)
		}
		a.Size = int(n)
	}
	return r.define(a)
}

// flag sets one flag. Some say how other servers show a value, and not what it is.
func (a *Attr) flag(flag string) error {
	switch key, value, _ := strings.Cut(strings.ToLower(flag), "="); key {
	case "has_tag":
		a.Tagged = true
	case "concat":
		a.Concat = true
	case "encrypt":
		switch value {
		case "1", "user-password":
			a.Encrypt = 1
		case "2", "tunnel-password":
			a.Encrypt = 2
		case "3", "ascend-secret":
			a.Encrypt = 3
		default:
			return fmt.Errorf("%.32q: must be encrypt=1, 2 or 3", flag)
		}
	case "", "array", "virtual", "secret", "internal":
	default:
		return fmt.Errorf("unknown flag %.32q", flag)
	}
	return nil
}

func (r *reader) skip(name, why string) error {
	if r.skipped == nil {
		r.skipped = make(map[string]bool)
	}
	r.skipped[strings.ToLower(name)] = true
	r.pass(why)
	return nil
}

// define puts a into the dictionary. A second name of an attribute means the same
// as the first.
func (r *reader) define(a *Attr) error {
	d, lower, num := r.d, strings.ToLower(a.Name), number{a.Vendor, a.Code}
	if old := d.byName[lower]; old != nil {
		switch {
		case old.own && !r.own && old.Internal(), old.same(a):
			return nil
		case old.own == r.own:
			return r.errorf("ATTRIBUTE %s was something else before", a.Name)
		case d.byNumber[number{old.Vendor, old.Code}] == old:
			delete(d.byNumber, number{old.Vendor, old.Code})
		}
		delete(d.byName, old.Name)
	}
	switch old := d.byNumber[num]; {
	case old == nil:
		d.byNumber[num] = a
	case old.same(a):
		d.byName[lower], d.byName[a.Name] = old, old
		return nil
	case !old.own || r.own || !old.Internal():
		d.byNumber[num] = a
	}
	d.byName[lower], d.byName[a.Name] = a, a
	return nil
}

// same reports whether a and b are alike but for their names.
func (a *Attr) same(b *Attr) bool {
	return a.Same(b) && a.Type == b.Type && a.Size == b.Size && a.Tagged == b.Tagged && a.Encrypt == b.Encrypt
}

// end names the values, when all attributes are known.
func (r *reader) end() error {
	for _, v := range r.values {
		r.file, r.line = v.file, v.line
		a := r.d.named(v.attr)
		switch {
		case a == nil && r.skipped[strings.ToLower(v.attr)]:
			continue
		case a == nil:
			return r.errorf("VALUE of the unknown attribute %.64q", v.attr)
		case a.Type.bits() == 0 && a.own && a.Internal():
			continue // Auth-Type is any word here
		case a.Type.bits() == 0:
			r.pass("names of values that are no numbers")
			continue
		}
		n, err := parseID(v.number, a.Type.bits())
		if err != nil {
			return r.errorf("VALUE %s %.64s: %.32q is not a number of %d bits", a.Name, v.name, v.number, a.Type.bits())
		}
		if a.numbers == nil {
			a.numbers, a.names = make(map[string]uint64), make(map[uint64]string)
		}
		a.numbers[strings.ToLower(v.name)] = n
		if _, there := a.names[n]; !there {
			a.names[n] = v.name // the first name is the one to show
		}
	}
	return nil
}
