// Package schedulerconfig reads the configuration of kube-scheduler (KubeSchedulerConfiguration v1, the file
// of its flag --config) and says what it changes: which plugins each profile has where, and with what
// arguments. Defaults and what is refused are those of kube-scheduler itself (pkg/scheduler/apis/config).
package schedulerconfig

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	configv1 "k8s.io/kube-scheduler/config/v1"
)

// Config is a configuration as kube-scheduler runs with it. It is never changed. A nil Config is that of a
// kube-scheduler without a file: one profile, called default-scheduler, with all defaults.
type Config struct {
	// Text is the configuration as it was given, in YAML or JSON.
	Text string
	// Origin says where it was found, as "ConfigMap kube-system/scheduler". It is "" if the user gave it.
	Origin     string
	unreadable string
	profiles   []*Profile
}

// Profile is what decides about the pods that name it as their scheduler. A nil Profile is the default one.
type Profile struct {
	name       string
	multi      configv1.PluginSet
	points     map[Point]configv1.PluginSet
	affinity   *corev1.NodeAffinity
	fit        configv1.NodeResourcesFitArgs
	spread     configv1.PodTopologySpreadArgs
	percentage int
	// requiredWeight and onlyOwn are arguments of InterPodAffinity.
	requiredWeight int64
	onlyOwn        bool
	// balanced are the resources by which NodeResourcesBalancedAllocation compares nodes.
	balanced []corev1.ResourceName
	// bindingTimeout is how long DynamicResources waits for devices, or 0 for the default.
	bindingTimeout time.Duration
	// apart are plugins that score with other arguments than the usual ones.
	apart []string
	// filterTimeout is how long DynamicResources searches on a node, if not as long as usual.
	filterTimeout string
	// otherCandidates says that another number of nodes than usual is looked at to preempt pods.
	otherCandidates bool
	// extenders are those of the whole configuration.
	extenders []configv1.Extender
	// unreadable says why the profile is not known, if it is not.
	unreadable string
}

// Point is an extension point of the scheduling framework.
type Point string

// The extension points that decide whether and where a pod goes.
const (
	PreEnqueue Point = "preEnqueue"
	QueueSort  Point = "queueSort"
	PreFilter  Point = "preFilter"
	Filter     Point = "filter"
	PostFilter Point = "postFilter"
	PreScore   Point = "preScore"
	Score      Point = "score"
	Reserve    Point = "reserve"
	Permit     Point = "permit"
	PreBind    Point = "preBind"
	Bind       Point = "bind"
)

// pluginPoints are the extension points of each plugin, in 1.37.
var pluginPoints = map[string][]Point{
	"SchedulingGates":                 {PreEnqueue},
	"PrioritySort":                    {QueueSort},
	"NodeName":                        {PreFilter, Filter},
	"NodeUnschedulable":               {PreFilter, Filter},
	"TaintToleration":                 {PreFilter, Filter, PreScore, Score},
	"NodeAffinity":                    {PreFilter, Filter, PreScore, Score},
	"NodePorts":                       {PreFilter, Filter},
	"NodeResourcesFit":                {PreFilter, Filter, PreScore, Score},
	"VolumeRestrictions":              {PreFilter, Filter},
	"NodeVolumeLimits":                {PreFilter, Filter},
	"VolumeBinding":                   {PreFilter, Filter, PreScore, Score, Reserve, PreBind},
	"VolumeZone":                      {PreFilter, Filter},
	"PodTopologySpread":               {PreFilter, Filter, PreScore, Score},
	"InterPodAffinity":                {PreFilter, Filter, PreScore, Score},
	"DynamicResources":                {PreEnqueue, PreFilter, Filter, PostFilter, Score, Reserve, PreBind},
	"DefaultPreemption":               {PreEnqueue, PostFilter},
	"NodeResourcesBalancedAllocation": {PreScore, Score},
	"ImageLocality":                   {Score},
	"DefaultBinder":                   {Bind},
	"NodeDeclaredFeatures":            {PreFilter, Filter},
	"DeferredPodScheduling":           {PreFilter, Filter, Permit},
	"GangScheduling":                  {PreEnqueue, Permit},
	"TopologyPlacementGenerator":      {},
	"PodGroupPodsCount":               {},
}

type defaultPlugin struct {
	name   string
	weight int32
}

// defaultPlugins are those that a profile has without a word, in the scheduler's order, with the weights of
// those that score. The last are there only with their feature gates; without these, they decide nothing.
var defaultPlugins = []defaultPlugin{
	{"SchedulingGates", 0},
	{"PrioritySort", 0},
	{"NodeName", 0},
	{"NodeUnschedulable", 0},
	{"TaintToleration", 3},
	{"NodeAffinity", 2},
	{"NodePorts", 0},
	{"NodeResourcesFit", 1},
	{"VolumeRestrictions", 0},
	{"NodeVolumeLimits", 0},
	{"VolumeBinding", 0},
	{"VolumeZone", 0},
	{"PodTopologySpread", 2},
	{"InterPodAffinity", 2},
	{"DynamicResources", 2},
	{"DefaultPreemption", 0},
	{"NodeResourcesBalancedAllocation", 1},
	{"ImageLocality", 1},
	{"DefaultBinder", 0},
	{"NodeDeclaredFeatures", 0},
	{"DeferredPodScheduling", 0},
	{"GangScheduling", 0},
	{"TopologyPlacementGenerator", 0},
	{"PodGroupPodsCount", 1},
}

// codecs are those of configurations.
var codecs = sync.OnceValue(func() serializer.CodecFactory {
	scheme := runtime.NewScheme()
	if err := configv1.AddToScheme(scheme); err != nil {
		panic(err) // a program error
	}
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict)
})

// Decode returns a configuration as it is written, without defaults.
func Decode(text []byte) (*configv1.KubeSchedulerConfiguration, error) {
	decoder := codecs().UniversalDeserializer()
	object, kind, err := decoder.Decode(text, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("reading a configuration of kube-scheduler: %w", err)
	}
	c, ok := object.(*configv1.KubeSchedulerConfiguration)
	if !ok {
		return nil, fmt.Errorf("couldn't decode as KubeSchedulerConfiguration, got %s", kind)
	}
	if err := c.DecodeNestedObjects(decoder); err != nil {
		return nil, fmt.Errorf("reading a configuration of kube-scheduler: %w", err)
	}
	return c, nil
}

// Encode is the other way round.
func Encode(c *configv1.KubeSchedulerConfiguration) ([]byte, error) {
	media, _ := runtime.SerializerInfoForMediaType(codecs().SupportedMediaTypes(), runtime.ContentTypeJSON)
	encoder := codecs().EncoderForVersion(media.Serializer, configv1.SchemeGroupVersion)
	if err := c.EncodeNestedObjects(encoder); err != nil {
		return nil, fmt.Errorf("writing a configuration of kube-scheduler: %w", err)
	}
	return runtime.Encode(encoder, c) //nolint:wrapcheck // it cannot fail for what was decoded
}

// Read reads a configuration as a kube-scheduler with some feature gates does. The error says, in its words,
// why it would not start with it.
func Read(text []byte, enabled func(gate string) bool) (*Config, error) {
	c, err := Decode(text)
	if err != nil {
		return nil, err
	}
	setDefaults(c, enabled)
	if err := validate(c, enabled); err != nil {
		return nil, err
	}
	out := &Config{Text: string(text)}
	for i := range c.Profiles {
		p := profileOf(&c.Profiles[i], c.Extenders)
		p.percentage = int(*cmp.Or(c.Profiles[i].PercentageOfNodesToScore, c.PercentageOfNodesToScore))
		out.profiles = append(out.profiles, p)
	}
	return out, nil
}

// nothing is a configuration that changes nothing.
const nothing = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

// usual is the profile of a kube-scheduler without a file.
var usual = sync.OnceValue(func() *Profile {
	c, err := Read([]byte(nothing), func(string) bool { return false })
	if err != nil {
		panic(err) // a program error
	}
	return c.profiles[0]
})

// Unreadable is the configuration of a kube-scheduler that has one that could not be read, which says why.
// Its profile stands for one that is not known: any filter may be off, and there may be others.
func Unreadable(why string) *Config {
	p := *usual()
	p.unreadable = why
	return &Config{unreadable: why, profiles: []*Profile{&p}}
}

// Unreadable says why the configuration could not be read. It is "" for one that could.
func (c *Config) Unreadable() string {
	if c == nil {
		return ""
	}
	return c.unreadable
}

// From is the same configuration, found somewhere.
func (c *Config) From(origin string) *Config {
	out := *c
	out.Origin = origin
	return &out
}

// Same reports whether two configurations say the same.
func (c *Config) Same(other *Config) bool {
	return c == other || c != nil && other != nil && c.Text == other.Text && c.Origin == other.Origin && c.unreadable == other.unreadable
}

// Usual reports whether the configuration decides as none does.
func (c *Config) Usual() bool {
	return c == nil || len(c.profiles) == 1 && c.profiles[0].name == corev1.DefaultSchedulerName && c.profiles[0].Usual()
}

// Usual reports whether the profile decides as that of a kube-scheduler without a file, whatever its name.
func (p *Profile) Usual() bool {
	if p == nil {
		return true
	}
	named := *usual()
	named.name = p.name
	return reflect.DeepEqual(&named, p)
}

// Name is the name of the scheduler whose pods have the profile.
func (p *Profile) Name() string {
	if p == nil {
		return corev1.DefaultSchedulerName
	}
	return p.name
}

// Unreadable says why the profile is not known. It is "" for one that is.
func (p *Profile) Unreadable() string {
	if p == nil {
		return ""
	}
	return p.unreadable
}

// Profile returns the profile that schedules the pods of a scheduler's name, "" for the default one. ok is
// false if there is none: these pods are left to another scheduler.
func (c *Config) Profile(schedulerName string) (profile *Profile, ok bool) {
	name := cmp.Or(schedulerName, corev1.DefaultSchedulerName)
	if c == nil {
		return nil, name == corev1.DefaultSchedulerName
	}
	at := slices.IndexFunc(c.profiles, func(p *Profile) bool { return p.name == name })
	if at < 0 {
		return nil, false
	}
	return c.profiles[at], true
}

// Names are the names of the profiles.
func (c *Config) Names() []string {
	if c == nil {
		return []string{corev1.DefaultSchedulerName}
	}
	var out []string
	for _, p := range c.profiles {
		out = append(out, p.name)
	}
	return out
}

// profileOf is a profile as it stands in a configuration with its defaults.
func profileOf(p *configv1.KubeSchedulerProfile, extenders []configv1.Extender) *Profile {
	out := &Profile{name: *p.SchedulerName, requiredWeight: 1, multi: p.Plugins.MultiPoint, points: map[Point]configv1.PluginSet{}, extenders: extenders}
	for point, set := range setsOf(p.Plugins) {
		out.points[point] = *set
	}
	for i := range p.PluginConfig {
		switch args := p.PluginConfig[i].Args.Object.(type) {
		case *configv1.NodeAffinityArgs:
			out.affinity = args.AddedAffinity
		case *configv1.NodeResourcesFitArgs:
			out.fit = *args
		case *configv1.NodeResourcesBalancedAllocationArgs:
			for _, r := range args.Resources {
				out.balanced = append(out.balanced, corev1.ResourceName(r.Name))
			}
		case *configv1.PodTopologySpreadArgs:
			out.spread = *args
		case *configv1.DynamicResourcesArgs:
			if args.BindingTimeout != nil {
				out.bindingTimeout = args.BindingTimeout.Duration
			}
			if args.FilterTimeout != nil && args.FilterTimeout.Duration != configv1.DynamicResourcesFilterTimeoutDefault {
				out.filterTimeout = args.FilterTimeout.Duration.String()
			}
		case *configv1.InterPodAffinityArgs:
			out.requiredWeight, out.onlyOwn = int64(*args.HardPodAffinityWeight), args.IgnorePreferredTermsOfExistingPods
		case *configv1.DefaultPreemptionArgs:
			out.otherCandidates = *args.MinCandidateNodesPercentage != 10 || *args.MinCandidateNodesAbsolute != 100
		}
		if scoresApart(p.PluginConfig[i].Args.Object) {
			out.apart = append(out.apart, p.PluginConfig[i].Name)
		}
	}
	return out
}

// setsOf are the sets of plugins for each extension point.
func setsOf(p *configv1.Plugins) map[Point]*configv1.PluginSet {
	return map[Point]*configv1.PluginSet{
		PreEnqueue: &p.PreEnqueue, QueueSort: &p.QueueSort, PreFilter: &p.PreFilter, Filter: &p.Filter, PostFilter: &p.PostFilter,
		PreScore: &p.PreScore, Score: &p.Score, Reserve: &p.Reserve, Permit: &p.Permit, PreBind: &p.PreBind, Bind: &p.Bind,
	}
}

// On reports whether a plugin of kube-scheduler is on at an extension point.
func (p *Profile) On(plugin string, at Point) bool {
	if p == nil {
		return slices.Contains(pluginPoints[plugin], at)
	}
	set := p.points[at]
	if named(set.Enabled, plugin) != nil {
		return true
	}
	return slices.Contains(pluginPoints[plugin], at) && named(p.multi.Enabled, plugin) != nil &&
		named(set.Disabled, plugin) == nil && named(set.Disabled, "*") == nil
}

// Weight is how many times the points of a plugin count that compares nodes. It is 0 for one that does not.
func (p *Profile) Weight(plugin string) int64 {
	if p == nil {
		at := slices.IndexFunc(defaultPlugins, func(d defaultPlugin) bool { return d.name == plugin })
		return max(1, int64(defaultPlugins[at].weight))
	}
	if !p.On(plugin, Score) {
		return 0
	}
	one := cmp.Or(named(p.points[Score].Enabled, plugin), named(p.multi.Enabled, plugin))
	if one.Weight == nil || *one.Weight == 0 {
		return 1
	}
	return int64(*one.Weight)
}

func named(plugins []configv1.Plugin, name string) *configv1.Plugin {
	for i := range plugins {
		if plugins[i].Name == name {
			return &plugins[i]
		}
	}
	return nil
}

// Foreign are the plugins at some extension points that kube-scheduler does not have by itself.
func (p *Profile) Foreign(at ...Point) []string {
	if p == nil {
		return nil
	}
	var out []string
	add := func(plugins []configv1.Plugin) {
		for i := range plugins {
			if name := plugins[i].Name; pluginPoints[name] == nil && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	add(p.multi.Enabled)
	for _, point := range at {
		add(p.points[point].Enabled)
	}
	return out
}

// Knows reports whether a plugin of kube-scheduler has something to do at an extension point.
func (p *Profile) Knows(plugin string, at Point) bool {
	return slices.Contains(pluginPoints[plugin], at)
}

// Own reports whether a plugin is kube-scheduler's own.
func Own(plugin string) bool { return pluginPoints[plugin] != nil }

// PointsOf are the extension points at which a plugin of kube-scheduler has something to do.
func PointsOf(plugin string) []Point { return slices.Clone(pluginPoints[plugin]) }

// AddedAffinity is what the nodes of all pods must be like besides what these want. It is nil if that is
// nothing.
func (p *Profile) AddedAffinity() *corev1.NodeSelector {
	if p == nil || p.affinity == nil {
		return nil
	}
	return p.affinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// AddedPreferences are what the profile would like nodes to be like for all pods.
func (p *Profile) AddedPreferences() []corev1.PreferredSchedulingTerm {
	if p == nil || p.affinity == nil {
		return nil
	}
	return p.affinity.PreferredDuringSchedulingIgnoredDuringExecution
}

// Ignores reports whether NodeResourcesFit does not look at an extended resource.
func (p *Profile) Ignores(resource corev1.ResourceName) bool {
	if p == nil || !extendedResource(string(resource)) {
		return false
	}
	group, _, _ := strings.Cut(string(resource), "/")
	if slices.Contains(p.fit.IgnoredResources, string(resource)) || slices.Contains(p.fit.IgnoredResourceGroups, group) {
		return true
	}
	return slices.ContainsFunc(p.extenders, func(e configv1.Extender) bool {
		return slices.ContainsFunc(e.ManagedResources, func(r configv1.ExtenderManagedResource) bool {
			return r.IgnoredByScheduler && r.Name == string(resource)
		})
	})
}

// DefaultConstraints are the constraints by which pods without any of their own are spread: those of them
// that say to do the same where they are not met. system says that they are kube-scheduler's own, which nodes
// need not have the labels of.
func (p *Profile) DefaultConstraints(unmet corev1.UnsatisfiableConstraintAction) (constraints []corev1.TopologySpreadConstraint, system bool) {
	system = p == nil || p.spread.DefaultingType != configv1.ListDefaulting
	all := systemConstraints()
	if !system {
		all = p.spread.DefaultConstraints
	}
	for i := range all {
		if all[i].WhenUnsatisfiable == unmet {
			constraints = append(constraints, all[i])
		}
	}
	return constraints, system
}

// ListedConstraints are the constraints that profiles give to pods without any of their own.
func (c *Config) ListedConstraints() []corev1.TopologySpreadConstraint {
	var out []corev1.TopologySpreadConstraint
	if c != nil {
		for _, p := range c.profiles {
			if p.spread.DefaultingType == configv1.ListDefaulting {
				out = append(out, p.spread.DefaultConstraints...)
			}
		}
	}
	return out
}

// systemConstraints are kube-scheduler's own: they spread over nodes and zones.
func systemConstraints() []corev1.TopologySpreadConstraint {
	return []corev1.TopologySpreadConstraint{
		{TopologyKey: corev1.LabelHostname, MaxSkew: 3, WhenUnsatisfiable: corev1.ScheduleAnyway},
		{TopologyKey: corev1.LabelTopologyZone, MaxSkew: 5, WhenUnsatisfiable: corev1.ScheduleAnyway},
	}
}

// Extenders are the addresses of the extenders that are asked about pods with some resources: those that may
// refuse nodes or fail to bind the pod, and those that give points to nodes.
func (p *Profile) Extenders(resources []corev1.ResourceName) (refuse, prefer []string) {
	if p == nil {
		return nil, nil
	}
	for i := range p.extenders {
		e := &p.extenders[i]
		if len(e.ManagedResources) > 0 && !slices.ContainsFunc(e.ManagedResources, func(r configv1.ExtenderManagedResource) bool {
			return slices.Contains(resources, corev1.ResourceName(r.Name))
		}) {
			continue
		}
		if e.FilterVerb != "" || e.BindVerb != "" {
			refuse = append(refuse, e.URLPrefix)
		}
		if e.PrioritizeVerb != "" {
			prefer = append(prefer, e.URLPrefix)
		}
	}
	return refuse, prefer
}

// Apart are the plugins that compare nodes otherwise than usual, by their arguments, and those that are not
// kube-scheduler's own.
func (p *Profile) Apart() []string {
	if p == nil {
		return nil
	}
	out := append(slices.Clone(p.apart), p.Foreign(PreScore, Score)...)
	if p.unreadable != "" {
		out = append(out, p.unreadable)
	}
	for _, d := range defaultPlugins {
		if w := p.Weight(d.name); w < 0 {
			out = append(out, d.name)
		}
	}
	return out
}

// Unscored are plugins that compare nodes without having looked at the pod before, with which kube-scheduler
// fails where it compares any.
func (p *Profile) Unscored() []string {
	if p == nil {
		return nil
	}
	var out []string
	for _, d := range defaultPlugins {
		if p.Knows(d.name, PreScore) && p.On(d.name, Score) && !p.On(d.name, PreScore) {
			out = append(out, d.name)
		}
	}
	return out
}

// Strategy is how NodeResourcesFit compares nodes. It is nil for the default.
func (p *Profile) Strategy() *configv1.ScoringStrategy {
	if p == nil {
		return nil
	}
	return p.fit.ScoringStrategy
}

// Balanced are the resources of which NodeResourcesBalancedAllocation would like equal parts to be taken.
// They are nil for the default.
func (p *Profile) Balanced() []corev1.ResourceName {
	if p == nil {
		return nil
	}
	return p.balanced
}

// FilterTimeout is how long DynamicResources searches for devices on a node. It is "" for the default.
func (p *Profile) FilterTimeout() string {
	if p == nil {
		return ""
	}
	return p.filterTimeout
}

// BindingTimeout is how long DynamicResources waits for the binding conditions of devices. Of profiles that
// differ it is the longest.
func (c *Config) BindingTimeout() time.Duration {
	var longest time.Duration
	if c != nil {
		for _, p := range c.profiles {
			longest = max(longest, p.bindingTimeout)
		}
	}
	return cmp.Or(longest, configv1.DynamicResourcesBindingTimeoutDefault)
}

// Percentage is how many of the nodes kube-scheduler looks at until it compares those that fit. It is 0 for
// the default, which depends on their number.
func (p *Profile) Percentage() int {
	if p == nil {
		return 0
	}
	return p.percentage
}

// Neighbours says how InterPodAffinity compares nodes: what the required terms of pods on nodes count for,
// and whether a pod without preferences of its own has none that count.
func (p *Profile) Neighbours() (requiredWeight int64, onlyOwn bool) {
	if p == nil {
		return 1, false
	}
	return p.requiredWeight, p.onlyOwn
}

// Preempts reports whether kube-scheduler ends pods for those of the profile (plugin DefaultPreemption), or
// may by a plugin that is not its own.
func (p *Profile) Preempts() bool {
	return p.On("DefaultPreemption", PostFilter) || len(p.Foreign(PostFilter)) > 0
}

// Sorts reports whether kube-scheduler takes pods in the order of their priorities and ages (PrioritySort).
func (p *Profile) Sorts() bool { return p.On("PrioritySort", QueueSort) }

// PreemptsApart reports whether the profile chooses the pods that it ends otherwise than usual.
func (p *Profile) PreemptsApart() bool {
	return p != nil && (p.unreadable != "" || p.otherCandidates || len(p.extenders) > 0 || len(p.Foreign(PostFilter)) > 0)
}
