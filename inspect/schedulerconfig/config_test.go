package schedulerconfig

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

const header = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

func read(t *testing.T, text string, gates ...string) (*Config, error) {
	t.Helper()
	return Read([]byte(header+text), func(gate string) bool { return slices.Contains(gates, gate) })
}

func profile(t *testing.T, text string) *Profile {
	t.Helper()
	c, err := read(t, "profiles: [{"+text+"}]")
	if err != nil {
		t.Fatal(err)
	}
	p, ok := c.Profile("")
	if !ok {
		t.Fatal("there is no default profile")
	}
	return p
}

// TestOn: what is on is what kube-scheduler's defaults and its multiPoint plugins make of a profile.
func TestOn(t *testing.T) {
	for _, test := range []struct {
		plugins string
		plugin  string
		on      []Point // of filter, preFilter, preScore and score
		weight  int64
	}{
		{"", "NodeResourcesFit", []Point{Filter, PreFilter, PreScore, Score}, 1},
		{"", "TaintToleration", []Point{Filter, PreFilter, PreScore, Score}, 3},
		{"", "VolumeBinding", []Point{Filter, PreFilter, PreScore, Score}, 1},
		{"", "NodePorts", []Point{Filter, PreFilter}, 0},
		{"filter: {disabled: [{name: NodeResourcesFit}]}", "NodeResourcesFit", []Point{PreFilter, PreScore, Score}, 1},
		{"filter: {disabled: [{name: '*'}]}", "NodeResourcesFit", []Point{PreFilter, PreScore, Score}, 1},
		{"filter: {disabled: [{name: '*'}], enabled: [{name: NodeResourcesFit}]}", "NodeResourcesFit", []Point{Filter, PreFilter, PreScore, Score}, 1},
		{"multiPoint: {disabled: [{name: NodeResourcesFit}]}", "NodeResourcesFit", nil, 0},
		{"multiPoint: {disabled: [{name: NodeResourcesFit}]}, score: {enabled: [{name: NodeResourcesFit, weight: 4}]}", "NodeResourcesFit", []Point{Score}, 4},
		{"multiPoint: {enabled: [{name: NodeResourcesFit, weight: 7}]}", "NodeResourcesFit", []Point{Filter, PreFilter, PreScore, Score}, 7},
		{"score: {enabled: [{name: TaintToleration}]}", "TaintToleration", []Point{Filter, PreFilter, PreScore, Score}, 1},
		{"score: {disabled: [{name: '*'}]}", "TaintToleration", []Point{Filter, PreFilter, PreScore}, 0},
		{"multiPoint: {disabled: [{name: '*'}], enabled: [{name: DefaultBinder}, {name: PrioritySort}, {name: NodeName}]}", "NodeResourcesFit", nil, 0},
	} {
		p := profile(t, "plugins: {"+test.plugins+"}")
		var on []Point
		for _, point := range []Point{Filter, PreFilter, PreScore, Score} {
			if p.On(test.plugin, point) {
				on = append(on, point)
			}
		}
		if !slices.Equal(on, test.on) || p.Weight(test.plugin) != test.weight {
			t.Errorf("%s: %s is on at %v with weight %d", test.plugins, test.plugin, on, p.Weight(test.plugin))
		}
	}
	for plugin, points := range pluginPoints { // as without a configuration
		p := profile(t, "")
		for _, point := range points {
			if !p.On(plugin, point) || !(*Profile)(nil).On(plugin, point) {
				t.Errorf("%s is off at %s by default", plugin, point)
			}
		}
		if slices.Contains(points, Score) && p.Weight(plugin) != (*Profile)(nil).Weight(plugin) {
			t.Errorf("%s has weight %d, and without a configuration %d", plugin, p.Weight(plugin), (*Profile)(nil).Weight(plugin))
		}
	}
	if p := profile(t, ""); len(p.Apart())+len(p.Unscored())+len(p.Foreign(Filter, Bind)) > 0 || p.PreemptsApart() || hardDefaults(p) > 0 {
		t.Error("a profile with all defaults is not as usual")
	}
}

func TestProfiles(t *testing.T) {
	c, err := read(t, "profiles: [{schedulerName: a}, {schedulerName: b, plugins: {filter: {enabled: [{name: Coscheduling}]}}}]")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Profile("default-scheduler"); ok {
		t.Error("there is a default profile")
	}
	b, ok := c.Profile("b")
	if got := b.Foreign(Filter); !ok || !slices.Equal(got, []string{"Coscheduling"}) || len(b.Foreign(Score)) > 0 {
		t.Errorf("profile b: %t, %v", ok, got)
	}
	if p, ok := (*Config)(nil).Profile(""); p != nil || !ok {
		t.Error("without a configuration there is no default profile")
	}
	if _, ok := (*Config)(nil).Profile("a"); ok {
		t.Error("without a configuration there is a profile a")
	}
}

func TestIgnores(t *testing.T) {
	c, err := read(t, `profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [example.com/a, cpu], ignoredResourceGroups: [group.example.com]}}]}]
extenders: [{urlPrefix: "http://x", filterVerb: f, managedResources: [{name: example.com/m, ignoredByScheduler: true}, {name: example.com/n}]}]`)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := c.Profile("")
	for name, want := range map[corev1.ResourceName]bool{
		"example.com/a": true, "example.com/b": false, "group.example.com/x": true, "cpu": false, "example.com/m": true, "example.com/n": false,
	} {
		if p.Ignores(name) != want {
			t.Errorf("%s is ignored: %t", name, !want)
		}
	}
	other, _ := p.Extenders([]corev1.ResourceName{"cpu"})
	refuse, prefer := p.Extenders([]corev1.ResourceName{"cpu", "example.com/n"})
	if len(other) > 0 || len(refuse) != 1 || len(prefer) > 0 {
		t.Errorf("the extender is asked about others: %v, refuses %v and prefers %v", other, refuse, prefer)
	}
}

// TestRefused: what kube-scheduler does not start with is refused in its words.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"profils: []":    `unknown field "profils"`,
		"parallelism: 0": "parallelism: Invalid value: 0: should be an integer value greater than zero",
		"profiles: [{schedulerName: a}, {schedulerName: a}]": "profiles[1].schedulerName: Duplicate value",
		"profiles: [{}, {}]":            "profiles[0].schedulerName: Required value",
		"percentageOfNodesToScore: 101": "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]",
		"podMaxBackoffSeconds: 0":       "podMaxBackoffSeconds: Invalid value: 0: must be greater than or equal to PodInitialBackoffSeconds",
		"profiles: [{plugins: {filter: {enabled: [{name: EBSLimits}]}}}]":                                                                                        `was invalid in version "kubescheduler.config.k8s.io/v1"`,
		"profiles: [{pluginConfig: [{name: A}, {name: A}]}]":                                                                                                     `profiles[0].pluginConfig[1]: Duplicate value: "A"`,
		"profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: Best}}}]}]":                                                          `Unsupported value: "Best": supported values: "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"`,
		"profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: RequestedToCapacityRatio}}}]}]":                                      "must be specified when type is RequestedToCapacityRatio",
		"profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {ignoredResourceGroups: [a/b]}}]}]":                                                           "resource group name can't contain '/'",
		"profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {ignored: [a]}}]}]":                                                                           `unknown field "ignored"`,
		"profiles: [{pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: 101}}]}]":                                                             "not in valid range [0, 100]",
		"profiles: [{pluginConfig: [{name: VolumeBinding, args: {shape: [{utilization: 0, score: 1}]}}]}]":                                                       "unexpected field `shape`",
		"profiles: [{pluginConfig: [{name: DynamicResources, args: {bindingTimeout: 1ms}}]}]":                                                                    "feature gate is disabled",
		"profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}]}}]}]": "when .defaultConstraints are not empty",
		"profiles: [{pluginConfig: [{name: DefaultPreemption, args: {minCandidateNodesAbsolute: 0, minCandidateNodesPercentage: 0}}]}]":                          "cannot be zero at the same time",
		"profiles: [{pluginConfig: [{name: NodeResourcesBalancedAllocation, args: {resources: [{name: cpu, weight: 2}]}}]}]":                                     "must be 1",
		"profiles: [{plugins: {multiPoint: {disabled: [{name: DefaultBinder}]}}}]":                                                                               "at least one bind plugin is needed",
		"profiles: [{plugins: {queueSort: {disabled: [{name: PrioritySort}]}}}]":                                                                                 "only one queue sort plugin required",
		"profiles: [{plugins: {filter: {enabled: [{name: ImageLocality}]}}}]":                                                                                    "does not extend this point",
		"extenders: [{urlPrefix: a, prioritizeVerb: p}]":                                                                                                         "must have a positive weight applied to it",
		"extenders: [{urlPrefix: a, bindVerb: b}, {urlPrefix: a, bindVerb: b}]":                                                                                  "only one extender can implement bind",
		"extenders: [{urlPrefix: a, managedResources: [{name: cpu}]}]":                                                                                           "is an invalid extended resource name",
	} {
		if _, err := read(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := Read([]byte("apiVersion: v1\nkind: Pod\n"), nil); err == nil {
		t.Error("a pod is a configuration")
	}
	if _, err := read(t, "profiles: [{pluginConfig: [{name: VolumeBinding, args: {shape: [{utilization: 0, score: 1}]}}]}]", gateStorageCapacityScoring); err != nil {
		t.Errorf("with the gate: %v", err)
	}
}

func hardDefaults(p *Profile) int {
	constraints, _ := p.DefaultConstraints(corev1.DoNotSchedule)
	return len(constraints)
}

func TestDefaultConstraints(t *testing.T) {
	for text, want := range map[string]string{
		"": "kubernetes.io/hostname:3 topology.kubernetes.io/zone:5 system",
		"pluginConfig: [{name: PodTopologySpread, args: {defaultingType: List}}]": "",
		"pluginConfig: [{name: PodTopologySpread, args: {defaultingType: List, defaultConstraints: [{maxSkew: 2, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}, {maxSkew: 1, topologyKey: b, whenUnsatisfiable: DoNotSchedule}]}}]": "a:2",
	} {
		constraints, system := profile(t, text).DefaultConstraints(corev1.ScheduleAnyway)
		var got []string
		for i := range constraints {
			got = append(got, fmt.Sprint(constraints[i].TopologyKey, ":", constraints[i].MaxSkew))
		}
		if system {
			got = append(got, "system")
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	var none *Profile
	if constraints, system := none.DefaultConstraints(corev1.ScheduleAnyway); len(constraints) != 2 || !system {
		t.Error("without a configuration", constraints, system)
	}
}

func TestApart(t *testing.T) {
	for text, want := range map[string]string{
		"pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]": "",
		"pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, resources: [{name: example.com/a}, {name: example.com/b}, {name: example.com/c}, {name: example.com/d}, {name: example.com/e}, {name: cpu}, {name: memory}]}}}]": "NodeResourcesFit",
		"pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu}, {name: cpu}]}}}]":                                                                                                                       "NodeResourcesFit",
		"pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: 2}}]":                                                                                                                                                                            "",
		"plugins: {score: {enabled: [{name: Packing}]}}":                   "Packing",
		"plugins: {filter: {enabled: [{name: Packing}]}}":                  "",
		"plugins: {score: {enabled: [{name: ImageLocality, weight: -1}]}}": "ImageLocality",
	} {
		if got := strings.Join(profile(t, text).Apart(), ", "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	c, err := read(t, "percentageOfNodesToScore: 50\nprofiles: [{schedulerName: a}, {schedulerName: b, percentageOfNodesToScore: 0}]")
	if err != nil {
		t.Fatal(err)
	}
	a, _ := c.Profile("a")
	if b, _ := c.Profile("b"); a.Percentage() != 50 || b.Percentage() != 0 {
		t.Errorf("percentages are %d and %d", a.Percentage(), b.Percentage())
	}
	if p := profile(t, "plugins: {postFilter: {disabled: [{name: '*'}], enabled: [{name: Mine}]}}"); !p.Preempts() || !p.PreemptsApart() {
		t.Error("a plugin that is not kube-scheduler's own preempts nobody")
	}
	if p := profile(t, "plugins: {postFilter: {disabled: [{name: DefaultPreemption}]}}"); p.Preempts() || !p.Sorts() {
		t.Error("without DefaultPreemption, pods are preempted, or not sorted")
	}
	if got := profile(t, "plugins: {preScore: {disabled: [{name: InterPodAffinity}]}}").Unscored(); !slices.Equal(got, []string{"InterPodAffinity"}) {
		t.Errorf("without its PreScore: %v", got)
	}
}
