package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
)

// missingKey returns the name in "no such key: NAME", which CEL says when an attribute or capacity is
// not there.
func missingKey(err error) (string, bool) {
	if err == nil {
		return "", false
	}
	_, name, ok := strings.Cut(err.Error(), "no such key: ")
	return WithoutAdvice(name), ok
}

// WithoutAdvice is the text of an error without what the scheduler advises: ours was tried.
func WithoutAdvice(text string) string {
	text, _, _ = strings.Cut(text, ". consider using CEL optional chaining")
	return text
}

// robust rewrites a selector so that it fails on no device of the bench and gives the same where it did
// not fail. It knows three ways: ask for the driver first, ask for the field first, or give the field a
// value where it is missing. Only what stood the trial is returned.
func (c *corrections) robust(expression string) []Suggestion {
	trial, err := c.on.Try(c.ctx, expression)
	if err != nil || trial.Check.Scheduler != nil || trial.Failed == 0 {
		return nil
	}
	d, inv := dissect(c.on, trial), c.on.Inventory()
	gaps := d.gaps()
	if len(gaps) == 0 {
		return nil
	}
	var out []Suggestion
	keep := func(effect, candidate string, exact bool) {
		t := c.try(candidate)
		known := func(s Suggestion) bool { return s.Expression == candidate }
		if t == nil || !d.agrees(t, exact) || slices.ContainsFunc(out, known) {
			return
		}
		out = append(out, Suggestion{Expression: candidate, Effect: effect, Matched: t.Matched})
	}
	if driver := foreign(inv, gaps...); driver != "" {
		keep("looks only at devices of "+driver, "device.driver == "+selector.Quote(driver)+" && "+d.parenthesized(), true)
	}
	names := gapNames(gaps)
	keep("a device without "+names+" does not match", d.guarded(gaps, testOf), true)
	keep("the same, asking for the key", d.guarded(gaps, inDomain), true)
	keep("a device without "+names+" counts as if it had the value in orValue(…)", d.defaulted(gaps, inv), false)
	return out
}

// gap is a field that a term reads of devices that do not have it.
type gap struct {
	term  ast.Expr
	field selector.Field
	// use is where it is read; without an expression when it is read through a variable.
	use use
	// devices counts those on which the whole selector fails for that; first is the first of them.
	devices, first int
	drivers        []string
}

// gaps finds the fields that make the selector fail where they are missing.
func (d *dissection) gaps() []gap {
	var out []gap
	for t, term := range d.terms {
		uses := usesIn(term)
		for i := range d.trial.Outcomes { // the devices of an outcome agree in all that is read
			o := &d.trial.Outcomes[i]
			if o.Result != Failed || d.valueOf(o, t).Err == nil {
				continue
			}
			s := d.bench.subject(o.First)
			found := false
			for _, u := range uses {
				if !u.asked && !hasField(s, u.field) {
					found = true
					out = note(out, gap{term: term, field: u.field, use: u}, o, s.Driver)
				}
			}
			if key, missing := missingKey(d.valueOf(o, t).Err); missing && !found {
				for _, f := range hidden(term, key) {
					out = note(out, gap{term: term, field: f}, o, s.Driver)
				}
			}
		}
	}
	return out
}

// note counts the devices of an outcome, which are of a driver, for a gap.
func note(gaps []gap, g gap, o *Outcome, driver string) []gap {
	i := slices.IndexFunc(gaps, func(have gap) bool { return have.field == g.field && have.term.ID() == g.term.ID() })
	if i < 0 {
		i = len(gaps)
		g.first = o.First
		gaps = append(gaps, g)
	}
	gaps[i].devices += o.Devices
	if !slices.Contains(gaps[i].drivers, driver) {
		gaps[i].drivers = append(gaps[i].drivers, driver)
	}
	return gaps
}

// hidden returns the fields of a name in the domains that a term reads as a whole, as through the
// variable in cel.bind(gpu, device.attributes["gpu.example.com"], gpu.model == "A100").
func hidden(term ast.Expr, name string) []selector.Field {
	var out []selector.Field
	for _, f := range selector.ReadsIn(term).Fields {
		if f.Name == "" && name != "" {
			out = append(out, selector.Field{Kind: f.Kind, Domain: f.Domain, Name: name})
		}
	}
	return out
}

func hasField(s *Subject, f selector.Field) bool {
	_, ok := f.Value(s.Driver, s.Device)
	return ok
}

func gapNames(gaps []gap) string {
	var names []string
	for _, g := range gaps {
		if !slices.Contains(names, selector.Quote(g.field.Name)) {
			names = append(names, selector.Quote(g.field.Name))
		}
	}
	return orList(names)
}

// foreign returns the driver whose domain is read of devices of other drivers only, or "".
func foreign(inv *Inventory, gaps ...gap) string {
	driver := gaps[0].field.Domain
	for _, g := range gaps {
		if g.field.Domain != driver || slices.Contains(g.drivers, driver) {
			return ""
		}
	}
	if inv.Drivers[driver] == 0 {
		return ""
	}
	return driver
}

// testOf asks whether a device has a field.
func testOf(f selector.Field) string {
	if !selector.IsIdentifier(f.Name) {
		return inDomain(f)
	}
	return "has(" + f.Expression() + ")"
}

func inDomain(f selector.Field) string {
	return selector.Quote(f.Name) + " in " + (selector.Field{Kind: f.Kind, Domain: f.Domain}).Expression()
}

// guarded puts a question for each missing field before the term that reads it.
func (d *dissection) guarded(gaps []gap, guard func(selector.Field) string) string {
	return d.rebuild(func(term ast.Expr) string {
		text := d.tree.Text(term)
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
func (d *dissection) defaulted(gaps []gap, inv *Inventory) string {
	failed := false
	out := d.rebuild(func(term ast.Expr) string {
		text := d.tree.Text(term)
		for _, g := range gaps {
			if g.term.ID() != term.ID() {
				continue
			}
			value := zero(inv, g.field)
			if value == "" || len(g.use.suffix) > 0 || g.use.expr == nil {
				failed = true
				continue
			}
			text = strings.ReplaceAll(text, d.tree.Text(g.use.expr), optional(g.field)+".orValue("+value+")")
		}
		return text
	})
	if failed {
		return ""
	}
	return out
}

// optional returns how CEL reads a field that may be missing.
func optional(f selector.Field) string {
	domain := (selector.Field{Kind: f.Kind, Domain: f.Domain}).Expression()
	if selector.IsIdentifier(f.Name) {
		return domain + ".?" + f.Name
	}
	return fmt.Sprintf("%s[?%s]", domain, selector.Quote(f.Name))
}

// zero returns a value of the type that the field has on other devices, or "".
func zero(inv *Inventory, f selector.Field) string {
	if f.Kind == "capacity" {
		return `quantity("0")`
	}
	info := inv.Field(f)
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
