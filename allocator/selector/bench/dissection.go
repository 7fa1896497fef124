package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
)

// dissection is a selector that was tried, taken apart at its top-level &&, so that what its terms gave can
// be told of the places where they are written.
type dissection struct {
	bench *Bench
	trial *Trial
	// tree has no root for a selector that does not compile or cannot be taken apart.
	tree selector.Tree
	// normal is the source in normal form, on one line.
	normal string
	// terms are the operands of the top-level &&. A cel.bind may have several terms of the trial.
	terms []ast.Expr
	parts []selector.Part
}

func dissect(b *Bench, t *Trial) dissection {
	d := dissection{bench: b, trial: t, parts: b.cache.Parts(t.Expression)}
	if tree, ok := b.cache.Tree(t.Expression); ok && len(d.parts) > 0 {
		d.tree, d.normal, d.terms = tree, tree.Text(tree.Root), selector.Conjuncts(tree.Root)
	}
	return d
}

// valueOf is what a term gives for the devices of an outcome: one part that is false makes it false, even
// when others fail; otherwise the first failure is that of the whole.
func (d *dissection) valueOf(o *Outcome, term int) TermValue {
	whole := TermValue{Match: true}
	for i, v := range o.Terms {
		switch {
		case d.parts[i].Of != term:
		case v.Err != nil && whole.Err == nil:
			whole = TermValue{Err: v.Err}
		case v.Err == nil && !v.Match:
			return v
		}
	}
	return whole
}

// neverTrue returns the terms that are true for no device.
func (d *dissection) neverTrue() []int {
	var never []int
	for t := range d.terms {
		if !slices.ContainsFunc(d.trial.Outcomes, func(o Outcome) bool { return d.valueOf(&o, t).Match }) {
			never = append(never, t)
		}
	}
	return never
}

// device names a device and its driver.
func (d *dissection) device(subject int) string {
	s := d.bench.subject(subject)
	return fmt.Sprintf("%s of %s", selector.Quote(s.Device.Name), s.Driver)
}

// reads reports whether the selector reads one of these fields, which every device has.
func (d *dissection) reads(fields ...string) bool {
	if d.tree.Root == nil {
		return false
	}
	found := false
	ast.PreOrderVisit(d.tree.Root, ast.NewExprVisitor(func(e ast.Expr) {
		if path := selector.Path(e); len(path) == 1 && slices.Contains(fields, path[0]) {
			found = true
		}
	}))
	return found
}

// placeOf finds a name of a use in the source; the start of the use when it is not written there as such.
func (d *dissection) placeOf(u use, name string) selector.Place {
	source := d.trial.Expression
	start := d.tree.Start(u.expr)
	if start.Line == 0 {
		return start
	}
	at := selector.Offset(source, start)
	from := at
	if i := strings.Index(source[at:], u.field.Domain); i >= 0 && name != u.field.Domain {
		from += i + len(u.field.Domain) // the domain may contain the name
	}
	for _, from := range []int{from, at} {
		if i := strings.Index(source[from:], name); i >= 0 && name != "" {
			return selector.PlaceAt(source, from+i)
		}
	}
	return start
}

// replace puts new in the place of old, a part in normal form: in the source as the user wrote it if
// that is possible, else in the normal form. It returns "" when old is not there exactly once.
func (d *dissection) replace(old, with string) string {
	for _, source := range []string{strings.TrimSpace(d.trial.Expression), d.normal} {
		if strings.Count(source, old) == 1 {
			return strings.Replace(source, old, with, 1)
		}
	}
	return ""
}

// parenthesized returns the selector as it can stand beside &&.
func (d *dissection) parenthesized() string {
	source := strings.TrimSpace(d.trial.Expression)
	if strings.Contains(source, "\n") || strings.Contains(source, "//") {
		source = d.normal
	}
	if binds(d.tree.Root) {
		return source
	}
	return "(" + source + ")"
}

// rebuild joins the terms of the selector after changing each.
func (d *dissection) rebuild(change func(term ast.Expr) string) string {
	parts := make([]string, len(d.terms))
	for i, term := range d.terms {
		parts[i] = change(term)
		if len(d.terms) > 1 && !binds(term) && !strings.HasSuffix(parts[i], "("+d.tree.Text(term)+")") {
			parts[i] = "(" + parts[i] + ")"
		}
	}
	return strings.Join(parts, " && ")
}

// binds reports whether an expression can stand beside && without parentheses.
func binds(e ast.Expr) bool {
	if e.Kind() != ast.CallKind {
		return true
	}
	f := e.AsCall().FunctionName()
	return f != operators.LogicalOr && f != operators.Conditional
}

// agrees reports whether another selector gives the same on all devices on which this one does not fail
// and, if exact, matches none on which it does.
func (d *dissection) agrees(other *Trial, exact bool) bool {
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
