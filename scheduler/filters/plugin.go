package filters

// Plugin is the name of a plugin of kube-scheduler.
type Plugin string

// The plugins that decide where a pod can run. DynamicResources, which allocates devices, is not in this
// package.
const (
	SchedulingGates      Plugin = "SchedulingGates"
	NodeName             Plugin = "NodeName"
	NodeUnschedulable    Plugin = "NodeUnschedulable"
	TaintToleration      Plugin = "TaintToleration"
	NodeAffinity         Plugin = "NodeAffinity"
	NodePorts            Plugin = "NodePorts"
	NodeResourcesFit     Plugin = "NodeResourcesFit"
	VolumeRestrictions   Plugin = "VolumeRestrictions"
	NodeVolumeLimits     Plugin = "NodeVolumeLimits"
	VolumeBinding        Plugin = "VolumeBinding"
	VolumeZone           Plugin = "VolumeZone"
	PodTopologySpread    Plugin = "PodTopologySpread"
	InterPodAffinity     Plugin = "InterPodAffinity"
	DynamicResources     Plugin = "DynamicResources"
	NodeDeclaredFeatures Plugin = "NodeDeclaredFeatures"
	GangScheduling       Plugin = "GangScheduling"
)

// filter is a plugin as this package has it.
type filter struct {
	name Plugin
	// prepare is what the plugin does before it is asked about nodes (PreEnqueue, PreFilter). The check is
	// nil if the plugin has nothing to say of the pod on any node. The outcome is about the pod wherever it
	// would run.
	prepare func(p *Prepared) (check, Outcome)
	// reads are the parts of a pod's spec that the plugin reads. They are set if it pays to remember what it
	// said: then it may read all that belongs to no part too, but not the claims and nothing else of another
	// part.
	reads specPart
}

// check is what a plugin knows of a pod in a cluster.
type check interface {
	// on says what the plugin has against a node. It must not be written to, and calls come from several
	// goroutines at once.
	on(n *nodeInfo) Outcome
}

// plugins are all filters, in the order in which the scheduler asks them.
var plugins = []filter{
	{SchedulingGates, prepareSchedulingGates, 0},
	{NodeName, prepareNodeName, 0},
	{NodeUnschedulable, prepareNodeUnschedulable, 0},
	{TaintToleration, prepareTaintToleration, 0},
	{NodeAffinity, prepareNodeAffinity, 0},
	{NodePorts, prepareNodePorts, 0},
	{NodeResourcesFit, prepareNodeResourcesFit, 0},
	{VolumeRestrictions, prepareVolumeRestrictions, partVolumes},
	{NodeVolumeLimits, prepareNodeVolumeLimits, partVolumes},
	{VolumeBinding, prepareVolumeBinding, partVolumes},
	{VolumeZone, prepareVolumeZone, partVolumes},
	{PodTopologySpread, preparePodTopologySpread, partSpread | partNode | partTolerations},
	{InterPodAffinity, prepareInterPodAffinity, partNeighbours},
	{NodeDeclaredFeatures, prepareNodeDeclaredFeatures, 0},
	{GangScheduling, prepareGangScheduling, 0},
}

// Plugins returns the plugins that this package decides, in the order in which the scheduler asks them.
func Plugins() []Plugin {
	out := make([]Plugin, len(plugins))
	for i := range plugins {
		out[i] = plugins[i].name
	}
	return out
}
