package selector

import (
	"github.com/google/cel-go/common/functions"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
	"k8s.io/dynamic-resource-allocation/cel"

	"github.com/kubectl-dra/kubectl-dra/inspect/quantity"
)

type (
	celVal           = ref.Val
	compiledSelector = cel.CompilationResult
)

// guards puts calls behind guards.
type guards struct {
	adapter types.Adapter
	// bindings are the functions of the environment by overload and by name, as the planner looks them up.
	bindings map[string]*functions.Overload
}

func newGuards(env *celgo.Env) (*guards, error) {
	g := &guards{adapter: env.CELTypeAdapter(), bindings: map[string]*functions.Overload{}}
	for _, function := range env.Functions() {
		bindings, err := function.Bindings()
		if err != nil {
			return nil, err
		}
		for _, b := range bindings {
			g.bindings[b.Operator] = b
		}
	}
	return g, nil
}

// decorate replaces a call by one with a guard. What it leaves alone are operators that decide which of their
// arguments are evaluated, and functions without arguments.
func (g *guards) decorate(node interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	call, ok := node.(interpreter.InterpretableCall)
	if !ok || len(call.Args()) == 0 {
		return node, nil
	}
	guarded := &guardedCall{InterpretableCall: call, args: call.Args()}
	switch call.Function() {
	case operators.Equals:
		guarded.apply = func(v []ref.Val) ref.Val { return types.Equal(v[0], v[1]) }
		return guarded, nil
	case operators.NotEquals:
		guarded.apply = func(v []ref.Val) ref.Val { return types.Bool(types.Equal(v[0], v[1]) != types.True) }
		return guarded, nil
	}
	binding := g.bindings[call.OverloadID()]
	if binding == nil {
		binding = g.bindings[call.Function()]
	}
	if binding == nil || binding.NonStrict {
		return node, nil
	}
	guarded.apply = func(v []ref.Val) ref.Val { return invoke(call, binding, v) }
	if call.Function() == operators.Add {
		guarded.apply = func(v []ref.Val) ref.Val {
			if sum := g.concatenate(v[0], v[1]); sum != nil {
				return sum
			}
			return invoke(call, binding, v)
		}
	}
	return guarded, nil
}

// invoke calls a function as the nodes of the planner do.
func invoke(call interpreter.InterpretableCall, binding *functions.Overload, v []ref.Val) ref.Val {
	if binding.OperandTrait == 0 || v[0].Type().HasTrait(binding.OperandTrait) {
		switch {
		case len(v) == 1 && binding.Unary != nil:
			return types.LabelErrNode(call.ID(), binding.Unary(v[0]))
		case len(v) == 2 && binding.Binary != nil:
			return types.LabelErrNode(call.ID(), binding.Binary(v[0], v[1]))
		case binding.Function != nil:
			return types.LabelErrNode(call.ID(), binding.Function(v...))
		}
	}
	if v[0].Type().HasTrait(traits.ReceiverType) {
		return types.LabelErrNode(call.ID(), v[0].(traits.Receiver).Receive(call.Function(), call.OverloadID(), v[1:]))
	}
	return types.NewErrWithNodeID(call.ID(), "no such overload: %s", call.Function())
}

// concatenate joins two lists into one of its own. CEL keeps the two, and to find the length or an element of
// a list that was joined from itself again and again takes as long as it has elements. nil leaves it to CEL:
// of texts and numbers, and of the lists that comprehensions build up, which CEL appends to.
func (g *guards) concatenate(a, b ref.Val) ref.Val {
	if growing(a) {
		return nil
	}
	first, ok := a.(traits.Lister)
	second, also := b.(traits.Lister)
	if !ok || !also {
		return nil
	}
	var all []ref.Val
	for _, list := range []traits.Lister{first, second} {
		for it := list.Iterator(); it.HasNext() == types.True; {
			all = append(all, it.Next())
		}
	}
	return types.NewRefValList(g.adapter, all)
}

func growing(v ref.Val) bool {
	switch v.(type) {
	case traits.MutableLister, traits.MutableMapper:
		return true
	}
	return false
}

// guardedCall is a call whose arguments are weighed before it is made.
type guardedCall struct {
	interpreter.InterpretableCall
	args  []interpreter.InterpretableV2
	apply func([]ref.Val) ref.Val
}

// Eval makes the call.
func (c *guardedCall) Eval(activation interpreter.Activation) ref.Val {
	return c.Exec(interpreter.AsFrame(activation))
}

// Exec makes the call if the budget of the evaluation allows it.
func (c *guardedCall) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	values := make([]ref.Val, len(c.args))
	for i, arg := range c.args {
		values[i] = arg.Exec(frame)
		if len(values) > 2 && types.IsUnknownOrError(values[i]) {
			return values[i]
		}
	}
	for _, v := range values { // of two arguments CEL evaluates both before it looks for errors
		if types.IsUnknownOrError(v) {
			return v
		}
	}
	if found, ok := frame.ResolveName(budgetName); ok {
		if b, ok := found.(*budget); ok {
			b.admit(c.Function(), values)
		}
	}
	return c.apply(values)
}

// admit spends what a call takes.
func (b *budget) admit(function string, args []ref.Val) {
	total := 0
	for i, arg := range args {
		if i == 0 && growing(arg) {
			continue // what a comprehension builds up is appended to, not looked at
		}
		total += b.weigh(arg, function)
	}
	b.spend(total, function)
	switch function {
	case "quantity", "isQuantity":
		if text, ok := args[0].(types.String); ok && !quantity.Bounded(string(text)) {
			panic(interpreter.EvalCancelledError{Message: name(function) + " of a number with a huge exponent or very many digits", Cause: endless})
		}
	case "lists.range":
		if n, ok := args[0].(types.Int); ok && n > 0 {
			b.spend(int(min(n, maxWork+1)), function)
		}
	case "replace", "join":
		b.spend(product(total, bytesPerUnit*total), function) // what they give may be as long as the product of what they get
	case "distinct", "sets.contains", "sets.equivalent", "sets.intersects":
		b.spend(product(total, total), function)
	case "sort", "@sortByAssociatedKeys", "flatten":
		b.spend(product(total, 32), function)
	}
}

// product is a*b, or more than any budget.
func product(a, b int) int {
	if a > 0 && b > (maxWork+1)/a {
		return maxWork + 1
	}
	return a * b
}

// bytesPerUnit is how much text counts as an element.
const bytesPerUnit = 32

// weigh returns how many elements a value has, those of its elements included. Once for each place in which
// a value stands: whoever compares it looks at it that often, too.
func (b *budget) weigh(value ref.Val, function string) int {
	left := b.left
	weight := 0
	var add func(ref.Val)
	add = func(v ref.Val) {
		if weight++; weight > left {
			b.spend(weight, function) // gives up
		}
		switch t := v.(type) {
		case types.String:
			weight += len(t) / bytesPerUnit
		case types.Bytes:
			weight += len(t) / bytesPerUnit
		case *types.Optional:
			if t.HasValue() {
				add(t.GetValue())
			}
		case traits.Mapper:
			for it := t.Iterator(); it.HasNext() == types.True; {
				key := it.Next()
				add(key)
				if element, ok := t.Find(key); ok {
					add(element)
				}
			}
		case traits.Lister:
			for it := t.Iterator(); it.HasNext() == types.True; {
				add(it.Next())
			}
		}
	}
	add(value)
	return weight
}
