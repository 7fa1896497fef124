package filters

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	configvalidation "k8s.io/kubernetes/pkg/scheduler/apis/config/validation"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// TestProfiles asks kube-scheduler, running with random configurations, and us with the same about random
// pods.
func TestProfiles(t *testing.T) {
	t.Cleanup(func() { withProfiles = nil })
	seen := map[string]int{}
	c := counts{refusals: map[filters.Plugin]int{}, doubts: map[string]int{}}
	for i := uint64(0); c.pods < effort.Of(20_000, 2_000) && !t.Failed(); i++ {
		r := rand.New(rand.NewPCG(*seed, i))
		p := generate(r)
		text := randomConfig(r)
		if strings.Contains(text, "defaultConstraints") {
			(&generator{Rand: r}).controllersOf(p)
		}
		p.scheduler = startWith(t, text)
		result, err := pluginByPlugin(ours)(t, p)
		if err != nil {
			t.Fatalf("problem %d: %v\n%s", i, err, text)
		}
		result.disagreements = slices.DeleteFunc(result.disagreements, func(d disagreement) bool { return failsThere(p, &result, d) })
		c.add(result)
		for _, d := range result.disagreements {
			t.Errorf("problem %d: %s\n%s\n%s", i, d, text, p.about(podNamed(p, d.pod)).manifest())
			break
		}
		countChanges(t, p, text, seen)
	}
	t.Log(c)
	t.Log(seen)
	for argument, pods := range seen {
		if least := c.pods / 200; pods < least {
			t.Errorf("%s decides about %d pods, want at least %d", argument, pods, least)
		}
	}
}

// failsThere reports whether a plugin of the scheduler fails at the node of a disagreement, which we said may
// be: then it does not matter what others say of the node with and without the pods that are nominated to it.
func failsThere(p *problem, result *comparison, d disagreement) bool {
	at := slices.IndexFunc(p.asked, func(pod *corev1.Pod) bool { return pod.Name == d.pod })
	return at >= 0 && result.theirs[at].fails && slices.ContainsFunc(slices.Collect(maps.Values(result.ours[at].doubts[d.node])), func(message string) bool {
		return strings.Contains(message, "on at filter and off at preFilter")
	})
}

// TestProfileScores compares points and choices as [TestScores] does, with random configurations.
func TestProfileScores(t *testing.T) {
	t.Cleanup(func() { withProfiles = nil })
	c := scoreCounts{varied: map[filters.Plugin]int{}, doubts: map[string]int{}}
	for i := uint64(0); c.pods < effort.Of(20_000, 2_000) && !t.Failed(); i++ {
		r := rand.New(rand.NewPCG(*seed, i))
		p := generateScored(r)
		text := randomScoring(r)
		if strings.Contains(text, string(gpu)) && r.IntN(2) == 0 {
			devicesAsResource(r, p, strings.Contains(text, "{name: "+string(gpu)+", weight: 1}"))
		}
		p.scheduler = startWith(t, text)
		if err := c.compare(t, p); err != nil || t.Failed() {
			t.Fatalf("problem %d: %v\n%s", i, err, text)
		}
	}
	t.Log(c)
	if c.sure < c.pods/2 || c.single < c.pods/5 || c.devices < c.pods/100 {
		t.Errorf("of %d of %d pods all is known, one node is chosen for %d, and devices count for %d: want more", c.sure, c.pods, c.single, c.devices)
	}
}

// devicesAsResource lets a class provide an extended resource, with selectors only if that is not asked of
// NodeResourcesBalancedAllocation, which crashes on them.
func devicesAsResource(r *rand.Rand, p *problem, plain bool) {
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "as-resource"}, Spec: resourcev1.DeviceClassSpec{ExtendedResourceName: new(string(gpu))}}
	expressions := []string{`device.driver == "gpu.example.com"`, `device.attributes["gpu.example.com"].model == "small"`, `device.attributes["gpu.example.com"].absent == 1`, `!device.allowMultipleAllocations`}
	if i := r.IntN(6); !plain && i < len(expressions) {
		class.Spec.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: expressions[i]}}}
	}
	if !has(p.objects.Classes, deviceClass) {
		(&generator{Rand: r, problem: p}).slices()
	}
	p.objects.Classes = append(p.objects.Classes, class)
	for _, pod := range p.asked {
		if len(pod.Spec.ResourceClaims) > 0 { // what these get would depend on the devices of the resource
			for _, c := range containers(pod) {
				delete(c.Resources.Limits, gpu)
				delete(c.Resources.Requests, gpu)
			}
		} else if r.IntN(2) == 0 {
			pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{Limits: corev1.ResourceList{gpu: resource.MustParse("1")}}
		}
	}
	for _, node := range p.objects.Nodes {
		if r.IntN(4) > 0 {
			delete(node.Status.Allocatable, gpu)
		}
	}
	for i, slice := range p.objects.Slices {
		switch {
		case r.IntN(4) == 0:
			slice.Spec.NodeName, slice.Spec.AllNodes = nil, new(true)
		case r.IntN(4) == 0:
			slice.Spec.NodeName, slice.Spec.NodeSelector = nil, &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"zone-a", "zone-b"}},
			}}}}
		case r.IntN(4) == 0:
			slice.Spec.PerDeviceNodeSelection, slice.Spec.NodeName = new(true), nil
			for j := range slice.Spec.Devices {
				slice.Spec.Devices[j].NodeName = new(p.objects.Nodes[(i+j)%len(p.objects.Nodes)].Name)
			}
		}
	}
}

// TestConfigurations: what kube-scheduler refuses to start with is refused, and nothing else.
func TestConfigurations(t *testing.T) {
	refused := 0
	for i := range uint64(effort.Of(20_000, 2_000)) {
		r := rand.New(rand.NewPCG(*seed, i))
		text := damaged(r, randomConfig(r))
		theirs, ours := theirError(text), ourError(text)
		if (theirs == nil) != (ours == nil) {
			t.Fatalf("kube-scheduler says %v, ours %v:\n%s", theirs, ours, text)
		}
		if theirs != nil {
			refused++
		}
	}
	if refused < 100 {
		t.Errorf("%d are refused, want more", refused)
	}
}

// startWith makes the schedulers that are started run with a configuration, and returns it as we read it.
func startWith(t *testing.T, text string) *schedulerconfig.Config {
	t.Helper()
	theirs, err := loaded(text)
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	ours, err := schedulerconfig.Read([]byte(text), gateByDefault)
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	withProfiles = []upstream.Option{upstream.WithProfiles(theirs.Profiles...)}
	return ours
}

func gateByDefault(gate string) bool {
	return inspect.DefaultFeatures(inspect.NewestMinor).Enabled(inspect.Gate(gate))
}

func loaded(text string) (*config.KubeSchedulerConfiguration, error) {
	klog.SetLogger(logr.Discard()) // it tells of every plugin that is not as usual
	object, _, err := scheme.Codecs.UniversalDecoder().Decode([]byte(text), nil, nil)
	if err != nil {
		return nil, fmt.Errorf("decoding: %w", err)
	}
	c, ok := object.(*config.KubeSchedulerConfiguration)
	if !ok {
		return nil, fmt.Errorf("it is a %T", object)
	}
	c.APIVersion = "kubescheduler.config.k8s.io/v1" // as kube-scheduler does
	if err := configvalidation.ValidateKubeSchedulerConfiguration(c); err != nil {
		return nil, fmt.Errorf("checking: %w", err)
	}
	return c, nil
}

// theirError is why kube-scheduler does not start with a configuration: because of itself, or of the
// arguments of NodeResourcesFit, which the plugin checks.
func theirError(text string) error {
	c, err := loaded(text)
	if err != nil {
		return err
	}
	for i := range c.Profiles {
		for _, one := range c.Profiles[i].PluginConfig {
			if args, ok := one.Args.(*config.NodeResourcesFitArgs); ok {
				if err := configvalidation.ValidateNodeResourcesFitArgs(nil, args); err != nil {
					return fmt.Errorf("making a plugin: %w", err)
				}
			}
		}
	}
	return nil
}

func ourError(text string) error {
	_, err := schedulerconfig.Read([]byte(text), gateByDefault)
	return err //nolint:wrapcheck // it is only shown
}

const configHeader = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

// randomConfig is a configuration that changes what is filtered.
func randomConfig(r *rand.Rand) string {
	var off, atFilter, atPreFilter []string
	for _, plugin := range filters.Plugins() {
		switch {
		case plugin == filters.GangScheduling || plugin == filters.NodeDeclaredFeatures:
		case r.IntN(6) == 0:
			off = append(off, fmt.Sprintf("{name: %s}", plugin))
		case r.IntN(30) == 0 && plugin != filters.SchedulingGates:
			atFilter = append(atFilter, fmt.Sprintf("{name: %s}", plugin))
		case r.IntN(60) == 0:
			atPreFilter = append(atPreFilter, fmt.Sprintf("{name: %s}", plugin))
		}
	}
	text := fmt.Sprintf("profiles:\n- plugins:\n    multiPoint: {disabled: [%s]%s}\n    filter: {disabled: [%s]}\n    preFilter: {disabled: [%s]}\n",
		strings.Join(off, ", "), reordered(r), strings.Join(atFilter, ", "), strings.Join(atPreFilter, ", "))
	var args []string
	if r.IntN(3) == 0 {
		args = append(args, fmt.Sprintf("  - name: NodeAffinity\n    args: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: %s, operator: In, values: [zone-a, zone-b]}]}]}}}\n", corev1.LabelTopologyZone))
	}
	if r.IntN(3) == 0 {
		args = append(args, "  - name: NodeResourcesFit\n    args: {"+[]string{"ignoredResources: [example.com/gpu, cpu]", "ignoredResourceGroups: [example.com]", "ignoredResources: [example.com/none]"}[r.IntN(3)]+"}\n")
	}
	if r.IntN(3) == 0 {
		args = append(args, fmt.Sprintf("  - name: PodTopologySpread\n    args: {defaultingType: List, defaultConstraints: [%s]}\n", strings.Join(randomConstraints(r), ", ")))
	}
	if len(args) > 0 {
		text += "  pluginConfig:\n" + strings.Join(args, "")
	}
	return configHeader + text
}

// randomConstraints are defaultConstraints, most of which have to be met.
func randomConstraints(r *rand.Rand) []string {
	var out []string
	for _, key := range []string{corev1.LabelHostname, corev1.LabelTopologyZone, "disk"} {
		if more, unmet := "", "DoNotSchedule"; r.IntN(2) == 0 {
			if r.IntN(5) == 0 {
				unmet = "ScheduleAnyway"
			} else if r.IntN(4) == 0 {
				more = ", minDomains: 3"
			}
			more += []string{"", "", ", nodeAffinityPolicy: Ignore", ", nodeTaintsPolicy: Honor"}[r.IntN(4)]
			out = append(out, fmt.Sprintf("{maxSkew: %d, topologyKey: %s, whenUnsatisfiable: %s%s}", 1+r.IntN(2), key, unmet, more))
		}
	}
	return out
}

// reordered puts plugins in another place: those that are on already stay where they are, with other weights.
func reordered(r *rand.Rand) string {
	if r.IntN(2) == 0 {
		return ""
	}
	return fmt.Sprintf(", enabled: [{name: NodeResourcesFit, weight: %d}, {name: InterPodAffinity, weight: %d}]", 1+r.IntN(4), 1+r.IntN(4))
}

// randomScoring is a configuration that changes which of the nodes that fit is chosen.
func randomScoring(r *rand.Rand) string {
	var off, on []string
	for _, name := range []string{"TaintToleration", "NodeAffinity", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity", "NodeResourcesBalancedAllocation", "ImageLocality"} {
		switch r.IntN(6) {
		case 0:
			off = append(off, fmt.Sprintf("{name: %s}", name))
		case 1, 2:
			on = append(on, fmt.Sprintf("{name: %s, weight: %d}", name, r.IntN(5)))
		}
	}
	strategies := []string{
		"{type: MostAllocated}",
		"{type: MostAllocated, resources: [{name: cpu, weight: 3}, {name: memory}]}",
		"{type: LeastAllocated, resources: [{name: memory, weight: 2}]}",
		"{type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}, {utilization: 40, score: 9}, {utilization: 100, score: 2}]}}",
		"{type: RequestedToCapacityRatio, resources: [{name: cpu, weight: 2}, {name: memory, weight: 5}], requestedToCapacityRatio: {shape: [{utilization: 20, score: 10}, {utilization: 80, score: 0}]}}",
		"{type: MostAllocated, resources: [{name: example.com/gpu, weight: 5}, {name: cpu}]}",
		"{type: LeastAllocated, resources: [{name: hugepages-2Mi, weight: 5}, {name: ephemeral-storage, weight: 2}, {name: memory}]}",
		"{type: RequestedToCapacityRatio, resources: [{name: example.com/gpu, weight: 4}, {name: ephemeral-storage}], requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]}}",
	}
	text := fmt.Sprintf("profiles:\n- plugins:\n    score: {disabled: [%s], enabled: [%s]}\n", strings.Join(off, ", "), strings.Join(on, ", "))
	text += "  pluginConfig:\n" + fmt.Sprintf("  - name: InterPodAffinity\n    args: {hardPodAffinityWeight: %d, ignorePreferredTermsOfExistingPods: %t}\n", []int{0, 1, 3, 100}[r.IntN(4)], r.IntN(3) == 0)
	if r.IntN(3) == 0 {
		text += "  - name: NodeAffinity\n    args: {addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 7, preference: {matchExpressions: [{key: " +
			corev1.LabelTopologyZone + ", operator: In, values: [zone-a, zone-b]}]}}, {weight: 2, preference: {matchExpressions: [{key: disk, operator: Exists}]}}]}}\n"
	}
	if r.IntN(3) == 0 {
		constraints := []string{
			"", "{maxSkew: 1, topologyKey: " + corev1.LabelTopologyZone + ", whenUnsatisfiable: ScheduleAnyway}",
			"{maxSkew: 2, topologyKey: disk, whenUnsatisfiable: ScheduleAnyway}, {maxSkew: 4, topologyKey: " + corev1.LabelHostname + ", whenUnsatisfiable: ScheduleAnyway}",
		}
		text += "  - name: PodTopologySpread\n    args: {defaultingType: List, defaultConstraints: [" + constraints[r.IntN(3)] + "]}\n"
	}
	if balanced := []string{"", "[{name: cpu, weight: 1}, {name: example.com/gpu, weight: 1}, {name: memory, weight: 1}]", "[{name: ephemeral-storage, weight: 1}]", "[{name: memory, weight: 1}, {name: ephemeral-storage, weight: 1}]"}[r.IntN(4)]; balanced != "" {
		text += "  - name: NodeResourcesBalancedAllocation\n    args: {resources: " + balanced + "}\n"
	}
	if r.IntN(3) > 0 {
		text += "  - name: NodeResourcesFit\n    args: {scoringStrategy: " + strategies[r.IntN(len(strategies))] + "}\n"
	}
	return configHeader + text
}

// damaged is a configuration with something else in it, which may be wrong.
func damaged(r *rand.Rand, text string) string {
	numbers := []string{"-1", "0", "1", "50", "100", "101"}
	number := numbers[r.IntN(len(numbers))]
	more := []string{
		"", "parallelism: " + number, "percentageOfNodesToScore: " + number, "podInitialBackoffSeconds: " + number, "podMaxBackoffSeconds: " + number,
		"unknown: " + number, "leaderElection: {leaderElect: true, resourceLock: configmaps}", "leaderElection: {leaderElect: true, leaseDuration: " + number + "s}",
		"clientConnection: {burst: " + number + "}",
		"- schedulerName: other", "- {}", "- schedulerName: other\n  percentageOfNodesToScore: " + number,
		"- {schedulerName: other, plugins: {queueSort: {enabled: [{name: Mine}], disabled: [{name: '*'}]}}}",
		"- {schedulerName: other, plugins: {score: {enabled: [{name: CinderLimits}]}}}",
		"- {schedulerName: other, pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: " + number + "}}]}",
		"- {schedulerName: other, pluginConfig: [{name: DefaultPreemption, args: {minCandidateNodesPercentage: " + number + "}}]}",
		"- {schedulerName: other, pluginConfig: [{name: DefaultPreemption, args: {minCandidateNodesAbsolute: " + number + ", minCandidateNodesPercentage: 0}}]}",
		"- {schedulerName: other, pluginConfig: [{name: NodeResourcesBalancedAllocation, args: {resources: [{name: cpu, weight: " + number + "}, {name: cpu}]}}]}",
		"- {schedulerName: other, pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: " + number + "}]}}}]}",
		"- {schedulerName: other, pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: [{utilization: 0, score: 3}, {utilization: " + number + ", score: 1}]}}}}]}",
		"- {schedulerName: other, pluginConfig: [{name: NodeResourcesFit, args: {ignoredResourceGroups: [a/b]}}]}",
		"- {schedulerName: other, pluginConfig: [{name: VolumeBinding, args: {bindTimeoutSeconds: " + number + "}}]}",
		"- {schedulerName: other, pluginConfig: [{name: VolumeBinding, args: {shape: [{utilization: 0, score: 1}]}}]}",
		"- {schedulerName: other, pluginConfig: [{name: DynamicResources, args: {filterTimeout: " + number + "s}}]}",
		"- {schedulerName: other, pluginConfig: [{name: DynamicResources, args: {bindingTimeout: " + number + "s}}]}",
		"- {schedulerName: other, pluginConfig: [{name: PodTopologySpread, args: {defaultingType: List, defaultConstraints: [{maxSkew: " + number + ", topologyKey: a, whenUnsatisfiable: ScheduleAnyway}]}}]}",
		"- {schedulerName: other, pluginConfig: [{name: PodTopologySpread, args: {defaultConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: Never}]}}]}",
		"- {schedulerName: other, pluginConfig: [{name: NodeAffinity, args: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Near}]}]}}}}]}",
		"- {schedulerName: other, pluginConfig: [{name: NodeAffinity, args: {unknown: 1}}]}",
		"- {schedulerName: other, pluginConfig: [{name: Foreign, args: {unknown: 1}}, {name: Foreign}]}",
		"extenders: [{urlPrefix: a, prioritizeVerb: p, weight: " + number + "}]",
		"extenders: [{urlPrefix: a, bindVerb: b}, {urlPrefix: b, bindVerb: b}]",
		"extenders: [{urlPrefix: a, managedResources: [{name: cpu}]}]",
		"extenders: [{urlPrefix: a, managedResources: [{name: example.com/a}, {name: example.com/a}]}]",
	}[r.IntN(36)%34]
	if strings.HasPrefix(more, "- ") {
		return strings.Replace(text, "- plugins:", "- schedulerName: default-scheduler\n  plugins:", 1) + more + "\n"
	}
	return text + more + "\n"
}

// countChanges counts the pods about which something of a configuration decides.
func countChanges(t *testing.T, p *problem, text string, seen map[string]int) {
	t.Helper()
	admitted, err := p.admitted()
	if err != nil {
		t.Fatal(err)
	}
	with := filters.NewIndex(admitted.snapshot(), nil)
	plain := admitted.asking(admitted.asked[0])
	plain.scheduler = nil
	without := filters.NewIndex(plain.snapshot(), nil)
	for _, pod := range admitted.asked {
		a, b := ours(with, pod, admitted.objects.Nodes), ours(without, pod, admitted.objects.Nodes)
		for _, plugin := range filters.Plugins() {
			differs := false
			for node := range a.nodes {
				differs = differs || (a.nodes[node][plugin] == "") != (b.nodes[node][plugin] == "")
			}
			if differs && plugin != filters.NodeDeclaredFeatures && plugin != filters.GangScheduling {
				seen[string(plugin)]++
				if plugin == filters.NodeAffinity && strings.Contains(text, "addedAffinity") && slices.ContainsFunc(slices.Collect(maps.Values(a.nodes)), func(s says) bool {
					return strings.Contains(s[plugin], "addedAffinity")
				}) {
					seen["addedAffinity"]++
				}
				if plugin == filters.PodTopologySpread && strings.Contains(text, "DoNotSchedule") && slices.ContainsFunc(slices.Collect(maps.Values(a.nodes)), func(s says) bool {
					return strings.Contains(s[plugin], "defaultConstraints")
				}) {
					seen["defaultConstraints"]++
				}
			}
		}
	}
}

func podNamed(p *problem, name string) *corev1.Pod {
	return p.asked[max(0, slices.IndexFunc(p.asked, func(pod *corev1.Pod) bool { return pod.Name == name }))]
}
