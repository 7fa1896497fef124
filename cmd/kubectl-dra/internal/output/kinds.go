package output

// Kind is a kind of value that commands print as JSON or YAML.
type Kind struct {
	Name string
	// Types has a pointer of each type that has the kind: there are several kinds of plans.
	Types []any
	// Item is, for a List, a pointer of the type of its items.
	Item Item
	// Streamed: values of the kind are items of a list, each printed on its own by --watch.
	Streamed bool
}

// Kinds are all kinds that commands print, but for objects of the API and SARIF.
func Kinds() []Kind {
	kinds := []Kind{
		{Name: "Explanation", Types: []any{&Explanation{}}},
		{Name: "ExplanationList", Types: []any{&ExplanationList{}}},
		{Name: "Triage", Types: []any{&Triage{}}},
		{Name: "Since", Types: []any{&Since{}}},
		{Name: "Fit", Types: []any{&Fit{}}},
		{Name: "FitList", Types: []any{&FitList{}}},
		{Name: "Plan", Types: []any{&Plan{}, &Disruption{}, &MovesPlan{}, &DefragmentPlan{}, &ShapePlan{}}},
		{Name: "Diff", Types: []any{&Diff{}}},
		{Name: "Check", Types: []any{&Check{}}},
		{Name: "Notice", Types: []any{&Notice{}}},
		{Name: "RulePreview", Types: []any{&RulePreview{}}},
		{Name: "RulePreviewList", Types: []any{&RulePreviewList{}}},
		{Name: "SelectorTest", Types: []any{&SelectorTest{}}},
		{Name: "SelectorTestList", Types: []any{&SelectorTestList{}}},
		{Name: "RequestExplanation", Types: []any{&RequestExplanation{}}},
		{Name: "PriorityLevelExplanation", Types: []any{&PriorityLevelExplanation{}}},
		{Name: "PriorityLevelExplanationList", Types: []any{&PriorityLevelExplanations{}}},
		{Name: "PriorityLevelPlan", Types: []any{&PriorityLevelPlan{}}},
		{Name: "DRAActorList", Types: []any{&DRAActorList{}}},
		{Name: "NodeView", Types: []any{&NodeView{}}},
		{Name: "NodeNetwork", Types: []any{&NodeNetwork{}}},
		{Name: "Hardware", Types: []any{&Hardware{}}},
	}
	for _, list := range []struct {
		name string
		item Item
	}{
		{"ClaimList", &Claim{}}, {"ClassList", &Class{}}, {"DeviceList", &Device{}}, {"ExtendedResourceList", &ExtendedResource{}},
		{"FlowSchemaList", &FlowSchema{}}, {"NodeList", &Node{}}, {"PoolList", &Pool{}}, {"PriorityLevelList", &PriorityLevel{}},
		{"StorageList", &Storage{}}, {"UsageList", &Usage{}},
		{"DriverList", &Driver{}}, {"PodList", &ListedPod{}}, {"TaintRuleList", &ListedTaintRule{}}, {"TemplateList", &Template{}},
	} {
		kinds = append(kinds,
			Kind{Name: list.name, Types: []any{&List{}}, Item: list.item},
			Kind{Name: list.name[:len(list.name)-len("List")], Types: []any{list.item}, Streamed: true})
	}
	return kinds
}
