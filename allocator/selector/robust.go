package selector

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// missingKey returns the name in "no such key: NAME", which CEL says when an attribute or capacity is
// not there.
func missingKey(err error) (string, bool) {
	if err == nil {
		return "", false
	}
	_, after, ok := strings.Cut(err.Error(), "no such key: ")
	if !ok {
		return "", false
	}
	name, _, _ := strings.Cut(after, ". consider using CEL optional chaining")
	return name, true
}

// robust rewrites a selector so that it fails on no device of the bench and gives the same where it did
// not fail. It knows three ways: ask for the driver first, ask for the field first, or give the field a
// value where it is missing. Only what stood the trial is returned.
func (d *diagnosis) robust(expression string) []Suggestion {
	sub := &diagnosis{ctx: d.ctx, bench: d.bench, inv: d.inv, tried: d.tried}
	trial, err := d.bench.Try(d.ctx, expression)
	if err != nil || trial.Check.Scheduler != nil || trial.Failed == 0 {
		return nil
	}
	sub.trial = trial
	sub.parse()
	if sub.root == nil {
		return nil
	}
	gaps := sub.gaps()
	if len(gaps) == 0 {
		return nil
	}
	var out []Suggestion
	keep := func(effect, candidate string, exact bool) {
		t := d.try(candidate)
		if t == nil || !sub.agrees(t, exact) || slices.ContainsFunc(out, func(s Suggestion) bool { return s.Expression == candidate }) {
			return
		}
		out = append(out, Suggestion{Expression: candidate, Effect: effect, Matched: t.Matched})
	}
	if driver := sub.foreign(gaps...); driver != "" {
		keep("looks only at devices of "+driver, "device.driver == "+quote(driver)+" && "+sub.parenthesized(), true)
	}
	names := gapNames(gaps)
	keep("a device without "+names+" does not match", sub.guarded(gaps, hasField), true)
	keep("the same, asking for the key", sub.guarded(gaps, inDomain), true)
	keep("a device without "+names+" counts as if it had the value in orValue(…)", sub.defaulted(gaps), false)
	return out
}

// agrees reports whether another selector gives the same on all devices on which this one does not fail
// and, if exact, matches none on which it does.
func (d *diagnosis) agrees(other *Trial, exact bool) bool {
	for i := range d.trial.Of {
		mine, its := d.trial.OutcomeOf(i), other.OutcomeOf(i)
		if mine.Result == Failed {
			if exact && its.Result == Match {
				return false
			}
			continue
		}
		if mine.Result != its.Result {
			return false
		}
	}
	return true
}

// gap is a field that a term reads of devices that do not have it.
type gap struct {
	term  ast.Expr
	field Field
	// use is where it is read; without an expression when it is read through a variable.
	use use
	// devices counts those on which the whole selector fails for that; first is the first of them.
	devices, first int
	drivers        []string
}

// gaps finds the fields that make the selector fail where they are missing.
func (d *diagnosis) gaps() []gap {
	if d.root == nil {
		return nil
	}
	var out []gap
	for t, term := range conjuncts(d.root) {
		uses := d.uses(term)
		for i := range d.trial.Outcomes { // the devices of an outcome agree in all that is read
			o := &d.trial.Outcomes[i]
			if o.Result != Failed || d.valueOf(o, t).Err == nil {
				continue
			}
			found := false
			for _, u := range uses {
				if !u.asked && !d.hasField(o.First, u.field) {
					found = true
					out = d.note(out, gap{term: term, field: u.field, use: u}, o)
				}
			}
			if key, missing := missingKey(d.valueOf(o, t).Err); missing && !found {
				for _, f := range d.hidden(term, key) {
					out = d.note(out, gap{term: term, field: f}, o)
				}
			}
		}
	}
	return out
}

// note counts the devices of an outcome for a gap.
func (d *diagnosis) note(gaps []gap, g gap, o *Outcome) []gap {
	i := slices.IndexFunc(gaps, func(have gap) bool { return have.field == g.field && have.term.ID() == g.term.ID() })
	if i < 0 {
		i = len(gaps)
		g.first = o.First
		gaps = append(gaps, g)
	}
	gaps[i].devices += o.Devices
	if driver := d.bench.columns.subjects[o.First].Driver; !slices.Contains(gaps[i].drivers, driver) {
		gaps[i].drivers = append(gaps[i].drivers, driver)
	}
	return gaps
}

// hidden returns the fields of a name in the domains that a term reads as a whole, as through the
// variable in cel.bind(gpu, device.attributes["gpu.example.com"], gpu.model == "A100").
func (d *diagnosis) hidden(term ast.Expr, name string) []Field {
	var r Reads
	r.collect(term)
	var out []Field
	for _, f := range r.Fields {
		if f.Name == "" && name != "" {
			out = append(out, Field{f.Kind, f.Domain, name})
		}
	}
	return out
}

func (d *diagnosis) hasField(subject int, f Field) bool {
	s := d.bench.columns.subjects[subject]
	if f.Kind == "capacity" {
		_, ok := find(s.Device.Capacity, &f, s.Driver)
		return ok
	}
	_, ok := find(s.Device.Attributes, &f, s.Driver)
	return ok
}

func gapNames(gaps []gap) string {
	var names []string
	for _, g := range gaps {
		if !slices.Contains(names, quote(g.field.Name)) {
			names = append(names, quote(g.field.Name))
		}
	}
	return orList(names)
}

// foreign returns the driver whose domain is read of devices of other drivers only, or "".
func (d *diagnosis) foreign(gaps ...gap) string {
	driver := gaps[0].field.Domain
	for _, g := range gaps {
		if g.field.Domain != driver || slices.Contains(g.drivers, driver) {
			return ""
		}
	}
	if d.inv.Drivers[driver] == 0 {
		return ""
	}
	return driver
}

// parenthesized returns the selector as it can stand beside &&.
func (d *diagnosis) parenthesized() string {
	source := strings.TrimSpace(d.trial.Expression)
	if strings.Contains(source, "\n") || strings.Contains(source, "//") {
		source = d.normal
	}
	if binds(d.root) {
		return source
	}
	return "(" + source + ")"
}

// binds reports whether an expression can stand beside && without parentheses.
func binds(e ast.Expr) bool {
	if e.Kind() != ast.CallKind {
		return true
	}
	f := e.AsCall().FunctionName()
	return f != operators.LogicalOr && f != operators.Conditional
}

func hasField(f Field) string {
	if !IsIdentifier(f.Name) {
		return inDomain(f)
	}
	return "has(" + f.Expression() + ")"
}

func inDomain(f Field) string {
	return quote(f.Name) + " in " + (Field{f.Kind, f.Domain, ""}).Expression()
}

// guarded puts a question for each missing field before the term that reads it.
func (d *diagnosis) guarded(gaps []gap, guard func(Field) string) string {
	return d.rebuild(func(term ast.Expr) string {
		text := d.text(term)
		if !binds(term) && slices.ContainsFunc(gaps, func(g gap) bool { return g.term.ID() == term.ID() }) {
			text = "(" + text + ")"
		}
		for _, g := range slices.Backward(gaps) {
			if g.term.ID() == term.ID() {
				text = guard(g.field) + " && " + text
			}
		}
		return text
	})
}

// defaulted gives missing fields a value.
func (d *diagnosis) defaulted(gaps []gap) string {
	failed := false
	out := d.rebuild(func(term ast.Expr) string {
		text := d.text(term)
		for _, g := range gaps {
			if g.term.ID() != term.ID() {
				continue
			}
			value := d.zero(g.field)
			if value == "" || len(g.use.suffix) > 0 || g.use.expr == nil {
				failed = true
				continue
			}
			text = strings.ReplaceAll(text, d.text(g.use.expr), optional(g.field)+".orValue("+value+")")
		}
		return text
	})
	if failed {
		return ""
	}
	return out
}

// rebuild joins the terms of the selector after changing each.
func (d *diagnosis) rebuild(change func(term ast.Expr) string) string {
	terms := conjuncts(d.root)
	parts := make([]string, len(terms))
	for i, term := range terms {
		parts[i] = change(term)
		if len(terms) > 1 && !binds(term) && !strings.HasSuffix(parts[i], "("+d.text(term)+")") {
			parts[i] = "(" + parts[i] + ")"
		}
	}
	return strings.Join(parts, " && ")
}

// optional returns how CEL reads a field that may be missing.
func optional(f Field) string {
	domain := (Field{f.Kind, f.Domain, ""}).Expression()
	if IsIdentifier(f.Name) {
		return domain + ".?" + f.Name
	}
	return fmt.Sprintf("%s[?%s]", domain, quote(f.Name))
}

// zero returns a value of the type that the field has on other devices, or "".
func (d *diagnosis) zero(f Field) string {
	if f.Kind == "capacity" {
		return `quantity("0")`
	}
	info := d.inv.Field(f)
	if info == nil {
		return ""
	}
	switch info.Type() {
	case "string":
		return `""`
	case "int":
		return "0"
	case "bool":
		return "false"
	case "version":
		return `semver("0.0.0")`
	case "":
		return ""
	}
	return "[]"
}
