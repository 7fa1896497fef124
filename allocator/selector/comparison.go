package selector

import (
	"cmp"
	"strconv"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// LiteralForm is how the literal of a Comparison is written.
type LiteralForm string

// The forms of literals.
const (
	QuantityLiteral LiteralForm = "quantity" // quantity("80Gi")
	VersionLiteral  LiteralForm = "semver"   // semver("1.2.3")
	StringLiteral   LiteralForm = "string"
	IntLiteral      LiteralForm = "int"
	BoolLiteral     LiteralForm = "bool"
)

// Relation is how a field stands to a literal: "==", ">=", ">", "<=" or "<". It is OtherRelation where an
// expression says something else of the two, such as startsWith.
type Relation string

// The relations.
const (
	Equal         Relation = "=="
	AtLeast       Relation = ">="
	GreaterThan   Relation = ">"
	AtMost        Relation = "<="
	LessThan      Relation = "<"
	OtherRelation Relation = ""
)

// OrEqual returns the relation that also holds for the value itself: >= for >, <= for <, otherwise the
// relation as it is.
func (r Relation) OrEqual() Relation {
	switch r {
	case GreaterThan:
		return AtLeast
	case LessThan:
		return AtMost
	}
	return r
}

// Comparison is an expression that reads one field of the device, once, and has one literal, whose value
// can therefore be exchanged for another. Examples:
//
//	device.attributes["gpu.example.com"].model == "A100"
//	device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) >= 0
//	device.attributes["gpu.example.com"].driverVersion.isGreaterThan(semver("1.2.3"))
//	device.attributes["gpu.example.com"].model.startsWith("A")
//
// Expressions that negate anything are none, nor are those whose literal is a floating-point number or a
// string with escapes, or a boolean that the field is not compared with by ==.
type Comparison struct {
	Field Field
	// Form and Literal are the literal: how it is written, and its text without quotes and function.
	Form    LiteralForm
	Literal string
	// Relation has the field on its left, wherever it is written.
	Relation Relation

	tree     Tree
	literal  ast.Expr
	operator ast.Expr // what expresses the relation, or nil
	// flipped is set if the operator has the field on its right.
	flipped bool
}

// Comparison takes an expression apart. It returns false for one that is no Comparison or does not compile.
func (c *Cache) Comparison(expression string) (Comparison, bool) {
	p := c.Selector(expression)
	p.comparisonOnce.Do(func() {
		if tree, ok := c.Tree(expression); ok && len(c.Parts(expression)) == 1 {
			p.comparison = takeApart(tree)
		}
	})
	if p.comparison == nil {
		return Comparison{}, false
	}
	return *p.comparison, true
}

// With returns the expression, in normal form, with another literal and another relation. Where the relation
// changes, isGreaterThan and isLessThan become compareTo. OtherRelation leaves the relation as it is, and so
// does any where the Comparison has none. Quantities and versions that are compared by the operator == have
// no other operator, so another relation does not compile there.
func (c *Comparison) With(relation Relation, literal string) string {
	if c.Form != IntLiteral && c.Form != BoolLiteral {
		literal = Quote(literal)
	}
	keep := relation == OtherRelation || relation == c.Relation || c.operator == nil
	operator := string(relation)
	if c.flipped {
		operator = mirrored[operator]
	}
	return c.tree.rewritten(func(e ast.Expr, f ast.ExprFactory) {
		switch {
		case e.ID() == c.literal.ID():
			e.SetKindCase(f.NewIdent(e.ID(), literal))
		case keep || e.ID() != c.operator.ID():
		case e.AsCall().IsMemberFunction():
			call := f.NewMemberCall(0, "compareTo", e.AsCall().Target(), e.AsCall().Args()...)
			e.SetKindCase(f.NewCall(e.ID(), functionOf(operator), call, f.NewLiteral(0, types.Int(0))))
		default:
			e.SetKindCase(f.NewCall(e.ID(), functionOf(operator), e.AsCall().Args()...))
		}
	})
}

// functionOf is the function that CEL has for an operator.
func functionOf(operator string) string {
	name, _ := operators.Find(operator)
	return name
}

// takeApart finds the one field and the one literal of an expression. It returns nil if there are others.
func takeApart(tree Tree) *Comparison {
	t := taking{info: tree.info}
	t.visit(tree.Root)
	if t.other || len(t.fields) != 1 || len(t.literals) != 1 || IsOptional(t.fields[0]) {
		return nil
	}
	path := Path(t.fields[0])
	c := &Comparison{Field: Field{path[0], path[1], path[2]}, tree: tree, literal: t.literals[0]}
	switch v := c.literal.AsLiteral().Value().(type) {
	case string:
		c.Form, c.Literal = cmp.Or(t.form, StringLiteral), v
		if Quote(v) != `"`+v+`"` {
			return nil
		}
	case int64:
		c.Form, c.Literal = IntLiteral, strconv.FormatInt(v, 10)
	case bool:
		c.Form, c.Literal = BoolLiteral, strconv.FormatBool(v)
	default:
		return nil
	}
	t.setRelation(c)
	if c.Form == BoolLiteral && c.Relation != Equal {
		return nil
	}
	return c
}

// taking is the work of takeApart.
type taking struct {
	info     *ast.SourceInfo
	fields   []ast.Expr
	literals []ast.Expr
	form     LiteralForm // of the last literal that stands in a call of quantity or semver
	other    bool        // the expression negates something, or uses the device in another way
}

// visit collects what is written in an expression. Of macros it visits what is written, not what they
// stand for.
func (t *taking) visit(e ast.Expr) {
	if call, ok := t.info.GetMacroCall(e.ID()); ok {
		e = call
	}
	if path := Path(e); len(path) == 3 && IsField(path[0]) {
		t.fields = append(t.fields, e)
		return
	} else if len(path) == 0 && path != nil {
		t.other = true
	}
	switch e.Kind() {
	case ast.LiteralKind:
		t.literals = append(t.literals, e)
	case ast.CallKind:
		call := e.AsCall()
		switch function := call.FunctionName(); function {
		case operators.LogicalNot, operators.NotEquals:
			t.other = true
		case string(QuantityLiteral), string(VersionLiteral):
			if !call.IsMemberFunction() && len(call.Args()) == 1 && ConstantKind(call.Args()[0]) == "string" {
				t.form = LiteralForm(function)
			}
		}
		if of, ok := Compared(e, isCompareTo, isInt); ok { // the number is no value of the field
			t.visit(of.Field)
			return
		}
	}
	for _, child := range Children(e) {
		t.visit(child)
	}
}

func isCompareTo(e ast.Expr) bool {
	return e.Kind() == ast.CallKind && e.AsCall().FunctionName() == "compareTo" && e.AsCall().IsMemberFunction() && len(e.AsCall().Args()) == 1
}

func isInt(e ast.Expr) bool { return ConstantKind(e) == "int" }

// setRelation reads how the field stands to the literal, if the whole expression says just that.
func (t *taking) setRelation(c *Comparison) {
	root := c.tree.Root
	isField := func(e ast.Expr) bool { return e.ID() == t.fields[0].ID() }
	isZero := func(e ast.Expr) bool { return isInt(e) && e.AsLiteral().Value() == int64(0) }
	relation, swapped, ok := "", false, false
	if of, compared := Compared(root, isField, t.isLiteral); compared {
		relation, ok, c.flipped = of.Operator, of.Operator != "in", of.Flipped
	} else if of, compared := Compared(root, isCompareTo, isZero); compared {
		swapped, ok = t.receives(of.Field)
		relation, c.flipped = of.Operator, of.Flipped != swapped
	} else if root.Kind() == ast.CallKind && root.AsCall().IsMemberFunction() && len(root.AsCall().Args()) == 1 {
		if relation = map[string]string{"isGreaterThan": ">", "isLessThan": "<"}[root.AsCall().FunctionName()]; relation != "" {
			swapped, ok = t.receives(root)
			c.flipped = swapped
		}
	}
	if !ok {
		return
	}
	if swapped { // it is the relation of the literal to the field
		relation = mirrored[relation]
	}
	c.Relation, c.operator = Relation(relation), root
}

// receives reports whether a call has the field and the literal as receiver and argument; swapped if the
// literal is the receiver.
func (t *taking) receives(e ast.Expr) (swapped, ok bool) {
	target, arg, field := e.AsCall().Target(), e.AsCall().Args()[0], t.fields[0].ID()
	switch {
	case t.form == "": // compareTo and the like take nothing else
	case target.ID() == field && t.isLiteral(arg):
		return false, true
	case arg.ID() == field && t.isLiteral(target):
		return true, true
	}
	return false, false
}

// isLiteral reports whether an expression is the literal, with the function around it.
func (t *taking) isLiteral(e ast.Expr) bool {
	if e.Kind() == ast.CallKind && t.form != "" && e.AsCall().FunctionName() == string(t.form) && len(e.AsCall().Args()) == 1 {
		e = e.AsCall().Args()[0]
	}
	return e.ID() == t.literals[0].ID()
}
