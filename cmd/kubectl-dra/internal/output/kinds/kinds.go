package kinds

import (
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/celtest"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/checks"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/diffs"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/explanations"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/fairness"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/nodeview"
)

// Kind is a kind of value that commands print as JSON or YAML.
type Kind struct {
	Name string
	// Types has a pointer of each type that has the kind: there are several kinds of plans.
	Types []any
	// Item is, for a List, a pointer of the type of its items.
	Item output.Item
	// Streamed: values of the kind are items of a list, each printed on its own by --watch.
	Streamed bool
}

// All returns all kinds that commands print, but for objects of the API.
func All() []Kind {
	kinds := []Kind{
		{Name: "Explanation", Types: []any{&explanations.Explanation{}}},
		{Name: "ExplanationList", Types: []any{&output.ListOf[*explanations.Explanation]{}}},
		{Name: "QueueExplanation", Types: []any{&explanations.QueueExplanation{}}},
		{Name: "QueueExplanationList", Types: []any{&output.ListOf[*explanations.QueueExplanation]{}}},
		{Name: "Triage", Types: []any{&explanations.Triage{}}},
		{Name: "Since", Types: []any{&diffs.Since{}}},
		{Name: "Fit", Types: []any{&explanations.Fit{}}},
		{Name: "FitList", Types: []any{&output.ListOf[*explanations.Fit]{}}},
		{Name: "Plan", Types: []any{&explanations.Plan{}, &explanations.Disruption{}, &explanations.MovesPlan{}, &explanations.ShapePlan{}}},
		{Name: "Diff", Types: []any{&diffs.Diff{}}},
		{Name: "Check", Types: []any{&checks.Check{}}},
		{Name: "RulePreview", Types: []any{&checks.RulePreview{}}},
		{Name: "RulePreviewList", Types: []any{&output.ListOf[*checks.RulePreview]{}}},
		{Name: "SelectorTest", Types: []any{&celtest.SelectorTest{}}},
		{Name: "SelectorTestList", Types: []any{&output.ListOf[*celtest.SelectorTest]{}}},
		{Name: "RequestExplanation", Types: []any{&fairness.RequestExplanation{}}},
		{Name: "PriorityLevelExplanation", Types: []any{&fairness.PriorityLevelExplanation{}}},
		{Name: "PriorityLevelExplanationList", Types: []any{&output.ListOf[*fairness.PriorityLevelExplanation]{}}},
		{Name: "PriorityLevelPlan", Types: []any{&fairness.PriorityLevelPlan{}}},
		{Name: "DRAActorList", Types: []any{&output.ListOf[fairness.DRAActor]{}}},
		{Name: "NodeView", Types: []any{&nodeview.NodeView{}}},
		{Name: "NodeNetwork", Types: []any{&nodeview.NodeNetwork{}}},
	}
	for _, list := range []struct {
		name string
		item output.Item
	}{
		{"ClaimList", &output.Claim{}}, {"ClassList", &output.Class{}}, {"DeviceList", &output.Device{}}, {"ExtendedResourceList", &output.ExtendedResource{}},
		{"FlowSchemaList", &fairness.FlowSchema{}}, {"NodeList", &output.Node{}}, {"PoolList", &output.Pool{}}, {"PriorityLevelList", &fairness.PriorityLevel{}},
		{"StorageList", &output.Storage{}}, {"UsageList", &output.Usage{}},
		{"DriverList", &output.Driver{}}, {"PodList", &output.ListedPod{}}, {"TaintRuleList", &output.ListedTaintRule{}}, {"TemplateList", &output.Template{}},
		{"QueueList", &output.QueueItem{}}, {"WorkloadList", &output.Workload{}},
	} {
		kinds = append(kinds,
			Kind{Name: list.name, Types: []any{&output.List{}}, Item: list.item},
			Kind{Name: list.name[:len(list.name)-len("List")], Types: []any{list.item}, Streamed: true})
	}
	return kinds
}
