package scores

import (
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// The plugins that only compare nodes. The others have their names in package filters.
const (
	NodeResourcesBalancedAllocation filters.Plugin = "NodeResourcesBalancedAllocation"
	ImageLocality                   filters.Plugin = "ImageLocality"
)

// most is what a plugin gives at most, before its weight counts (MaxNodeScore).
const most = 100

// plugin is a score plugin as this package has it.
type plugin struct {
	name filters.Plugin
	// prepare is what the plugin does before it is asked about nodes (PreScore). The part is nil if the
	// plugin gives the same to all nodes, or none. A doubt says that the plugin may give any node anything.
	prepare func(s *Scorer) (part, []filters.Doubt)
}

// part is what a plugin knows of a pod in a cluster.
type part interface {
	// raw fills in what the plugin gives to nodes before it compares them. It may be called several times.
	raw(nodes *field, out []int64)
	// normalize brings what was filled in to between 0 and most.
	normalize(scores []int64)
}

// plugins are all score plugins, in the scheduler's order.
var plugins = []plugin{
	{filters.TaintToleration, prepareTaintToleration},
	{filters.NodeAffinity, prepareNodeAffinity},
	{filters.NodeResourcesFit, prepareNodeResourcesFit},
	{filters.VolumeBinding, prepareVolumeBinding},
	{filters.PodTopologySpread, preparePodTopologySpread},
	{filters.InterPodAffinity, prepareInterPodAffinity},
	{filters.DynamicResources, prepareDynamicResources},
	{NodeResourcesBalancedAllocation, prepareBalancedAllocation},
	{ImageLocality, prepareImageLocality},
}

// Plugins returns the plugins that this package decides, in the scheduler's order.
func Plugins() []filters.Plugin {
	out := make([]filters.Plugin, len(plugins))
	for i := range plugins {
		out[i] = plugins[i].name
	}
	return out
}

// field are the nodes that are compared.
type field struct {
	candidates []Candidate
	at         []int          // their numbers in the index, ascending
	nodes      []filters.Node // of at
}
