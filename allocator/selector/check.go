package selector

import (
	"fmt"
	"math"
	"strings"

	celgo "github.com/google/cel-go/cel"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/dynamic-resource-allocation/cel"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// The limits of the API server on a selector in a new object.
const (
	// MaxCost is the most that the worst case of a selector may cost, in units of CEL. The scheduler
	// stops an evaluation at the same cost.
	MaxCost = resourcev1.CELSelectorExpressionMaxCost
	// MaxLength is the length of a selector in bytes.
	MaxLength = resourcev1.CELSelectorExpressionMaxLength
)

// OldestMinor is the oldest minor release of Kubernetes whose CEL environments are those that are used here:
// up to inspect.NewestMinor nothing was added but what a feature gate turns on.
const OldestMinor = 36

// OtherCEL says how the CEL of a minor release may differ from that by which expressions are compiled here.
// It is "" if it does not, and for 0.
func OtherCEL(minor int) string {
	switch {
	case minor > inspect.NewestMinor:
		return fmt.Sprintf("the CEL of 1.%d has newer functions", minor)
	case minor > 0 && minor < OldestMinor:
		return fmt.Sprintf("the CEL of 1.%d may lack newer functions", minor)
	}
	return ""
}

// Place is a place in the source of an expression. Lines and columns count from 1, columns in
// characters. The zero value stands for the expression as a whole.
type Place struct {
	// Line and Column are left out for what is about the whole expression.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// CompileError says why an expression does not compile.
type CompileError struct {
	// Message is what the compiler says, without the place.
	Message string
	Place   Place
}

func (e *CompileError) Error() string {
	if e.Place.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Place.Line, e.Place.Column, e.Message)
}

// Check is what can be said of a selector without looking at a device.
type Check struct {
	// Scheduler is why the scheduler cannot use the selector, or nil. It compiles with everything that
	// is known to its version, because the selector may have been stored when a feature was on.
	Scheduler *CompileError
	// Server is why the API server does not compile the selector in a new object, or nil. It knows
	// nothing of features that are off, nor of what the oldest release that it must work with lacks.
	Server *CompileError
	// Worst is the estimated cost for the worst device that the API allows, or math.MaxUint64 when the
	// selector does not compile.
	Worst uint64
	// Length is the length of the source in bytes.
	Length int
}

// Accepted reports whether the API server takes the selector in a new object, and if not, why.
func (c *Check) Accepted() (bool, string) {
	switch {
	case c.Length > MaxLength:
		return false, fmt.Sprintf("it is %d bytes long, the limit is %d", c.Length, MaxLength)
	case c.Server != nil:
		return false, c.Server.Message
	case c.Worst > MaxCost:
		return false, fmt.Sprintf("in the worst case it costs %d, the limit is %d", c.Worst, MaxCost)
	}
	return true, ""
}

// Check compiles a selector as the scheduler does and as the API server does for a new object.
func (c *Cache) Check(expression string) *Check {
	check := &Check{Worst: math.MaxUint64, Length: len(expression)}
	stored, worst := c.compileAs(expression, environment.StoredExpressions)
	check.Scheduler = stored
	if stored == nil {
		check.Worst = worst
	}
	fresh, worst := c.compileAs(expression, environment.NewExpressions)
	check.Server = fresh
	if fresh == nil {
		check.Worst = worst // what the API server compares with its limit
	}
	return check
}

func (c *Cache) compileAs(expression string, env environment.Type) (*CompileError, uint64) {
	result := compilerFor(c.features).CompileCELExpression(expression, cel.Options{EnvType: &env})
	if result.Error == nil {
		return nil, result.MaxCost
	}
	if e := c.firstIssue(expression, env); e != nil {
		return e, 0
	}
	return &CompileError{Message: strings.TrimPrefix(result.Error.Detail, "compilation failed: ")}, 0
}

// firstIssue compiles an expression once more for the places of its errors, which the scheduler's
// compiler only gives as text. It returns nil when CEL has nothing against the expression.
func (c *Cache) firstIssue(expression string, env environment.Type) *CompileError {
	e := c.environment(env)
	if e == nil {
		return nil
	}
	_, issues := e.Compile(expression)
	if issues == nil {
		return nil
	}
	errs := issues.Errors()
	if len(errs) == 0 {
		return nil
	}
	first := errs[0]
	place := Place{Line: max(1, first.Location.Line()), Column: max(1, first.Location.Column()+1)}
	return &CompileError{Message: first.Message, Place: place}
}

// environment returns the CEL environment in which selectors are compiled.
func (c *Cache) environment(env environment.Type) *celgo.Env {
	return compilerFor(c.features).CompileCELExpression("true", cel.Options{EnvType: &env, DisableCostEstimation: true}).Environment
}

// GatesNeeded returns the feature gates that are off and with which the API server would accept a selector
// that it does not accept now. It returns nil if it never would.
func (c *Cache) GatesNeeded(expression string) []string {
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

// Line returns a line of an expression, counted from 1, or "" when there is none.
func Line(expression string, line int) string {
	lines := strings.Split(expression, "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	return strings.TrimSuffix(lines[line-1], "\r")
}

// Offset turns a place in a source into an offset in bytes.
func Offset(source string, p Place) int {
	start := 0
	for line := 1; line < p.Line; line++ {
		next := strings.IndexByte(source[start:], '\n')
		if next < 0 {
			return len(source)
		}
		start += next + 1
	}
	column := 1
	for i := range source[start:] {
		if column >= p.Column || source[start+i] == '\n' {
			return start + i
		}
		column++
	}
	return len(source)
}
