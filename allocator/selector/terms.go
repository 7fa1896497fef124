package selector

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
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
	Expression string `json:"field"`
	// Value is the value in CEL's notation, or "" when the device does not have the field.
	Value string `json:"value"`
}

// Part is a term that is not yet evaluated.
type Part struct {
	// Text is its source in normal form.
	Text string
	Expr ast.Expr
}

// Reads returns the fields that the part reads, in the order of first use, and then those that it only asks
// for with in, with their values on a device.
func (p *Part) Reads(driver string, device *resourcev1.Device) []Read {
	out := ReadsOf(p.Expr, driver, device)
	ast.PreOrderVisit(p.Expr, ast.NewExprVisitor(func(e ast.Expr) {
		if f, ok := KeyTest(e); ok {
			out = appendRead(out, []string{f.Kind, f.Domain, f.Name}, driver, device)
		}
	}))
	return out
}

// Terms evaluates the parts of a selector for one device. It returns nil for an expression that does
// not compile. The parts are compiled and run like the whole, so they explain its result.
func (c *Cache) Terms(ctx context.Context, expression, driver string, device *resourcev1.Device) []Term {
	var terms []Term
	for _, part := range c.Parts(expression) {
		t := Term{Expression: part.Text, Reads: ReadsOf(part.Expr, driver, c.Seen(device))}
		program := c.Selector(part.Text)
		program.term.CompareAndSwap(nil, &part)
		t.Match, t.Err = program.Match(ctx, driver, device)
		terms = append(terms, t)
	}
	return terms
}

// Parts takes a selector apart, as [Term] says. It returns nil for one that does not compile.
func (c *Cache) Parts(expression string) []Part {
	p := c.Selector(expression)
	p.partsOnce.Do(func() { p.parts = split(p) })
	return p.parts
}

func split(whole *Program) []Part {
	if whole.CompileError() != nil {
		return nil
	}
	if term := whole.term.Load(); term != nil {
		return []Part{{Text: term.Text, Expr: term.Expr}}
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
func (s *splitter) split(e ast.Expr) (parts []Part, ok bool) {
	for _, expr := range Conjuncts(e) {
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
func (s *splitter) term(e ast.Expr) ([]Part, bool) {
	text, err := cel.ExprToString(e, s.info)
	if err != nil {
		return nil, false
	}
	whole := []Part{{Text: oneLine(text), Expr: e}}
	bind := boundCall(e, s.info)
	if bind == nil {
		return whole, true
	}
	value, err := cel.ExprToString(bind[1], s.info)
	if err != nil {
		return nil, false
	}
	body, ok := s.split(bind[2])
	if !ok || len(body) == 1 {
		return whole, ok
	}
	for i := range body {
		body[i].Text = fmt.Sprintf("cel.bind(%s, %s, %s)", bind[0].AsIdent(), oneLine(value), body[i].Text)
		parsed, issues := s.env.Parse(body[i].Text)
		if issues.Err() != nil {
			return whole, true
		}
		body[i].Expr = parsed.NativeRep().Expr()
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

// ReadsOf returns the fields that a part of an expression reads, in the order of first use, with their values
// on a device.
func ReadsOf(e ast.Expr, driver string, device *resourcev1.Device) []Read {
	var out []Read
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		path := Path(e)
		if path != nil {
			out = appendRead(out, path, driver, device)
		}
	}))
	return out
}

// appendRead adds what a path reads of a device, unless it is there already.
func appendRead(out []Read, path []string, driver string, device *resourcev1.Device) []Read {
	text, value, ok := lookup(path, driver, device)
	if !ok || slices.ContainsFunc(out, func(r Read) bool { return r.Expression == text }) {
		return out
	}
	return append(out, Read{Expression: text, Value: value})
}

// lookup finds the value of a complete path. Paths that stop before a value are not of interest.
func lookup(path []string, driver string, device *resourcev1.Device) (text, value string, ok bool) {
	switch {
	case len(path) == 1 && path[0] == "driver":
		return "device.driver", strconv.Quote(driver), true
	case len(path) == 1 && path[0] == "allowMultipleAllocations":
		shared := device.AllowMultipleAllocations != nil && *device.AllowMultipleAllocations
		return "device.allowMultipleAllocations", strconv.FormatBool(shared), true
	case len(path) < 3 || !IsField(path[0]):
		return "", "", false
	}
	value, _ = Field{path[0], path[1], path[2]}.Value(driver, device)
	return fmt.Sprintf("device.%s[%q].%s", path[0], path[1], path[2]), value, true
}
