package whatif

import (
	"context"
	"strconv"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// Terms splits a selector at its top-level &&. One that does not compile is a term as a whole.
func (q *Question) Terms(ctx context.Context, expression string) []string {
	if q.Cluster.Selectors().Selector(expression).CompileError() != nil {
		return []string{expression}
	}
	var out []string
	for _, t := range q.Cluster.Selectors().Terms(ctx, expression, "", &resourcev1.Device{}) {
		out = append(out, t.Expression)
	}
	return out
}

// rewrite returns a selector with some terms replaced, or dropped for "". It is nil when none is left.
func rewrite(ctx context.Context, q *Question, s *resourcev1.CELDeviceSelector, replaced map[int]string) *resourcev1.CELDeviceSelector {
	terms := q.Terms(ctx, s.Expression)
	var kept []string
	for i, term := range terms {
		expression, ok := replaced[i]
		switch {
		case !ok:
			kept = append(kept, term)
		case expression != "":
			// The spelling of the rest stays as the user wrote it, where that is possible.
			if len(replaced) == 1 && strings.Count(s.Expression, term) == 1 {
				return &resourcev1.CELDeviceSelector{Expression: strings.Replace(s.Expression, term, expression, 1)}
			}
			kept = append(kept, expression)
		}
	}
	switch len(kept) {
	case 0:
		return nil
	case 1:
		return &resourcev1.CELDeviceSelector{Expression: kept[0]}
	}
	return &resourcev1.CELDeviceSelector{Expression: strings.Join(words.Each(kept, Parenthesized), " && ")}
}

// Parenthesized puts a term into parentheses if || or ?: may be in it, which bind less than &&. They may also
// be in a string, where parentheses do no harm.
func Parenthesized(term string) string {
	if strings.Contains(term, "||") || strings.Contains(term, "?") {
		return "(" + term + ")"
	}
	return term
}

// DriverOf is the driver that a device class wants by a term device.driver == "…" of a selector. It is "" if
// there is no such term.
func (q *Question) DriverOf(ctx context.Context, class *resourcev1.DeviceClass) string {
	for _, term := range q.ClassTerms(ctx, class) {
		if literal, ok := strings.CutPrefix(term, namesDriver); ok {
			if driver, err := strconv.Unquote(literal); err == nil {
				return driver
			}
		}
	}
	return ""
}

// ClassTerms are the terms of all selectors of a class, which may be nil.
func (q *Question) ClassTerms(ctx context.Context, class *resourcev1.DeviceClass) []string {
	if class == nil {
		return nil
	}
	var out []string
	for i := range class.Spec.Selectors {
		if cel := class.Spec.Selectors[i].CEL; cel != nil {
			out = append(out, q.Terms(ctx, cel.Expression)...)
		}
	}
	return out
}

const namesDriver = "device.driver == "

// NamesDriver reports whether a term asks for the devices of a driver.
func NamesDriver(term string) bool { return strings.HasPrefix(term, namesDriver) }
