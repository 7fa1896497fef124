package fairness

import (
	"net/http"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
)

// RequestExplanation says where a request to the API server goes, and why.
type RequestExplanation struct {
	output.Head
	Request RequestAsked `json:"request"`
	// LongRunning: the request passes by priority and fairness; the rest says where it would go.
	LongRunning bool `json:"longRunning,omitempty"`
	// FlowSchema matches first; Rule is the number of its rule that does, from 1 on, absent if the request
	// goes to catch-all because it matches nothing. FlowSchemaAssumed: there is no such object, the server
	// makes it up.
	FlowSchema        string `json:"flowSchema"`
	FlowSchemaAssumed bool   `json:"flowSchemaAssumed,omitempty"`
	Rule              int    `json:"rule,omitempty"`
	PriorityLevel     string `json:"priorityLevel"`
	// Exempt: the request is executed at once.
	Exempt bool `json:"exempt,omitempty"`
	// DistinguisherMethod is ByUser, ByNamespace, or absent if all requests of the schema are one flow.
	DistinguisherMethod string `json:"distinguisherMethod,omitempty"`
	Distinguisher       string `json:"distinguisher"`
	// Queues are those in which requests of this flow may wait, in the order in which they are dealt.
	Queues []int `json:"queues"`
	// Rejected are the schemas that come before, and why they do not match.
	Rejected []RejectedSchema `json:"rejected"`
	// Level is the priority level as in a PriorityLevelList.
	Level    *PriorityLevel `json:"level,omitempty"`
	Verified *Verified      `json:"verified,omitempty"`
	// Partial says what could not be read.
	Partial []string `json:"partial,omitempty"`
}

// RequestAsked is the request that was asked about, as the server reads it.
type RequestAsked struct {
	User   string   `json:"user"`
	Groups []string `json:"groups"`
	Method string   `json:"method"`
	URL    string   `json:"url"`
	Verb   string   `json:"verb"`
	// Resource has its subresource, as in "pods/log"; it is empty for a URL that is no resource.
	Resource  string `json:"resource,omitempty"`
	APIGroup  string `json:"apiGroup,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
}

// RejectedSchema is a FlowSchema that does not match.
type RejectedSchema struct {
	FlowSchema string `json:"flowSchema"`
	Reason     string `json:"reason" enum:"flowcontrol.MissReason"`
	// Rule is the number of the rule that comes nearest.
	Rule    int    `json:"rule,omitempty"`
	Message string `json:"message"`
}

// Results of a verification.
const (
	VerifiedSame    = "Same"
	VerifiedNot     = "Different"
	VerifiedUnknown = "Unknown" // the server did not say
)

// Verified is what the server says.
type Verified struct {
	Result        string `json:"result" enum:"Same,Different,Unknown"`
	FlowSchema    string `json:"flowSchema,omitempty"`
	PriorityLevel string `json:"priorityLevel,omitempty"`
	Status        int    `json:"status"`
	Message       string `json:"message,omitempty"`
}

// Request explains where a request goes.
func Request(in LevelInput, r *flowcontrol.Request) *RequestExplanation {
	c := flowcontrol.Classify(in.Snapshot.Objects().FlowSchemas, &in.Limits.Limits, r)
	at := slices.IndexFunc(in.Limits.Levels, func(l flowcontrol.Level) bool { return l.Name == c.Level })
	e := &RequestExplanation{
		Head: output.HeadOf("RequestExplanation"), LongRunning: r.LongRunning(),
		Request: RequestAsked{
			User: r.User, Groups: r.Groups, Method: r.Method, URL: r.URL.RequestURI(), Verb: r.Info.Verb, Resource: r.Resource(),
			APIGroup: r.Info.APIGroup, Namespace: r.Info.Namespace, Name: r.Info.Name,
		},
		FlowSchema: c.Schema, FlowSchemaAssumed: c.SchemaAssumed, Rule: c.Rule, PriorityLevel: c.Level, Exempt: c.Exempt,
		DistinguisherMethod: string(c.Method), Distinguisher: c.Distinguisher, Queues: append([]int{}, c.Hand...),
		Rejected: words.Each(c.Missed, func(m flowcontrol.Miss) RejectedSchema {
			return RejectedSchema{FlowSchema: m.Schema, Reason: string(m.Reason), Rule: m.Rule, Message: m.Message()}
		}),
	}
	levels := PriorityLevels(in.Snapshot, in.Limits.Limits, in.Limits.Source, in.Reading).Items
	e.Level = levels[at].(*PriorityLevel) //nolint:forcetypeassert // it is a list of those
	if h := in.Reading.Health; in.Reading.Metrics == nil && h.Message != "" {
		e.Partial = append(e.Partial, h.Message+": how busy the level is, is not known")
	}
	return e
}

// SetVerification notes what the server says.
func (e *RequestExplanation) SetVerification(s *inspect.Snapshot, v flowcontrol.Verification) {
	e.Verified = &Verified{Result: VerifiedUnknown, Status: v.Status, Message: v.Message}
	switch {
	case !v.Classified && e.LongRunning:
		e.Verified.Result = VerifiedSame
		return
	case !v.Classified:
		if v.Message == "" && v.Status != http.StatusForbidden {
			e.Verified.Message = "it did not classify the request; API Priority and Fairness may be off"
		}
		return
	}
	const madeUp = "one that the server makes up"
	schema, level := madeUp, madeUp
	schemaUID, levelUID := "", "" // of those that were found here
	for _, o := range s.Objects().FlowSchemas {
		if v.SchemaUID != "" && string(o.UID) == v.SchemaUID {
			schema = o.Name
		}
		if o.Name == e.FlowSchema && !e.FlowSchemaAssumed {
			schemaUID = string(o.UID)
		}
	}
	for _, o := range s.PriorityLevels() {
		if v.LevelUID != "" && string(o.UID) == v.LevelUID {
			level = o.Name
		}
		if o.Name == e.PriorityLevel {
			levelUID = string(o.UID)
		}
	}
	e.Verified.Result = VerifiedNot
	if !e.LongRunning && v.SchemaUID == schemaUID && v.LevelUID == levelUID {
		e.Verified.Result = VerifiedSame
		schema, level = e.FlowSchema, e.PriorityLevel
	}
	e.Verified.FlowSchema, e.Verified.PriorityLevel = schema, level
}
