package dict_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/dict"
	"github.com/radpool/radpool/internal/need"
)

func files(list map[string]string) fs.FS {
	m := make(fstest.MapFS)
	for name, text := range list {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

// encoded is "name value" as an attribute of the wire, in hexadecimal, or the error.
func encoded(d *dict.Dictionary, name, text string) string {
	r, err := d.Lookup(name)
	if err != nil {
		return err.Error()
	}
	v, err := r.Parse(text, time.UTC)
	if err != nil {
		return err.Error()
	}
	avp, err := r.Encode(v)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d:%s", avp.Type, hex.EncodeToString(avp.Attribute))
}

func TestLoad(t *testing.T) {
	d, err := dict.Load(files(map[string]string{
		"etc/dictionary": `
			# a comment
			$INCLUDE vendors/acme     # beside this file
			$INCLUDE /usr/share/local
			$INCLUDE- vendors/none`,
		"etc/vendors/acme": `
			VALUE  Acme-Colour  Red  0x10
			VENDOR Acme 0xffff
			BEGIN-VENDOR Acme
			ATTRIBUTE Acme-Colour  1    integer
			attribute Acme-Tunnel  0x02 string has_tag
			ATTRIBUTE Acme-Secret  3    string has_tag,encrypt=2
			ATTRIBUTE Acme-Key     4    octets[2] encrypt=1
			ATTRIBUTE Acme-Both    5    combo-ip
			ATTRIBUTE Acme-Other   1    integer
			ATTRIBUTE Acme-TLV     6    tlv
			BEGIN-TLV Acme-TLV
			ATTRIBUTE Acme-Inner   1    integer
			VALUE     Acme-Inner   One  1
			END-TLV Acme-TLV
			END-VENDOR Acme
			VENDOR Wide 65534 format=2,1
			VENDOR Bare 65533 format=4,0
			ATTRIBUTE Wide-Word 258 short Wide
			BEGIN-VENDOR Bare
			ATTRIBUTE Bare-Word 65538 byte
			END-VENDOR Bare`,
		"usr/share/local": `
			ATTRIBUTE My-Own 3000 string
			VALUE Service-Type My-Service 77
			ATTRIBUTE Filter-Id 11 octets
			ATTRIBUTE Cleartext-Password 3001 octets
			ATTRIBUTE Auth-Type 1000 integer
			VALUE Auth-Type Mine 5
			PROTOCOL RADIUS 1`,
	}), "etc/dictionary")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{
		{"Acme-Colour", "red", "26:0000ffff" + "0106" + "00000010"},
		{"Acme-Other", "Red", "26:0000ffff" + "0106" + "00000010"},
		{"acme-tunnel:3", "x", "26:0000ffff" + "0204" + "0378"},
		{"Acme-Both", "10.0.0.1", "26:0000ffff" + "0506" + "0a000001"},
		{"Acme-Both", "::1", "26:0000ffff" + "0512" + "00000000000000000000000000000001"},
		{"Wide-Word", "7", "26:0000fffe" + "010205" + "0007"},
		{"Bare-Word", "7", "26:0000fffd" + "00010002" + "07"},
		{"Attr-26.65534.300", "0x01", "26:0000fffe" + "012c04" + "01"},
		{"Vendor-65535-Attr-9", "0x01", "26:0000ffff" + "0903" + "01"},
		{"Service-Type", "my-service", "6:0000004d"},
		{"Service-Type", "Framed-User", "6:00000002"},
		{"Filter-Id", "0x00", "11:00"},
		{"Acme-Inner", "1", `unknown attribute "Acme-Inner"`},
		{"My-Own", "x", "attribute My-Own is internal and cannot be sent"},
	} {
		if got := encoded(d, c[0], c[1]); got != c[2] {
			t.Errorf("%s = %s is %s, want %s", c[0], c[1], got, c[2])
		}
	}
	for name, want := range map[string]string{"Cleartext-Password": "string 1100 0", "Auth-Type": "string 1000 0", "Acme-Secret": "string 3 2", "Acme-Key": "octets 4 1"} {
		if r, err := d.Lookup(name); err != nil || fmt.Sprint(r.Type, r.Code, r.Encrypt) != want {
			t.Errorf("%s is %v %d %d, want %s (%v)", name, r.Type, r.Code, r.Encrypt, want, err)
		}
	}
	var notices []string
	for _, n := range d.Notices() {
		notices = append(notices, n.String())
	}
	const want = "etc/vendors/acme:11: attributes of type tlv, which are not supported: 1|" +
		"etc/vendors/acme:13: attributes within attributes (TLV, extended, WiMAX), which are not supported: 1|" +
		"/usr/share/local:8: PROTOCOL, which is not supported: 1"
	if got := strings.Join(notices, "|"); got != want {
		t.Errorf("notices\n%s\nwant\n%s", got, want)
	}
	// The embedded dictionary is as it was.
	if r := mustLookup(t, "Filter-Id"); r.Type != dict.TypeString {
		t.Errorf("Filter-Id of the embedded dictionary is %s", r.Type)
	}
	if _, err := dict.Lookup("Acme-Colour"); err == nil {
		t.Error("the embedded dictionary has Acme-Colour")
	}
	for name, avp := range map[string]*radius.AVP{
		"Wide-Word": {Type: 26, Attribute: []byte{0, 0, 0xff, 0xfe, 1, 2, 5, 0, 7}},
		"Bare-Word": {Type: 26, Attribute: []byte{0, 0, 0xff, 0xfd, 0, 1, 0, 2, 7}},
		"Filter-Id": {Type: 11, Attribute: []byte("x")},
	} {
		if a, v := d.Find(avp); a == nil || a.Name != name || v[len(v)-1] != avp.Attribute[len(avp.Attribute)-1] {
			t.Errorf("%s is not found: %v %x", name, a, v)
		}
	}
	if a, v := d.Find(&radius.AVP{Type: 26, Attribute: []byte{0, 0, 0xff, 0xfe, 1, 2, 4, 0, 7}}); a != nil || v != nil {
		t.Errorf("a malformed one is %s", a.Name)
	}
}

func TestLoadErrors(t *testing.T) {
	for text, want := range map[string]string{
		"ATTRIBUTE A 1":                                    "d:1: ATTRIBUTE wants at least 3 words",
		"\nATTRIBUT A 1 string":                            `d:2: "ATTRIBUT" is no keyword`,
		"ATTRIBUTE A x string":                             `"x" is no number of an attribute`,
		"ATTRIBUTE A 1 strange":                            `unknown type "strange"`,
		"ATTRIBUTE A 1 octets[0]":                          "is not octets[1 to 253]",
		"ATTRIBUTE A 1 integer[4]":                         "is not octets[1 to 253]",
		"ATTRIBUTE A 1 string has_tags":                    `unknown flag "has_tags"`,
		"ATTRIBUTE A 1 string encrypt=4":                   "must be encrypt=1, 2 or 3",
		"ATTRIBUTE A:1 1 string":                           "is no name of an attribute",
		"ATTRIBUTE A 201 string\nATTRIBUTE A 202 string":   "d:2: ATTRIBUTE A was something else before",
		"VALUE No-Such x 1":                                `VALUE of the unknown attribute "No-Such"`,
		"VALUE Service-Type x 4294967296":                  "is not a number of 32 bits",
		"VENDOR V 0":                                       `"0" is no number of a vendor`,
		"VENDOR V 1 format=3,1":                            "must be format=1, 2 or 4",
		"VENDOR V 1 size=3":                                `unknown flag "size=3"`,
		"BEGIN-VENDOR V":                                   `unknown vendor "V"`,
		"VENDOR V 1\nBEGIN-VENDOR V":                       "d:2: the file ends within",
		"VENDOR V 1\nBEGIN-VENDOR V\nBEGIN-VENDOR V":       "d:3: BEGIN-VENDOR within",
		"END-VENDOR V":                                     "without its BEGIN-VENDOR",
		"END-TLV V":                                        "without its beginning",
		"VENDOR V 1\nBEGIN-VENDOR V\nATTRIBUTE A 256 byte": "the most of this vendor is 255",
		"$INCLUDE none":                                    "d:1: $INCLUDE none: file does not exist",
		"$INCLUDE ../x":                                    "outside of what may be read",
		"$INCLUDE d":                                       "goes deeper than 16",
		strings.Repeat("x", dict.MaxLine+1):                "a line of more than 4096 octets",
	} {
		_, err := dict.Load(files(map[string]string{"d": text}), "d")
		if where := (*dict.Error)(nil); !errors.As(err, &where) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
	if _, err := dict.Load(files(nil), "d"); err == nil || err.Error() != "d: file does not exist" {
		t.Errorf("a file that is not there: %v", err)
	}
	many := strings.Repeat("$INCLUDE b\n", dict.MaxFiles)
	if _, err := dict.Load(files(map[string]string{"d": many, "b": ""}), "d"); err == nil || !strings.Contains(err.Error(), "more than 2048 files") {
		t.Errorf("too many files: %v", err)
	}
	if _, err := dict.Load(files(map[string]string{"d": strings.Repeat("#\n", dict.MaxFileSize/2+1)}), "d"); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("too large a file: %v", err)
	}
}

// All that FreeRADIUS brings can be read, and every attribute that both have is the
// same.
func TestFreeRADIUSDictionaries(t *testing.T) {
	const dir = "/usr/share/freeradius"
	if _, err := os.Stat(dir + "/dictionary"); err != nil {
		need.Missing(t, dir+"/dictionary (apt-get install freeradius-common)")
	}
	d, err := dict.Load(os.DirFS(dir), "dictionary")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range d.Notices() {
		t.Log(n)
	}
	for name, number := range map[string]int{"SN-VPN-ID": 1, "USR-Last-Number-Dialed-Out": 0x66, "Lucent-Send-Secret": 214} {
		if r, err := d.Lookup(name); err != nil || r.Code != number {
			t.Errorf("%s: %+v (%v)", name, r.Attr, err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, e := range entries {
		text, err := os.ReadFile(dir + "/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) < 4 || f[0] != "ATTRIBUTE" {
				continue
			}
			ours, err := dict.Lookup(f[1])
			theirs, err2 := d.Lookup(f[1])
			if err != nil || err2 != nil || ours.Internal() {
				continue
			}
			compared++
			if !ours.Same(theirs.Attr) || ours.Type != theirs.Type || ours.Tagged != theirs.Tagged || ours.Encrypt != theirs.Encrypt {
				t.Errorf("%s is %d.%d %s, tag %t, encrypt %d; FreeRADIUS has %d.%d %s, tag %t, encrypt %d", f[1],
					ours.Vendor, ours.Code, ours.Type, ours.Tagged, ours.Encrypt,
					theirs.Vendor, theirs.Code, theirs.Type, theirs.Tagged, theirs.Encrypt)
			}
		}
	}
	if compared < 2900 {
		t.Errorf("only %d attributes were compared", compared)
	}
}

// Whatever a file says, it is read or refused with its line, and what was there
// before is still there.
func FuzzLoad(f *testing.F) {
	for _, s := range []string{
		"VENDOR V 1 format=2,1\nBEGIN-VENDOR V\nATTRIBUTE A 1 integer\nVALUE A x 1\nEND-VENDOR V", "ATTRIBUTE A 200 octets[3] has_tag,encrypt=2",
		"$INCLUDE e", "BEGIN-TLV A\nATTRIBUTE B 1 string\nEND-TLV A", "ATTRIBUTE User-Name 1 combo-ip\nATTRIBUTE A 1.2 byte\nVALUE A b 3",
	} {
		f.Add(s, "ATTRIBUTE B 3000 string")
	}
	// Instead of the embedded dictionary, which takes a second to read a few times.
	own := files(map[string]string{"d": "ATTRIBUTE Cleartext-Password 1100 string\nATTRIBUTE User-Name 1 string\nVENDOR Acme 7\n"})
	f.Fuzz(func(t *testing.T, text, other string) {
		d, err := dict.LoadOver(own, files(map[string]string{"d": text, "e": other}), "d")
		if where := (*dict.Error)(nil); err != nil && (!errors.As(err, &where) || where.File == "") {
			t.Fatalf("an error without a place: %v", err)
		}
		if err != nil {
			return
		}
		if r, err := d.Lookup("Cleartext-Password"); err != nil || r.Type != dict.TypeString || r.Code != 1100 {
			t.Fatalf("Cleartext-Password is %+v (%v)", r.Attr, err)
		}
		for line := range strings.Lines(text) {
			f := strings.Fields(line)
			if len(f) < 4 {
				continue
			}
			if r, err := d.Lookup(f[1]); err == nil {
				if b, err := r.Parse("0x01020304", nil); err == nil {
					_, _ = r.Encode(b)
				}
			}
		}
	})
}

func TestIncludeOfAPipe(t *testing.T) {
	m := fstest.MapFS{"d/dictionary": {Data: []byte("\n$INCLUDE pipe\n")}, "d/pipe": {Mode: fs.ModeNamedPipe | 0o600}}
	_, err := dict.Load(m, "d/dictionary")
	wrong, ok := errors.AsType[*dict.Error](err)
	if !ok || wrong.Line != 2 || !strings.Contains(wrong.Error(), "pipe: is no file") {
		t.Error(err)
	}
}
