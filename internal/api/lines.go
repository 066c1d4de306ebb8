package main

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// lines lists what a package exports, sorted, after a line for the package itself.
func lines(pkg *types.Package) []string {
	l := &lister{pkg: pkg}
	scope := pkg.Scope()
	for _, name := range scope.Names() {
		if o := scope.Lookup(name); o.Exported() {
			l.object(o)
		}
	}
	slices.Sort(l.list)
	return slices.Concat([]string{"package " + pkg.Name()}, l.list)
}

type lister struct {
	pkg  *types.Package
	list []string
}

func (l *lister) add(format string, args ...any) {
	l.list = append(l.list, fmt.Sprintf(format, args...))
}

// text is a type as it is written in this package.
func (l *lister) text(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == l.pkg {
			return ""
		}
		return p.Name()
	})
}

func (l *lister) object(o types.Object) {
	switch o := o.(type) {
	case *types.Const:
		l.add("const %s %s = %s", o.Name(), l.text(o.Type()), o.Val().ExactString())
	case *types.Var:
		l.add("var %s %s", o.Name(), l.text(o.Type()))
	case *types.Func:
		l.add("func %s%s", o.Name(), l.signature(o.Signature()))
	case *types.TypeName:
		l.typeName(o)
	}
}

func (l *lister) typeName(o *types.TypeName) {
	named, ok := o.Type().(*types.Named)
	if !ok || o.IsAlias() {
		l.add("type %s = %s", o.Name(), l.text(types.Unalias(o.Type())))
		return
	}
	name := "type " + o.Name() + l.typeParams(named.TypeParams())
	switch u := named.Underlying().(type) {
	case *types.Struct:
		l.add("%s struct", name)
		l.fields(name, u)
	case *types.Interface:
		l.add("%s interface", name)
		l.elements(name, u)
	case *types.Signature:
		l.add("%s func%s", name, l.signature(u))
	default:
		l.add("%s %s", name, l.text(u))
	}
	for m := range named.Methods() {
		if m.Exported() {
			l.add("method (%s) %s%s", l.text(m.Signature().Recv().Type()), m.Name(), l.signature(m.Signature()))
		}
	}
}

func (l *lister) fields(name string, s *types.Struct) {
	for f := range s.Fields() {
		switch {
		case !f.Exported():
		case f.Embedded():
			l.add("%s struct, embedded %s", name, l.text(f.Type()))
		default:
			l.add("%s struct, %s %s", name, f.Name(), l.text(f.Type()))
		}
	}
}

// elements lists an interface: a method more is a change for all who implement it.
func (l *lister) elements(name string, i *types.Interface) {
	for m := range i.ExplicitMethods() {
		if m.Exported() {
			l.add("%s interface, %s%s", name, m.Name(), l.signature(m.Signature()))
		} else {
			l.add("%s interface, unexported method", name)
		}
	}
	for t := range i.EmbeddedTypes() {
		l.add("%s interface, embedded %s", name, l.text(t))
	}
}

func (l *lister) typeParams(list *types.TypeParamList) string {
	var b []string
	for p := range list.TypeParams() {
		b = append(b, p.Obj().Name()+" "+l.text(p.Constraint()))
	}
	if b == nil {
		return ""
	}
	return "[" + strings.Join(b, ", ") + "]"
}

// signature is a function's type without the names of what it takes and returns.
func (l *lister) signature(s *types.Signature) string {
	unnamed := types.NewSignatureType(nil, nil, nil, anonymous(s.Params()), anonymous(s.Results()), s.Variadic())
	return l.typeParams(s.TypeParams()) + strings.TrimPrefix(l.text(unnamed), "func")
}

func anonymous(t *types.Tuple) *types.Tuple {
	var vars []*types.Var
	for v := range t.Variables() {
		vars = append(vars, types.NewParam(0, v.Pkg(), "", v.Type()))
	}
	return types.NewTuple(vars...)
}
