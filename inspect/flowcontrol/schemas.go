package flowcontrol

import (
	"cmp"
	"slices"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
)

// SchemasOf returns the names of the FlowSchemas that lead to each priority level, in the order in which
// the server tries them: by matching precedence, then by name.
func SchemasOf(schemas []*flowcontrolv1.FlowSchema) map[string][]string {
	out := map[string][]string{}
	for _, schema := range inOrder(schemas) {
		level := schema.Spec.PriorityLevelConfiguration.Name
		out[level] = append(out[level], schema.Name)
	}
	return out
}

func inOrder(schemas []*flowcontrolv1.FlowSchema) []*flowcontrolv1.FlowSchema {
	return slices.SortedStableFunc(slices.Values(schemas), func(a, b *flowcontrolv1.FlowSchema) int {
		return cmp.Or(cmp.Compare(a.Spec.MatchingPrecedence, b.Spec.MatchingPrecedence), cmp.Compare(a.Name, b.Name))
	})
}

// Dangling is a FlowSchema that leads to a priority level which does not exist. The server passes over it.
type Dangling struct{ Schema, Level string }

// DanglingSchemas returns the FlowSchemas that lead to none of the levels, in the order in which the server would try
// them. What it says is only true if all levels were read.
func DanglingSchemas(schemas []*flowcontrolv1.FlowSchema, limits *Limits) []Dangling {
	var out []Dangling
	for _, schema := range inOrder(schemas) {
		level := schema.Spec.PriorityLevelConfiguration.Name
		if _, found := limits.Level(level); !found {
			out = append(out, Dangling{schema.Name, level})
		}
	}
	return out
}
