package flowcontrol

import (
	"cmp"
	"slices"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
)

// Schema is a FlowSchema as the server uses it.
type Schema struct {
	Object *flowcontrolv1.FlowSchema
	// Assumed says that it is mandatory and there is no object for it, so the server makes it up.
	Assumed bool
	// Dangling says that its level does not exist: the server passes over it.
	Dangling bool
}

// Schemas returns the FlowSchemas that the server has, in the order in which it tries them, with those that
// it makes up. Of several objects with one name the first counts. Whether one dangles is only true if all
// levels were read.
func Schemas(schemas []*flowcontrolv1.FlowSchema, limits *Limits) []Schema {
	var out []Schema
	used := map[string]bool{} // by name, whether the level exists
	for _, schema := range inOrder(schemas) {
		if _, seen := used[schema.Name]; seen {
			continue
		}
		_, used[schema.Name] = limits.Level(schema.Spec.PriorityLevelConfiguration.Name)
		out = append(out, Schema{Object: schema, Dangling: !used[schema.Name]})
	}
	if exempt := bootstrap.MandatoryFlowSchemaExempt; !used[exempt.Name] {
		out = slices.Insert(out, 0, mandatorySchema(exempt))
	}
	if catchAll := bootstrap.MandatoryFlowSchemaCatchAll; !used[catchAll.Name] {
		out = append(out, mandatorySchema(catchAll))
	}
	return out
}

// Subjects are whom the rules of a schema are about, such as "group system:nodes", each once.
func Subjects(schema *flowcontrolv1.FlowSchema) []string {
	var out []string
	for i := range schema.Spec.Rules {
		for _, name := range subjectNames(schema.Spec.Rules[i].Subjects) {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

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
type Dangling struct {
	Schema string `json:"name"`
	Level  string `json:"priorityLevel"`
}

// DanglingSchemas returns the FlowSchemas that lead to none of the levels, in the order in which the server
// would try them. What it says is only true if all levels were read.
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
