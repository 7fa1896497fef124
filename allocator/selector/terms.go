package selector

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	resourcev1 "k8s.io/api/resource/v1"
)

// Term is a part of a selector: the expression is split at its top-level &&, and at that of the body of a
// cel.bind that stands there, so it is true exactly when all terms are true, and false when one is false.
type Term struct {
	// Expression is the source of the term in normal form.
	Expression string
	// Match and Err are what the term gives for the device.
	Match bool
	Err   error
	// Reads are the fields of the device that the term reads, in the order of first use.
	Reads []Read
}

// Read is a field of a device that an expression reads, with its value.
type Read struct {
	// Expression is the field, as device.attributes["gpu.example.com"].model.
	Expression string
	// Value is the value in CEL's notation, or "" when the device does not have the field.
	Value string
}

// part is a term that is not yet evaluated.
type part struct {
	text string
	expr ast.Expr
}

// Terms evaluates the parts of a selector for one device. It returns nil for an expression that does
// not compile. The parts are compiled and run like the whole, so they explain its result.
func (c *Cache) Terms(ctx context.Context, expression, driver string, device *resourcev1.Device) []Term {
	var terms []Term
	for _, part := range c.parts(expression) {
		t := Term{Expression: part.text, Reads: reads(part.expr, driver, c.seen(device))}
		program := c.Selector(part.text)
		program.term.CompareAndSwap(nil, &part)
		t.Match, t.Err = program.Match(ctx, driver, device)
		terms = append(terms, t)
	}
	return terms
}

// parts takes an expression apart, each expression once.
func (c *Cache) parts(expression string) []part {
	p := c.Selector(expression)
	p.partsOnce.Do(func() { p.parts = split(p) })
	return p.parts
}

func split(whole *Program) []part {
	if whole.CompileError() != nil {
		return nil
	}
	if term := whole.term.Load(); term != nil {
		return []part{*term}
	}
	env, parsed := whole.parse()
	if parsed == nil {
		return nil
	}
	parts, ok := (&splitter{env, parsed.SourceInfo()}).split(parsed.Expr())
	if !ok {
		return nil
	}
	return parts
}

// splitter takes an expression apart whose macros were tracked.
type splitter struct {
	env  *cel.Env
	info *ast.SourceInfo
}

// split returns the parts of an expression. It returns false if a part cannot be printed.
func (s *splitter) split(e ast.Expr) (parts []part, ok bool) {
	for _, expr := range conjuncts(e) {
		of, ok := s.term(expr)
		if !ok {
			return nil, false
		}
		parts = append(parts, of...)
	}
	return parts, true
}

// term returns the parts of what is no conjunction itself. cel.bind(x, v, a && b) is true exactly when
// cel.bind(x, v, a) and cel.bind(x, v, b) are.
func (s *splitter) term(e ast.Expr) ([]part, bool) {
	text, err := cel.ExprToString(e, s.info)
	if err != nil {
		return nil, false
	}
	whole := []part{{oneLine(text), e}}
	bind := boundCall(e, s.info)
	if bind == nil || conjunctCount(e, s.info) == 1 {
		return whole, true
	}
	value, err := cel.ExprToString(bind[1], s.info)
	if err != nil {
		return nil, false
	}
	body, ok := s.split(bind[2])
	if !ok {
		return nil, false
	}
	for i := range body {
		body[i].text = fmt.Sprintf("cel.bind(%s, %s, %s)", bind[0].AsIdent(), oneLine(value), body[i].text)
		parsed, issues := s.env.Parse(body[i].text)
		if issues.Err() != nil {
			return whole, true
		}
		body[i].expr = parsed.NativeRep().Expr()
	}
	return body, true
}

// boundCall returns the arguments of cel.bind when the expression is such a call, else nil.
func boundCall(e ast.Expr, info *ast.SourceInfo) []ast.Expr {
	if e.Kind() != ast.ComprehensionKind {
		return nil
	}
	macro, ok := info.GetMacroCall(e.ID())
	if !ok || macro.Kind() != ast.CallKind {
		return nil
	}
	call := macro.AsCall()
	if call.FunctionName() != "bind" || len(call.Args()) != 3 || call.Args()[0].Kind() != ast.IdentKind {
		return nil
	}
	return call.Args()
}

// conjunctCount is the number of parts into which an expression is taken apart.
func conjunctCount(e ast.Expr, info *ast.SourceInfo) int {
	n := 0
	for _, expr := range conjuncts(e) {
		if bind := boundCall(expr, info); bind != nil {
			n += conjunctCount(bind[2], info)
		} else {
			n++
		}
	}
	return n
}

func conjuncts(e ast.Expr) []ast.Expr {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.LogicalAnd {
		return []ast.Expr{e}
	}
	var out []ast.Expr
	for _, arg := range e.AsCall().Args() {
		out = append(out, conjuncts(arg)...)
	}
	return out
}

// reads finds the fields of the device in an expression.
func reads(e ast.Expr, driver string, device *resourcev1.Device) []Read {
	var out []Read
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		path := fieldPath(e)
		if path == nil {
			return
		}
		text, value, ok := lookup(path, driver, device)
		if ok && !slices.ContainsFunc(out, func(r Read) bool { return r.Expression == text }) {
			out = append(out, Read{Expression: text, Value: value})
		}
	}))
	return out
}

// fieldPath returns the names of a chain of constant selections from "device", without it. It
// returns nil if the expression is something else.
func fieldPath(e ast.Expr) []string {
	switch e.Kind() {
	case ast.IdentKind:
		if name := e.AsIdent(); name == "device" || name == ".device" { // with the dot it is the global one, which it is anyway
			return []string{}
		}
	case ast.SelectKind:
		if base := fieldPath(e.AsSelect().Operand()); base != nil {
			return append(base, e.AsSelect().FieldName())
		}
	case ast.CallKind:
		call := e.AsCall()
		index := call.FunctionName() == operators.Index || call.FunctionName() == operators.OptIndex || call.FunctionName() == operators.OptSelect
		if !index || len(call.Args()) != 2 || call.Args()[1].Kind() != ast.LiteralKind {
			return nil
		}
		key, ok := call.Args()[1].AsLiteral().Value().(string)
		if base := fieldPath(call.Args()[0]); ok && base != nil {
			return append(base, key)
		}
	}
	return nil
}

// lookup finds the value of a complete path. Paths that stop before a value are not of interest.
func lookup(path []string, driver string, device *resourcev1.Device) (text, value string, ok bool) {
	switch {
	case len(path) == 1 && path[0] == "driver":
		return "device.driver", strconv.Quote(driver), true
	case len(path) == 1 && path[0] == "allowMultipleAllocations":
		return "device.allowMultipleAllocations", strconv.FormatBool(device.AllowMultipleAllocations != nil && *device.AllowMultipleAllocations), true
	case len(path) < 3:
		return "", "", false
	}
	text = fmt.Sprintf("device.%s[%q].%s", path[0], path[1], path[2])
	in := (&Program{}).input(driver, device)
	name := resourcev1.QualifiedName(path[1] + "/" + path[2])
	bare := resourcev1.QualifiedName(path[2])
	switch path[0] {
	case "attributes":
		if a, found := qualified(in.Attributes, name, bare, path[1] == driver); found {
			value = FormatAttribute(&a)
		}
		return text, value, true
	case "capacity":
		if c, found := qualified(in.Capacity, name, bare, path[1] == driver); found {
			value = c.Value.String()
		}
		return text, value, true
	}
	return "", "", false
}

func qualified[V any](m map[resourcev1.QualifiedName]V, name, bare resourcev1.QualifiedName, own bool) (V, bool) {
	v, ok := m[name]
	if !ok && own {
		v, ok = m[bare]
	}
	return v, ok
}
