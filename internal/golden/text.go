package golden

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/tools/txtar"
	"layeh.com/radius"

	"github.com/radpool/radpool/internal/dict"
)

// nameOf is the name of an attribute, with its tag, also of one that was named by number.
func nameOf(ref dict.Ref) string {
	name := ref.Name
	if a := dict.ByNumber(ref.Vendor, ref.Code); a != nil {
		name = a.Name
	}
	if ref.Tag != 0 {
		name += ":" + strconv.Itoa(int(ref.Tag))
	}
	return name
}

// Attributes goes through the attributes of a packet, those in a Vendor-Specific one by one,
// without Message-Authenticator. Values are text that is read back as the same octets.
func Attributes(attrs radius.Attributes) iter.Seq2[dict.Ref, Pair] {
	return func(yield func(dict.Ref, Pair) bool) {
		for _, avp := range attrs {
			if avp == nil || avp.Type == 0 || avp.Type == messageAuthenticator {
				continue
			}
			if !readable(avp) {
				ref := dict.Ref{Attr: dict.ByNumber(0, vendorSpecific)}
				if !yield(ref, write(ref, avp.Attribute, avp.Attribute)) {
					return
				}
				continue
			}
			for ref, value := range dict.Default().All(avp) {
				whole := value
				switch {
				case ref.Vendor == 0:
					whole = avp.Attribute
				case ref.Tagged:
					whole = append([]byte{ref.Tag}, value...)
				}
				if !yield(ref, write(ref, value, whole)) {
					return
				}
			}
		}
	}
}

// readable reports whether each part of an attribute has a name.
func readable(avp *radius.AVP) bool {
	for ref := range dict.Default().All(avp) {
		if ref.Attr == nil || ref.Code == 0 {
			return false
		}
	}
	return true
}

const messageAuthenticator radius.Type = 80

// write is a value as text, and as what is read back from it; whole is the value with its tag.
func write(ref dict.Ref, value, whole []byte) Pair {
	name, text := nameOf(ref), ref.Format(value)
	if ref.Type == dict.TypeString {
		text = quote(text)
	}
	p := Pair{Name: name, Text: text, Value: value, key: name}
	if ref.Encrypt != 0 {
		p.Text, p.Any = "*", true
		return p
	}
	back, _, _, err := next(name + " = " + text)
	// A first octet that would be taken for a tag is none only where there is one before it.
	ambiguous := ref.Tagged && ref.Tag == 0 && ref.Type != dict.TypeInteger && len(value) > 0 && value[0] <= 0x1f
	if err == nil && bytes.Equal(back.Value, value) && !ambiguous {
		return p
	}
	// Octets that are none of its type: by number they may be anything, and have no tag.
	ref.Tag = 0
	p.key, p.Value = nameOf(ref), whole
	if ref.Vendor != 0 {
		p.Name = fmt.Sprintf("Attr-26.%d.%d", ref.Vendor, ref.Code)
	} else {
		p.Name = fmt.Sprintf("Attr-%d", ref.Code)
	}
	p.Text = "0x" + hex.EncodeToString(whole)
	return p
}

// quote puts text with its escapes in quotes, and makes octets that are no UTF-8 escapes
// too.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, `\%03o`, text[0])
		} else {
			b.WriteString(text[:n])
		}
		text = text[n:]
	}
	b.WriteByte('"')
	return b.String()
}

// Diff is how a reply differs from what is wanted of it; nothing where it does not.
// Attributes of one name must come in their order, those of different names in any.
func (f *File) Diff(want *Packet, head string, attrs radius.Attributes) []error {
	var errs []error
	fail := func(line int, format string, args ...any) {
		errs = append(errs, &Error{f.Name, line, fmt.Errorf(format, args...)})
	}
	if head != want.Head {
		fail(want.Line, "it is %s, want %s", head, want.Head)
	}
	got := make(map[string][]Pair)
	var names []string
	for _, p := range Attributes(attrs) {
		if got[p.key] == nil {
			names = append(names, p.key)
		}
		got[p.key] = append(got[p.key], p)
	}
	for _, w := range want.Pairs {
		list := got[w.Name]
		if len(list) == 0 {
			fail(w.Line, "%s is missing", w.Name)
			continue
		}
		got[w.Name] = list[1:]
		if !w.Any && !bytes.Equal(w.Value, list[0].Value) {
			fail(w.Line, "%s is %s, want %s", w.Name, list[0].Text, w.text())
		}
	}
	for _, name := range names {
		for _, p := range got[name] {
			fail(want.Line, "%s = %s is not expected", p.Name, p.Text)
		}
	}
	return errs
}

// text is what was wanted.
func (p *Pair) text() string {
	ref, err := dict.Lookup(p.Name)
	if err != nil {
		return p.Text
	}
	return write(ref, p.Value, p.Value).Text
}

// Update puts what came into the archive, in place of what was expected. Values that were *
// stay so.
func (f *File) Update(c *Case, head string, attrs radius.Attributes) {
	anyOf := func(name string) bool {
		return slices.ContainsFunc(c.Reply.Pairs, func(p Pair) bool { return p.Any && p.Name == name })
	}
	f.archive.Files[c.reply].Data = AppendPacket(nil, head, func(yield func(Pair) bool) {
		for _, p := range Attributes(attrs) {
			if anyOf(p.key) {
				p = Pair{Name: p.key, Text: "*"}
			}
			if !yield(p) {
				return
			}
		}
	})
}

// Text is the file as text.
func (f *File) Text() []byte { return txtar.Format(f.archive) }

// AppendPacket appends a packet as text.
func AppendPacket(b []byte, head string, pairs iter.Seq[Pair]) []byte {
	b = append(append(b, head...), '\n')
	for p := range pairs {
		b = fmt.Appendf(b, "%s = %s\n", p.Name, p.Text)
	}
	return b
}

// Quote is a text as a value.
func Quote(s string) string { return quote(userName.Format([]byte(s))) }
