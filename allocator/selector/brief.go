package selector

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
	out, at := "", 0
	for _, use := range c.FieldUses(expression) {
		if other, ok := known[use.Field.Name]; ok && other != use.Field {
			return expression
		}
		known[use.Field.Name] = use.Field
		out += expression[at:use.Start] + use.Field.Name
		at = use.End
	}
	return out + expression[at:]
}
