package flowcontrol

import (
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
)

// Schema is a FlowSchema as the server uses it.
type Schema struct {
	Object *flowcontrolv1.FlowSchema
	// Assumed says that it is mandatory and there is no object for it, so the server makes it up.
	Assumed bool
	// Dangling says that its level does not exist: the server passes over it.
	Dangling bool
}

// Schemas returns the FlowSchemas that the server has, in the order in which it tries them, with those that it makes up. Whether
// one dangles is only true if all levels were read.
func Schemas(schemas []*flowcontrolv1.FlowSchema, limits *Limits) []Schema {
	var out []Schema
	for _, schema := range effective(schemas, limits) {
		if schema.last {
			continue
		}
		_, found := limits.Level(schema.object.Spec.PriorityLevelConfiguration.Name)
		out = append(out, Schema{Object: schema.object, Assumed: schema.assumed, Dangling: !found})
	}
	return out
}

// Subjects are whom the rules of a schema are about, such as "group system:nodes", each once.
func Subjects(schema *flowcontrolv1.FlowSchema) []string {
	seen := map[string]bool{}
	var out []string
	for i := range schema.Spec.Rules {
		for _, name := range subjectNames(schema.Spec.Rules[i].Subjects) {
			if !seen[name] {
				seen[name] = true
				out = append(out, name)
			}
		}
	}
	return out
}
