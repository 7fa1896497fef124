package selector

import (
	"cmp"
	"slices"
	"strings"

	celgo "github.com/google/cel-go/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Function is a function or macro that a selector can call.
type Function struct {
	Name string
	// On is the type of what stands before the dot; "" if the function stands alone. Gives is the type of
	// the result, and Takes that of the first argument, "" if there is none. Types are string, int, bool,
	// version, quantity, list, optional, dyn or what else CEL has.
	On, Gives, Takes string
	// Signature is how CEL declares the function.
	Signature string
}

// Functions returns what a selector in a new object can call, sorted by name, once for each type that it
// can be called on.
func (c *Cache) Functions() []Function {
	out := []Function{
		{Name: "has", Gives: "bool", Takes: "dyn", Signature: "has(field) -> bool"},
		{Name: "cel.bind", Gives: "dyn", Takes: "dyn", Signature: "cel.bind(name, value, expression) -> dyn"},
	}
	for name, gives := range map[string]string{"all": "bool", "exists": "bool", "exists_one": "bool", "filter": "list", "map": "list"} {
		out = append(out, Function{name, "list", gives, "dyn", "list." + name + "(name, expression) -> " + gives})
	}
	env := c.environment(environment.NewExpressions)
	if env == nil {
		return nil
	}
	for name, declared := range env.Functions() {
		for _, o := range declared.OverloadDecls() {
			f := Function{Name: name, Gives: typeName(o.ResultType())}
			var args []string
			for _, arg := range o.ArgTypes() {
				args = append(args, typeName(arg))
			}
			if o.IsMemberFunction() {
				f.On, args = args[0], args[1:]
				f.Signature = f.On + "."
			}
			if len(args) > 0 {
				f.Takes = args[0]
			}
			f.Signature += name + "(" + strings.Join(args, ", ") + ") -> " + f.Gives
			same := func(other Function) bool { return other.Name == f.Name && other.On == f.On }
			if isCallable(name) && callableOn[f.On] && !slices.ContainsFunc(out, same) {
				out = append(out, f)
			}
		}
	}
	slices.SortFunc(out, func(a, b Function) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.On, b.On)) })
	return out
}

// callableOn are the types of what devices have, and of what is made of that.
var callableOn = map[string]bool{"": true, "string": true, "version": true, "quantity": true, "list": true, "optional": true, "dyn": true}

// isCallable reports whether a function is called by its name; the others are operators.
func isCallable(name string) bool {
	return !strings.HasPrefix(name, "_") && !slices.ContainsFunc(strings.Split(name, "."), func(part string) bool { return !IsIdentifier(part) })
}

func typeName(t *celgo.Type) string {
	switch name, _, _ := strings.Cut(t.String(), "("); {
	case name == "kubernetes.Quantity":
		return "quantity"
	case name == "kubernetes.Semver":
		return "version"
	case name == "optional_type":
		return "optional"
	case strings.HasPrefix(name, "<"):
		return "dyn"
	default:
		return name
	}
}
