package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
)

// use is a place of the selector that reads a field.
type use struct {
	field selector.Field
	expr  ast.Expr
	// suffix are the names after the field, as bool in device.attributes["d"].x.bool.
	suffix []string
	// asked says that the use only asks whether the field is there.
	asked bool
}

// usesIn returns where a part of the selector reads fields that it names.
func usesIn(within ast.Expr) []use {
	var out []use
	inner := map[int64]bool{} // parts of a path that was seen as a whole
	skip := func(e ast.Expr) {
		for _, child := range selector.Children(e) {
			inner[child.ID()] = true
		}
	}
	ast.PreOrderVisit(within, ast.NewExprVisitor(func(e ast.Expr) {
		if inner[e.ID()] {
			skip(e)
			return
		}
		if field, ok := selector.KeyTest(e); ok {
			out = append(out, use{field: field, expr: e, asked: true})
			return
		}
		path := selector.Path(e)
		if len(path) < 3 || !selector.IsField(path[0]) {
			return
		}
		asked := e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() || selector.IsOptional(e)
		out = append(out, use{selector.Field{Kind: path[0], Domain: path[1], Name: path[2]}, e, path[3:], asked})
		skip(e)
	}))
	return out
}

// absentFields looks for fields that are read but that no device has.
func absentFields(d *diagnosis) []Finding {
	if d.tree.Root == nil || d.trial.Total() == 0 {
		return nil
	}
	var found []Finding
	seen := map[selector.Field]bool{}
	for _, u := range usesIn(d.tree.Root) {
		if seen[u.field] || d.inv.Field(u.field) != nil || len(u.suffix) > 0 {
			continue
		}
		seen[u.field] = true
		found = append(found, absentField(d, u))
	}
	return found
}

// breaks reports on how many devices the selector fails for want of a field.
func breaks(d *diagnosis, field selector.Field) int {
	n := 0
	for _, g := range d.gaps() {
		if g.field == field {
			n += g.devices
		}
	}
	return n
}

// absentField explains a field that no device has.
func absentField(d *diagnosis, u use) Finding {
	f := Finding{Severity: SeverityWarning, Place: d.placeOf(u, u.field.Name)}
	domains := d.inv.Domains("")
	domain, name, split := strings.Cut(u.field.Domain, "/")
	switch other := otherKind(d, u.field); {
	case other != nil:
		wrongKind(d, &f, u, other.Field)
	case split && slices.Contains(append(domains, d.inv.drivers()...), domain):
		f.Code, f.Place = CodeUnknownDomain, d.placeOf(u, u.field.Domain)
		fixed := selector.Field{Kind: u.field.Kind, Domain: domain, Name: name}
		f.Message = fmt.Sprintf("%s is a domain and a name in one. CEL wants them apart: %s.", selector.Quote(u.field.Domain), fixed.Expression())
		f.Suggestions = d.suggest(1, "domain and name apart", d.replace(d.tree.Text(u.expr), fixed.Expression()), replaceDomain(d, u, fixed))
	case isSuffix(u.field.Name) && len(d.inv.Named(u.field.Domain)) > 0:
		f.Code, f.Place = CodeUnqualifiedName, d.placeOf(u, u.field.Domain)
		fields := d.inv.Named(u.field.Domain)
		f.Message = fmt.Sprintf("%s is no domain but the name of an attribute, and CEL has no .%s: write %s.", selector.Quote(u.field.Domain), u.field.Name, fields[0].Expression())
		f.Suggestions = suggestFields(d, u, "with the domain", fields)
	case !slices.Contains(domains, u.field.Domain):
		f.Place = d.placeOf(u, u.field.Domain)
		unknownDomain(d, &f, u, domains)
	default:
		unknownInDomain(d, &f, u)
	}
	if n := breaks(d, u.field); n > 0 {
		f.Severity = SeverityError
		f.Message += fmt.Sprintf(" The evaluation fails on %s, and one failure makes the scheduler give up the whole claim.", DeviceCount(n))
		if len(f.Suggestions) == 0 && f.Code != CodeIsAttribute && f.Code != CodeIsCapacity {
			f.Suggestions = d.robust(d.trial.Expression)
		}
	}
	return f
}

// replaceDomain rewrites only the domain part of a use, whatever comes after it.
func replaceDomain(d *diagnosis, u use, with selector.Field) string {
	return d.replace((selector.Field{Kind: u.field.Kind, Domain: u.field.Domain}).Expression(), with.Expression())
}

// otherKind returns the field of the same name among the capacities of an attribute, and vice versa.
func otherKind(d *diagnosis, f selector.Field) *FieldInfo {
	f.Kind = map[string]string{"attributes": "capacity", "capacity": "attributes"}[f.Kind]
	return d.inv.Field(f)
}

func wrongKind(d *diagnosis, f *Finding, u use, other selector.Field) {
	if other.Kind == "capacity" {
		f.Code = CodeIsCapacity
		f.Message = fmt.Sprintf("%s is a capacity of these devices, no attribute: write %s and compare it with quantity(…).", selector.Quote(other.Name), other.Expression())
		for _, c := range d.comparisonsOf(u) {
			f.Suggestions = d.suggest(1, "as a capacity", d.replace(d.tree.Text(c.expr), c.asQuantity(other)))
		}
		if len(f.Suggestions) > 0 {
			return
		}
	} else {
		f.Code = CodeIsAttribute
		f.Message = fmt.Sprintf("%s is an attribute of these devices, no capacity: write %s.", selector.Quote(other.Name), other.Expression())
	}
	f.Suggestions = d.suggest(1, "as it is published", d.replace(d.tree.Text(u.expr), other.Expression()))
}

// suggestFields puts other fields in the place of one that is used.
func suggestFields(d *diagnosis, u use, effect string, fields []selector.Field) []Suggestion {
	var fixed []string
	for _, field := range fields {
		with := field.Expression()
		if u.asked && u.expr.Kind() == ast.CallKind && u.expr.AsCall().FunctionName() == operators.In {
			with = inDomain(field)
		}
		if selector.IsOptional(u.expr) {
			with = optional(field)
		}
		fixed = append(fixed, d.replace(d.tree.Text(u.expr), with), d.replace(u.field.Expression(), field.Expression()))
	}
	return d.suggest(2, effect, fixed...)
}

func unknownDomain(d *diagnosis, f *Finding, u use, domains []string) {
	f.Code = CodeUnknownDomain
	f.Message = fmt.Sprintf("No device has anything in the domain %s.", selector.Quote(u.field.Domain))
	sameKind := func(fields []selector.Field) []selector.Field {
		return slices.DeleteFunc(fields, func(other selector.Field) bool { return other.Kind != u.field.Kind })
	}
	named := sameKind(d.inv.Named(u.field.Name))
	near := nearest(u.field.Domain, domains)
	switch {
	case near != "":
		f.Message += fmt.Sprintf(" Did you mean %s?", selector.Quote(near))
		f.Suggestions = suggestFields(d, u, "with that domain", []selector.Field{{Kind: u.field.Kind, Domain: near, Name: u.field.Name}})
	case len(named) > 0:
		var in []string
		for _, field := range named {
			in = append(in, field.Domain)
		}
		f.Message += fmt.Sprintf(" %s is in the domain %s.", selector.Quote(u.field.Name), quoted(in, 3))
		f.Suggestions = suggestFields(d, u, "with that domain", named)
	}
	if len(domains) == 0 {
		f.Message += " These devices have no attributes and capacities at all."
	} else {
		f.Message += fmt.Sprintf(" There are %s.", quoted(domains, 6))
	}
}

func unknownInDomain(d *diagnosis, f *Finding, u use) {
	names := d.inv.Names(u.field.Kind, u.field.Domain)
	what := "attribute"
	f.Code = CodeUnknownAttribute
	if u.field.Kind == "capacity" {
		what, f.Code = "capacity", CodeUnknownCapacity
	}
	f.Message = fmt.Sprintf("No device has the %s %s in the domain %s.", what, selector.Quote(u.field.Name), selector.Quote(u.field.Domain))
	near := nearest(u.field.Name, names)
	named := slices.DeleteFunc(d.inv.Named(u.field.Name), func(other selector.Field) bool { return other.Kind != u.field.Kind })
	switch {
	case near != "":
		f.Message += fmt.Sprintf(" Did you mean %s?", selector.Quote(near))
		f.Suggestions = suggestFields(d, u, "with "+near, []selector.Field{{Kind: u.field.Kind, Domain: u.field.Domain, Name: near}})
	case len(named) > 0:
		f.Message += fmt.Sprintf(" It is in the domain %s.", selector.Quote(named[0].Domain))
		f.Suggestions = suggestFields(d, u, "with that domain", named)
	}
	switch {
	case len(names) == 0:
		f.Message += fmt.Sprintf(" That domain has no %s.", map[string]string{"attribute": "attributes", "capacity": "capacities"}[what])
	case len(f.Suggestions) == 0 || near == "":
		f.Message += fmt.Sprintf(" There are %s.", quoted(names, 8))
	}
}

// isSuffix reports whether a name is that of a value in the API object.
func isSuffix(name string) bool {
	switch name {
	case "bool", "int", "string", "version", "value", "quantity", "bools", "ints", "strings", "versions", "stringValue", "intValue", "boolValue", "versionValue":
		return true
	}
	return false
}

// suffixes looks for .bool and the like after attributes.
func suffixes(d *diagnosis) []Finding {
	if d.tree.Root == nil {
		return nil
	}
	var found []Finding
	for _, u := range usesIn(d.tree.Root) {
		if len(u.suffix) == 0 {
			continue
		}
		f := Finding{Code: CodeSuffix, Severity: SeverityWarning, Place: d.placeOf(u, "."+u.suffix[0])}
		if d.trial.Failed > 0 {
			f.Severity = SeverityError
		}
		field := u.field
		if domain, name, split := strings.Cut(u.field.Domain, "/"); split {
			field = selector.Field{Kind: u.field.Kind, Domain: domain, Name: name}
		}
		f.Message = fmt.Sprintf("There is no .%s on a value in CEL, although the API object has it: %s is the value itself.", u.suffix[0], field.Expression())
		if field != u.field {
			f.Message += fmt.Sprintf(" %s is a domain and a name in one; CEL wants them apart.", selector.Quote(u.field.Domain))
		}
		f.Suggestions = d.suggest(1, "without ."+strings.Join(u.suffix, "."), d.replace(d.tree.Text(u.expr), field.Expression()))
		found = append(found, f)
	}
	return found
}
