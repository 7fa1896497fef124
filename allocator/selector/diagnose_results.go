package selector

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect/quantity"
)

// failures explains why the evaluation fails on devices.
func (d *diagnosis) failures() {
	if d.trial.Failed == 0 {
		return
	}
	var gaps []gap
	if d.root != nil {
		gaps = d.gaps()
	}
	first := -1
	for _, g := range gaps {
		if d.inv.Field(g.field) == nil && g.use.expr != nil {
			continue // said already, that no device has it
		}
		if first < 0 {
			first = len(d.findings)
		}
		d.missing(g)
	}
	d.otherFailures()
	if first < 0 {
		return
	}
	if made := d.robust(d.trial.Expression); len(made) > 0 {
		d.findings[first].Suggestions = made
	}
}

// device names a device and its driver.
func (d *diagnosis) device(subject int) string {
	s := d.bench.columns.subjects[subject]
	return fmt.Sprintf("%s of %s", quote(s.Device.Name), s.Driver)
}

// missing explains a field that some devices do not have.
func (d *diagnosis) missing(g gap) {
	what := "attribute"
	if g.field.Kind == "capacity" {
		what = "capacity"
	}
	f := Finding{Code: CodeMissingKey, Severity: SeverityError}
	if g.use.expr != nil {
		f.Place = d.placeOf(g.use, g.field.Name)
	}
	have := "do not have"
	if g.devices == 1 {
		have = "does not have"
	}
	f.Message = fmt.Sprintf("It fails on %s that %s the %s %s of domain %s, as device %s.",
		devices(g.devices), have, what, quote(g.field.Name), quote(g.field.Domain), d.device(g.first))
	if driver := d.foreign(g); driver != "" {
		f.Message += fmt.Sprintf(" Devices of other drivers than %s do not have it. One failure makes the scheduler give up a claim; that cannot happen behind a class that lets only devices of %s through.", driver, driver)
	} else {
		f.Message += " One failure makes the scheduler give up the whole claim."
	}
	d.add(f)
}

// otherFailures explains errors that are not about missing fields, each kind once.
func (d *diagnosis) otherFailures() {
	type kind struct {
		count, first int
	}
	kinds := map[string]*kind{}
	for i := range d.trial.Outcomes {
		o := &d.trial.Outcomes[i]
		if o.Result != Failed {
			continue
		}
		text := o.Err.Error()
		_, missing := missingKey(o.Err)
		if (missing || strings.Contains(text, "no such overload")) && d.explained(o) {
			continue
		}
		if kinds[text] == nil {
			kinds[text] = &kind{first: o.First}
		}
		kinds[text].count += o.Devices
	}
	for n, text := range slices.Sorted(maps.Keys(kinds)) {
		if n == 8 {
			break // with many different errors the first few tell enough
		}
		d.add(d.otherFailure(text, kinds[text].count, kinds[text].first))
	}
}

// explained reports whether another finding says already why a device fails: a field is missing, or a
// value is compared with one of another type, or has a suffix that does not exist.
func (d *diagnosis) explained(o *Outcome) bool {
	if d.root == nil {
		return false
	}
	for t, term := range conjuncts(d.root) {
		if d.valueOf(o, t).Err == nil {
			continue
		}
		for _, u := range d.uses(term) {
			if !u.asked && (!d.hasField(o.First, u.field) || len(u.suffix) > 0) {
				return true
			}
		}
		for _, c := range d.comparisonsIn(term) {
			if info := d.inv.Field(c.use.field); info != nil && info.Type() != "" && c.differs(info.Type()) {
				return true
			}
		}
		key, _ := missingKey(o.Err)
		if len(d.hidden(term, key)) > 0 {
			return true
		}
	}
	return false
}

func (d *diagnosis) otherFailure(text string, count, first int) Finding {
	f := Finding{Code: CodeRuntime, Severity: SeverityError}
	on := fmt.Sprintf("on %s, as device %s", devices(count), d.device(first))
	switch {
	case strings.Contains(text, "actual cost limit exceeded"):
		f.Code = CodeCost
		f.Message = fmt.Sprintf("The evaluation is stopped %s, because it costs more than %d.", on, MaxCost)
	case strings.HasPrefix(text, "attribute "):
		f.Code = CodeBadDevice
		f.Message = fmt.Sprintf("Every selector fails %s: %s. The driver must publish a proper value.", on, text)
	case strings.Contains(text, "could not be converted to bool"):
		f.Code = CodeNotBoolean
		f.Message = fmt.Sprintf("The result is not true or false %s: compare the value with something.", on)
		f.Suggestions = d.compareWithValue()
	case strings.Contains(text, "no such overload"):
		f.Code = CodeType
		f.Message = fmt.Sprintf("It fails %s: an operator or function does not go with the type of the value%s.", on, d.typesSeen(first))
	default:
		f.Message = fmt.Sprintf("It fails %s: %s.", on, text)
	}
	return f
}

// typesSeen lists the values that the failing terms saw on a device.
func (d *diagnosis) typesSeen(subject int) string {
	if d.root == nil {
		return ""
	}
	s := d.bench.columns.subjects[subject]
	var seen []string
	for t, term := range conjuncts(d.root) {
		o := d.trial.OutcomeOf(subject)
		if d.valueOf(o, t).Err == nil {
			continue
		}
		for _, r := range reads(term, s.Driver, s.Device) {
			if r.Value == "" {
				continue
			}
			seen = append(seen, fmt.Sprintf("%s is %s", r.Expression, r.Value))
		}
	}
	if len(seen) == 0 {
		return ""
	}
	return ": " + strings.Join(seen, ", ")
}

// compareWithValue proposes a comparison for a selector that is nothing but a value.
func (d *diagnosis) compareWithValue() []Suggestion {
	if d.root == nil {
		return nil
	}
	path := fieldPath(d.root)
	if len(path) != 3 {
		return nil
	}
	info := d.inv.Field(Field{path[0], path[1], path[2]})
	if info == nil || len(info.Common(1)) == 0 {
		return nil
	}
	return d.suggest(1, "for example", strings.TrimSpace(d.trial.Expression)+" == "+info.Common(1)[0])
}

// results says when the result may not be what was meant.
func (d *diagnosis) results() {
	t := d.trial
	drivers := map[string]int{}
	for i := range t.Of {
		if t.OutcomeOf(i).Result == Match {
			drivers[d.bench.columns.subjects[i].Driver]++
		}
	}
	switch {
	case t.Total() == 0:
	case t.Matched == t.Total() && t.Total() > 1:
		f := Finding{Code: CodeEverything, Severity: SeverityNote, Message: fmt.Sprintf("It matches all %s.", devices(t.Total()))}
		if r := d.bench.cache.Selector(t.Expression).Reads(); len(r.Fields) == 0 && !r.Everything && !d.reads("driver", "allowMultipleAllocations") {
			f.Message = fmt.Sprintf("It matches all %s, because it looks at nothing of the device.", devices(t.Total()))
		}
		d.add(f)
	case t.Matched == 0 && t.Failed < t.Total() && d.onlyMissing():
		d.nothing()
	}
	if len(drivers) > 1 && !d.reads("driver") {
		names := slices.Sorted(maps.Keys(drivers))
		f := Finding{Code: CodeOtherDrivers, Severity: SeverityNote}
		f.Message = fmt.Sprintf("It matches devices of %d drivers: %s. That is fine behind a class that asks for one driver; without one, ask for it with device.driver == %s.",
			len(names), quoted(names, 4), quote(names[0]))
		d.add(f)
	}
}

// onlyMissing reports that nothing worse was found than fields that some devices do not have: what else
// was found already explains why no device matches.
func (d *diagnosis) onlyMissing() bool {
	return !slices.ContainsFunc(d.findings, func(f Finding) bool { return f.Severity == SeverityError && f.Code != CodeMissingKey })
}

// reads reports whether the expression reads one of these fields, which every device has.
func (d *diagnosis) reads(fields ...string) bool {
	found := false
	d.visit(func(e ast.Expr) {
		if path := fieldPath(e); len(path) == 1 && slices.Contains(fields, path[0]) {
			found = true
		}
	})
	return found
}

// nothing explains why no device matches: which terms are never true, and what was there instead.
func (d *diagnosis) nothing() {
	f := Finding{Code: CodeNothing, Severity: SeverityWarning, Message: "It matches no device."}
	never := d.neverTrue()
	if d.root == nil {
		d.add(f)
		return
	}
	terms := conjuncts(d.root)
	switch {
	case len(terms) > 1 && len(never) == 0:
		f.Message = "It matches no device: each of its terms is true for some devices, but never all of them for the same one."
	case len(never) > 0 && len(terms) > 1:
		f.Message = fmt.Sprintf("It matches no device: this is never true: %s.", strings.Join(d.texts(terms, never), ", nor is "))
	}
	for _, i := range never {
		f.Place = d.place(terms[i])
		for _, c := range d.comparisonsIn(terms[i]) {
			d.valueHint(&f, &c)
		}
		d.quantityHint(&f, terms[i])
		d.driverHint(&f, terms[i])
	}
	if len(terms) > 1 && len(never) == 0 {
		f.Place = Place{}
	}
	d.add(f)
}

func (d *diagnosis) texts(terms []ast.Expr, which []int) []string {
	var out []string
	for _, i := range which {
		out = append(out, d.text(terms[i]))
	}
	return out
}

// neverTrue returns the terms that are true for no device.
func (d *diagnosis) neverTrue() []int {
	var never []int
	for t := range d.spans {
		if !slices.ContainsFunc(d.trial.Outcomes, func(o Outcome) bool { return d.valueOf(&o, t).Match }) {
			never = append(never, t)
		}
	}
	return never
}

// valueHint adds which values a field has when it was compared with another one.
func (d *diagnosis) valueHint(f *Finding, c *constantComparison) {
	info := d.inv.Field(c.use.field)
	if info == nil || c.kind != info.Type() {
		return
	}
	f.Message += fmt.Sprintf(" %s is %s", quote(c.use.field.Name), orList(info.Common(5)))
	if len(info.Values) > 5 {
		f.Message += fmt.Sprintf(" or one of %d other values", len(info.Values)-5)
	}
	f.Message += "."
	if c.kind != "string" || c.operator != "==" {
		return
	}
	var values []string
	for value := range info.Values {
		values = append(values, (&constantComparison{constant: value}).bare())
	}
	if near := nearest(c.bare(), values); near != "" {
		f.Message += fmt.Sprintf(" Did you mean %s?", quote(near))
		f.Suggestions = append(f.Suggestions, d.suggest(1, "with that value", d.replace(c.constant, quote(near)))...)
	}
}

// nearly is the part of a wanted capacity from which on one is called a little less.
const nearly = 0.95

// quantityHint adds which capacities there are when more was asked for. A device that is sold with 80 GB
// has often less than 80Gi, which is easy to overlook.
func (d *diagnosis) quantityHint(f *Finding, term ast.Expr) {
	ast.PreOrderVisit(term, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || !e.AsCall().IsMemberFunction() || len(e.AsCall().Args()) != 1 {
			return
		}
		call := e.AsCall()
		path := fieldPath(call.Target())
		if len(path) != 3 || path[0] != "capacity" || constantKind(call.Args()[0]) != "quantity" {
			return
		}
		info := d.inv.Field(Field{path[0], path[1], path[2]})
		wanted, ok := constantString(call.Args()[0].AsCall().Args()[0])
		if info == nil || !ok {
			return
		}
		f.Message += fmt.Sprintf(" %s is %s.", quote(path[2]), orList(info.Common(5)))
		limit, err := quantity.Parse(wanted)
		largest := info.largest()
		if err != nil || largest == nil || largest.Cmp(limit) >= 0 || largest.AsApproximateFloat64() < nearly*limit.AsApproximateFloat64() {
			return
		}
		f.Message += fmt.Sprintf(" %s is a little less than %s: Gi counts in 1024, GB on a label in 1000.", largest.String(), wanted)
		f.Suggestions = append(f.Suggestions, d.suggest(1, "with what there is", d.replace(quote(wanted), quote(largest.String())), strings.Replace(d.trial.Expression, wanted, largest.String(), 1))...)
	}))
}

// largest returns the largest value of a capacity, or nil.
func (f *FieldInfo) largest() *resource.Quantity {
	var largest *resource.Quantity
	for value := range f.Values {
		if q, err := quantity.Parse(value); err == nil && (largest == nil || q.Cmp(*largest) > 0) {
			largest = &q
		}
	}
	return largest
}

// driverHint adds which drivers there are when another one was asked for.
func (d *diagnosis) driverHint(f *Finding, term ast.Expr) {
	if term.Kind() != ast.CallKind || comparing[term.AsCall().FunctionName()] != "==" {
		return
	}
	for i, arg := range term.AsCall().Args() {
		path := fieldPath(arg)
		wanted, ok := constantString(term.AsCall().Args()[1-i])
		if len(path) != 1 || path[0] != "driver" || !ok {
			continue
		}
		names := d.driverNames()
		f.Message += fmt.Sprintf(" The drivers are %s.", quoted(names, 6))
		if near := nearest(wanted, names); near != "" {
			f.Message += fmt.Sprintf(" Did you mean %s?", quote(near))
			f.Suggestions = append(f.Suggestions, d.suggest(1, "with that driver", d.replace(quote(wanted), quote(near)), strings.Replace(d.trial.Expression, wanted, near, 1))...)
		}
	}
}
