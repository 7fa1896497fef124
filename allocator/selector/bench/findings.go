package bench

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
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

// Finding is something to know about an expression.
type Finding struct {
	Code     Code     `json:"code" enum:"bench.Code"`
	Severity Severity `json:"severity" enum:"bench.Severity"`
	// Message is for people: plain sentences, unsafe to print unless sanitized.
	Message string `json:"message"`
	// Place is the zero value when the finding is about the whole.
	selector.Place
	// Suggestions were all tried: each compiles for the API server and fails on no device of the bench.
	Suggestions []Suggestion `json:"suggestions,omitempty"`
}

// Suggestion is an expression to use instead, tried on the same devices.
type Suggestion struct {
	Expression string `json:"expression"`
	// Effect says in one line what it does differently.
	Effect string `json:"effect"`
	// Matched is how many devices of the bench it matches.
	Matched int `json:"matched"`
}

// diagnosis is what is known of a selector while rules look for what is wrong with it. A rule is a function
// that returns findings.
type diagnosis struct {
	dissection
	corrections
	inv *Inventory
}

// Diagnose says what is wrong, or looks wrong, with a selector that was tried on the bench. The worst
// comes first. An error is that of the context.
func (b *Bench) Diagnose(ctx context.Context, t *Trial) ([]Finding, error) {
	d := &diagnosis{
		dissection: dissect(b, t), inv: b.Inventory(),
		corrections: corrections{ctx: ctx, on: b, original: t.Expression, tried: map[string]*Trial{}},
	}
	if t.Check.Scheduler != nil {
		found := []Finding{compileFinding(d, t.Check.Scheduler)}
		if t.Check.Server == nil {
			found = append(found, Finding{
				Code: CodeSchedulerRefuses, Severity: SeverityError,
				Message: "The API server accepts this in a new object, but the scheduler cannot compile it: " +
					"every claim that uses it stays pending.",
			})
		}
		return found, context.Cause(ctx)
	}
	var found []Finding
	for _, rule := range []func(*diagnosis) []Finding{serverRefusal, absentFields, suffixes, mismatches, failures} {
		found = append(found, rule(d)...)
	}
	found = append(found, results(d, found)...)
	rank := []Severity{SeverityError, SeverityWarning, SeverityNote}
	slices.SortStableFunc(found, func(a, b Finding) int {
		return slices.Index(rank, a.Severity) - slices.Index(rank, b.Severity)
	})
	return found, context.Cause(ctx)
}

// serverRefusal says when the API server would not take what the scheduler does.
func serverRefusal(d *diagnosis) []Finding {
	accepted, why := d.trial.Check.Accepted()
	if accepted {
		return nil
	}
	f := Finding{
		Code: CodeServerRefuses, Severity: SeverityWarning,
		Message: "The scheduler can use this, but the API server refuses it in a new object: " + why + ".",
	}
	if e := d.trial.Check.Server; e != nil && d.trial.Check.Length <= selector.MaxLength {
		f.Place = e.Place
		if gates := d.bench.cache.GatesNeeded(d.trial.Expression); len(gates) > 0 {
			f.Message += fmt.Sprintf(" It would take it with the feature gate %s on.", strings.Join(gates, " and "))
		}
	}
	return []Finding{f}
}

// quoted lists names in quotes, at most n of them.
func quoted(names []string, n int) string {
	var out []string
	for i, name := range names {
		if i == n {
			out = append(out, fmt.Sprintf("and %d more", len(names)-n))
			break
		}
		out = append(out, selector.Quote(name))
	}
	return strings.Join(out, ", ")
}

func orList(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " or " + words[n-1]
	}
	return strings.Join(words, ", ")
}

func article(noun string) string {
	if noun != "" && strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// DeviceCount writes a number of devices, "3 devices".
func DeviceCount(n int) string {
	if n == 1 {
		return "1 device"
	}
	return strconv.Itoa(n) + " devices"
}
