package schedulerconfig

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	componentconfig "k8s.io/component-base/config"
	componentv1alpha1 "k8s.io/component-base/config/v1alpha1"
	componentvalidation "k8s.io/component-base/config/validation"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	configv1 "k8s.io/kube-scheduler/config/v1"
)

// validate says why kube-scheduler would not start with a configuration that has its defaults
// (pkg/scheduler/apis/config/validation).
func validate(c *configv1.KubeSchedulerConfiguration, enabled func(gate string) bool) error {
	v := &validation{enabled: enabled}
	v.components(c)
	lock := field.NewPath("leaderElection", "resourceLock")
	if c.LeaderElection.LeaderElect != nil && *c.LeaderElection.LeaderElect && c.LeaderElection.ResourceLock != "leases" {
		v.add(field.Invalid(lock, c.LeaderElection.ResourceLock, `resourceLock value must be "leases"`))
	}
	if *c.Parallelism <= 0 {
		v.add(field.Invalid(field.NewPath("parallelism"), *c.Parallelism, "should be an integer value greater than zero"))
	}
	profiles := field.NewPath("profiles")
	for i := range c.Profiles {
		v.profile(profiles.Index(i), &c.Profiles[i])
		for j := range i {
			if *c.Profiles[j].SchedulerName == *c.Profiles[i].SchedulerName {
				v.add(field.Duplicate(profiles.Index(i).Child("schedulerName"), profiles.Index(j).Child("schedulerName")))
			}
		}
	}
	v.queueSort(profiles, c.Profiles)
	v.percentage(field.NewPath("percentageOfNodesToScore"), c.PercentageOfNodesToScore)
	if *c.PodInitialBackoffSeconds <= 0 {
		v.add(field.Invalid(field.NewPath("podInitialBackoffSeconds"), *c.PodInitialBackoffSeconds, "must be greater than 0"))
	}
	if *c.PodMaxBackoffSeconds < *c.PodInitialBackoffSeconds {
		v.add(field.Invalid(field.NewPath("podMaxBackoffSeconds"), *c.PodMaxBackoffSeconds, "must be greater than or equal to PodInitialBackoffSeconds"))
	}
	v.extenders(field.NewPath("extenders"), c.Extenders)
	return v.errs.ToAggregate()
}

// components checks what all components of Kubernetes have in their configurations.
func (v *validation) components(c *configv1.KubeSchedulerConfiguration) {
	var election componentconfig.LeaderElectionConfiguration
	var connection componentconfig.ClientConnectionConfiguration
	if err := errors.Join(
		componentv1alpha1.Convert_v1alpha1_LeaderElectionConfiguration_To_config_LeaderElectionConfiguration(&c.LeaderElection, &election, nil),
		componentv1alpha1.Convert_v1alpha1_ClientConnectionConfiguration_To_config_ClientConnectionConfiguration(&c.ClientConnection, &connection, nil),
	); err != nil {
		v.add(field.InternalError(nil, err))
		return
	}
	v.add(componentvalidation.ValidateClientConnectionConfiguration(&connection, field.NewPath("clientConnection"))...)
	v.add(componentvalidation.ValidateLeaderElectionConfiguration(&election, field.NewPath("leaderElection"))...)
}

// validation collects what is wrong.
type validation struct {
	enabled func(gate string) bool
	errs    field.ErrorList
}

func (v *validation) add(errs ...*field.Error) { v.errs = append(v.errs, errs...) }

func (v *validation) percentage(path *field.Path, percentage *int32) {
	if percentage != nil && (*percentage < 0 || *percentage > 100) {
		v.add(field.Invalid(path, *percentage, "not in valid range [0-100]"))
	}
}

// removed are plugins that v1 no longer knows.
var removed = []string{"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"}

func (v *validation) removed(path *field.Path, name string) bool {
	if !slices.Contains(removed, name) {
		return false
	}
	version := configv1.SchemeGroupVersion.String()
	v.add(field.Invalid(path, name, fmt.Sprintf("was invalid in version %q (KubeSchedulerConfiguration is version %q)", version, version)))
	return true
}

func (v *validation) profile(path *field.Path, p *configv1.KubeSchedulerProfile) {
	if *p.SchedulerName == "" {
		v.add(field.Required(path.Child("schedulerName"), ""))
	}
	v.percentage(path.Child("percentageOfNodesToScore"), p.PercentageOfNodesToScore)
	for point, set := range setsOf(p.Plugins) {
		for i := range set.Enabled {
			v.removed(path.Child("plugins", string(point), "enabled").Index(i), set.Enabled[i].Name)
		}
	}
	seen := map[string]bool{}
	for i := range p.PluginConfig {
		one, at := &p.PluginConfig[i], path.Child("pluginConfig").Index(i)
		if seen[one.Name] {
			v.add(field.Duplicate(at, one.Name))
		}
		seen[one.Name] = true
		if !v.removed(at, one.Name) {
			v.args(at.Child("args"), one.Args.Object)
		}
	}
	v.plugins(p)
}

// plugins refuses what the framework cannot be built with (pkg/scheduler/framework/runtime).
func (v *validation) plugins(p *configv1.KubeSchedulerProfile) {
	path := field.NewPath("profiles").Key(*p.SchedulerName).Child("plugins")
	made := profileOf(p, nil)
	for point, set := range setsOf(p.Plugins) {
		for i := range set.Enabled {
			name := set.Enabled[i].Name
			if points, ok := pluginPoints[name]; ok && !slices.Contains(points, point) {
				v.add(field.Invalid(path.Child(string(point)), name, "the plugin does not extend this point"))
			}
			if named(set.Enabled[:i], name) != nil {
				v.add(field.Duplicate(path.Child(string(point)), name))
			}
		}
	}
	for i := range p.Plugins.MultiPoint.Enabled {
		if name := p.Plugins.MultiPoint.Enabled[i].Name; named(p.Plugins.MultiPoint.Enabled[:i], name) != nil {
			v.add(field.Duplicate(path.Child("multiPoint"), name))
		}
	}
	if len(made.Foreign(QueueSort)) > 0 {
		return // one of these may be for the queue, or to bind pods
	}
	if !made.On("PrioritySort", QueueSort) {
		v.add(field.Invalid(path.Child("queueSort"), 0, "only one queue sort plugin required"))
	}
	if len(made.Foreign(Bind)) == 0 && !made.On("DefaultBinder", Bind) {
		v.add(field.Required(path.Child("bind"), "at least one bind plugin is needed"))
	}
}

// queueSort wants all profiles to sort pods in one way.
func (v *validation) queueSort(path *field.Path, profiles []configv1.KubeSchedulerProfile) {
	first := profiles[0].Plugins.QueueSort
	if n := len(first.Enabled); n > 1 {
		v.add(field.Invalid(path.Index(0).Child("plugins", "queueSort", "Enabled"), n, "only one queue sort plugin can be enabled"))
	}
	names := func(set configv1.PluginSet) string {
		out := ""
		for _, list := range [][]configv1.Plugin{set.Enabled, set.Disabled} {
			for i := range list {
				out += list[i].Name + " "
			}
			out += "|"
		}
		return out
	}
	for i := range profiles[1:] {
		if set := profiles[i+1].Plugins.QueueSort; names(set) != names(first) {
			v.add(field.Invalid(path.Index(i+1).Child("plugins", "queueSort"), names(set), "must be the same for all profiles"))
		}
	}
}

// extenders checks those of a configuration.
func (v *validation) extenders(path *field.Path, extenders []configv1.Extender) {
	binders := 0
	managed := map[string]bool{}
	for i := range extenders {
		e, at := &extenders[i], path.Index(i)
		if e.PrioritizeVerb != "" && e.Weight <= 0 {
			v.add(field.Invalid(at.Child("weight"), e.Weight, "must have a positive weight applied to it"))
		}
		if e.BindVerb != "" {
			binders++
		}
		for j, resource := range e.ManagedResources {
			name := at.Child("managedResources").Index(j).Child("name")
			problems := utilvalidation.IsQualifiedName(resource.Name)
			for _, problem := range problems {
				v.add(field.Invalid(name, resource.Name, problem))
			}
			if len(problems) == 0 && !extendedResource(resource.Name) {
				v.add(field.Invalid(name, resource.Name, "is an invalid extended resource name"))
			}
			if managed[resource.Name] {
				v.add(field.Invalid(name, resource.Name, "duplicate extender managed resource name"))
			}
			managed[resource.Name] = true
		}
	}
	if binders > 1 {
		v.add(field.Invalid(path, fmt.Sprintf("found %d extenders implementing bind", binders), "only one extender can implement bind"))
	}
}

// extendedResource reports whether a name is of an extended resource.
func extendedResource(name string) bool {
	if !strings.Contains(name, "/") || strings.Contains(name, corev1.ResourceDefaultNamespacePrefix) || strings.HasPrefix(name, corev1.DefaultResourceRequestsPrefix) {
		return false
	}
	return len(utilvalidation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+name)) == 0
}

// args checks the arguments of a plugin of kube-scheduler.
func (v *validation) args(path *field.Path, args runtime.Object) {
	switch args := args.(type) {
	case *configv1.DefaultPreemptionArgs:
		v.preemption(path, args)
	case *configv1.InterPodAffinityArgs:
		if w := *args.HardPodAffinityWeight; w < 0 || w > 100 {
			v.add(field.Invalid(path.Child("hardPodAffinityWeight"), w, "not in valid range [0, 100]"))
		}
	case *configv1.PodTopologySpreadArgs:
		v.spread(path, args)
	case *configv1.NodeResourcesBalancedAllocationArgs:
		seen := map[string]bool{}
		for i, r := range args.Resources {
			at := path.Child("resources").Index(i)
			if seen[r.Name] {
				v.add(field.Duplicate(at.Child("name"), r.Name))
			}
			seen[r.Name] = true
			if r.Weight != 1 {
				v.add(field.Invalid(at.Child("weight"), r.Weight, "must be 1"))
			}
		}
	case *configv1.NodeAffinityArgs:
		v.affinity(path.Child("addedAffinity"), args.AddedAffinity)
	case *configv1.VolumeBindingArgs:
		if *args.BindTimeoutSeconds < 0 {
			v.add(field.Invalid(path.Child("bindTimeoutSeconds"), *args.BindTimeoutSeconds, "invalid BindTimeoutSeconds, should not be a negative value"))
		}
		if v.enabled(gateStorageCapacityScoring) {
			v.shape(path.Child("shape"), args.Shape)
		} else if args.Shape != nil {
			v.add(field.Invalid(path.Child("shape"), args.Shape, "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"))
		}
	case *configv1.NodeResourcesFitArgs:
		v.fit(path, args)
	case *configv1.DynamicResourcesArgs:
		v.dynamicResources(path, args)
	}
}

func (v *validation) preemption(path *field.Path, args *configv1.DefaultPreemptionArgs) {
	percentage, absolute := *args.MinCandidateNodesPercentage, *args.MinCandidateNodesAbsolute
	ofPercentage, ofAbsolute := path.Child("minCandidateNodesPercentage"), path.Child("minCandidateNodesAbsolute")
	if percentage < 0 || percentage > 100 {
		v.add(field.Invalid(ofPercentage, percentage, "not in valid range [0, 100]"))
	}
	if absolute < 0 {
		v.add(field.Invalid(ofAbsolute, absolute, "not in valid range [0, inf)"))
	}
	if percentage == 0 && absolute == 0 {
		v.add(field.Invalid(ofPercentage, percentage, "cannot be zero at the same time as minCandidateNodesAbsolute"),
			field.Invalid(ofAbsolute, absolute, "cannot be zero at the same time as minCandidateNodesPercentage"))
	}
}

func (v *validation) spread(path *field.Path, args *configv1.PodTopologySpreadArgs) {
	kind, at := args.DefaultingType, path.Child("defaultingType")
	switch {
	case kind != configv1.SystemDefaulting && kind != configv1.ListDefaulting:
		v.add(field.NotSupported(at, kind, []string{string(configv1.SystemDefaulting), string(configv1.ListDefaulting)}))
	case kind == configv1.SystemDefaulting && len(args.DefaultConstraints) > 0:
		v.add(field.Invalid(at, kind, "when .defaultConstraints are not empty"))
	}
	for i, c := range args.DefaultConstraints {
		at := path.Child("defaultConstraints").Index(i)
		if c.MaxSkew <= 0 {
			v.add(field.Invalid(at.Child("maxSkew"), c.MaxSkew, "not in valid range (0, inf)"))
		}
		if c.TopologyKey == "" {
			v.add(field.Required(at.Child("topologyKey"), "can not be empty"))
		} else {
			v.add(metav1validation.ValidateLabelName(c.TopologyKey, at.Child("topologyKey"))...)
		}
		switch unsatisfiable := at.Child("whenUnsatisfiable"); c.WhenUnsatisfiable {
		case "":
			v.add(field.Required(unsatisfiable, "can not be empty"))
		case corev1.DoNotSchedule, corev1.ScheduleAnyway:
		default:
			v.add(field.NotSupported(unsatisfiable, c.WhenUnsatisfiable, []string{string(corev1.DoNotSchedule), string(corev1.ScheduleAnyway)}))
		}
		if c.LabelSelector != nil {
			v.add(field.Forbidden(at.Child("labelSelector"), "constraint must not define a selector, as they deduced for each pod"))
		}
		if slices.ContainsFunc(args.DefaultConstraints[:i], func(o corev1.TopologySpreadConstraint) bool {
			return o.TopologyKey == c.TopologyKey && o.WhenUnsatisfiable == c.WhenUnsatisfiable
		}) {
			v.add(field.Duplicate(at, fmt.Sprintf("{%v, %v}", c.TopologyKey, c.WhenUnsatisfiable)))
		}
	}
}

func (v *validation) affinity(path *field.Path, a *corev1.NodeAffinity) {
	if a == nil {
		return
	}
	var errs []error
	if required := a.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		_, err := nodeaffinity.NewNodeSelector(required, field.WithPath(path.Child("requiredDuringSchedulingIgnoredDuringExecution")))
		errs = append(errs, err)
	}
	if terms := a.PreferredDuringSchedulingIgnoredDuringExecution; len(terms) > 0 {
		_, err := nodeaffinity.NewPreferredSchedulingTerms(terms, field.WithPath(path.Child("preferredDuringSchedulingIgnoredDuringExecution")))
		errs = append(errs, err)
	}
	for _, err := range errs {
		if err != nil {
			v.add(field.InternalError(path, err))
		}
	}
}

func (v *validation) shape(path *field.Path, shape []configv1.UtilizationShapePoint) {
	if len(shape) == 0 {
		v.add(field.Required(path, "at least one point must be specified"))
		return
	}
	for i := 1; i < len(shape); i++ {
		if shape[i-1].Utilization >= shape[i].Utilization {
			v.add(field.Invalid(path.Index(i).Child("utilization"), shape[i].Utilization, "values must be sorted in increasing order"))
			break
		}
	}
	for i, point := range shape {
		if point.Utilization < 0 || point.Utilization > 100 {
			v.add(field.Invalid(path.Index(i).Child("utilization"), point.Utilization, "not in valid range [0, 100]"))
		}
		if point.Score < 0 || point.Score > maxShapeScore {
			v.add(field.Invalid(path.Index(i).Child("score"), point.Score, fmt.Sprintf("not in valid range [0, %d]", maxShapeScore)))
		}
	}
}

func (v *validation) fit(path *field.Path, args *configv1.NodeResourcesFitArgs) {
	for i, name := range args.IgnoredResources {
		v.add(metav1validation.ValidateLabelName(name, path.Child("ignoredResources").Index(i))...)
	}
	for i, group := range args.IgnoredResourceGroups {
		at := path.Child("ignoredResourceGroups").Index(i)
		if strings.Contains(group, "/") {
			v.add(field.Invalid(at, group, "resource group name can't contain '/'"))
		}
		v.add(metav1validation.ValidateLabelName(group, at)...)
	}
	strategy, at := args.ScoringStrategy, path.Child("scoringStrategy")
	types := []string{string(configv1.LeastAllocated), string(configv1.MostAllocated), string(configv1.RequestedToCapacityRatio)}
	if !slices.Contains(types, string(strategy.Type)) {
		v.add(field.NotSupported(at.Child("type"), strategy.Type, types))
	}
	for i, r := range strategy.Resources {
		if r.Weight <= 0 || r.Weight > 100 {
			v.add(field.Invalid(at.Child("resources").Index(i).Child("weight"), r.Weight, fmt.Sprintf("resource weight of %v not in valid range (0, 100]", r.Name)))
		}
	}
	ratio := at.Child("requestedToCapacityRatio")
	switch {
	case strategy.Type != configv1.RequestedToCapacityRatio && strategy.RequestedToCapacityRatio != nil:
		v.add(field.Forbidden(ratio, "must be nil when type is not RequestedToCapacityRatio"))
	case strategy.Type == configv1.RequestedToCapacityRatio && strategy.RequestedToCapacityRatio == nil:
		v.add(field.Required(ratio, "must be specified when type is RequestedToCapacityRatio"))
	case strategy.Type == configv1.RequestedToCapacityRatio:
		v.shape(ratio.Child("shape"), strategy.RequestedToCapacityRatio.Shape)
	}
}

func (v *validation) dynamicResources(path *field.Path, args *configv1.DynamicResourcesArgs) {
	filter, binding := path.Child("filterTimeout"), path.Child("bindingTimeout")
	switch {
	case args.FilterTimeout == nil:
	case !v.enabled(gateFilterTimeout):
		v.add(field.Forbidden(filter, "DRASchedulingFilterTimeout feature gate is disabled"))
	case args.FilterTimeout.Duration < 0:
		v.add(field.Invalid(filter, args.FilterTimeout, "must be zero or positive"))
	}
	switch {
	case args.BindingTimeout == nil:
	case !v.enabled(gateBindingConditions) || !v.enabled(gateDeviceStatus):
		v.add(field.Forbidden(binding, "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled"))
	case args.BindingTimeout.Duration < time.Second:
		v.add(field.Invalid(binding, args.BindingTimeout, "must be at least 1 second"))
	}
}
