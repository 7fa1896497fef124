package apilist

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// library are the packages that others may import.
var library = []string{"inspect", "inspect/manifest", "allocator", "scheduler", "scheduler/kueue", "explain", "explain/question", "explain/plan", "explain/disruption", "explain/plan/moves", "explain/plan/shapes", "explain/text", "explain/text/plans", "explain/styled"}

const module = "github.com/kubectl-dra/kubectl-dra/"

// exported are the lines about all packages of the library, sorted.
func exported(root string) ([]string, error) {
	paths := make([]string, len(library))
	for i, dir := range library {
		paths[i] = "./" + dir
	}
	pkgs, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedExportFile, Dir: root}, paths...)
	if err != nil {
		return nil, fmt.Errorf("loading the library: %w", err)
	}
	var out []string
	for _, pkg := range pkgs {
		if len(pkg.Errors) > 0 {
			return nil, fmt.Errorf("loading %s: %w", pkg.PkgPath, pkg.Errors[0])
		}
		l := &lister{pkg: pkg.Types, lead: "pkg " + strings.TrimPrefix(pkg.PkgPath, module) + ", "}
		scope := pkg.Types.Scope()
		for _, name := range scope.Names() {
			if o := scope.Lookup(name); o.Exported() {
				l.object(o)
			}
		}
		out = append(out, l.lines...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// lister lists a package.
type lister struct {
	pkg   *types.Package
	lead  string
	lines []string
}

func (l *lister) add(format string, args ...any) {
	l.lines = append(l.lines, l.lead+fmt.Sprintf(format, args...))
}

// qualifier names packages by their paths, those of the module without its own, and the package itself not at
// all.
func (l *lister) qualifier(p *types.Package) string {
	if p.Path() == l.pkg.Path() {
		return ""
	}
	return strings.TrimPrefix(p.Path(), module)
}

func (l *lister) typeText(t types.Type) string { return types.TypeString(nameless(t), l.qualifier) }

// nameless is the type without the names of parameters and results, if it is one of functions without type
// parameters.
func nameless(t types.Type) types.Type {
	s, ok := t.(*types.Signature)
	if !ok || s.TypeParams().Len() > 0 {
		return t
	}
	tuple := func(of *types.Tuple) *types.Tuple {
		var out []*types.Var
		for v := range of.Variables() {
			out = append(out, types.NewVar(0, v.Pkg(), "", nameless(v.Type())))
		}
		return types.NewTuple(out...)
	}
	return types.NewSignatureType(nil, nil, nil, tuple(s.Params()), tuple(s.Results()), s.Variadic())
}

func (l *lister) object(o types.Object) {
	switch o := o.(type) {
	case *types.Const:
		l.add("const %s %s = %s", o.Name(), l.typeText(o.Type()), o.Val().ExactString())
	case *types.Var:
		l.add("var %s %s", o.Name(), l.typeText(o.Type()))
	case *types.Func:
		l.add("func %s%s", o.Name(), strings.TrimPrefix(l.typeText(o.Type()), "func"))
	case *types.TypeName:
		l.typeName(o)
	}
}

func (l *lister) typeName(o *types.TypeName) {
	if o.IsAlias() {
		l.add("type %s = %s", o.Name(), l.typeText(types.Unalias(o.Type())))
		return
	}
	named, ok := o.Type().(*types.Named)
	if !ok {
		return
	}
	switch t := named.Underlying().(type) {
	case *types.Struct:
		l.add("type %s struct", o.Name())
		for f := range t.Fields() {
			switch {
			case f.Exported() && f.Embedded():
				l.add("type %s struct, embedded %s", o.Name(), l.typeText(f.Type()))
			case f.Exported():
				l.add("type %s struct, %s %s", o.Name(), f.Name(), l.typeText(f.Type()))
			}
		}
	case *types.Interface:
		var methods []string
		for m := range t.Methods() {
			methods = append(methods, m.Name()+strings.TrimPrefix(l.typeText(m.Type()), "func"))
		}
		slices.Sort(methods)
		l.add("type %s interface { %s }", o.Name(), strings.Join(methods, "; "))
	default:
		l.add("type %s %s", o.Name(), l.typeText(t))
	}
	for m := range named.Methods() {
		if !m.Exported() {
			continue
		}
		receiver := o.Name()
		if _, pointer := m.Signature().Recv().Type().(*types.Pointer); pointer {
			receiver = "*" + receiver
		}
		l.add("method (%s) %s%s", receiver, m.Name(), strings.TrimPrefix(l.typeText(m.Type()), "func"))
	}
}
