package selector

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"k8s.io/dynamic-resource-allocation/cel"
)

// Code names a kind of finding. Codes are stable.
type Code string

// The kinds of findings.
const (
	// The selector does not compile.
	CodeSyntax          Code = "Syntax"          // it is no CEL
	CodeUnknownName     Code = "UnknownName"     // a name that means nothing where it stands
	CodeUnqualifiedName Code = "UnqualifiedName" // an attribute or capacity without device and domain
	CodeUnknownField    Code = "UnknownField"    // device.x where a device has no x
	CodeUnknownFunction Code = "UnknownFunction"
	CodeQuantity        Code = "QuantityComparison" // a capacity compared with a number or a string
	CodeVersion         Code = "VersionComparison"  // a version compared with a string
	CodeType            Code = "TypeMismatch"       // other types that do not go together
	CodeNotBoolean      Code = "NotBoolean"         // the result is not true or false
	CodeCompile         Code = "DoesNotCompile"     // anything else that the compiler refuses

	// What a selector reads is not what devices have.
	CodeUnknownDomain    Code = "UnknownDomain"
	CodeUnknownAttribute Code = "UnknownAttribute"
	CodeUnknownCapacity  Code = "UnknownCapacity"
	CodeIsCapacity       Code = "IsCapacity"     // read as an attribute
	CodeIsAttribute      Code = "IsAttribute"    // read as a capacity
	CodeSuffix           Code = "NoSuchSuffix"   // .string, .bool and the like, as in the API object
	CodeList             Code = "ListComparison" // a list compared with one value

	// The evaluation fails on devices.
	CodeMissingKey Code = "MissingKey"
	CodeCost       Code = "CostExceeded"
	CodeBadDevice  Code = "BadDevice" // a device that makes every selector fail
	CodeRuntime    Code = "RuntimeError"

	// The result may not be what was meant.
	CodeOtherDrivers Code = "OtherDrivers"
	CodeEverything   Code = "MatchesEverything"
	CodeNothing      Code = "MatchesNothing"

	// The API server and the scheduler differ.
	CodeServerRefuses    Code = "ServerRefuses"
	CodeSchedulerRefuses Code = "SchedulerRefuses"
)

// Severity says how bad a finding is.
type Severity string

// The severities.
const (
	// SeverityError means that the selector cannot be used, or makes the scheduler give up.
	SeverityError Severity = "error"
	// SeverityWarning means that it is probably not what was meant.
	SeverityWarning Severity = "warning"
	// SeverityNote means that it may be as it should be.
	SeverityNote Severity = "note"
)

// Finding is something to know about a selector.
type Finding struct {
	Code     Code
	Severity Severity
	// Message is for people: plain sentences, unsafe to print unless sanitized.
	Message string
	// Place is the zero value when the finding is about the whole.
	Place Place
	// Suggestions were all tried: each compiles for the API server and fails on no device of the bench.
	Suggestions []Suggestion
}

// Suggestion is a selector to use instead.
type Suggestion struct {
	Expression string
	// Effect says in one line what it does differently.
	Effect string
	// Matched is how many devices of the bench it matches.
	Matched int
}

// diagnosis is the work on one trial.
type diagnosis struct {
	ctx      context.Context //nolint:containedctx // lives as long as the call of Diagnose
	bench    *Bench
	trial    *Trial
	inv      *Inventory
	findings []Finding
	// Of a selector that compiles: its tree, and its source in normal form on one line.
	root   ast.Expr
	info   *ast.SourceInfo
	normal string
	// spans says for each top-level conjunct which terms of the trial are its own: a cel.bind may have
	// several.
	spans [][2]int
	tried map[string]*Trial
}

// Diagnose says what is wrong, or looks wrong, with a selector that was tried on the bench. The worst
// comes first. An error is that of the context.
func (b *Bench) Diagnose(ctx context.Context, t *Trial) ([]Finding, error) {
	d := &diagnosis{ctx: ctx, bench: b, trial: t, inv: b.Inventory(), tried: map[string]*Trial{}}
	if t.Check.Scheduler != nil {
		d.compileError(t.Check.Scheduler)
		if t.Check.Server == nil {
			d.add(Finding{Code: CodeSchedulerRefuses, Severity: SeverityError,
				Message: "The API server accepts this in a new object, but the scheduler cannot compile it: every claim that uses it stays pending."})
		}
		return d.findings, context.Cause(ctx)
	}
	d.parse()
	d.server()
	d.fields()
	d.suffixes()
	d.comparisons()
	d.failures()
	d.results()
	rank := []Severity{SeverityError, SeverityWarning, SeverityNote}
	slices.SortStableFunc(d.findings, func(a, b Finding) int { return slices.Index(rank, a.Severity) - slices.Index(rank, b.Severity) })
	return d.findings, context.Cause(ctx)
}

func (d *diagnosis) add(f Finding) { d.findings = append(d.findings, f) }

func (d *diagnosis) parse() {
	whole := d.bench.cache.Selector(d.trial.Expression)
	_, parsed := whole.parse()
	if parsed == nil {
		return
	}
	d.root, d.info = parsed.Expr(), parsed.SourceInfo()
	d.normal = d.text(d.root)
	at := 0
	for _, term := range conjuncts(d.root) {
		n := conjunctCount(term, d.info)
		d.spans = append(d.spans, [2]int{at, at + n})
		at += n
	}
	if at != len(d.trial.Terms) { // taken apart differently: the conjuncts cannot be told apart
		d.root, d.spans = nil, nil
	}
}

// valueOf is what a top-level conjunct gives for the devices of an outcome.
func (d *diagnosis) valueOf(o *Outcome, conjunct int) TermValue {
	if conjunct >= len(d.spans) || d.spans[conjunct][1] > len(o.Terms) {
		return TermValue{}
	}
	return conjoin(o.Terms[d.spans[conjunct][0]:d.spans[conjunct][1]])
}

// text returns the source of a part in normal form, on one line.
func (d *diagnosis) text(e ast.Expr) string {
	text, err := celgo.ExprToString(e, d.info)
	if err != nil {
		return ""
	}
	return oneLine(text)
}

// oneLine undoes the line breaks that CEL puts into long expressions. Those in strings are escapes.
func oneLine(source string) string { return strings.ReplaceAll(source, "\n", " ") }

// server says when the API server would not take what the scheduler does.
func (d *diagnosis) server() {
	accepted, why := d.trial.Check.Accepted()
	if accepted {
		return
	}
	f := Finding{Code: CodeServerRefuses, Severity: SeverityWarning,
		Message: "The scheduler can use this, but the API server refuses it in a new object: " + why + "."}
	if e := d.trial.Check.Server; e != nil && d.trial.Check.Length <= MaxLength {
		f.Place = e.Place
		if gates := d.bench.cache.wouldNeed(d.trial.Expression); len(gates) > 0 {
			f.Message += fmt.Sprintf(" It would take it with the feature gate %s on.", strings.Join(gates, " and "))
		}
	}
	d.add(f)
}

// wouldNeed returns the feature gates that are off and with which the API server would accept the
// expression. It returns nil if it never would.
func (c *Cache) wouldNeed(expression string) []string {
	sharing, lists := c.features, c.features
	sharing.EnableConsumableCapacity, lists.EnableListTypeAttributes = true, true
	both := sharing
	both.EnableListTypeAttributes = true
	const sharingGate, listsGate = "DRAConsumableCapacity", "DRAListTypeAttributes"
	for _, try := range []struct {
		features cel.Features
		gates    []string
	}{{sharing, []string{sharingGate}}, {lists, []string{listsGate}}, {both, []string{sharingGate, listsGate}}} {
		if try.features == c.features {
			continue
		}
		other := &Cache{features: try.features}
		if accepted, _ := other.Check(expression).Accepted(); accepted {
			return try.gates
		}
	}
	return nil
}

// visit walks the whole selector.
func (d *diagnosis) visit(f func(e ast.Expr)) {
	if d.root != nil {
		ast.PreOrderVisit(d.root, ast.NewExprVisitor(f))
	}
}

// place finds the start of a part of the source.
func (d *diagnosis) place(e ast.Expr) Place {
	for e.Kind() == ast.CallKind || e.Kind() == ast.SelectKind || e.Kind() == ast.ComprehensionKind { // operators and dots are marked, not beginnings
		switch {
		case e.Kind() == ast.ComprehensionKind:
			e = e.AsComprehension().IterRange()
		case e.Kind() == ast.SelectKind:
			e = e.AsSelect().Operand()
		case e.AsCall().IsMemberFunction():
			e = e.AsCall().Target()
		case len(e.AsCall().Args()) > 0 && d.info.GetStartLocation(e.AsCall().Args()[0].ID()).Line() > 0:
			e = e.AsCall().Args()[0]
		default:
			return d.start(e)
		}
	}
	return d.start(e)
}

// placeOf finds a name of a use in the source; the start of the use when it is not written there as such.
func (d *diagnosis) placeOf(u use, name string) Place {
	start := d.place(u.expr)
	if start.Line == 0 {
		return start
	}
	at := d.offset(start)
	from := at
	if i := strings.Index(d.trial.Expression[at:], u.field.Domain); i >= 0 && name != u.field.Domain {
		from += i + len(u.field.Domain) // the domain may contain the name
	}
	for _, from := range []int{from, at} {
		if i := strings.Index(d.trial.Expression[from:], name); i >= 0 && name != "" {
			return placeOf(d.trial.Expression, from+i)
		}
	}
	return start
}

func (d *diagnosis) start(e ast.Expr) Place {
	at := d.info.GetStartLocation(e.ID())
	if at.Line() < 1 {
		return Place{}
	}
	return Place{Line: at.Line(), Column: at.Column() + 1}
}

// replace puts new in the place of old, a part in normal form: in the source as the user wrote it if
// that is possible, else in the normal form. It returns "" when old is not there exactly once.
func (d *diagnosis) replace(old, with string) string {
	for _, source := range []string{strings.TrimSpace(d.trial.Expression), d.normal} {
		if strings.Count(source, old) == 1 {
			return strings.Replace(source, old, with, 1)
		}
	}
	return ""
}

// try tries a selector on the bench. It returns nil unless it compiles everywhere and never fails.
func (d *diagnosis) try(expression string) *Trial {
	if expression == "" || expression == d.trial.Expression {
		return nil
	}
	t, ok := d.tried[expression]
	if !ok {
		if check := d.bench.cache.Check(expression); check.Scheduler == nil {
			if accepted, _ := check.Accepted(); accepted {
				t, _ = d.bench.Try(d.ctx, expression) // the caller asks the context in the end
			}
		}
		d.tried[expression] = t
	}
	if t == nil || t.Failed > 0 {
		return nil
	}
	return t
}

// suggest returns those of the expressions that stand the trial, at most n, and those that match something
// first. A selector that fails on devices even so is made robust if it can be.
func (d *diagnosis) suggest(n int, effect string, expressions ...string) []Suggestion {
	var matching, idle []Suggestion
	for _, expression := range expressions {
		if len(matching) == n {
			break
		}
		s, ok := d.suggestion(strings.TrimSpace(expression), effect)
		known := func(other Suggestion) bool { return other.Expression == s.Expression }
		switch {
		case !ok || slices.ContainsFunc(matching, known) || slices.ContainsFunc(idle, known):
		case s.Matched > 0:
			matching = append(matching, s)
		default:
			idle = append(idle, s)
		}
	}
	all := append(matching, idle...)
	return all[:min(n, len(all))]
}

// suggestion tries an expression, or the robust form of it.
func (d *diagnosis) suggestion(expression, effect string) (Suggestion, bool) {
	if t := d.try(expression); t != nil {
		return Suggestion{Expression: expression, Effect: effect, Matched: t.Matched}, true
	}
	if expression == "" || expression == d.trial.Expression {
		return Suggestion{}, false
	}
	made := d.robust(expression)
	if len(made) == 0 {
		return Suggestion{}, false
	}
	return Suggestion{Expression: made[0].Expression, Effect: effect + "; " + made[0].Effect, Matched: made[0].Matched}, true
}

var identifier = regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`)

// reserved words of CEL are no identifiers.
var reserved = strings.Fields("as break const continue else false for function if import in let loop package namespace null return true var void while")

// IsIdentifier reports whether a name can stand behind a dot in CEL.
func IsIdentifier(s string) bool { return identifier.MatchString(s) && !slices.Contains(reserved, s) }

// quote writes a string as CEL reads it.
func quote(s string) string { return strconv.Quote(s) }

// quoted lists names in quotes, at most n of them.
func quoted(names []string, n int) string {
	var out []string
	for i, name := range names {
		if i == n {
			out = append(out, fmt.Sprintf("and %d more", len(names)-n))
			break
		}
		out = append(out, quote(name))
	}
	return strings.Join(out, ", ")
}

// devices writes a number of devices.
func devices(n int) string {
	if n == 1 {
		return "1 device"
	}
	return strconv.Itoa(n) + " devices"
}
