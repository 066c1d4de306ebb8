package dict

import (
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"

	"layeh.com/radius/dictionary"
)

//go:embed share/dictionary.*
var share embed.FS

// A Type is the type of an attribute's value.
type Type = dictionary.AttributeType

// An Attr is one attribute of the dictionary. It must not be changed.
type Attr struct {
	Name    string
	Vendor  uint32 // 0: not vendor-specific
	Code    int    // the number; beyond 255 without a vendor: internal, never on the wire
	Type    Type
	Size    int  // octets of a value of type octets; 0: any
	Tagged  bool // may carry a tag (RFC 2868)
	Encrypt int  // 1: as User-Password, 2: as Tunnel-Password; 0: in the clear
	Concat  bool // a value may be split over several attributes

	numbers map[string]uint64 // names of values, in lower case
	names   map[uint64]string
}

// Internal reports whether a never goes on the wire.
func (a *Attr) Internal() bool { return a.Vendor == 0 && a.Code > 255 }

// Same reports whether a and b are one attribute.
func (a *Attr) Same(b *Attr) bool { return a.Vendor == b.Vendor && a.Code == b.Code }

// A Ref is an attribute as it is referred to: with a tag (RFC 2868 section 3.1)
// where the name has one, "Tunnel-Type:1". Tag 0 is none.
type Ref struct {
	*Attr
	Tag uint8
}

type number struct {
	vendor uint32
	code   int
}

type table struct {
	byName   map[string]*Attr // as written, and in lower case
	byNumber map[number]*Attr
}

// An embedded file with the name that the parser asks for.
type namedFile struct {
	fs.File
	name string
}

func (f namedFile) Name() string { return f.name }

var load = sync.OnceValue(func() *table {
	t := &table{byName: make(map[string]*Attr), byNumber: make(map[number]*Attr)}
	names, err := fs.Glob(share, "share/dictionary.*")
	if err != nil {
		panic("dict: " + err.Error())
	}
	parsed := make([]*dictionary.Dictionary, 0, len(names))
	for _, name := range names {
		f, err := share.Open(name)
		if err != nil {
			panic("dict: " + err.Error())
		}
		d, err := new(dictionary.Parser).Parse(namedFile{f, name})
		if err != nil {
			panic("dict: " + err.Error())
		}
		_ = f.Close()
		parsed = append(parsed, d)
	}
	// Values may stand in another file than their attribute: attributes first.
	for _, d := range parsed {
		t.add(0, d.Attributes)
		for _, v := range d.Vendors {
			t.add(uint32(v.Number), v.Attributes)
		}
	}
	for _, d := range parsed {
		t.name(d.Values)
		for _, v := range d.Vendors {
			t.name(v.Values)
		}
	}
	return t
})

func (t *table) add(vendor uint32, attrs []*dictionary.Attribute) {
	for _, a := range attrs {
		attr := &Attr{
			Name: a.Name, Vendor: vendor, Code: a.OID[0], Type: a.Type, Tagged: a.HasTag(),
			Encrypt: a.FlagEncrypt.Int, Concat: a.FlagConcat.Bool,
			numbers: make(map[string]uint64), names: make(map[uint64]string),
		}
		if a.Size.Valid {
			attr.Size = a.Size.Int
		}
		lower, num := strings.ToLower(a.Name), number{vendor, attr.Code}
		if t.byName[lower] != nil || t.byNumber[num] != nil {
			panic("dict: " + a.Name + " or its number is there twice")
		}
		t.byName[lower], t.byName[a.Name], t.byNumber[num] = attr, attr, attr
	}
}

func (t *table) name(values []*dictionary.Value) {
	for _, v := range values {
		a := t.byName[strings.ToLower(v.Attribute)]
		if a == nil {
			panic("dict: value of an unknown attribute " + v.Attribute)
		}
		a.numbers[strings.ToLower(v.Name)] = v.Number
		if _, there := a.names[v.Number]; !there {
			a.names[v.Number] = v.Name // the first name is the one to show
		}
	}
}

// Lookup finds an attribute by name, whatever its case, with a tag where the name
// ends in one: "Tunnel-Type:1". An attribute that is not in the dictionary can be
// named by number, "Attr-126" or "Attr-26.14988.8", and is octets, as one is that is
// in the dictionary and named so.
//
// The error says that the name is unknown; it is safe to show.
func Lookup(name string) (Ref, error) {
	t := load()
	if a := t.named(name); a != nil {
		return Ref{Attr: a}, nil
	}
	if base, tag, ok := strings.Cut(name, ":"); ok {
		a := t.named(base)
		n, err := strconv.ParseUint(tag, 10, 8)
		switch {
		case a == nil:
		case !a.Tagged:
			return Ref{}, fmt.Errorf("attribute %s takes no tag", a.Name)
		case err != nil || n > 0x1f:
			return Ref{}, fmt.Errorf("tag of attribute %s must be 0 to 31", a.Name)
		default:
			return Ref{Attr: a, Tag: uint8(n)}, nil
		}
	}
	if a := t.numbered(name); a != nil {
		return Ref{Attr: a}, nil
	}
	return Ref{}, fmt.Errorf("unknown attribute %.64q", name)
}

// named finds an attribute by name. Most names come as they are written in the
// dictionary, and then cost no allocation.
func (t *table) named(name string) *Attr {
	if a := t.byName[name]; a != nil {
		return a
	}
	return t.byName[strings.ToLower(name)]
}

// numbered finds what is named by number.
func (t *table) numbered(name string) *Attr {
	const prefix = "attr-"
	if len(name) < len(prefix) || !strings.EqualFold(name[:len(prefix)], prefix) {
		return nil
	}
	part := strings.Split(name[len(prefix):], ".")
	var nums [3]uint64
	if len(part) != 1 && (len(part) != 3 || part[0] != "26") {
		return nil
	}
	for i, p := range part {
		n, err := strconv.ParseUint(p, 10, 32)
		if err != nil {
			return nil
		}
		nums[i] = n
	}
	num := number{code: int(nums[0])}
	if len(part) == 3 {
		num = number{vendor: uint32(nums[1]), code: int(nums[2])}
	}
	if num.code == 0 || num.code > 255 || len(part) == 3 && num.vendor == 0 {
		return nil
	}
	if a := t.byNumber[num]; a != nil {
		return &Attr{Name: a.Name, Vendor: a.Vendor, Code: a.Code, Type: dictionary.AttributeOctets, Encrypt: a.Encrypt}
	}
	return &Attr{Name: "Attr-" + name[len(prefix):], Vendor: num.vendor, Code: num.code, Type: dictionary.AttributeOctets}
}

// ByNumber finds an attribute by its vendor (0: none) and number; nil if the
// dictionary does not have it.
func ByNumber(vendor uint32, code int) *Attr { return load().byNumber[number{vendor, code}] }

// ValueName is the name of an attribute's value, "Framed-User", or the number in
// decimal when the value or the attribute has no name.
func ValueName(attr string, value uint64) string {
	if a := load().named(attr); a != nil {
		if name, ok := a.names[value]; ok {
			return name
		}
	}
	return strconv.FormatUint(value, 10)
}
