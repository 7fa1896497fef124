package bench

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/ast"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
)

// constantComparison is field OPERATOR constant, in this order, in a selector that is diagnosed.
type constantComparison struct {
	expr     ast.Expr
	use      use
	operator string // as it is written: ==, !=, <, <=, >, >= or in
	// constant is what the field is compared with, in CEL's notation; kind is its type, as constantKind
	// has it.
	constant, kind string
}

// comparisonsIn returns the comparisons of fields with constants in a part of the selector.
func (d *dissection) comparisonsIn(within ast.Expr) []constantComparison {
	var out []constantComparison
	ast.PreOrderVisit(within, ast.NewExprVisitor(func(e ast.Expr) {
		if c, ok := d.comparison(e); ok {
			out = append(out, c)
		}
	}))
	return out
}

func (d *dissection) comparison(e ast.Expr) (constantComparison, bool) {
	var of use
	isField := func(e ast.Expr) bool {
		used := usesIn(e)
		if len(used) != 1 || used[0].expr.ID() != e.ID() || used[0].asked {
			return false
		}
		of = used[0]
		return true
	}
	sides, ok := selector.Compared(e, isField, func(e ast.Expr) bool { return selector.ConstantKind(e) != "" })
	if !ok {
		return constantComparison{}, false
	}
	return constantComparison{
		expr: e, use: of, operator: sides.Operator, constant: d.tree.Text(sides.Constant), kind: selector.ConstantKind(sides.Constant),
	}, true
}

// comparisonsOf returns the comparisons of the field of a use.
func (d *dissection) comparisonsOf(u use) []constantComparison {
	var out []constantComparison
	for _, c := range d.comparisonsIn(d.tree.Root) {
		if c.use.field == u.field {
			out = append(out, c)
		}
	}
	return out
}

// bare returns the constant without quotes and without the function around it.
func (c *constantComparison) bare() string {
	s := c.constant
	for _, function := range []string{"semver(", "quantity("} {
		if inner, ok := strings.CutPrefix(s, function); ok {
			s = strings.TrimSuffix(inner, ")")
		}
	}
	if unquoted, err := strconv.Unquote(s); err == nil {
		return unquoted
	}
	return s
}

func (c *constantComparison) asQuantity(f selector.Field) string {
	if c.operator == "in" || c.kind == "list" {
		return ""
	}
	return fmt.Sprintf("%s.compareTo(quantity(%s)) %s 0", f.Expression(), selector.Quote(c.bare()), c.operator)
}

func (c *constantComparison) asVersion() string {
	return fmt.Sprintf("%s.compareTo(semver(%s)) %s 0", c.use.field.Expression(), selector.Quote(fullVersion(c.bare())), c.operator)
}

// mismatches looks for constants whose type is not that of the attribute: CEL finds them not equal,
// or fails.
func mismatches(d *diagnosis) []Finding {
	if d.tree.Root == nil {
		return nil
	}
	var found []Finding
	for _, c := range d.comparisonsIn(d.tree.Root) {
		info := d.inv.Field(c.use.field)
		if info == nil || info.Type() == "" || len(c.use.suffix) > 0 {
			continue
		}
		if f := mismatch(d, &c, info); f != nil {
			f.Severity, f.Place = SeverityWarning, d.tree.Start(c.expr)
			if d.trial.Failed > 0 && c.fails(info.Type()) {
				f.Severity = SeverityError
			}
			found = append(found, *f)
		}
	}
	return found
}

// differs reports whether a constant is of another type than the field, so that they cannot be equal.
func (c *constantComparison) differs(has string) bool {
	numeric := func(t string) bool { return t == "int" || t == "double" }
	switch {
	case strings.HasPrefix(has, "list"):
		return c.kind != "list" && c.operator != "in"
	case c.operator == "in", c.kind == "list":
		return false
	}
	return c.kind != has && (!numeric(c.kind) || !numeric(has))
}

// fails reports whether CEL fails instead of finding the two not equal: with order, and with the types
// that Kubernetes adds.
func (c *constantComparison) fails(has string) bool {
	return c.operator != "==" && c.operator != "!=" || has == "version" || has == "quantity"
}

// mismatch explains a constant of the wrong type, or returns nil.
func mismatch(d *diagnosis, c *constantComparison, info *FieldInfo) *Finding {
	name, has, old := selector.Quote(c.use.field.Name), info.Type(), d.tree.Text(c.expr)
	if !c.differs(has) {
		return nil
	}
	what := fmt.Sprintf("%s is %s here, as %s", name, article(has), strings.Join(info.Common(1), ""))
	if strings.HasPrefix(has, "list") {
		in := c.constant + " in " + c.use.field.Expression()
		f := &Finding{Code: CodeList, Message: fmt.Sprintf("%s. %s compares the whole list; to look for one value write %s.", what, c.operator, in)}
		if c.operator == "!=" {
			in = "!(" + in + ")"
		}
		f.Suggestions = d.suggest(1, "looks for the value in the list", d.replace(old, in))
		return f
	}
	f := &Finding{Code: CodeType, Message: fmt.Sprintf("%s. It is never equal to %s.", what, article(c.kind))}
	if c.fails(has) {
		f.Message = fmt.Sprintf("%s. Comparing it with %s by %s fails, and one failure makes the scheduler give up the whole claim.", what, article(c.kind), c.operator)
	}
	switch has {
	case "version":
		if c.kind == "string" {
			f.Code = CodeVersion
			f.Message += " Compare it with semver(…)."
		}
		f.Suggestions = d.suggest(1, "compared as a version", d.replace(old, c.asVersion()))
	case "string":
		f.Suggestions = d.suggest(1, "compared as a string", d.replace(old, c.use.field.Expression()+" "+c.operator+" "+selector.Quote(c.bare())))
	case "int", "bool":
		f.Suggestions = d.suggest(1, "compared as "+article(has), d.replace(old, c.use.field.Expression()+" "+c.operator+" "+c.bare()))
	}
	return f
}
