package selector

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// Tree is the syntax tree of an expression as it is written: macros such as has() can be told from what they
// stand for.
type Tree struct {
	Root ast.Expr
	info *ast.SourceInfo
}

// Tree returns the tree of a selector. It returns false for one that does not compile.
func (c *Cache) Tree(expression string) (Tree, bool) {
	_, parsed := c.Selector(expression).parse()
	if parsed == nil {
		return Tree{}, false
	}
	return Tree{parsed.Expr(), parsed.SourceInfo()}, true
}

// Text returns the source of a part in normal form, on one line.
func (t Tree) Text(e ast.Expr) string {
	text, err := celgo.ExprToString(e, t.info)
	if err != nil {
		return ""
	}
	return oneLine(text)
}

// rewritten returns the source in normal form after change was given each part of a copy of it. It is given
// macros as they are written, too.
func (t Tree) rewritten(change func(ast.Expr, ast.ExprFactory)) string {
	parsed, factory := ast.Copy(ast.NewAST(t.Root, t.info)), ast.NewExprFactory()
	visitor := ast.NewExprVisitor(func(e ast.Expr) { change(e, factory) })
	ast.PreOrderVisit(parsed.Expr(), visitor)
	for _, call := range parsed.SourceInfo().MacroCalls() {
		ast.PreOrderVisit(call, visitor)
	}
	return Tree{parsed.Expr(), parsed.SourceInfo()}.Text(parsed.Expr())
}

// oneLine undoes the line breaks that CEL puts into long expressions. Those in strings are escapes.
func oneLine(source string) string { return strings.ReplaceAll(source, "\n", " ") }

// Conjuncts returns the operands of the && at the top of an expression; the expression itself if there is
// none.
func Conjuncts(e ast.Expr) []ast.Expr {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.LogicalAnd {
		return []ast.Expr{e}
	}
	var out []ast.Expr
	for _, arg := range e.AsCall().Args() {
		out = append(out, Conjuncts(arg)...)
	}
	return out
}

// Path returns the names of a chain of constant selections from "device", without it: attributes,
// gpu.example.com and model for device.attributes["gpu.example.com"].model. It returns nil if the expression
// is something else.
func Path(e ast.Expr) []string {
	switch e.Kind() {
	case ast.IdentKind:
		if name := e.AsIdent(); name == "device" || name == ".device" { // with the dot it is the global one, which it is anyway
			return []string{}
		}
	case ast.SelectKind:
		if base := Path(e.AsSelect().Operand()); base != nil {
			return append(base, e.AsSelect().FieldName())
		}
	case ast.CallKind:
		call := e.AsCall()
		index := call.FunctionName() == operators.Index || call.FunctionName() == operators.OptIndex || call.FunctionName() == operators.OptSelect
		if !index || len(call.Args()) != 2 {
			return nil
		}
		key, ok := ConstantString(call.Args()[1])
		if base := Path(call.Args()[0]); ok && base != nil {
			return append(base, key)
		}
	}
	return nil
}

// IsField reports whether the first name of a path is that of something with domains and names.
func IsField(kind string) bool { return kind == "attributes" || kind == "capacity" }

// KeyTest returns the field that an expression asks for by in, as in "model" in
// device.attributes["gpu.example.com"].
func KeyTest(e ast.Expr) (Field, bool) {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.In {
		return Field{}, false
	}
	args := e.AsCall().Args()
	key, ok := ConstantString(args[0])
	path := Path(args[1])
	if !ok || len(path) != 2 || !IsField(path[0]) {
		return Field{}, false
	}
	return Field{path[0], path[1], key}, true
}

// IsOptional reports whether a path goes through .? or [?].
func IsOptional(e ast.Expr) bool {
	switch e.Kind() {
	case ast.SelectKind:
		return IsOptional(e.AsSelect().Operand())
	case ast.CallKind:
		call := e.AsCall()
		switch call.FunctionName() {
		case operators.OptIndex, operators.OptSelect:
			return true
		case operators.Index:
			return IsOptional(call.Args()[0])
		}
	}
	return false
}

// Children returns the direct parts of an expression.
func Children(e ast.Expr) []ast.Expr {
	switch e.Kind() {
	case ast.CallKind:
		call := e.AsCall()
		out := slices.Clone(call.Args())
		if call.IsMemberFunction() {
			out = append(out, call.Target())
		}
		return out
	case ast.SelectKind:
		return []ast.Expr{e.AsSelect().Operand()}
	case ast.ListKind:
		return e.AsList().Elements()
	case ast.MapKind:
		var out []ast.Expr
		for _, entry := range e.AsMap().Entries() {
			out = append(out, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
		return out
	case ast.StructKind:
		var out []ast.Expr
		for _, field := range e.AsStruct().Fields() {
			out = append(out, field.AsStructField().Value())
		}
		return out
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		return []ast.Expr{c.IterRange(), c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()}
	}
	return nil
}

// Operands are the two sides of an operator that compares a field with a constant.
type Operands struct {
	Field, Constant ast.Expr
	// Operator is how it reads with the field on its left: ==, !=, <, <=, >, >= or in.
	Operator string
	// Flipped says that the field is written on the right.
	Flipped bool
}

var comparing = map[string]string{
	operators.Equals: "==", operators.NotEquals: "!=", operators.Less: "<", operators.LessEquals: "<=",
	operators.Greater: ">", operators.GreaterEquals: ">=", operators.In: "in",
}

var mirrored = map[string]string{"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// Compared returns the sides of a comparison of a field with a constant, where the caller says what these
// are. The field may stand on either side, except beside in.
func Compared(e ast.Expr, isField, isConstant func(ast.Expr) bool) (Operands, bool) {
	if e.Kind() != ast.CallKind {
		return Operands{}, false
	}
	call := e.AsCall()
	operator, ok := comparing[call.FunctionName()]
	if !ok || len(call.Args()) != 2 {
		return Operands{}, false
	}
	left, right := call.Args()[0], call.Args()[1]
	if isField(left) && isConstant(right) {
		return Operands{left, right, operator, false}, true
	}
	if operator, ok = mirrored[operator]; ok && isField(right) && isConstant(left) {
		return Operands{right, left, operator, true}, true
	}
	return Operands{}, false
}

// ConstantKind returns the type of a constant: string, int, double, bool, version, quantity or list; "" for
// what is no constant.
func ConstantKind(e ast.Expr) string {
	switch e.Kind() {
	case ast.LiteralKind:
		switch e.AsLiteral().Value().(type) {
		case string:
			return "string"
		case int64, uint64:
			return "int"
		case float64:
			return "double"
		case bool:
			return "bool"
		}
	case ast.ListKind:
		for _, element := range e.AsList().Elements() {
			if ConstantKind(element) == "" {
				return ""
			}
		}
		return "list"
	case ast.CallKind:
		switch e.AsCall().FunctionName() {
		case "semver":
			return "version"
		case "quantity":
			return "quantity"
		}
	}
	return ""
}

// ConstantString returns the value of a literal string.
func ConstantString(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	s, ok := e.AsLiteral().Value().(string)
	return s, ok
}

var identifier = regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`)

// reserved words of CEL are no identifiers.
var reserved = strings.Fields("as break const continue else false for function if import in let loop package namespace null return true var void while")

// IsIdentifier reports whether a name can stand behind a dot in CEL.
func IsIdentifier(s string) bool { return identifier.MatchString(s) && !slices.Contains(reserved, s) }

// Quote writes a string as CEL reads it.
func Quote(s string) string { return strconv.Quote(s) }

// fieldText is what Field.Expression and Read.Expression write.
var fieldText = regexp.MustCompile(`^device\.(attributes|capacity)\[("(?:[^"\\]|\\.)+")\](?:\.([^\[]+)|\[("(?:[^"\\]|\\.)+")\])$`)

// ParseField reads the text of a field, as Field.Expression and Read.Expression have it.
func ParseField(expression string) (Field, bool) {
	m := fieldText.FindStringSubmatch(expression)
	if m == nil {
		return Field{}, false
	}
	domain, err := strconv.Unquote(m[2])
	name := m[3]
	if m[4] != "" && err == nil {
		name, err = strconv.Unquote(m[4])
	}
	return Field{m[1], domain, name}, err == nil
}

// ShortField is the text of a field without its domain, as model for device.attributes["d"].model.
func ShortField(expression string) string {
	if i := strings.LastIndex(expression, "]."); i >= 0 {
		return expression[i+2:]
	}
	return strings.TrimPrefix(expression, "device.")
}
