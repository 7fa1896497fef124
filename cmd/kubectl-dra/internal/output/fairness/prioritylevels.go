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

// PriorityLevel is an item of a PriorityLevelList. Limits are in seats; live figures are absent when
// they could not be read.
type PriorityLevel struct {
	output.Listed
	Name     string `json:"name"`
	Type     string `json:"type" enum:"Limited,Exempt"` // Limited or Exempt
	Shares   int    `json:"shares"`
	Nominal  int    `json:"nominal"`
	Lendable int    `json:"lendable"`
	// Borrowing is absent when there is no limit to it.
	Borrowing *int `json:"borrowing,omitempty"`
	Lower     int  `json:"lower"`
	// Upper is nominal and borrowing, or nominal and the server concurrency limit.
	Upper int `json:"upper"`
	// Current is the limit that holds now; more than nominal is borrowed.
	Current *int `json:"current,omitempty"`
	// Executing, Queued and Rejected count requests; Rejected since the server started.
	Executing *int `json:"executing,omitempty"`
	Queued    *int `json:"queued,omitempty"`
	Rejected  *int `json:"rejected,omitempty"`
	// ExecutingSeats and QueuedSeats are the seats of those requests.
	ExecutingSeats *int `json:"executingSeats,omitempty"`
	QueuedSeats    *int `json:"queuedSeats,omitempty"`
	// RejectedBy splits Rejected by the server's reasons.
	RejectedBy map[string]int      `json:"rejectedBy,omitempty"`
	Demand     *flowcontrol.Demand `json:"demand,omitempty"`
	// MeanWait and P99Wait are times in queues since the server started, such as "12ms".
	MeanWait string `json:"meanWait,omitempty"`
	P99Wait  string `json:"p99Wait,omitempty"`
	// Response is Queue or Reject, empty for an exempt level.
	Response string               `json:"response,omitempty"`
	Queuing  *flowcontrol.Queuing `json:"queuing,omitempty"`
	// FlowSchemas are those that lead to the level, in the order in which they are tried.
	FlowSchemas []string `json:"flowSchemas"`
	// Assumed: there is no object for this mandatory level, the server makes it up.
	Assumed bool `json:"assumed,omitempty"`
	// Created is RFC 3339, or empty.
	Created string `json:"created,omitempty"`
}

// PriorityLevels lists priority levels with their limits and with what is known of their load.
func PriorityLevels(s *inspect.Snapshot, limits flowcontrol.Limits, source flowcontrol.ConcurrencySource, reading flowcontrol.Reading) *output.List {
	list := output.NewList("PriorityLevelList", "prioritylevelconfiguration.flowcontrol.apiserver.k8s.io", priorityLevelTable)
	list.ServerConcurrency = &output.ServerConcurrency{Limit: limits.ServerConcurrency, Source: source}
	objects := map[string]*flowcontrolv1.PriorityLevelConfiguration{}
	for _, object := range s.PriorityLevels() {
		if objects[object.Name] == nil {
			objects[object.Name] = object
		}
	}
	schemas := flowcontrol.SchemasOf(s.Objects().FlowSchemas)
	if s.Health(inspect.PriorityLevels).Complete() {
		list.DanglingFlowSchemas = flowcontrol.DanglingSchemas(s.Objects().FlowSchemas, &limits)
	}
	for _, level := range limits.Levels {
		p := wirePriorityLevel(level)
		p.FlowSchemas = append(p.FlowSchemas, schemas[level.Name]...)
		if load := reading.Level(level.Name); load != nil {
			p.setLoad(load)
		}
		if object := objects[level.Name]; object != nil {
			p.Created = output.Timestamp(object.CreationTimestamp)
			p.Metadata.Labels, p.Metadata.Created = object.Labels, object.CreationTimestamp
		}
		list.Items = append(list.Items, p)
	}
	return list
}

func wirePriorityLevel(level flowcontrol.Level) *PriorityLevel {
	return &PriorityLevel{
		Name: level.Name, Type: string(level.Type), Shares: level.Shares, Nominal: level.Nominal, Lendable: level.Lendable,
		Borrowing: level.Borrowing, Lower: level.Lower, Upper: level.Upper, Response: string(level.Response),
		Queuing: level.Queuing, FlowSchemas: []string{}, Assumed: level.Assumed, Listed: output.Listed{Metadata: output.Meta{Name: level.Name}},
	}
}

func (p *PriorityLevel) setLoad(load *flowcontrol.Load) {
	total, rejected := load.Total, load.Total.RejectedRequests()
	p.Current = load.Current
	p.Executing, p.ExecutingSeats = &total.ExecutingRequests, &total.ExecutingSeats
	p.Queued, p.QueuedSeats = &total.QueuedRequests, &total.QueuedSeats
	p.Rejected, p.RejectedBy = &rejected, total.Rejected
	if load.Demand != (flowcontrol.Demand{}) {
		p.Demand = &load.Demand
	}
	if waits := load.Total.Waits; waits.Requests > 0 {
		p.MeanWait = waits.Mean().String()
		if bound, ok := waits.Quantile(0.99); ok {
			p.P99Wait = bound.String()
		}
	}
}

var priorityLevelTable = output.Table{
	Columns: []output.Column{
		{Header: "NAME"}, {Header: "TYPE", Rank: 2}, {Header: "OBJECT", Rank: 3}, {Header: "SHARES", Rank: 1}, {Header: "NOMINAL"}, {Header: "LOWER"}, {Header: "UPPER"},
		{Header: "CURRENT"}, {Header: "EXECUTING"}, {Header: "QUEUED"}, {Header: "REJECTED"},
		{Header: "SEATS", Wide: true}, {Header: "LENDABLE", Wide: true}, {Header: "BORROWING", Wide: true}, {Header: "RESPONSE", Wide: true},
		{Header: "QUEUES", Wide: true}, {Header: "HAND", Wide: true}, {Header: "QUEUE-LENGTH", Wide: true}, {Header: "FLOWSCHEMAS", Wide: true},
	},
	Row: func(item output.Item) []string {
		p := item.(*PriorityLevel)
		queues, hand, length := "-", "-", "-"
		if q := p.Queuing; q != nil {
			queues, hand, length = strconv.Itoa(q.Queues), strconv.Itoa(q.HandSize), strconv.Itoa(q.QueueLengthLimit)
		}
		return []string{
			p.Name, p.Type, objectText(p.Assumed), strconv.Itoa(p.Shares), strconv.Itoa(p.Nominal), strconv.Itoa(p.Lower), upperText(p),
			output.CountText(p.Current), output.CountText(p.Executing), output.CountText(p.Queued), output.CountText(p.Rejected),
			output.CountText(p.ExecutingSeats), strconv.Itoa(p.Lendable), borrowingText(p.Borrowing), cmp.Or(p.Response, "-"),
			queues, hand, length, output.OrNone(strings.Join(p.FlowSchemas, ",")),
		}
	},
}
