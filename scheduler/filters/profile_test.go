package filters

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
)

// TestProfile: what a profile has off refuses nothing; what is on in part, or is not kube-scheduler's own, is
// a doubt.
func TestProfile(t *testing.T) {
	affine := func(pod *corev1.Pod) { pod.Spec.NodeSelector = map[string]string{"zone": "a"} }
	claiming := func(pod *corev1.Pod) { pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}} }
	large := func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("9")}
	}
	extended := func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"example.com/gpu": resource.MustParse("1")}
	}
	volume := func(pod *corev1.Pod) {
		pod.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}}
	}
	for _, test := range []struct {
		profile, more string // of the configuration
		change        func(*corev1.Pod)
		want          string // codes of refusals, and keys of doubts with a question mark
	}{
		{"", "", affine, "NodeAffinity"},
		{"plugins: {multiPoint: {disabled: [{name: NodeAffinity}]}}", "", affine, ""},
		{"plugins: {filter: {disabled: [{name: NodeAffinity}]}}", "", affine, "?half"},
		{"plugins: {filter: {disabled: [{name: NodeAffinity}]}}", "", nil, ""},
		{"plugins: {preFilter: {disabled: [{name: NodeAffinity}]}}", "", affine, "NodeAffinity"},
		{"", "", large, "InsufficientResources"},
		{"plugins: {multiPoint: {disabled: [{name: NodeResourcesFit}]}}", "", large, ""},
		{"plugins: {filter: {disabled: [{name: NodeResourcesFit}]}}", "", large, ""},
		{"plugins: {preFilter: {disabled: [{name: NodeResourcesFit}]}}", "", nil, "?half"},
		{"", "", extended, "InsufficientResources"},
		{"pluginConfig: [{name: NodeResourcesFit, args: {ignoredResourceGroups: [example.com]}}]", "", extended, ""},
		{"", "extenders: [{urlPrefix: 'http://x', filterVerb: f, managedResources: [{name: example.com/gpu, ignoredByScheduler: true}]}]", extended, "?extender http://x"},
		{"", "extenders: [{urlPrefix: 'http://x', filterVerb: f, managedResources: [{name: example.com/gpu}]}]", nil, ""},
		{"", "extenders: [{urlPrefix: 'http://x', filterVerb: f}]", nil, "?extender http://x"},
		{"", "extenders: [{urlPrefix: 'http://x', prioritizeVerb: p, weight: 1}]", nil, ""},
		{"plugins: {permit: {enabled: [{name: Coscheduling}]}}", "", nil, "?plugins"},
		{"plugins: {multiPoint: {enabled: [{name: Coscheduling}]}}", "", nil, "?plugins"},
		{"plugins: {score: {enabled: [{name: Packing}]}}", "", nil, ""},
		{"plugins: {reserve: {disabled: [{name: DynamicResources}]}}", "", claiming, "?off"},
		{"plugins: {score: {disabled: [{name: DynamicResources}]}}", "", claiming, ""},
		{"pluginConfig: [{name: DynamicResources, args: {filterTimeout: 1s}}]", "", claiming, "?timeout"},
		{"pluginConfig: [{name: DynamicResources, args: {filterTimeout: 10s}}]", "", claiming, ""},
		{"plugins: {multiPoint: {disabled: [{name: DynamicResources}]}}", "", nil, ""},
		{"plugins: {preScore: {disabled: [{name: InterPodAffinity}]}}", "", nil, "?preScore"},
		{"plugins: {multiPoint: {disabled: [{name: VolumeBinding}, {name: VolumeZone}, {name: VolumeRestrictions}, {name: NodeVolumeLimits}]}}", "", volume, "?off"},
		{"pluginConfig: [{name: NodeAffinity, args: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: Exists}]}]}}}}]", "", nil, "NodeAffinity"},
		{"pluginConfig: [{name: NodeAffinity, args: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: ['n']}]}]}}}}]", "", nil, ""},
		{"pluginConfig: [{name: PodTopologySpread, args: {defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]}}]", "", nil, "?defaults"},
		{"pluginConfig: [{name: PodTopologySpread, args: {defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}}]", "", nil, ""},
		{"plugins: {preEnqueue: {disabled: [{name: SchedulingGates}]}}", "", func(pod *corev1.Pod) { pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}} }, ""},
	} {
		text := "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{" + test.profile + "}]\n" + test.more
		config, err := schedulerconfig.Read([]byte(text), func(gate string) bool { return gate == "DRASchedulerFilterTimeout" })
		if err != nil {
			t.Errorf("%s: %v", test.profile, err)
			continue
		}
		pod := testPod("p", "", "cpu", "2")
		if test.change != nil {
			test.change(pod)
		}
		s := live(inspect.Objects{Nodes: []*corev1.Node{roomy(nil)}}).WithScheduler(config)
		p := NewIndex(s, nil).Prepare(pod)
		o := p.Everywhere
		o.and(p.On("n"))
		var got []string
		for _, r := range o.Refusals {
			got = append(got, string(r.Code))
		}
		for _, d := range o.Doubts {
			got = append(got, "?"+d.Key)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s %s: %v, want %s", test.profile, test.more, got, test.want)
		}
		if without := p.Without(); !slices.EqualFunc(without.Everywhere.Doubts, p.Everywhere.Doubts, func(a, b Doubt) bool { return a == b }) {
			t.Errorf("%s: without any pods, the doubts are %v", test.profile, without.Everywhere.Doubts)
		}
	}
}

// TestUnreadableProfile: where kube-scheduler has a configuration that was not read, what fits is not known.
func TestUnreadableProfile(t *testing.T) {
	s := live(inspect.Objects{Nodes: []*corev1.Node{roomy(nil)}}).WithScheduler(schedulerconfig.Unreadable("it is elsewhere"))
	p := NewIndex(s, nil).Prepare(testPod("p", "", "cpu", "2"))
	if d := p.Everywhere.Doubts; len(d) != 1 || d[0].Key != "unreadable" || len(p.Everywhere.Refusals) > 0 {
		t.Errorf("the outcome is %v", p.Everywhere)
	}
	if o := NewIndex(s, nil).Prepare(testPod("p", "", "cpu", "9")).On("n"); len(o.Refusals) != 1 {
		t.Errorf("a pod that is too large is not refused: %v", o)
	}
}
