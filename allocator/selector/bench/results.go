package bench

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/inspect/quantity"
)

// failures explains why the evaluation fails on devices. The corrected forms are those of the first missing
// field.
func failures(d *diagnosis) []Finding {
	if d.trial.Failed == 0 {
		return nil
	}
	var found []Finding
	for _, g := range d.gaps() {
		if d.inv.Field(g.field) == nil && g.use.expr != nil {
			continue // said already, that no device has it
		}
		found = append(found, missingField(d, g))
	}
	missing := len(found) > 0
	found = append(found, otherFailures(d)...)
	if missing {
		found[0].Suggestions = d.robust(d.trial.Expression)
	}
	return found
}

// missingField explains a field that some devices do not have.
func missingField(d *diagnosis, g gap) Finding {
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
		DeviceCount(g.devices), have, what, selector.Quote(g.field.Name), selector.Quote(g.field.Domain), d.device(g.first))
	if driver := foreign(d.inv, g); driver != "" {
		f.Message += fmt.Sprintf(" Devices of other drivers than %s do not have it. One failure makes the scheduler give up a claim; that cannot happen behind a class that lets only devices of %s through.", driver, driver)
	} else {
		f.Message += " One failure makes the scheduler give up the whole claim."
	}
	return f
}

// otherFailures explains errors that are not about missing fields, each kind once.
func otherFailures(d *diagnosis) []Finding {
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
		if (missing || strings.Contains(text, "no such overload")) && explained(d, o) {
			continue
		}
		if kinds[text] == nil {
			kinds[text] = &kind{first: o.First}
		}
		kinds[text].count += o.Devices
	}
	texts := slices.Sorted(maps.Keys(kinds))
	var found []Finding
	for _, text := range texts[:min(8, len(texts))] { // with many different errors the first few are enough
		found = append(found, otherFailure(d, text, kinds[text].count, kinds[text].first))
	}
	return found
}

// explained reports whether another finding says already why a device fails: a field is missing, or a
// value is compared with one of another type, or has a suffix that does not exist.
func explained(d *diagnosis, o *Outcome) bool {
	for t, term := range d.terms {
		if d.valueOf(o, t).Err == nil {
			continue
		}
		for _, u := range usesIn(term) {
			if !u.asked && (!hasField(d.bench.subject(o.First), u.field) || len(u.suffix) > 0) {
				return true
			}
		}
		for _, c := range d.comparisonsIn(term) {
			if info := d.inv.Field(c.use.field); info != nil && info.Type() != "" && c.differs(info.Type()) {
				return true
			}
		}
		key, _ := missingKey(o.Err)
		if len(hidden(term, key)) > 0 {
			return true
		}
	}
	return false
}

func otherFailure(d *diagnosis, text string, count, first int) Finding {
	f := Finding{Code: CodeRuntime, Severity: SeverityError}
	on := fmt.Sprintf("on %s, as device %s", DeviceCount(count), d.device(first))
	switch {
	case strings.Contains(text, "actual cost limit exceeded"):
		f.Code = CodeCost
		f.Message = fmt.Sprintf("The evaluation is stopped %s, because it costs more than %d.", on, selector.MaxCost)
	case strings.HasPrefix(text, "attribute "):
		f.Code = CodeBadDevice
		f.Message = fmt.Sprintf("Every selector fails %s: %s. The driver must publish a proper value.", on, text)
	case strings.Contains(text, "could not be converted to bool"):
		f.Code = CodeNotBoolean
		f.Message = fmt.Sprintf("The result is not true or false %s: compare the value with something.", on)
		f.Suggestions = compareWithValue(d)
	case strings.Contains(text, "no such overload"):
		f.Code = CodeType
		f.Message = fmt.Sprintf("It fails %s: an operator or function does not go with the type of the value%s.", on, typesSeen(d, first))
	default:
		f.Message = fmt.Sprintf("It fails %s: %s.", on, text)
	}
	return f
}

// typesSeen lists the values that the failing terms saw on a device.
func typesSeen(d *diagnosis, subject int) string {
	s := d.bench.subject(subject)
	o := d.trial.OutcomeOf(subject)
	var seen []string
	for t, term := range d.terms {
		if d.valueOf(o, t).Err == nil {
			continue
		}
		for _, r := range selector.ReadsOf(term, s.Driver, s.Device) {
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
func compareWithValue(d *diagnosis) []Suggestion {
	if d.tree.Root == nil {
		return nil
	}
	path := selector.Path(d.tree.Root)
	if len(path) != 3 {
		return nil
	}
	info := d.inv.Field(selector.Field{Kind: path[0], Domain: path[1], Name: path[2]})
	if info == nil || len(info.Common(1)) == 0 {
		return nil
	}
	return d.suggest(1, "for example", strings.TrimSpace(d.trial.Expression)+" == "+info.Common(1)[0])
}

// results says when the result may not be what was meant; found is what is wrong with the selector.
func results(d *diagnosis, found []Finding) []Finding {
	t := d.trial
	drivers := map[string]int{}
	for i := range t.Of {
		if t.OutcomeOf(i).Result == Match {
			drivers[d.bench.subject(i).Driver]++
		}
	}
	// Anything worse than fields that some devices do not have explains already why no device matches.
	worse := func(f Finding) bool { return f.Severity == SeverityError && f.Code != CodeMissingKey }
	var out []Finding
	switch {
	case t.Total() == 0:
	case t.Matched == t.Total() && t.Total() > 1:
		f := Finding{Code: CodeEverything, Severity: SeverityNote}
		f.Message = fmt.Sprintf("It matches all %s.", DeviceCount(t.Total()))
		r := d.bench.cache.Selector(t.Expression).Reads()
		if len(r.Fields) == 0 && !r.Everything && !d.reads("driver", "allowMultipleAllocations") {
			f.Message = fmt.Sprintf("It matches all %s, because it looks at nothing of the device.", DeviceCount(t.Total()))
		}
		out = append(out, f)
	case t.Matched == 0 && t.Failed < t.Total() && !slices.ContainsFunc(found, worse):
		out = append(out, nothing(d))
	}
	if len(drivers) > 1 && !d.reads("driver") {
		names := slices.Sorted(maps.Keys(drivers))
		f := Finding{Code: CodeOtherDrivers, Severity: SeverityNote}
		f.Message = fmt.Sprintf("It matches devices of %d drivers: %s. That is fine behind a class that asks for one driver; "+
			"without one, ask for it with device.driver == %s.", len(names), quoted(names, 4), selector.Quote(names[0]))
		out = append(out, f)
	}
	return out
}

// nothing explains why no device matches: which terms are never true, and what was there instead.
func nothing(d *diagnosis) Finding {
	f := Finding{Code: CodeNothing, Severity: SeverityWarning, Message: "It matches no device."}
	if d.tree.Root == nil {
		return f
	}
	never := d.neverTrue()
	switch {
	case len(d.terms) > 1 && len(never) == 0:
		f.Message = "It matches no device: each of its terms is true for some devices, but never all of them for the same one."
	case len(never) > 0 && len(d.terms) > 1:
		var texts []string
		for _, i := range never {
			texts = append(texts, d.tree.Text(d.terms[i]))
		}
		f.Message = fmt.Sprintf("It matches no device: this is never true: %s.", strings.Join(texts, ", nor is "))
	}
	for _, i := range never {
		f.Place = d.tree.Start(d.terms[i])
		for _, c := range d.comparisonsIn(d.terms[i]) {
			valueHint(d, &f, &c)
		}
		quantityHint(d, &f, d.terms[i])
		driverHint(d, &f, d.terms[i])
	}
	return f
}

// valueHint adds which values a field has when it was compared with another one.
func valueHint(d *diagnosis, f *Finding, c *constantComparison) {
	info := d.inv.Field(c.use.field)
	if info == nil || c.kind != info.Type() {
		return
	}
	f.Message += fmt.Sprintf(" %s is %s", selector.Quote(c.use.field.Name), orList(info.Common(5)))
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
		f.Message += fmt.Sprintf(" Did you mean %s?", selector.Quote(near))
		f.Suggestions = append(f.Suggestions, d.suggest(1, "with that value", d.replace(c.constant, selector.Quote(near)))...)
	}
}

// nearly is the part of a wanted capacity from which on one is called a little less.
const nearly = 0.95

// quantityHint adds which capacities there are when more was asked for. A device that is sold with 80 GB
// has often less than 80Gi, which is easy to overlook.
func quantityHint(d *diagnosis, f *Finding, term ast.Expr) {
	ast.PreOrderVisit(term, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || !e.AsCall().IsMemberFunction() || len(e.AsCall().Args()) != 1 {
			return
		}
		call := e.AsCall()
		path := selector.Path(call.Target())
		if len(path) != 3 || path[0] != "capacity" || selector.ConstantKind(call.Args()[0]) != "quantity" {
			return
		}
		info := d.inv.Field(selector.Field{Kind: path[0], Domain: path[1], Name: path[2]})
		wanted, ok := selector.ConstantString(call.Args()[0].AsCall().Args()[0])
		if info == nil || !ok {
			return
		}
		f.Message += fmt.Sprintf(" %s is %s.", selector.Quote(path[2]), orList(info.Common(5)))
		limit, err := quantity.Parse(wanted)
		largest := info.largest()
		if err != nil || largest == nil || largest.Cmp(limit) >= 0 || largest.AsApproximateFloat64() < nearly*limit.AsApproximateFloat64() {
			return
		}
		f.Message += fmt.Sprintf(" %s is a little less than %s: Gi counts in 1024, GB on a label in 1000.", largest.String(), wanted)
		f.Suggestions = append(f.Suggestions, d.suggest(1, "with what there is", d.replace(selector.Quote(wanted), selector.Quote(largest.String())), strings.Replace(d.trial.Expression, wanted, largest.String(), 1))...)
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
func driverHint(d *diagnosis, f *Finding, term ast.Expr) {
	if term.Kind() != ast.CallKind || term.AsCall().FunctionName() != operators.Equals {
		return
	}
	for i, arg := range term.AsCall().Args() {
		path := selector.Path(arg)
		wanted, ok := selector.ConstantString(term.AsCall().Args()[1-i])
		if len(path) != 1 || path[0] != "driver" || !ok {
			continue
		}
		names := d.inv.drivers()
		f.Message += fmt.Sprintf(" The drivers are %s.", quoted(names, 6))
		if near := nearest(wanted, names); near != "" {
			f.Message += fmt.Sprintf(" Did you mean %s?", selector.Quote(near))
			f.Suggestions = append(f.Suggestions, d.suggest(1, "with that driver", d.replace(selector.Quote(wanted), selector.Quote(near)), strings.Replace(d.trial.Expression, wanted, near, 1))...)
		}
	}
}
