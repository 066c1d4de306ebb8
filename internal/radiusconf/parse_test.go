package radiusconf_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/radpool/radpool/internal/radiusconf"
)

// show writes a tree out, one pair or section a line.
func show(t *testing.T, tree *radiusconf.Tree) string {
	t.Helper()
	var b strings.Builder
	var walk func(s *radiusconf.Section, indent string)
	walk = func(s *radiusconf.Section, indent string) {
		for _, item := range s.Items {
			if p := item.Pair; p != nil {
				v, err := tree.Value(p)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&b, "%d%s %s %s %s\n", p.Line, indent, p.Name, p.Op, v)
				continue
			}
			fmt.Fprintf(&b, "%d%s [%s]\n", item.Section.Line, indent, item.Section.Title())
			walk(item.Section, indent+" ")
		}
	}
	walk(tree.Root, "")
	return b.String()
}

// How text is cut into pairs and sections. What values become is what FreeRADIUS 3.2.1
// makes of the same lines.
func TestRead(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":              {"", ""},
		"byte order mark":    {"\ufeffa = 1", "1 a = 1\n"},
		"comments":           {"# a = 1\na = 1 # b = 2\n\t#c\n", "2 a = 1\n"},
		"carriage returns":   {"a = 1\r\nb {\r\n}\r\n", "1 a = 1\n2 [b]\n"},
		"no blanks":          {"a=1\nb:=2", "1 a = 1\n2 b := 2\n"},
		"bare values":        {"a = ab#cd\nb = a\\tb}\nc = x;y\nd = 1,e = 2\n", "1 a = ab#cd\n2 b = a\\tb}\n3 c = x;y\n4 d = 1\n4 e = 2\n"},
		"quotes":             {`a = "x y # z"` + "\n" + `b = 'it\'s'` + "\n" + `c = "a\"b\\c\tq\101r"`, "1 a = x y # z\n2 b = it's\n3 c = a\"b\\\\c\\tq\\101r\n"},
		"empty values":       {"a =\nb = # 1\nc = \"\"\n", "1 a = \n2 b = \n3 c = \n"},
		"continuation":       {"a = \"b\\\n  c\"\nd = \\\n 1\n", "1 a = b  c\n3 d = 1\n"},
		"continued with \\r": {"a = \"b\\\r\nc\"\n", "1 a = bc\n"},
		"words":              {"a {\n ok\n -sql\n foo.bar\n}", "1 [a]\n2  ok  \n3  -sql  \n4  foo.bar  \n"},
		"nested":             {"thread pool {\n}\nx { y z { a = 1 } }", "1 [thread pool]\n3 [x]\n3  [y z]\n3   a = 1\n"},
		"expansion in bare":  {"f = ${d}/%{%{A}:-%{B}}/x\nd = /var", "1 f = /var/%{%{A}:-%{B}}/x\n2 d = /var\n"},
		"single quotes":      {"a = '${b}'", "1 a = ${b}\n"},
		"a dollar":           {"a = pa$$word$\nb = \"$c\"", "1 a = pa$$word$\n2 b = $c\n"},
		"sections by name":   {"a = \"${thread[pool].n} ${thread.n}\"\nthread x { n = 1 }\nthread pool { n = 2 }", "1 a = 2 1\n2 [thread x]\n2  n = 1\n3 [thread pool]\n3  n = 2\n"},
		"references": {"top = 0\nx y {\n a = ${.:name}-${.:instance}-${top}-${z.v}\n z {\n  v = ${..b}${..:name}${...top}\n }\n b = 1\n}",
			"1 top = 0\n2 [x y]\n3  a = x-y-0-1x0\n4  [z]\n5   v = 1x0\n7  b = 1\n"},
		"unlang": {"if ((a =~ /^\\/{2}\"/) && b == '}{' && \\\n  \"%{c}\" != \"{\") {\n update reply {\n  &A := \"%{B}\"\n  &C !* ANY\n  &reply: += &D:\n }\n}\nelsif (!&x) {\n}\nelse {\n}",
			"1 [if]\n3  [update reply]\n4   &A := %{B}\n5   &C !* ANY\n6   &reply: += &D:\n9 [elsif]\n11 [else]\n"},
		"condition over lines": {"if (a && # why {\n  b) {\n}", "1 [if]\n"},
		"a string alone":       {"x {\n \"%{foo:bar {}\"\n}", "1 [x]\n2  a string  \n"},
		"map":                  {"map csv \"%{x}\" {\n}", "1 [map csv]\n"},
	} {
		tree, err := radiusconf.Read(strings.NewReader(c.text), "f", nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := show(t, tree); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", name, got, c.want)
		}
	}
}

func TestReferenced(t *testing.T) {
	tree, err := radiusconf.Read(strings.NewReader("if (${a.b} == 1) {\n x = ${..c}\n}\n"), "f", nil)
	if err != nil {
		t.Fatal(err)
	}
	if !tree.Referenced("a") || !tree.Referenced("c") || tree.Referenced("b") || tree.Referenced("x") {
		t.Error("not the names that are referred to")
	}
}

// Beyond each bound there is an error, and neither a panic nor all the memory.
func TestBounds(t *testing.T) {
	chain := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "a%d = ${a%d}\n", i, i+1)
		}
		fmt.Fprintf(&b, "a%d = end\n", n)
		return b.String()
	}
	double := func(n int) string { // 2 to the power of n
		b := "a0 = xxxxxxxxxxxxxxxx\n"
		for i := range n {
			b += fmt.Sprintf("a%d = ${a%d}${a%d}\n", i+1, i, i)
		}
		return b
	}
	for name, c := range map[string]struct{ text, want string }{
		"nesting, just":   {strings.Repeat("a {\n", radiusconf.MaxNesting) + strings.Repeat("}\n", radiusconf.MaxNesting), ""},
		"nesting":         {strings.Repeat("a {\n", radiusconf.MaxNesting+1), "f:65: a is deeper than 64 sections in one another"},
		"name":            {strings.Repeat("a", radiusconf.MaxWord+1) + " = 1", "f:1: a name longer than 256 octets"},
		"bare value":      {"a = " + strings.Repeat("a", radiusconf.MaxValue+1), "f:1: a is longer than 65536 octets"},
		"quoted value":    {"a = '" + strings.Repeat("a", radiusconf.MaxValue+2), "f:1: a is longer than 65536 octets"},
		"chain, just":     {chain(radiusconf.MaxChain - 1), ""},
		"chain":           {chain(100_000), "f:65: a64 stands at the end of more than 64 references to references"},
		"doubling":        {double(40), "is, with what it refers to, longer than 65536 octets"},
		"many times long": {double(12) + strings.Repeat("b = ${a12}\n", 1100), "makes all values together longer than 67108864 octets"},
		"items":           {strings.Repeat("a\n", radiusconf.MaxItems+1), "has, with what it includes, more than 4194304 pairs and sections"},
		"circle":          {"a = ${a}", "f:1: a refers to itself"},
	} {
		tree, err := radiusconf.Read(strings.NewReader(c.text), "f", nil)
		for i := 0; err == nil && i < len(tree.Root.Items); i++ {
			if p := tree.Root.Items[i].Pair; p != nil {
				_, err = tree.Value(p)
			}
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %.200v, want %q", name, err, c.want)
		}
	}
}

// endless is a text without end.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '\n'
	}
	return len(b), nil
}

func TestBoundsOfFiles(t *testing.T) {
	if _, err := radiusconf.Read(endless{}, "f", nil); err == nil || !strings.Contains(err.Error(), "more than 67108864 octets") {
		t.Errorf("endless: %v", err)
	}
	broken := errors.New("the disk is gone")
	if _, err := radiusconf.Read(io.MultiReader(strings.NewReader("a = 1\n"), failing{broken}), "f", nil); !errors.Is(err, broken) {
		t.Errorf("failing: %v", err)
	}
	many := fstest.MapFS{"a.conf": {Data: []byte(strings.Repeat("$INCLUDE d\n", 200))}}
	for i := range 100 {
		many[fmt.Sprintf("d/%d", i)] = &fstest.MapFile{}
	}
	if _, err := radiusconf.Load(many, "a.conf", nil); err == nil || err.Error() != "a.conf:100: $INCLUDE leads to more than 10000 files" {
		t.Errorf("many: %v", err)
	}
	for text, want := range map[string]string{
		"$INCLUDE ..":         "a.conf:1: $INCLUDE of ..: ",
		"$INCLUDE ../../x":    "a.conf:1: $INCLUDE of ../../x: ",
		"$INCLUDE \"\"":       "a.conf:1: $INCLUDE names no file",
		"$INCLUDE":            "a.conf:1: $INCLUDE names no file",
		"$INCLUDE a b":        "a.conf:1: $INCLUDE has more text after the name of its file",
		"$INCLUDE ${nowhere}": "a.conf:1: $INCLUDE refers to ${nowhere}, which there is not",
	} {
		_, err := radiusconf.Load(fstest.MapFS{"a.conf": {Data: []byte(text)}}, "a.conf", nil)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }

// Whatever text comes, reading it neither panics nor takes for ever, and errors say where.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		"a = ${b}\nb = ${thread[pool].n}\nthread pool {\n n = \"$ENV{X}\"\n}", "if (a =~ /x\\/{/i && \"}\") {\n $INCLUDE b\n}", "$-INCLUDE /b/../c\n$INCLUDE ${.:name}d/",
		"a = 'b\\'\\\nc'\n# d \\\nupdate { &x := `y`, z }", "client a { secret = \"${..:instance}${...x}\" }", "${", "a = ${a[b.c}", "x { a = ${.a} }", "\ufeff\\\r\n\\",
	} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		files := fstest.MapFS{"a": {Data: []byte(one)}, "b": {Data: []byte(two)}, "d/x": {Data: []byte(two)}, "d/y~": {Data: []byte("{")}}
		tree, err := radiusconf.Load(files, "a", func(name string) (string, bool) { return two, name == "X" })
		check := func(err error) {
			if e := (*radiusconf.Error)(nil); err != nil && (!errors.As(err, &e) || e.File == "" || e.Field == "" || e.Problem == "") {
				t.Errorf("%v", err)
			}
		}
		if check(err); err != nil {
			return
		}
		var walk func(s *radiusconf.Section)
		walk = func(s *radiusconf.Section) {
			for _, item := range s.Items {
				if item.Section != nil {
					walk(item.Section)
					continue
				}
				v, err := tree.Value(item.Pair)
				check(err)
				if again, err2 := tree.Value(item.Pair); again != v || (err == nil) != (err2 == nil) {
					t.Errorf("%s is %q, and then %q (%v)", item.Pair.Name, v, again, err2)
				}
			}
		}
		walk(tree.Root)
	})
}

// What is neither a file nor a directory is not opened: a named pipe would be waited for
// without end.
func TestIncludeOfAPipe(t *testing.T) {
	pipe := &fstest.MapFile{Mode: fs.ModeNamedPipe | 0o600, Data: []byte("a = 1\n")}
	for text, line := range map[string]int{"\n$INCLUDE d/pipe\n": 2, "\n\n$INCLUDE d/\n": 3, "$-INCLUDE d/pipe\n": 1} {
		_, err := radiusconf.Load(fstest.MapFS{"a.conf": {Data: []byte(text)}, "d/pipe": pipe}, "a.conf", nil)
		wrong, ok := errors.AsType[*radiusconf.Error](err)
		if !ok || wrong.Line != line || !strings.Contains(wrong.Problem, "d/pipe: is neither a file nor a directory") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
