package schedulerconfig

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	componentconfig "k8s.io/component-base/config/v1alpha1"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/utils/ptr"
)

// Feature gates that decide about defaults, and about what is allowed.
const (
	gateStorageCapacityScoring = "StorageCapacityScoring"
	gateFilterTimeout          = "DRASchedulerFilterTimeout"
	gateBindingConditions      = "DRADeviceBindingConditions"
	gateDeviceStatus           = "DRAResourceClaimDeviceStatus"
)

// maxShapeScore is the most that a point of a shape can give (MaxCustomPriorityScore).
const maxShapeScore = 10

// setDefaults fills in what a configuration does not say (pkg/scheduler/apis/config/v1/defaults.go).
func setDefaults(c *configv1.KubeSchedulerConfiguration, enabled func(gate string) bool) {
	c.Parallelism = orDefault(c.Parallelism, 16)
	c.PercentageOfNodesToScore = orDefault(c.PercentageOfNodesToScore, 0)
	c.PodInitialBackoffSeconds = orDefault(c.PodInitialBackoffSeconds, 1)
	c.PodMaxBackoffSeconds = orDefault(c.PodMaxBackoffSeconds, 10)
	if c.LeaderElection.ResourceLock == "" {
		c.LeaderElection.ResourceLock = "leases"
	}
	if c.LeaderElection.ResourceNamespace == "" {
		c.LeaderElection.ResourceNamespace = configv1.SchedulerDefaultLockObjectNamespace
	}
	if c.LeaderElection.ResourceName == "" {
		c.LeaderElection.ResourceName = configv1.SchedulerDefaultLockObjectName
	}
	componentconfig.RecommendedDefaultLeaderElectionConfiguration(&c.LeaderElection)
	if c.ClientConnection.Burst == 0 {
		c.ClientConnection.Burst = 100
	}
	if len(c.Profiles) == 0 {
		c.Profiles = []configv1.KubeSchedulerProfile{{}}
	}
	if len(c.Profiles) == 1 && c.Profiles[0].SchedulerName == nil {
		c.Profiles[0].SchedulerName = ptr.To(corev1.DefaultSchedulerName)
	}
	for i := range c.Profiles {
		p := &c.Profiles[i]
		p.SchedulerName = orDefault(p.SchedulerName, "")
		p.Plugins = withDefaultPlugins(p.Plugins)
		for j := range p.PluginConfig {
			setArgDefaults(p.PluginConfig[j].Args.Object, enabled)
		}
	}
}

func orDefault[T any](value *T, otherwise T) *T {
	if value == nil {
		return &otherwise
	}
	return value
}

// setArgDefaults fills in what the arguments of a plugin do not say.
func setArgDefaults(args runtime.Object, enabled func(gate string) bool) {
	switch args := args.(type) {
	case *configv1.DefaultPreemptionArgs:
		args.MinCandidateNodesPercentage = orDefault(args.MinCandidateNodesPercentage, 10)
		args.MinCandidateNodesAbsolute = orDefault(args.MinCandidateNodesAbsolute, 100)
	case *configv1.InterPodAffinityArgs:
		args.HardPodAffinityWeight = orDefault(args.HardPodAffinityWeight, 1)
	case *configv1.VolumeBindingArgs:
		args.BindTimeoutSeconds = orDefault(args.BindTimeoutSeconds, 600)
		if len(args.Shape) == 0 && enabled(gateStorageCapacityScoring) {
			args.Shape = usualShape()
		}
	case *configv1.NodeResourcesBalancedAllocationArgs:
		args.Resources = withWeights(args.Resources)
	case *configv1.PodTopologySpreadArgs:
		if args.DefaultingType == "" {
			args.DefaultingType = configv1.SystemDefaulting
		}
	case *configv1.NodeResourcesFitArgs:
		if args.ScoringStrategy == nil {
			args.ScoringStrategy = &configv1.ScoringStrategy{Type: configv1.LeastAllocated}
		}
		args.ScoringStrategy.Resources = withWeights(args.ScoringStrategy.Resources)
	case *configv1.DynamicResourcesArgs:
		if args.FilterTimeout == nil && enabled(gateFilterTimeout) {
			args.FilterTimeout = &metav1.Duration{Duration: configv1.DynamicResourcesFilterTimeoutDefault}
		}
		if args.BindingTimeout == nil && enabled(gateBindingConditions) && enabled(gateDeviceStatus) {
			args.BindingTimeout = &metav1.Duration{Duration: configv1.DynamicResourcesBindingTimeoutDefault}
		}
	}
}

// usualShape prefers volumes that fill little of the storage.
func usualShape() []configv1.UtilizationShapePoint {
	return []configv1.UtilizationShapePoint{{Utilization: 0, Score: maxShapeScore}, {Utilization: 100, Score: 0}}
}

// withWeights are resources by which nodes are compared: CPU and memory where none are named, with a weight
// of 1 where none is given.
func withWeights(resources []configv1.ResourceSpec) []configv1.ResourceSpec {
	if len(resources) == 0 {
		return []configv1.ResourceSpec{{Name: string(corev1.ResourceCPU), Weight: 1}, {Name: string(corev1.ResourceMemory), Weight: 1}}
	}
	for i := range resources {
		if resources[i].Weight == 0 {
			resources[i].Weight = 1
		}
	}
	return resources
}

// withDefaultPlugins are the plugins of a profile once the default ones are added to what it says
// (default_plugins.go).
func withDefaultPlugins(p *configv1.Plugins) *configv1.Plugins {
	if p == nil {
		p = &configv1.Plugins{}
	}
	var usual []configv1.Plugin
	for _, d := range defaultPlugins {
		one := configv1.Plugin{Name: d.name}
		if d.weight > 0 {
			one.Weight = ptr.To(d.weight)
		}
		usual = append(usual, one)
	}
	out := *p
	out.MultiPoint.Enabled = merged(usual, p.MultiPoint)
	return &out
}

// merged are default plugins with what a set says of them, in their order, and then the others of the set.
func merged(usual []configv1.Plugin, set configv1.PluginSet) []configv1.Plugin {
	var out []configv1.Plugin
	replaced := map[int]bool{}
	for _, one := range usual {
		if named(set.Disabled, "*") != nil || named(set.Disabled, one.Name) != nil {
			continue
		}
		// Of several with one name, the last replaces the default.
		for i := len(set.Enabled) - 1; i >= 0; i-- {
			if set.Enabled[i].Name == one.Name {
				one, replaced[i] = set.Enabled[i], true
				break
			}
		}
		out = append(out, one)
	}
	for i, one := range set.Enabled {
		if !replaced[i] {
			out = append(out, one)
		}
	}
	return slices.Clip(out)
}

// MostScored is the number of resources up to which nodes are compared by them.
const MostScored = 6

// scoresApart reports whether a plugin compares nodes otherwise with some arguments than without.
func scoresApart(args runtime.Object) bool {
	switch args := args.(type) {
	case *configv1.VolumeBindingArgs:
		return args.Shape != nil && !slices.Equal(args.Shape, usualShape())
	case *configv1.NodeResourcesBalancedAllocationArgs:
		return len(args.Resources) > MostScored
	case *configv1.NodeResourcesFitArgs:
		known := map[string]bool{}
		for _, r := range args.ScoringStrategy.Resources {
			known[r.Name] = true
		}
		return len(known) > MostScored || len(known) < len(args.ScoringStrategy.Resources) // one may stand there twice
	}
	return false
}
