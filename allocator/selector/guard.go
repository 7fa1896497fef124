package selector

import (
	"context"
	"errors"
	"fmt"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/google/cel-go/interpreter"

	"github.com/kubectl-dra/kubectl-dra/inspect/quantity"
)

// CEL bounds what an expression may cost, and looks after each call whether the limit is exceeded or the
// evaluation interrupted. Within a call it does neither, and what some calls cost has nothing to do with how
// long they take:
//
//	quantity("1e-2000000000")                    costs 2, computes with two billion digits
//	"…".replace("", b).replace("", b)            squares the length of the text each time
//	cel.bind(a, [1,1], cel.bind(b, [a,a], …))    2^n elements in n steps, to be compared in one call
//
// The scheduler runs into that, and so does the API server. Here, a program that makes such calls is planned
// anew with each call behind a guard, which weighs the arguments before it lets them through. What is given
// up is no error within CEL, which "|| true" could swallow, but ends the evaluation: Exhausted.

// Exhausted says that an evaluation was given up because it would take an amount of time or memory that the
// cost limit of CEL does not bound. kube-scheduler has no other limit and heeds no timeout within a call: it
// would go on, and schedule nothing else meanwhile.
type Exhausted struct {
	Expression string
	// Why says which call was too much.
	Why string
	// Endless says that the scheduler is known not to come back from it. Otherwise it may well, after seconds
	// or hours.
	Endless bool
}

func (e *Exhausted) Error() string {
	return fmt.Sprintf("given up: %s, which CEL's cost limit does not bound", e.Why)
}

// maxWork is how much work an evaluation may do within calls, in elements and in pieces of text that are
// looked at. That is several times what the cost limit of CEL stands for.
const maxWork = 5 * resourcev1.CELSelectorExpressionMaxCost

// guarded returns the compiled expression, with a guarded program if it needs one.
func (s *source) guarded() *compiledSelector {
	s.guardOnce.Do(func() {
		s.guard = s.result()
		if s.guard.Error != nil {
			return
		}
		if term := s.term.Load(); term != nil && harmless(term.Expr) {
			return
		}
		if _, parsed := s.parse(); parsed != nil && harmless(parsed.Expr()) {
			return
		}
		program, err := guardedProgram(s.expression, s.guard.Environment)
		if err != nil {
			program = &refusing{err}
		}
		safe := *s.guard
		safe.Program = program
		s.guard = &safe
	})
	return s.guard
}

// guardedProgram plans an expression as the scheduler does, with guards.
func guardedProgram(expression string, env *celgo.Env) (celgo.Program, error) {
	checked, issues := env.Compile(expression)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	guards, err := newGuards(env)
	if err != nil {
		return nil, err
	}
	program, err := env.Program(checked,
		celgo.CostLimit(resourcev1.CELSelectorExpressionMaxCost), celgo.InterruptCheckFrequency(interruptCheckFrequency),
		celgo.CustomDecoratorV2(guards.decorate))
	if err != nil {
		return nil, err
	}
	return &budgeted{Program: program, expression: expression}, nil
}

// interruptCheckFrequency is after how many iterations of a comprehension it is asked whether the context has
// ended, as in k8s.io/apiserver/pkg/apis/cel.
const interruptCheckFrequency = 100

// refusing is the program of an expression that the scheduler can plan and this package cannot: that should
// not happen, and if it does, it must not be evaluated without guards.
type refusing struct{ err error }

func (r *refusing) Eval(any) (celVal, *celgo.EvalDetails, error) { return nil, nil, r.err }

func (r *refusing) ContextEval(context.Context, any) (celVal, *celgo.EvalDetails, error) {
	return nil, nil, r.err
}

// budgeted gives each evaluation of a program a budget of its own.
type budgeted struct {
	celgo.Program
	expression string
}

// budgetName is the name under which an evaluation finds its budget. No expression can spell it.
const budgetName = "\x00budget"

// budget is what is left of maxWork.
type budget struct{ left int }

// ContextEval evaluates the program with a budget.
func (b *budgeted) ContextEval(ctx context.Context, input any) (celVal, *celgo.EvalDetails, error) {
	variables, ok := input.(map[string]any)
	if !ok {
		return nil, nil, fmt.Errorf("evaluating with guards: the input is a %T", input)
	}
	variables[budgetName] = &budget{left: maxWork} // the map is made for each evaluation
	value, details, err := b.Program.ContextEval(ctx, variables)
	var given interpreter.EvalCancelledError
	if errors.As(err, &given) && (given.Cause == givenUp || given.Cause == endless) {
		err = &Exhausted{Expression: b.expression, Why: given.Message, Endless: given.Cause == endless}
	}
	return value, details, err
}

// These mark the cancellations by a guard.
const (
	givenUp interpreter.CancellationCause = -1
	endless interpreter.CancellationCause = -2 // see Exhausted
)

func giveUp(format string, args ...any) {
	panic(interpreter.EvalCancelledError{Message: fmt.Sprintf(format, args...), Cause: givenUp}) // as the cost limit does
}

// spend takes work off a budget.
func (b *budget) spend(work int, function string) {
	if b.left -= work; b.left < 0 {
		giveUp("%s would look at millions of elements", name(function))
	}
}

// name is a function as people write it.
func name(function string) string {
	if op, ok := operators.FindReverse(function); ok {
		return op
	}
	return function + "()"
}

// harmless reports whether what an expression does is bounded by its length: it builds no values out of
// others, repeats nothing, and calls only functions that take no longer than their arguments are long.
func harmless(e ast.Expr) bool {
	switch e.Kind() {
	case ast.LiteralKind, ast.IdentKind:
		return true
	case ast.SelectKind:
		return harmless(e.AsSelect().Operand())
	case ast.ListKind:
		for _, element := range e.AsList().Elements() {
			if element.Kind() != ast.LiteralKind {
				return false
			}
		}
		return true
	case ast.CallKind:
		return harmlessCall(e.AsCall())
	}
	return false
}

func harmlessCall(c ast.CallExpr) bool {
	if c.IsMemberFunction() && !harmless(c.Target()) {
		return false
	}
	for _, arg := range c.Args() {
		if !harmless(arg) {
			return false
		}
	}
	switch c.FunctionName() {
	case "quantity", "isQuantity":
		if len(c.Args()) != 1 {
			return false
		}
		text, ok := ConstantString(c.Args()[0])
		return ok && quantity.Bounded(text)
	}
	return linear[c.FunctionName()]
}

// linear are functions that take no longer, and give nothing larger, than their arguments. A function that is
// missing here is only slower to evaluate.
var linear = map[string]bool{
	operators.LogicalAnd: true, operators.LogicalOr: true, operators.LogicalNot: true, operators.Conditional: true,
	operators.Equals: true, operators.NotEquals: true, operators.Less: true, operators.LessEquals: true,
	operators.Greater: true, operators.GreaterEquals: true, operators.In: true, operators.Index: true,
	operators.OptIndex: true, operators.OptSelect: true, operators.Negate: true, operators.Subtract: true,
	operators.Multiply: true, operators.Divide: true, operators.Modulo: true,
	"startsWith": true, "endsWith": true, "contains": true, "matches": true, "lowerAscii": true, "upperAscii": true,
	"size": true, "isGreaterThan": true, "isLessThan": true, "compareTo": true, "semver": true, "isSemver": true,
	"major": true, "minor": true, "patch": true, "orValue": true, "hasValue": true, "value": true, "int": true,
	"string": true, "double": true, "bool": true, "dyn": true, "asInteger": true, "isInteger": true,
	"asApproximateFloat": true, "sign": true, "includes": true,
}
