package selector

import "github.com/google/cel-go/common/ast"

// Brief says an expression in short, for people to read: a comparison as "memory >= 96Gi", and anything else
// without the domains of its fields, where their names tell them apart.
func (c *Cache) Brief(expression string) string {
	if comparison, ok := c.Comparison(expression); ok {
		if brief := comparison.Brief(); brief != "" {
			return brief
		}
	}
	return c.WithoutDomains(expression)
}

// Comparisons says in short what the terms of an expression compare. It returns false unless all of them are
// comparisons that can be said so.
func (c *Cache) Comparisons(expression string) ([]string, bool) {
	var out []string
	for _, part := range c.Parts(expression) {
		comparison, ok := c.Comparison(part.Text)
		if !ok || comparison.Relation == OtherRelation {
			return nil, false
		}
		out = append(out, comparison.Brief())
	}
	return out, true
}

// Brief says the comparison as "memory >= 96Gi". It is "" if the relation is [OtherRelation].
func (c *Comparison) Brief() string {
	if c.Relation == OtherRelation {
		return ""
	}
	literal := c.Literal
	if literal == "" {
		literal = `""`
	}
	return c.Field.Name + " " + string(c.Relation) + " " + literal
}

// WithoutDomains leaves out of an expression the domains of its fields, if their names tell them apart. The
// result is for reading; a selector needs the whole expression.
func (c *Cache) WithoutDomains(expression string) string {
	known := map[string]Field{}
	for _, f := range c.Fields(expression) {
		if other, ok := known[f.Name]; ok && other != f {
			return expression
		}
		known[f.Name] = f
	}
	tree, ok := c.Tree(expression)
	if !ok || len(known) == 0 {
		return expression
	}
	return tree.rewritten(func(e ast.Expr, f ast.ExprFactory) {
		if path := Path(e); len(path) == 3 && IsField(path[0]) {
			e.SetKindCase(f.NewIdent(e.ID(), path[2]))
		}
	})
}

// Fields returns the fields that an expression reads by their names, but for those that it only asks for
// with in. It returns nil for an expression that does not compile.
func (c *Cache) Fields(expression string) []Field {
	tree, ok := c.Tree(expression)
	if !ok {
		return nil
	}
	var fields []Field
	ast.PreOrderVisit(tree.Root, ast.NewExprVisitor(func(e ast.Expr) {
		if path := Path(e); len(path) == 3 && IsField(path[0]) {
			fields = append(fields, Field{path[0], path[1], path[2]})
		}
	}))
	return fields
}
