package get

import (
	"context"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

// lister lists what a view shows, in a namespace or in all ("").
type lister func(o *getOptions, ctx context.Context, s *inspect.Snapshot, namespace string) (*output.List, error)

// inNamespace lists what only depends on the snapshot and the namespace.
func inNamespace(list func(*inspect.Snapshot, string) *output.List) lister {
	return func(_ *getOptions, _ context.Context, s *inspect.Snapshot, namespace string) (*output.List, error) {
		return list(s, namespace), nil
	}
}

// allNamespaces lists what is in no namespace.
func allNamespaces(list func(*inspect.Snapshot) *output.List) lister {
	return inNamespace(func(s *inspect.Snapshot, _ string) *output.List { return list(s) })
}

// view is a table that kubectl dra get shows.
type view struct {
	names      []string // the first is its name, the others are what else a user may call it
	singular   string
	noun       string // what it lists, if that is not its name
	namespaced bool
	// inAllNamespaces says that items live in namespaces, and that those of all are listed unless -n names
	// one.
	inAllNamespaces bool
	// needs are the resources without which there is nothing to show, uses those that add to it.
	needs, uses []inspect.Resource
	// madeOf are the resources that the rows are of, if those are not the needs: with some of them unread
	// there is something to show.
	madeOf []inspect.Resource
	list   lister
	// selects says that the list applies the selector itself.
	selects bool
	// fillIn fills in what takes work, for the items that are shown. It is nil if nothing does.
	fillIn func(ctx context.Context, s *inspect.Snapshot, list *output.List) error
	// countsPods: what is free is what pods leave.
	countsPods bool
}

var views = []view{
	{
		names: []string{"claims", "claim", "resourceclaims", "resourceclaim"}, singular: "resourceclaim", namespaced: true,
		needs: []inspect.Resource{inspect.Claims},
		uses:  []inspect.Resource{inspect.Pods, inspect.Classes, inspect.Slices, inspect.TaintRules, inspect.Nodes},
		list:  inNamespace(output.Claims), fillIn: explainPending,
	},
	{
		names: []string{"devices", "device", "dev"}, singular: "device",
		needs: []inspect.Resource{inspect.Slices}, uses: deviceUses, list: allNamespaces(output.Devices),
	},
	{
		names: []string{"pools", "pool"}, singular: "pool",
		needs: []inspect.Resource{inspect.Slices}, uses: deviceUses, list: allNamespaces(output.Pools),
	},
	{
		names: []string{"nodes", "node", "no"}, singular: "node",
		uses: append([]inspect.Resource{inspect.Slices}, deviceUses...), madeOf: []inspect.Resource{inspect.Nodes},
		list: allNamespaces(output.Nodes),
	},
	{
		names: []string{"classes", "class", "deviceclasses", "deviceclass", "dc"}, singular: "deviceclass",
		needs: []inspect.Resource{inspect.Classes}, list: allNamespaces(output.Classes),
	},
	{
		names: []string{"templates", "template", "resourceclaimtemplates", "resourceclaimtemplate", "rct"}, singular: inquiry.Template.Singular, namespaced: true,
		needs: []inspect.Resource{inspect.Templates}, uses: []inspect.Resource{inspect.Pods}, list: inNamespace(output.Templates),
	},
	{
		names: []string{"pods", "pod", "po"}, singular: inquiry.Pod.Singular, namespaced: true,
		needs: []inspect.Resource{inspect.Pods}, list: inNamespace(output.Pods),
	},
	{
		names: []string{"taintrules", "taintrule", "devicetaintrules", "devicetaintrule"}, singular: "devicetaintrule",
		needs: []inspect.Resource{inspect.TaintRules}, uses: []inspect.Resource{inspect.Slices, inspect.Claims}, list: allNamespaces(output.TaintRules),
	},
	{
		names: []string{"drivers", "driver"}, singular: "driver",
		needs: []inspect.Resource{inspect.Slices}, uses: deviceUses, list: allNamespaces(output.Drivers),
	},
	{
		names:    []string{priorityLevelsView, "prioritylevel", "prioritylevelconfigurations", "prioritylevelconfiguration", "pl"},
		singular: "prioritylevelconfiguration",
		needs:    []inspect.Resource{inspect.PriorityLevels}, uses: []inspect.Resource{inspect.FlowSchemas},
		list: (*getOptions).priorityLevels,
	},
	{
		names: []string{flowSchemasView, "flowschema", "fs"}, singular: "flowschema",
		needs: sources.FlowControlResources,
		list:  (*getOptions).flowSchemas,
	},
	{
		names: []string{"storage", "csistoragecapacities", "csistoragecapacity"}, singular: "csistoragecapacity",
		inAllNamespaces: true, // a volume may come from any of them
		needs:           []inspect.Resource{inspect.StorageCapacities}, uses: []inspect.Resource{inspect.Nodes},
		list: inNamespace(output.StorageCapacities),
	},
	{
		names: []string{"extended", "extendedresources", "extendedresource", "er"}, singular: "extendedresource", noun: "extended resources",
		needs: []inspect.Resource{inspect.Nodes},
		uses:  []inspect.Resource{inspect.Pods, inspect.Classes, inspect.Slices, inspect.Claims, inspect.TaintRules},
		list:  (*getOptions).extendedResources, fillIn: addTotals, countsPods: true,
	},
	{
		names: []string{"queues", "queue"}, singular: "queue", namespaced: true,
		needs: []inspect.Resource{inspect.LocalQueues, inspect.ClusterQueues}, uses: queueUses, list: inNamespace(output.Queues),
	},
	{
		names: []string{"clusterqueues", "clusterqueue", "cq"}, singular: "clusterqueue",
		needs: []inspect.Resource{inspect.ClusterQueues}, uses: queueUses, list: inNamespace(output.OfKind("ClusterQueue")),
	},
	{
		names: []string{"localqueues", "localqueue", "lq"}, singular: "localqueue", namespaced: true,
		needs: []inspect.Resource{inspect.LocalQueues}, uses: queueUses, list: inNamespace(output.OfKind("LocalQueue")),
	},
	{
		names:    []string{"workloads", "workload", "wl"},
		singular: "workload", namespaced: true,
		needs: []inspect.Resource{inspect.KueueWorkloads}, uses: queueUses, list: inNamespace(output.KueueWorkloads),
	},
	{
		names: []string{usageView}, singular: "usage", noun: "claims", inAllNamespaces: true, selects: true,
		needs: []inspect.Resource{inspect.Claims, inspect.Slices},
		uses:  []inspect.Resource{inspect.Pods, inspect.TaintRules, inspect.Nodes},
		list:  (*getOptions).usage, fillIn: addTotals,
	},
}

// queueUses are what Kueue decides by.
var queueUses = append(live.KueueResources(), inspect.Templates, inspect.Classes, inspect.Slices, inspect.Namespaces)

func viewNames() []string { return words.Each(views, func(v view) string { return v.names[0] }) }

func viewByName(name string) (view, error) {
	var known []string
	for _, v := range views {
		if slices.Contains(v.names, inquiry.PlainType(name)) {
			return v, nil
		}
		known = append(known, v.names...)
	}
	if hint := console.DidYouMean(name, known); hint != "" {
		return view{}, console.Usagef("unknown type %q%s", name, hint)
	}
	return view{}, console.Usagef("unknown type %q; there are %s", name, console.CommaList(viewNames()))
}
