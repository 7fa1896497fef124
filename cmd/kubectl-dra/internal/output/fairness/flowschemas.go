package fairness

import (
	"cmp"
	"strconv"
	"strings"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
)

// FlowSchema is an item of a FlowSchemaList. Live figures are absent when they could not be read.
type FlowSchema struct {
	output.Listed
	Name string `json:"name"`
	// MatchingPrecedence: schemas are tried by it, the least first, and then by name.
	MatchingPrecedence int    `json:"matchingPrecedence"`
	PriorityLevel      string `json:"priorityLevel"`
	// DistinguisherMethod is ByUser, ByNamespace, or absent if all requests of the schema are one flow.
	DistinguisherMethod string   `json:"distinguisherMethod,omitempty"`
	Subjects            []string `json:"subjects"`
	// Dangling: the priority level does not exist, so the server passes over the schema.
	Dangling bool `json:"dangling,omitempty"`
	// Assumed: there is no object for this mandatory schema, the server makes it up.
	Assumed    bool        `json:"assumed,omitempty"`
	Conditions []Condition `json:"conditions,omitempty"`
	// Executing and Queued count requests of now, Dispatched and Rejected those since the server started.
	Executing  *int   `json:"executing,omitempty"`
	Queued     *int   `json:"queued,omitempty"`
	Dispatched *int   `json:"dispatched,omitempty"`
	Rejected   *int   `json:"rejected,omitempty"`
	Created    string `json:"created,omitempty"`
}

// Condition is a condition in the status of an object.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	Since   string `json:"since,omitempty"`
}

// FlowSchemas lists the FlowSchemas in the order in which the server tries them.
func FlowSchemas(s *inspect.Snapshot, limits *flowcontrol.Limits, reading flowcontrol.Reading) *output.List {
	list := output.NewList("FlowSchemaList", "flowschema.flowcontrol.apiserver.k8s.io", flowSchemaTable)
	if len(s.Objects().FlowSchemas) == 0 {
		return list
	}
	for _, schema := range flowcontrol.Schemas(s.Objects().FlowSchemas, limits) {
		list.Items = append(list.Items, flowSchema(s, schema, reading))
	}
	return list
}

func flowSchema(s *inspect.Snapshot, schema flowcontrol.Schema, reading flowcontrol.Reading) *FlowSchema {
	o := schema.Object
	f := &FlowSchema{
		Name: o.Name, MatchingPrecedence: int(o.Spec.MatchingPrecedence), PriorityLevel: o.Spec.PriorityLevelConfiguration.Name,
		Subjects: append([]string{}, flowcontrol.Subjects(o)...), Assumed: schema.Assumed,
		Dangling: schema.Dangling && s.Health(inspect.PriorityLevels).Complete(), Created: output.Timestamp(o.CreationTimestamp),
		Conditions: output.Optional(o.Status.Conditions, func(c flowcontrolv1.FlowSchemaCondition) Condition {
			return Condition{Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: c.Message, Since: output.Timestamp(c.LastTransitionTime)}
		}),
		Listed: output.Listed{Metadata: output.Meta{Name: o.Name, Labels: o.Labels, Created: o.CreationTimestamp}},
	}
	if m := o.Spec.DistinguisherMethod; m != nil {
		f.DistinguisherMethod = string(m.Type)
	}
	if counts := reading.Schema(f.PriorityLevel, f.Name); counts != nil {
		rejected := counts.RejectedRequests()
		f.Executing, f.Queued, f.Dispatched, f.Rejected = &counts.ExecutingRequests, &counts.QueuedRequests, &counts.Dispatched, &rejected
	}
	return f
}

var flowSchemaTable = output.Table{
	Columns: []output.Column{
		{Header: "NAME"}, {Header: "PRECEDENCE"}, {Header: "PRIORITYLEVEL"}, {Header: "FLOWS", Rank: 1}, {Header: "OBJECT", Rank: 2},
		{Header: "EXECUTING"}, {Header: "QUEUED"}, {Header: "REJECTED"}, {Header: "SUBJECTS", Wide: true},
	},
	Row: func(item output.Item) []string {
		f := item.(*FlowSchema)
		level := f.PriorityLevel
		if f.Dangling {
			level += " (missing)"
		}
		return []string{
			f.Name, strconv.Itoa(f.MatchingPrecedence), level, cmp.Or(f.DistinguisherMethod, "one"), objectText(f.Assumed),
			output.CountText(f.Executing), output.CountText(f.Queued), output.CountText(f.Rejected), output.OrNone(strings.Join(f.Subjects, ",")),
		}
	},
}

// objectText says whether there is an object, or the server makes something up without one.
func objectText(assumed bool) string {
	if assumed {
		return "made up"
	}
	return "yes"
}
