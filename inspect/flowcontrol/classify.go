package flowcontrol

import (
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
)

// Classification is where a request goes.
type Classification struct {
	// Schema is the FlowSchema that matches first, and Level the priority level that it leads to.
	Schema, Level string
	// SchemaAssumed says that there is no object of the schema: it is mandatory, and the server makes it up.
	SchemaAssumed bool
	// Rule is the number of the first rule of the schema that matches, from 1 on. It is 0 if none does, and the request
	// goes to catch-all because it has to go somewhere.
	Rule int
	// Method is how the schema tells flows apart: ByUser, ByNamespace, or "" if all its requests are one flow.
	Method flowcontrolv1.FlowDistinguisherMethodType
	// Distinguisher tells the flow of the request from others of the schema. It is empty for a level without
	// queues, or with one, where the server does not ask.
	Distinguisher string
	// Hand are the queues of the flow among those of the level, from 0 on, in the order in which they are dealt. It is
	// nil for a level without queues.
	Hand []int
	// Exempt says that requests of the level are executed at once.
	Exempt bool
	// Missed are the schemas that come before, in the order in which the server tries them.
	Missed []Miss
}

// Miss is a FlowSchema that comes before the one that matches, and why it does not match.
type Miss struct {
	Schema string
	Reason MissReason
	// Rule is the rule that comes nearest, from 1 on, and 0 if the reason has nothing to do with rules.
	Rule int
	// Wanted is what the rule asks for there, and Got what the request has.
	Wanted []string
	Got    []string
}

// MissReason says why a FlowSchema does not match a request.
type MissReason string

// The reasons, in the order in which a rule is tried. Of the rules of a schema, that which gets furthest is told.
const (
	MissDangling       MissReason = "Dangling"       // its priority level does not exist, so the server passes over it
	MissNoRules        MissReason = "NoRules"        // it has no rules
	MissSubject        MissReason = "Subject"        // it is not about the user
	MissNoResources    MissReason = "NoResources"    // it is about no resources, only about URLs
	MissNoURLs         MissReason = "NoURLs"         // it is about resources only
	MissVerb           MissReason = "Verb"           // it is about other verbs
	MissResource       MissReason = "Resource"       // it is about other resources
	MissAPIGroup       MissReason = "APIGroup"       // it is about other API groups
	MissNamespace      MissReason = "Namespace"      // it is about other namespaces
	MissClusterScope   MissReason = "ClusterScope"   // it is about requests within a namespace only
	MissNonResourceURL MissReason = "NonResourceURL" // it is about other URLs
)

// stages order the reasons by how far a rule got.
var stages = map[MissReason]int{
	MissSubject: 1, MissNoResources: 2, MissNoURLs: 2, MissVerb: 3, MissResource: 4, MissNonResourceURL: 4, MissAPIGroup: 5, MissNamespace: 6, MissClusterScope: 6,
}

// Classify finds the FlowSchema and the priority level of a request, as the server does: it tries the schemas by
// precedence and then by name, passes over those whose level does not exist, and makes up the mandatory schemas that
// are missing, exempt as the first and catch-all as the last. The limits are those of [Compute] for the levels.
func Classify(schemas []*flowcontrolv1.FlowSchema, limits *Limits, r *Request) Classification {
	var out Classification
	for _, schema := range effective(schemas, limits) {
		if _, found := limits.Level(schema.object.Spec.PriorityLevelConfiguration.Name); !found {
			out.Missed = append(out.Missed, Miss{Schema: schema.object.Name, Reason: MissDangling, Wanted: []string{schema.object.Spec.PriorityLevelConfiguration.Name}})
			continue
		}
		rule, miss := matches(schema.object, r)
		if rule == 0 && schema.last {
			return out.to(schema, limits, r) // the server falls back to it
		}
		if rule == 0 {
			out.Missed = append(out.Missed, miss)
			continue
		}
		out.Rule = rule
		return out.to(schema, limits, r)
	}
	return out
}

// candidate is a FlowSchema that the server has.
type candidate struct {
	object  *flowcontrolv1.FlowSchema
	assumed bool // there is no such object
	last    bool // nothing comes after it
}

// effective returns the schemas that the server tries, in its order, with dangling ones. Of several objects with one name
// the first counts.
func effective(schemas []*flowcontrolv1.FlowSchema, limits *Limits) []candidate {
	var out []candidate
	seen, used := map[string]bool{}, map[string]bool{}
	for _, schema := range inOrder(schemas) {
		if seen[schema.Name] {
			continue
		}
		seen[schema.Name] = true
		_, used[schema.Name] = limits.Level(schema.Spec.PriorityLevelConfiguration.Name)
		out = append(out, candidate{object: schema})
	}
	exempt, catchAll := mandatorySchemas()
	if !used[exempt.Name] {
		out = append([]candidate{{object: exempt, assumed: true}}, out...)
	}
	if !used[catchAll.Name] {
		out = append(out, candidate{object: catchAll, assumed: true})
	}
	for i := len(out) - 1; i >= 0; i-- {
		if out[i].object.Name == flowcontrolv1.FlowSchemaNameCatchAll {
			// What matches nothing goes to catch-all, wherever it stands.
			out = append(out, candidate{object: out[i].object, assumed: out[i].assumed, last: true})
			break
		}
	}
	return out
}

// to fills in what follows from the schema that takes the request.
func (c Classification) to(schema candidate, limits *Limits, r *Request) Classification {
	level, _ := limits.Level(schema.object.Spec.PriorityLevelConfiguration.Name)
	c.Schema, c.SchemaAssumed, c.Level = schema.object.Name, schema.assumed, level.Name
	c.Exempt = level.Type == flowcontrolv1.PriorityLevelEnablementExempt
	if schema.last && len(c.Missed) > 0 && c.Missed[len(c.Missed)-1].Schema == c.Schema {
		c.Missed = c.Missed[:len(c.Missed)-1] // it matched nothing and takes it all the same
	}
	if m := schema.object.Spec.DistinguisherMethod; m != nil {
		c.Method = m.Type
	}
	if level.Queuing == nil {
		return c
	}
	if level.Queuing.Queues > 1 { // with one queue the server does not work out the flow
		c.Distinguisher = distinguisher(c.Method, r)
	}
	c.Hand = Hand(c.Schema, c.Distinguisher, *level.Queuing)
	return c
}

func distinguisher(method flowcontrolv1.FlowDistinguisherMethodType, r *Request) string {
	switch method {
	case flowcontrolv1.FlowDistinguisherMethodByUserType:
		return r.User
	case flowcontrolv1.FlowDistinguisherMethodByNamespaceType:
		return r.Info.Namespace
	}
	return ""
}
