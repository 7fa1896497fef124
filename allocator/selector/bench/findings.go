package bench

import (
	"cmp"
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
	CodeCompile          Code = "DoesNotCompile"
	CodeSchedulerRefuses Code = "SchedulerRefuses" // the API server accepts it
	CodeServerRefuses    Code = "ServerRefuses"    // the scheduler can use it
	CodeMissingKey       Code = "MissingKey"       // a device has no such attribute or capacity
	CodeCost             Code = "CostExceeded"
	CodeRuntime          Code = "RuntimeError" // the evaluation fails for another reason
	CodeNothing          Code = "MatchesNothing"
)

// Severity says how bad a finding is.
type Severity string

// The severities.
const (
	// SeverityError means that the selector cannot be used, or makes the scheduler give up.
	SeverityError Severity = "error"
	// SeverityWarning means that it is probably not what was meant.
	SeverityWarning Severity = "warning"
)

// Finding is something to know about an expression.
type Finding struct {
	Code     Code     `json:"code" enum:"bench.Code"`
	Severity Severity `json:"severity" enum:"bench.Severity"`
	// Message is for people: plain sentences, unsafe to print unless sanitized.
	Message string `json:"message"`
	// Place is the zero value when the finding is about the whole.
	selector.Place
}

// Findings says what is wrong, or looks wrong, with a selector that was tried on the bench. Errors come
// first.
func (b *Bench) Findings(t *Trial) []Finding {
	if e := t.Check.Scheduler; e != nil {
		found := []Finding{{
			Code: CodeCompile, Severity: SeverityError, Place: e.Place,
			Message: "CEL does not accept this: " + e.Message + ".",
		}}
		if t.Check.Server == nil {
			found = append(found, Finding{
				Code: CodeSchedulerRefuses, Severity: SeverityError,
				Message: "The API server accepts this in a new object, but the scheduler cannot compile it: " +
					"every claim that uses it stays pending.",
			})
		}
		return found
	}
	found := b.failures(t)
	if accepted, why := t.Check.Accepted(); !accepted {
		f := Finding{
			Code: CodeServerRefuses, Severity: SeverityWarning,
			Message: "The scheduler can use this, but the API server refuses it in a new object: " + why + ".",
		}
		if e := t.Check.Server; e != nil && t.Check.Length <= selector.MaxLength {
			f.Place = e.Place
			if gates := b.cache.GatesNeeded(t.Expression); len(gates) > 0 {
				f.Message += fmt.Sprintf(" It would take it with the feature gate %s on.", strings.Join(gates, " and "))
			}
		}
		found = append(found, f)
	}
	if t.Matched == 0 && t.Failed == 0 && t.Total() > 0 {
		found = append(found, b.nearest(t))
	}
	return found
}

// maxFailures is how many different errors are told; with many of them the first few are enough.
const maxFailures = 8

// failures tells of each error for which the evaluation fails, on how many devices it does.
func (b *Bench) failures(t *Trial) []Finding {
	var texts []string
	counts, first := map[string]int{}, map[string]int{}
	for i := range t.Outcomes {
		o := &t.Outcomes[i]
		if o.Result != Failed {
			continue
		}
		text := WithoutAdvice(o.Err.Error())
		if counts[text] == 0 {
			texts = append(texts, text)
			first[text] = o.First
		}
		counts[text] += o.Devices
	}
	var found []Finding
	for _, text := range texts[:min(maxFailures, len(texts))] {
		f := Finding{Code: CodeRuntime, Severity: SeverityError}
		switch {
		case strings.HasPrefix(text, "no such key"):
			f.Code = CodeMissingKey
		case strings.Contains(text, "actual cost limit exceeded"):
			f.Code = CodeCost
		}
		f.Message = fmt.Sprintf("It fails on %s, as device %s: %s. One failure makes the scheduler give up the whole claim.",
			DeviceCount(counts[text]), b.device(first[text]), text)
		found = append(found, f)
	}
	for _, field := range b.cache.Fields(t.Expression) {
		text := " No device has " + field.Expression() + "."
		if len(found) > 0 && b.Inventory().Field(field) == nil && !strings.HasSuffix(found[0].Message, text) {
			found[0].Message += text
		}
	}
	return found
}

// nearest tells which device comes nearest to a selector that matches none, and by what it misses it.
func (b *Bench) nearest(t *Trial) Finding {
	f := Finding{Code: CodeNothing, Severity: SeverityWarning, Message: "It matches no device."}
	o := slices.MinFunc(t.Outcomes, func(x, y Outcome) int { return cmp.Compare(x.Missed(), y.Missed()) })
	reads := b.Reads(t, &o)
	var missed []string
	for i, term := range t.Terms {
		if o.Terms[i].Err == nil && o.Terms[i].Match {
			continue
		}
		var values []string
		for _, r := range reads[i] {
			values = append(values, selector.ShortField(r.Expression)+" is "+cmp.Or(r.Value, "not set"))
		}
		missed = append(missed, fmt.Sprintf("%s (%s)", term, strings.Join(values, ", ")))
	}
	if len(missed) < len(t.Terms) { // else all devices are equally far away
		f.Message += fmt.Sprintf(" The nearest is %s. It misses: %s.", b.device(o.First), strings.Join(missed, "; "))
	}
	return f
}

// device names a device and its driver.
func (b *Bench) device(subject int) string {
	s := b.subject(subject)
	return fmt.Sprintf("%s of %s", selector.Quote(s.Device.Name), s.Driver)
}

// WithoutAdvice is the text of an error without what the scheduler advises.
func WithoutAdvice(text string) string {
	text, _, _ = strings.Cut(text, ". consider using CEL optional chaining")
	return text
}

// DeviceCount writes a number of devices, "3 devices".
func DeviceCount(n int) string {
	if n == 1 {
		return "1 device"
	}
	return strconv.Itoa(n) + " devices"
}
