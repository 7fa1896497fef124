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
	// Rule is the number of the first rule of the schema that matches, from 1 on. It is 0 if none does, and
	// the request goes to catch-all because it has to go somewhere.
	Rule int
	// Method is how the schema tells flows apart: ByUser, ByNamespace, or "" if all its requests are one
	// flow.
	Method flowcontrolv1.FlowDistinguisherMethodType
	// Distinguisher tells the flow of the request from others of the schema. It is empty for a level without
	// queues, or with one, where the server does not ask.
	Distinguisher string
	// Hand are the queues of the flow among those of the level, from 0 on, in the order in which they are
	// dealt. It is nil for a level without queues.
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

// The reasons, in the order in which a rule is tried. Of the rules of a schema, that which gets furthest is
// told.
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

// Classify finds the FlowSchema and the priority level of a request, as the server does: it tries the schemas
// by precedence and then by name, passes over those whose level does not exist, and makes up the mandatory
// schemas that are missing, exempt as the first and catch-all as the last. The limits are those of [Compute]
// for the levels.
func Classify(schemas []*flowcontrolv1.FlowSchema, limits *Limits, r *Request) Classification {
	var out Classification
	var catchAll Schema
	for _, schema := range Schemas(schemas, limits) {
		name := schema.Object.Name
		if name == flowcontrolv1.FlowSchemaNameCatchAll {
			catchAll = schema
		}
		if schema.Dangling {
			level := schema.Object.Spec.PriorityLevelConfiguration.Name
			out.Missed = append(out.Missed, Miss{Schema: name, Reason: MissDangling, Wanted: []string{level}})
			continue
		}
		rule, miss := matches(schema.Object, r)
		if rule > 0 {
			out.Rule = rule
			return out.to(schema, limits, r)
		}
		out.Missed = append(out.Missed, miss)
	}
	// What matches nothing goes to catch-all, wherever it stands. If it stands last, it is not among those
	// that come before.
	if last := len(out.Missed) - 1; out.Missed[last].Schema == catchAll.Object.Name {
		out.Missed = out.Missed[:last]
	}
	return out.to(catchAll, limits, r)
}

// to fills in what follows from the schema that takes the request.
func (c Classification) to(schema Schema, limits *Limits, r *Request) Classification {
	level, _ := limits.Level(schema.Object.Spec.PriorityLevelConfiguration.Name)
	c.Schema, c.SchemaAssumed, c.Level = schema.Object.Name, schema.Assumed, level.Name
	c.Exempt = level.Type == flowcontrolv1.PriorityLevelEnablementExempt
	if m := schema.Object.Spec.DistinguisherMethod; m != nil {
		c.Method = m.Type
	}
	if level.Queuing == nil {
		return c
	}
	if level.Queuing.Queues > 1 { // with one queue the server does not work out the flow
		switch c.Method {
		case flowcontrolv1.FlowDistinguisherMethodByUserType:
			c.Distinguisher = r.User
		case flowcontrolv1.FlowDistinguisherMethodByNamespaceType:
			c.Distinguisher = r.Info.Namespace
		}
	}
	c.Hand = Hand(c.Schema, c.Distinguisher, *level.Queuing)
	return c
}
