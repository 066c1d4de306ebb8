package dict

import (
	"fmt"
	"strconv"
	"strings"
)

// An Attr is one attribute of a dictionary. It must not be changed.
type Attr struct {
	Name    string
	Vendor  uint32 // 0: not vendor-specific
	Code    int    // the number; beyond 255 without a vendor: internal, never on the wire
	Type    Type
	Size    int  // octets of a value of type octets; 0: any
	Tagged  bool // may carry a tag (RFC 2868)
	Encrypt int  // 1: as User-Password, 2: as Tunnel-Password, 3: as Ascend-Send-Secret; 0: in the clear
	Concat  bool // a value may be split over several attributes

	wire format // of the vendor's attributes

	own     bool              // of the embedded dictionary
	numbers map[string]uint64 // names of values, in lower case
	names   map[uint64]string
}

// A format is how many octets the number and the length of a vendor's attribute
// have: 1 and 1 with most of them (RFC 2865 section 5.26).
type format struct{ number, length uint8 }

// Internal reports whether a never goes on the wire.
func (a *Attr) Internal() bool { return a.Vendor == 0 && a.Code > 255 }

// Plain reports whether a has a number and a length of one octet each, as RFC 2865
// has them.
func (a *Attr) Plain() bool { return a.Code <= 255 && a.wire == format{1, 1} }

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

type vendor struct {
	name   string
	number uint32
	format format
	hidden bool // its attributes are passed over
}

// A Dictionary is a set of attributes. It does not change, and is used by several
// goroutines at once.
type Dictionary struct {
	byName   map[string]*Attr // as written, and in lower case
	byNumber map[number]*Attr
	vendors  map[string]*vendor // by name in lower case
	formats  map[uint32]format  // those that are not 1, 1
	notices  []Notice
}

// Lookup finds an attribute by name, whatever its case, with a tag where the name
// ends in one: "Tunnel-Type:1". A tag is overlooked on an attribute that has none,
// as FreeRADIUS overlooks it. An attribute that is not in the dictionary can be
// named by number, "Attr-126", "Attr-26.14988.8" or "Vendor-14988-Attr-8", and is
// octets, as one is that is in the dictionary and named so.
//
// The error says that the name is unknown; it is safe to show.
func (d *Dictionary) Lookup(name string) (Ref, error) {
	if a := d.named(name); a != nil {
		return Ref{Attr: a}, nil
	}
	if base, tag, ok := strings.Cut(name, ":"); ok {
		a := d.named(base)
		n, err := strconv.ParseUint(tag, 10, 8)
		switch {
		case a == nil:
		case tag == "*": // any, in a check item
			return Ref{Attr: a}, nil
		case err != nil || n > 0x1f:
			return Ref{}, fmt.Errorf("tag of attribute %s must be 0 to 31", a.Name)
		case !a.Tagged:
			return Ref{Attr: a}, nil
		default:
			return Ref{Attr: a, Tag: uint8(n)}, nil
		}
	}
	if a := d.numbered(name); a != nil {
		return Ref{Attr: a}, nil
	}
	return Ref{}, fmt.Errorf("unknown attribute %.64q", name)
}

// named finds an attribute by name. Most names come as they are written in the
// dictionary, and then cost no allocation.
func (d *Dictionary) named(name string) *Attr {
	if a := d.byName[name]; a != nil {
		return a
	}
	return d.byName[strings.ToLower(name)]
}

// numbered finds what is named by number.
func (d *Dictionary) numbered(name string) *Attr {
	var part []string
	rest, ok := cutPrefixFold(name, "attr-")
	if ok {
		part = strings.Split(rest, ".")
	} else if rest, ok = cutPrefixFold(name, "vendor-"); ok {
		id, code, found := strings.Cut(strings.ToLower(rest), "-attr-")
		if !found {
			return nil
		}
		part, rest = []string{"26", id, code}, "26."+id+"."+code
	}
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
	num, most := number{code: int(nums[0])}, 255
	if len(part) == 3 {
		num = number{vendor: uint32(nums[1]), code: int(nums[2])}
		most = d.formatOf(num.vendor).mostNumber()
	}
	if num.code == 0 || num.code > most || len(part) == 3 && num.vendor == 0 {
		return nil
	}
	a := &Attr{Name: "Attr-" + rest, Vendor: num.vendor, Code: num.code, wire: d.formatOf(num.vendor)}
	if known := d.byNumber[num]; known != nil {
		a.Name = known.Name
	}
	a.Type = TypeOctets
	return a
}

func cutPrefixFold(s, prefix string) (rest string, ok bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// formatOf is the format of a vendor's attributes.
func (d *Dictionary) formatOf(vendor uint32) format {
	if f, ok := d.formats[vendor]; ok {
		return f
	}
	return format{1, 1}
}

// mostNumber is the greatest number of an attribute.
func (f format) mostNumber() int { return 1<<(8*int(f.number)) - 1 }

// ByNumber finds an attribute by its vendor (0: none) and number; nil if the
// dictionary does not have it.
func (d *Dictionary) ByNumber(vendor uint32, code int) *Attr { return d.byNumber[number{vendor, code}] }

// ValueName is the name of an attribute's value, "Framed-User", or the number in
// decimal when the value or the attribute has no name.
func (d *Dictionary) ValueName(attr string, value uint64) string {
	if a := d.named(attr); a != nil {
		if name, ok := a.names[value]; ok {
			return name
		}
	}
	return strconv.FormatUint(value, 10)
}

// Lookup is Lookup of the embedded dictionary.
func Lookup(name string) (Ref, error) { return Default().Lookup(name) }

// ByNumber is ByNumber of the embedded dictionary.
func ByNumber(vendor uint32, code int) *Attr { return Default().ByNumber(vendor, code) }

// ValueName is ValueName of the embedded dictionary.
func ValueName(attr string, value uint64) string { return Default().ValueName(attr, value) }
