package flowcontrol

import (
	"cmp"
	"slices"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
)

// SchemasOf returns the names of the FlowSchemas that lead to each priority level, in the order in which
// the server tries them: by matching precedence, then by name.
func SchemasOf(schemas []*flowcontrolv1.FlowSchema) map[string][]string {
	ordered := slices.SortedStableFunc(slices.Values(schemas), func(a, b *flowcontrolv1.FlowSchema) int {
		return cmp.Or(cmp.Compare(a.Spec.MatchingPrecedence, b.Spec.MatchingPrecedence), cmp.Compare(a.Name, b.Name))
	})
	out := map[string][]string{}
	for _, schema := range ordered {
		level := schema.Spec.PriorityLevelConfiguration.Name
		out[level] = append(out[level], schema.Name)
	}
	return out
}
