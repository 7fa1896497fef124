package selector

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// use is a place of the selector that reads a field.
type use struct {
	field Field
	expr  ast.Expr
	// suffix are the names after the field, as bool in device.attributes["d"].x.bool.
	suffix []string
	// asked says that the use only asks whether the field is there.
	asked bool
}

// uses returns where the selector reads fields that it names.
func (d *diagnosis) uses(within ast.Expr) []use {
	var out []use
	inner := map[int64]bool{} // parts of a path that was seen as a whole
	ast.PreOrderVisit(within, ast.NewExprVisitor(func(e ast.Expr) {
		if inner[e.ID()] {
			d.skip(e, inner)
			return
		}
		if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.In {
			args := e.AsCall().Args()
			key, ok := constantString(args[0])
			if path := fieldPath(args[1]); ok && len(path) == 2 && isFields(path[0]) {
				out = append(out, use{field: Field{path[0], path[1], key}, expr: e, asked: true})
			}
			return
		}
		path := fieldPath(e)
		if len(path) < 3 || !isFields(path[0]) {
			return
		}
		asked := e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() || isOptional(e)
		out = append(out, use{field: Field{path[0], path[1], path[2]}, expr: e, suffix: path[3:], asked: asked})
		d.skip(e, inner)
	}))
	return out
}

// allReads finds the fields of a device in an expression, also those that it only asks for with in.
func allReads(e ast.Expr, s Subject) []Read {
	out := reads(e, s.Driver, s.Device)
	for _, u := range (&diagnosis{}).uses(e) {
		path := []string{u.field.Kind, u.field.Domain, u.field.Name}
		text, value, ok := lookup(path, s.Driver, s.Device)
		if ok && !slices.ContainsFunc(out, func(r Read) bool { return r.Expression == text }) {
			out = append(out, Read{Expression: text, Value: value})
		}
	}
	return out
}

// skip marks the direct parts of a path.
func (d *diagnosis) skip(e ast.Expr, inner map[int64]bool) {
	for _, child := range children(e) {
		inner[child.ID()] = true
	}
}

func isFields(kind string) bool { return kind == "attributes" || kind == "capacity" }

// isOptional reports whether a path goes through .? or [?].
func isOptional(e ast.Expr) bool {
	switch e.Kind() {
	case ast.SelectKind:
		return isOptional(e.AsSelect().Operand())
	case ast.CallKind:
		call := e.AsCall()
		switch call.FunctionName() {
		case operators.OptIndex, operators.OptSelect:
			return true
		case operators.Index:
			return isOptional(call.Args()[0])
		}
	}
	return false
}

// fields looks for fields that are read but that no device has.
func (d *diagnosis) fields() {
	if d.root == nil || d.trial.Total() == 0 {
		return
	}
	seen := map[Field]bool{}
	for _, u := range d.uses(d.root) {
		if seen[u.field] || d.inv.Field(u.field) != nil || len(u.suffix) > 0 {
			continue
		}
		seen[u.field] = true
		d.absent(u)
	}
}

// breaks reports on how many devices the selector fails for want of a field.
func (d *diagnosis) breaks(field Field) int {
	n := 0
	for _, g := range d.gaps() {
		if g.field == field {
			n += g.devices
		}
	}
	return n
}

// absent explains a field that no device has.
func (d *diagnosis) absent(u use) {
	f := Finding{Severity: SeverityWarning, Place: d.placeOf(u, u.field.Name)}
	domains := d.inv.Domains("")
	domain, name, split := strings.Cut(u.field.Domain, "/")
	switch other := d.otherKind(u.field); {
	case other != nil:
		d.wrongKind(&f, u, other.Field)
	case split && slices.Contains(append(domains, d.driverNames()...), domain):
		f.Code, f.Place = CodeUnknownDomain, d.placeOf(u, u.field.Domain)
		fixed := Field{u.field.Kind, domain, name}
		f.Message = fmt.Sprintf("%s is a domain and a name in one. CEL wants them apart: %s.", quote(u.field.Domain), fixed.Expression())
		f.Suggestions = d.suggest(1, "domain and name apart", d.replace(d.text(u.expr), fixed.Expression()), d.replaceDomain(u, fixed))
	case isSuffix(u.field.Name) && len(d.inv.Named(u.field.Domain)) > 0:
		f.Code, f.Place = CodeUnqualifiedName, d.placeOf(u, u.field.Domain)
		fields := d.inv.Named(u.field.Domain)
		f.Message = fmt.Sprintf("%s is no domain but the name of an attribute, and CEL has no .%s: write %s.", quote(u.field.Domain), u.field.Name, fields[0].Expression())
		f.Suggestions = d.suggestFields(u, "with the domain", fields)
	case !slices.Contains(domains, u.field.Domain):
		f.Place = d.placeOf(u, u.field.Domain)
		d.unknownDomain(&f, u, domains)
	default:
		d.unknownInDomain(&f, u)
	}
	if n := d.breaks(u.field); n > 0 {
		f.Severity = SeverityError
		f.Message += fmt.Sprintf(" The evaluation fails on %s, and one failure makes the scheduler give up the whole claim.", devices(n))
		if len(f.Suggestions) == 0 && f.Code != CodeIsAttribute && f.Code != CodeIsCapacity {
			f.Suggestions = d.robust(d.trial.Expression)
		}
	}
	d.add(f)
}

func (d *diagnosis) driverNames() []string {
	var names []string
	for driver := range d.inv.Drivers {
		names = append(names, driver)
	}
	slices.Sort(names)
	return names
}

// replaceDomain rewrites only the domain part of a use, whatever comes after it.
func (d *diagnosis) replaceDomain(u use, with Field) string {
	return d.replace((Field{u.field.Kind, u.field.Domain, ""}).Expression(), with.Expression())
}

// otherKind returns the field of the same name among the capacities of an attribute, and vice versa.
func (d *diagnosis) otherKind(f Field) *FieldInfo {
	f.Kind = map[string]string{"attributes": "capacity", "capacity": "attributes"}[f.Kind]
	return d.inv.Field(f)
}

func (d *diagnosis) wrongKind(f *Finding, u use, other Field) {
	if other.Kind == "capacity" {
		f.Code = CodeIsCapacity
		f.Message = fmt.Sprintf("%s is a capacity of these devices, no attribute: write %s and compare it with quantity(…).", quote(other.Name), other.Expression())
		for _, c := range d.comparisonsOf(u) {
			f.Suggestions = d.suggest(1, "as a capacity", d.replace(d.text(c.expr), c.asQuantity(other)))
		}
		if len(f.Suggestions) > 0 {
			return
		}
	} else {
		f.Code = CodeIsAttribute
		f.Message = fmt.Sprintf("%s is an attribute of these devices, no capacity: write %s.", quote(other.Name), other.Expression())
	}
	f.Suggestions = d.suggest(1, "as it is published", d.replace(d.text(u.expr), other.Expression()))
}

// suggestFields puts other fields in the place of one that is used.
func (d *diagnosis) suggestFields(u use, effect string, fields []Field) []Suggestion {
	var fixed []string
	for _, field := range fields {
		with := field.Expression()
		if u.asked && u.expr.Kind() == ast.CallKind && u.expr.AsCall().FunctionName() == operators.In {
			with = inDomain(field)
		}
		if isOptional(u.expr) {
			with = optional(field)
		}
		fixed = append(fixed, d.replace(d.text(u.expr), with), d.replace(u.field.Expression(), field.Expression()))
	}
	return d.suggest(2, effect, fixed...)
}

func (d *diagnosis) unknownDomain(f *Finding, u use, domains []string) {
	f.Code = CodeUnknownDomain
	f.Message = fmt.Sprintf("No device has anything in the domain %s.", quote(u.field.Domain))
	sameKind := func(fields []Field) []Field {
		return slices.DeleteFunc(fields, func(other Field) bool { return other.Kind != u.field.Kind })
	}
	named := sameKind(d.inv.Named(u.field.Name))
	near := nearest(u.field.Domain, domains)
	switch {
	case near != "":
		f.Message += fmt.Sprintf(" Did you mean %s?", quote(near))
		f.Suggestions = d.suggestFields(u, "with that domain", []Field{{u.field.Kind, near, u.field.Name}})
	case len(named) > 0:
		var in []string
		for _, field := range named {
			in = append(in, field.Domain)
		}
		f.Message += fmt.Sprintf(" %s is in the domain %s.", quote(u.field.Name), quoted(in, 3))
		f.Suggestions = d.suggestFields(u, "with that domain", named)
	}
	if len(domains) == 0 {
		f.Message += " These devices have no attributes and capacities at all."
	} else {
		f.Message += fmt.Sprintf(" There are %s.", quoted(domains, 6))
	}
}

func (d *diagnosis) unknownInDomain(f *Finding, u use) {
	names := d.inv.Names(u.field.Kind, u.field.Domain)
	what := "attribute"
	f.Code = CodeUnknownAttribute
	if u.field.Kind == "capacity" {
		what, f.Code = "capacity", CodeUnknownCapacity
	}
	f.Message = fmt.Sprintf("No device has the %s %s in the domain %s.", what, quote(u.field.Name), quote(u.field.Domain))
	near := nearest(u.field.Name, names)
	named := slices.DeleteFunc(d.inv.Named(u.field.Name), func(other Field) bool { return other.Kind != u.field.Kind })
	switch {
	case near != "":
		f.Message += fmt.Sprintf(" Did you mean %s?", quote(near))
		f.Suggestions = d.suggestFields(u, "with "+near, []Field{{u.field.Kind, u.field.Domain, near}})
	case len(named) > 0:
		f.Message += fmt.Sprintf(" It is in the domain %s.", quote(named[0].Domain))
		f.Suggestions = d.suggestFields(u, "with that domain", named)
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
func (d *diagnosis) suffixes() {
	if d.root == nil {
		return
	}
	for _, u := range d.uses(d.root) {
		if len(u.suffix) == 0 {
			continue
		}
		f := Finding{Code: CodeSuffix, Severity: SeverityWarning, Place: d.placeOf(u, "."+u.suffix[0])}
		if d.trial.Failed > 0 {
			f.Severity = SeverityError
		}
		field := u.field
		if domain, name, split := strings.Cut(u.field.Domain, "/"); split {
			field = Field{u.field.Kind, domain, name}
		}
		f.Message = fmt.Sprintf("There is no .%s on a value in CEL, although the API object has it: %s is the value itself.", u.suffix[0], field.Expression())
		if field != u.field {
			f.Message += fmt.Sprintf(" %s is a domain and a name in one; CEL wants them apart.", quote(u.field.Domain))
		}
		f.Suggestions = d.suggest(1, "without ."+strings.Join(u.suffix, "."), d.replace(d.text(u.expr), field.Expression()))
		d.add(f)
	}
}
