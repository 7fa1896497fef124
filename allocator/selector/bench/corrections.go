package bench

import (
	"context"
	"slices"
	"strings"
)

// corrections tries what may be written instead of a selector. Nothing is suggested that was not tried.
type corrections struct {
	ctx context.Context //nolint:containedctx // lives as long as the call of Diagnose
	on  *Bench
	// original is the selector that is corrected.
	original string
	tried    map[string]*Trial
}

// try tries a selector on the bench. It returns nil unless it compiles everywhere and never fails.
func (c *corrections) try(expression string) *Trial {
	if expression == "" || expression == c.original {
		return nil
	}
	t, ok := c.tried[expression]
	if !ok {
		if check := c.on.cache.Check(expression); check.Scheduler == nil {
			if accepted, _ := check.Accepted(); accepted {
				t, _ = c.on.Try(c.ctx, expression) // the caller asks the context in the end
			}
		}
		c.tried[expression] = t
	}
	if t == nil || t.Failed > 0 {
		return nil
	}
	return t
}

// suggest returns those of the expressions that stand the trial, at most n, and those that match something
// first. A selector that fails on devices even so is made robust if it can be.
func (c *corrections) suggest(n int, effect string, expressions ...string) []Suggestion {
	var matching, idle []Suggestion
	for _, expression := range expressions {
		if len(matching) == n {
			break
		}
		s, ok := c.suggestion(strings.TrimSpace(expression), effect)
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
func (c *corrections) suggestion(expression, effect string) (Suggestion, bool) {
	if t := c.try(expression); t != nil {
		return Suggestion{Expression: expression, Effect: effect, Matched: t.Matched}, true
	}
	if expression == "" || expression == c.original {
		return Suggestion{}, false
	}
	made := c.robust(expression)
	if len(made) == 0 {
		return Suggestion{}, false
	}
	return Suggestion{Expression: made[0].Expression, Effect: effect + "; " + made[0].Effect, Matched: made[0].Matched}, true
}
