package selector

import (
	"slices"
	"strconv"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
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

	expression string
	literal    span // of the literal, with its quotes
	operator   span // of what expresses the relation; empty if there is none
	// flipped is set if the operator is written with the field on its right.
	flipped bool
	// method is set if the relation is isGreaterThan or isLessThan, of whose name operator is the span.
	method bool
}

// span is a part of an expression, in bytes.
type span struct{ start, end int }

// Comparison takes an expression apart. It returns false for one that is no Comparison or does not compile.
func (c *Cache) Comparison(expression string) (Comparison, bool) {
	p := c.Selector(expression)
	p.comparisonOnce.Do(func() {
		if _, parsed := p.parse(); parsed != nil {
			p.comparison = takeApart(parsed, expression)
		}
	})
	if p.comparison == nil {
		return Comparison{}, false
	}
	return *p.comparison, true
}

// With returns the expression with another literal and another relation. Everything else stays as it is
// written, except that isGreaterThan and isLessThan become compareTo where the relation changes.
// OtherRelation leaves the relation as it is, and so does any where the Comparison has none. Quantities and
// versions that are compared by the operator == have no other operator, so another relation does not compile
// there.
func (c *Comparison) With(relation Relation, literal string) string {
	var edits []edit
	if literal != c.Literal {
		if c.Form != IntLiteral && c.Form != BoolLiteral {
			literal = Quote(literal)
		}
		edits = append(edits, edit{c.literal, literal})
	}
	if relation != OtherRelation && relation != c.Relation && c.Relation != OtherRelation {
		operator := string(relation)
		if c.flipped {
			operator = mirrored[operator]
		}
		if c.method {
			end := len(c.expression)
			edits = append(edits, edit{c.operator, "compareTo"}, edit{span{end, end}, " " + operator + " 0"})
		} else {
			edits = append(edits, edit{c.operator, operator})
		}
	}
	return applyEdits(c.expression, edits)
}

// edit is a text in the place of a part.
type edit struct {
	span
	text string
}

// applyEdits makes edits of parts that do not overlap.
func applyEdits(text string, edits []edit) string {
	slices.SortFunc(edits, func(a, b edit) int { return b.start - a.start })
	for _, e := range edits {
		text = text[:e.start] + e.text + text[e.end:]
	}
	return text
}

// takeApart finds the one field and the one literal of an expression. It returns nil if there are others.
func takeApart(parsed *ast.AST, expression string) *Comparison {
	t := taking{info: parsed.SourceInfo(), text: newSourceText(expression)}
	root := parsed.Expr()
	if partCount(root, t.info) != 1 {
		return nil
	}
	t.visit(root)
	if t.other || len(t.fields) != 1 || len(t.literals) != 1 || IsOptional(t.fields[0]) {
		return nil
	}
	path := Path(t.fields[0])
	c := &Comparison{Field: Field{path[0], path[1], path[2]}, expression: expression}
	if !t.setLiteral(c) {
		return nil
	}
	t.setRelation(c, root)
	if c.Form == BoolLiteral && c.Relation != Equal {
		return nil
	}
	return c
}

// taking is the work of takeApart.
type taking struct {
	info     *ast.SourceInfo
	text     sourceText
	fields   []ast.Expr
	literals []ast.Expr
	form     LiteralForm // of the last literal that stands in a call of quantity or semver
	other    bool        // the expression negates something, or uses the device in another way
}

// visit collects what is written in an expression. Of macros it visits what is written, not what they
// stand for.
func (t *taking) visit(e ast.Expr) {
	e = sourceOf(e, t.info)
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
		t.visitCall(e)
		return
	}
	for _, child := range Children(e) {
		t.visit(child)
	}
}

func (t *taking) visitCall(e ast.Expr) {
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
	for _, child := range Children(e) {
		t.visit(child)
	}
}

func isCompareTo(e ast.Expr) bool {
	return e.Kind() == ast.CallKind && e.AsCall().FunctionName() == "compareTo" && e.AsCall().IsMemberFunction() && len(e.AsCall().Args()) == 1
}

func isInt(e ast.Expr) bool { return ConstantKind(e) == "int" }

// setLiteral finds the literal in the source. It returns false if it is written there in another way than
// usual.
func (t *taking) setLiteral(c *Comparison) bool {
	e := t.literals[0]
	switch v := e.AsLiteral().Value().(type) {
	case string:
		c.Form, c.Literal = StringLiteral, v
		if t.form != "" {
			c.Form = t.form
		}
	case int64:
		c.Form, c.Literal = IntLiteral, strconv.FormatInt(v, 10)
	case bool:
		c.Form, c.Literal = BoolLiteral, strconv.FormatBool(v)
	default:
		return false
	}
	spellings := []string{`"` + c.Literal + `"`, `'` + c.Literal + `'`}
	if c.Form == IntLiteral || c.Form == BoolLiteral {
		spellings = []string{c.Literal}
	}
	for _, spelling := range spellings {
		at, ok := t.text.at(t.start(e), spelling)
		if ok && t.length(e) == len(spelling) {
			c.literal = at
			return true
		}
	}
	return false
}

// setRelation reads how the field stands to the literal, if the whole expression says just that.
func (t *taking) setRelation(c *Comparison, root ast.Expr) {
	isField := func(e ast.Expr) bool { return e.ID() == t.fields[0].ID() }
	if of, ok := Compared(root, isField, t.isLiteral); ok {
		t.operator(c, root, of, false)
		return
	}
	isZero := func(e ast.Expr) bool { return isInt(e) && e.AsLiteral().Value() == int64(0) }
	if of, ok := Compared(root, isCompareTo, isZero); ok {
		if swapped, ok := t.receives(of.Field); ok {
			t.operator(c, root, of, swapped)
		}
		return
	}
	t.method(c, root)
}

// operator sets the relation of an operator; swapped says that it is that of the literal to the field.
func (t *taking) operator(c *Comparison, e ast.Expr, of Operands, swapped bool) {
	if of.Operator == "in" {
		return
	}
	relation, written := of.Operator, of.Operator
	if of.Flipped {
		written = mirrored[written]
	}
	if swapped {
		relation = mirrored[relation]
	}
	if at, ok := t.text.at(t.start(e), written); ok {
		c.Relation, c.operator, c.flipped = Relation(relation), at, of.Flipped != swapped
	}
}

// method sets the relation of a call of isGreaterThan or isLessThan.
func (t *taking) method(c *Comparison, e ast.Expr) {
	if e.Kind() != ast.CallKind || !e.AsCall().IsMemberFunction() || len(e.AsCall().Args()) != 1 {
		return
	}
	name := e.AsCall().FunctionName()
	relation, ok := map[string]string{"isGreaterThan": ">", "isLessThan": "<"}[name]
	if !ok {
		return
	}
	swapped, ok := t.receives(e)
	if !ok {
		return
	}
	// The call is located at its parenthesis, and nothing but blanks may follow its end.
	at, ok := t.text.before(t.start(e), name)
	if !ok || !t.text.endsWith(')') {
		return
	}
	if swapped {
		relation = mirrored[relation]
	}
	c.Relation, c.operator, c.flipped, c.method = Relation(relation), at, swapped, true
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
	literal := t.literals[0].ID()
	if e.Kind() == ast.CallKind && t.form != "" && e.AsCall().FunctionName() == string(t.form) && len(e.AsCall().Args()) == 1 {
		e = e.AsCall().Args()[0]
	}
	return e.ID() == literal
}

func (t *taking) start(e ast.Expr) int {
	at, ok := t.info.GetOffsetRange(e.ID())
	if !ok {
		return -1
	}
	return int(at.Start)
}

// length is that of a literal in the source, in bytes.
func (t *taking) length(e ast.Expr) int {
	at, _ := t.info.GetOffsetRange(e.ID())
	return int(at.Stop - at.Start)
}
