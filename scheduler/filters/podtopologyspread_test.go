package filters

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
)

// spread adds a constraint: by at most skew over the key, of the pods that a selector selects.
func spread(key string, skew int32, selector *metav1.LabelSelector, changes ...func(*corev1.TopologySpreadConstraint)) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		c := corev1.TopologySpreadConstraint{TopologyKey: key, MaxSkew: skew, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selector}
		if alias := labelAliases[key]; alias != "" {
			c.TopologyKey = alias
		}
		for _, change := range changes {
			change(&c)
		}
		pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, c)
	}
}

func minDomains(n int32) func(*corev1.TopologySpreadConstraint) {
	return func(c *corev1.TopologySpreadConstraint) { c.MinDomains = &n }
}

func tainted(nodes []*corev1.Node, name string, effect corev1.TaintEffect) []*corev1.Node {
	for _, n := range nodes {
		if n.Name == name {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "k", Value: "5", Effect: effect})
		}
	}
	return nodes
}

const threeZones = "a1 zone=a, a2 zone=a, b1 zone=b, c1 zone=c"

func TestPodTopologySpread(t *testing.T) {
	web := matchLabels("app=web")
	ignoreAffinity := func(c *corev1.TopologySpreadConstraint) {
		c.NodeAffinityPolicy = ptr.To(corev1.NodeInclusionPolicyIgnore)
	}
	keys := func(keys ...string) func(*corev1.TopologySpreadConstraint) {
		return func(c *corev1.TopologySpreadConstraint) { c.MatchLabelKeys = keys }
	}
	notInC := func(pod *corev1.Pod) {
		pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpNotIn, Values: []string{"c"}}}}},
		}}}
	}
	for name, c := range map[string]neighbourCase{
		// a has 2, b and c none: one more in a would be 3 above them.
		"skew": {nodes: threeZones, pods: podsOf("w0@a1 app=web, w1@a2 app=web"), pod: podOf("w app=web", spread("zone", 2, web)), want: "a1: SpreadConstraint topologySpreadConstraints[0]\na2: SpreadConstraint topologySpreadConstraints[0]"},
		// Without the label the pod does not count itself: 2 above the fewest are allowed.
		"not one of them":           {nodes: threeZones, pods: podsOf("w0@a1 app=web, w1@a2 app=web"), pod: podOf("w", spread("zone", 2, web))},
		"only preferred":            {nodes: threeZones, pods: podsOf("w0@a1 app=web, w1@a2 app=web"), pod: podOf("w app=web", spread("zone", 1, web, func(c *corev1.TopologySpreadConstraint) { c.WhenUnsatisfiable = corev1.ScheduleAnyway }))},
		"index in the spec":         {nodes: "a zone=a", pod: podOf("w", spread("zone", 1, web, func(c *corev1.TopologySpreadConstraint) { c.WhenUnsatisfiable = corev1.ScheduleAnyway }), spread("rack", 1, web)), want: "a: SpreadConstraint topologySpreadConstraints[1] label"},
		"other namespace":           {nodes: threeZones, pods: podsOf("db/w0@a1 app=web, db/w1@a2 app=web"), pod: podOf("w app=web", spread("zone", 1, web))},
		"leaving pods do not count": {nodes: threeZones, pods: []*corev1.Pod{podOf("w0@a1 app=web", leaving), podOf("w1@a2 app=web", leaving)}, pod: podOf("w app=web", spread("zone", 1, web))},
		// c has fewest, 0, and is counted although nothing of the pod is there.
		"ended pods do not count": {nodes: threeZones, pods: []*corev1.Pod{podOf("w0@a1 app=web"), podOf("w1@b1 app=web"), podOf("w2@c1 app=web", func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed })}, pod: podOf("w app=web", spread("zone", 1, web)), want: "a1: SpreadConstraint topologySpreadConstraints[0]\na2: SpreadConstraint topologySpreadConstraints[0]\nb1: SpreadConstraint topologySpreadConstraints[0]"},
		// The empty selector selects all pods, but the scheduler counts none for it.
		"empty selector": {nodes: threeZones, pods: podsOf("w0@a1 app=web, w1@a2 app=web"), pod: podOf("w app=web", spread("zone", 1, &metav1.LabelSelector{}))},
		"no selector":    {nodes: threeZones, pods: podsOf("w0@a1 app=web, w1@a2 app=web"), pod: podOf("w app=web", spread("zone", 1, nil))},
		// d has no zone: it is refused, and its pods do not count.
		"label missing": {nodes: threeZones + ", d", pods: podsOf("w0@d app=web"), pod: podOf("w app=web", spread("zone", 1, web)), want: "d: SpreadConstraint topologySpreadConstraints[0] label"},
		// b1 has no rack: so the web pod on it does not count for zones either, nor does zone b as one with
		// few pods.
		"label of another constraint missing": {nodes: "a1 zone=a rack=r, b1 zone=b", pods: podsOf("w0@a1 app=web, w1@a1 app=web"), pod: podOf("w app=web", spread("zone", 1, web), spread("rack", 9, web)), want: "b1: SpreadConstraint topologySpreadConstraints[1] label"},
		"two constraints":                     {nodes: "a1 zone=a host=a1, b1 zone=b host=b1", pods: podsOf("w0@a1 app=web"), pod: podOf("w app=web", spread("zone", 1, web), spread("host", 1, web)), want: "a1: SpreadConstraint topologySpreadConstraints[0]; SpreadConstraint topologySpreadConstraints[1]"},
		// 3 domains where 4 are wanted: the fewest is taken to be 0, and each zone may have no more than one.
		"too few domains":    {nodes: threeZones, pods: podsOf("w0@a1 app=web, w1@b1 app=web, w2@c1 app=web"), pod: podOf("w app=web", spread("zone", 1, web, minDomains(4))), want: "a1: SpreadConstraint topologySpreadConstraints[0]\na2: SpreadConstraint topologySpreadConstraints[0]\nb1: SpreadConstraint topologySpreadConstraints[0]\nc1: SpreadConstraint topologySpreadConstraints[0]"},
		"enough domains":     {nodes: threeZones, pods: podsOf("w0@a1 app=web, w1@b1 app=web, w2@c1 app=web"), pod: podOf("w app=web", spread("zone", 1, web, minDomains(3)))},
		"where it cannot go": {nodes: threeZones, pods: podsOf("w0@a1 app=web, w1@b1 app=web"), pod: podOf("w app=web", spread("zone", 1, web), notInC)},
		// Zone c counts, with none.
		"affinity ignored": {nodes: threeZones, pods: podsOf("w0@a1 app=web, w1@b1 app=web"), pod: podOf("w app=web", spread("zone", 1, web, ignoreAffinity), notInC), want: "a1: SpreadConstraint topologySpreadConstraints[0]\na2: SpreadConstraint topologySpreadConstraints[0]\nb1: SpreadConstraint topologySpreadConstraints[0]"},
		// c1 is not one of its nodes: pods there do not count, and only they would be too many.
		"pods where it cannot go": {nodes: threeZones, pods: podsOf("w0@c1 app=web, w1@c1 app=web"), pod: podOf("w app=web", spread("zone", 1, web), func(pod *corev1.Pod) { pod.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "a"} })},
		"label keys":              {nodes: threeZones, pods: podsOf("w0@a1 app=web v=1, w1@a2 app=web v=1, w2@b1 app=web v=2"), pod: podOf("w app=web v=2", spread("zone", 1, web, keys("v", "unset"))), want: "b1: SpreadConstraint topologySpreadConstraints[0]"},
		"label keys, gate off":    {nodes: threeZones, off: []inspect.Gate{inspect.GateMatchLabelKeysInPodTopologySpread}, pods: podsOf("w0@a1 app=web v=1, w1@a2 app=web v=1, w2@b1 app=web v=2"), pod: podOf("w app=web v=2", spread("zone", 1, web, keys("v", "unset"))), want: "a1: SpreadConstraint topologySpreadConstraints[0]\na2: SpreadConstraint topologySpreadConstraints[0]\nb1: SpreadConstraint topologySpreadConstraints[0]"},
		// Where there is no selector, keys select nothing.
		"label keys without selector": {nodes: threeZones, pods: podsOf("w0@a1 v=2"), pod: podOf("w v=2", spread("zone", 1, nil, keys("v")))},
		// The API server has added v=1; since then the label of the pod has changed. No pod has both values.
		"label keys, changed since": {nodes: threeZones, pods: podsOf("w0@a1 v=2, w1@a1 v=1"), pod: podOf("w v=2", spread("zone", 1, &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "v", Operator: metav1.LabelSelectorOpIn, Values: []string{"1"}}}}, keys("v")))},
		"bad selector":              {nodes: "a zone=a", pod: podOf("w", spread("zone", 1, &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "v", Operator: "Like"}}})), want: "SpreadConstraint topologySpreadConstraints[0] selector"},
		// The other pod counts as if it were there, and the pod must pass with and without it.
		"nominated pod":    {nodes: threeZones, pods: []*corev1.Pod{podOf("w0 app=web", nominatedTo("a1"))}, pod: podOf("w app=web", spread("zone", 1, web)), want: "a1: SpreadConstraint topologySpreadConstraints[0]"},
		"empty domain":     {nodes: "a1 zone=, b1 zone=b", pods: podsOf("w0@a1 app=web"), pod: podOf("w app=web", spread("zone", 1, web)), want: "a1: SpreadConstraint topologySpreadConstraints[0]"},
		"nodes assumed":    {pod: podOf("w app=web", spread("zone", 1, web)), want: "? nodes"},
		"pods forbidden":   {nodes: "a zone=a, b", pod: podOf("w app=web", spread("zone", 1, web)), config: inspect.Config{Health: map[inspect.Resource]inspect.Health{inspect.Pods: {State: inspect.Forbidden}}}, want: "? pods\nb: SpreadConstraint topologySpreadConstraints[0] label"},
		"pods not read":    {nodes: "a zone=a", pod: podOf("w app=web", spread("zone", 1, web)), config: inspect.Config{ServerVersion: "v1.37.1", Health: map[inspect.Resource]inspect.Health{inspect.Nodes: {State: inspect.Synced}}}, want: "? pods"},
		"its namespace":    {nodes: "a zone=a, b zone=b", pods: podsOf("w0@a app=web"), pod: podOf("w app=web", spread("zone", 1, web)), config: inspect.Config{Health: map[inspect.Resource]inspect.Health{inspect.Pods: {State: inspect.Narrowed, Namespaces: []string{"ml"}}}}, want: "a: SpreadConstraint topologySpreadConstraints[0]"},
		"other namespaces": {nodes: "a zone=a, b zone=b", pod: podOf("w app=web", spread("zone", 1, web)), config: inspect.Config{Health: map[inspect.Resource]inspect.Health{inspect.Pods: {State: inspect.Narrowed, Namespaces: []string{"db"}}}}, want: "? pods"},
		"nodes incomplete": {nodes: "a zone=a", pod: podOf("w app=web", spread("zone", 1, web)), config: inspect.Config{Health: map[inspect.Resource]inspect.Health{inspect.Nodes: {State: inspect.Incomplete}}}, want: "? nodes"},
	} {
		t.Run(name, func(t *testing.T) { c.run(t, PodTopologySpread) })
	}
}

// TestSpreadTaints has constraints that look at taints. Zones b and c have none of the pods; whether b or c
// counts as the zone with the fewest decides about zone a.
func TestSpreadTaints(t *testing.T) {
	honour := func(c *corev1.TopologySpreadConstraint) { c.NodeTaintsPolicy = ptr.To(corev1.NodeInclusionPolicyHonor) }
	tolerating := func(tolerations ...corev1.Toleration) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Spec.Tolerations = tolerations }
	}
	greater := corev1.Toleration{Key: "k", Operator: corev1.TolerationOpGt, Value: "3"}
	for name, c := range map[string]struct {
		pod     *corev1.Pod
		effect  corev1.TaintEffect
		gate    bool
		refused bool
	}{
		"ignored":               {podOf("w app=web", spread("zone", 1, matchLabels("app=web"))), corev1.TaintEffectNoSchedule, false, true},
		"honoured":              {podOf("w app=web", spread("zone", 1, matchLabels("app=web"), honour)), corev1.TaintEffectNoSchedule, false, false},
		"NoExecute":             {podOf("w app=web", spread("zone", 1, matchLabels("app=web"), honour)), corev1.TaintEffectNoExecute, false, false},
		"only preferred":        {podOf("w app=web", spread("zone", 1, matchLabels("app=web"), honour)), corev1.TaintEffectPreferNoSchedule, false, true},
		"tolerated":             {podOf("w app=web", spread("zone", 1, matchLabels("app=web"), honour), tolerating(corev1.Toleration{Operator: corev1.TolerationOpExists})), corev1.TaintEffectNoSchedule, false, true},
		"of the pod's creation": {podOf("w app=web", spread("zone", 1, matchLabels("app=web"), honour)), "NotReady", false, true},
		"compared":              {podOf("w app=web", spread("zone", 1, matchLabels("app=web"), honour), tolerating(greater)), corev1.TaintEffectNoSchedule, true, true},
		"compared, gate is off": {podOf("w app=web", spread("zone", 1, matchLabels("app=web"), honour), tolerating(greater)), corev1.TaintEffectNoSchedule, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			objects := inspect.Objects{Nodes: tainted(nodesOf("a zone=a, b zone=b"), "b", c.effect), Pods: podsOf("w0@a app=web")}
			if c.effect == "NotReady" { // tolerated by every pod once it is created
				objects.Nodes[1].Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoExecute}}
			}
			features := inspect.DefaultFeatures(inspect.NewestMinor).With(map[inspect.Gate]bool{inspect.GateTaintTolerationComparisonOperators: c.gate})
			x := NewIndex(inspect.New(objects, inspect.Config{Features: features}), nil)
			if refused := len(saidBy(PodTopologySpread, x.Prepare(c.pod).On("a")).Refusals) > 0; refused != c.refused {
				t.Errorf("refused: %t, want %t", refused, c.refused)
			}
		})
	}
}

// TestSpreadNominated has what the scheduler does not ask of pods that are only expected on a node: whether
// they are being deleted, and whether the selector is empty.
func TestSpreadNominated(t *testing.T) {
	for name, c := range map[string]struct {
		other    *corev1.Pod
		selector *metav1.LabelSelector
		refused  bool
	}{
		"leaving":                  {podOf("w0 app=web", nominatedTo("a"), leaving), matchLabels("app=web"), true},
		"empty selector":           {podOf("w0", nominatedTo("a")), &metav1.LabelSelector{}, true},
		"on the node, leaving":     {podOf("w0@a app=web", leaving), matchLabels("app=web"), false},
		"on the node, no selector": {podOf("w0@a"), &metav1.LabelSelector{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := (&neighbourCase{nodes: "a zone=a, b zone=b", pods: []*corev1.Pod{c.other}}).snapshot()
			o := NewIndex(s, nil).Prepare(podOf("w app=web", spread("zone", 1, c.selector))).On("a")
			if refused := len(saidBy(PodTopologySpread, o).Refusals) > 0; refused != c.refused {
				t.Errorf("refused: %t, want %t", refused, c.refused)
			}
		})
	}
}

// TestSpreadFacts has what is said of a node that is refused.
func TestSpreadFacts(t *testing.T) {
	web := matchLabels("app=web")
	ml := func(names ...string) []inspect.PodRef {
		var out []inspect.PodRef
		for _, name := range names {
			out = append(out, inspect.PodRef{Namespace: "ml", Name: name})
		}
		return out
	}
	for name, test := range map[string]struct {
		neighbourCase
		on   inspect.NodeName
		want Refusal
	}{
		"more than the fewest": {
			neighbourCase{nodes: "a1 zone=eu-1a, b1 zone=eu-1b, c1 zone=eu-1c", pods: podsOf("w3@a1 app=web, w1@a1 app=web, w2@b1 app=web, w4@c1 app=web, w5@c1 app=web"), pod: podOf("w app=web", spread("zone", 1, web))}, "a1",
			Refusal{
				Key: "topologySpreadConstraints[0]", Pods: ml("w1", "w3"),
				Topology: &Topology{Key: corev1.LabelTopologyZone, Value: "eu-1a", Labelled: true, Which: " with app=web", Pods: 2, Spread: &Spread{MaxSkew: 1, Self: true, Fewest: 1, FewestValue: "eu-1b", Domains: 3, MinDomains: 1}},
				Message:  "zone eu-1a would have 3 pods with app=web, 2 more than zone eu-1b, which has the fewest; maxSkew of topologySpreadConstraints[0] is 1",
			},
		},
		"without itself": {
			neighbourCase{nodes: "a1 host=n1, h host=n8, g host=n7, f host=n6, e host=n5, d host=n4, c host=n3, b host=n2", pods: podsOf("w1@a1 app=web, w2@a1 app=web"), pod: podOf("w", spread("host", 1, web))}, "a1",
			Refusal{
				Key: "topologySpreadConstraints[0]", Pods: ml("w1", "w2"),
				Topology: &Topology{Key: corev1.LabelHostname, Value: "n1", Labelled: true, Which: " with app=web", Pods: 2, Spread: &Spread{MaxSkew: 1, FewestValue: "n2", Domains: 8, MinDomains: 1}},
				Message:  "node n1 has 2 pods with app=web, 2 more than node n2, which has the fewest; maxSkew of topologySpreadConstraints[0] is 1",
			},
		},
		"too few domains": {
			neighbourCase{nodes: "a1 rack=r1, b1 rack=r2", pods: podsOf("w1@a1 app=web, w2@b1 app=web"), pod: podOf("w app=web", spread("zone", 9, web, func(c *corev1.TopologySpreadConstraint) { c.WhenUnsatisfiable = corev1.ScheduleAnyway }), spread("rack", 1, web, minDomains(3)))}, "b1",
			Refusal{
				Key: "topologySpreadConstraints[1]", Index: 1, Pods: ml("w2"),
				Topology: &Topology{Key: "rack", Value: "r2", Labelled: true, Which: " with app=web", Pods: 1, Spread: &Spread{MaxSkew: 1, Self: true, Domains: 2, MinDomains: 3}},
				Message:  "rack=r2 would have 2 pods with app=web; while there are fewer than 3 values of rack, topologySpreadConstraints[1] allows 1",
			},
		},
		"no label": {
			neighbourCase{nodes: "a1", pod: podOf("w app=web", spread("zone", 1, web))}, "a1",
			Refusal{
				Key: "topologySpreadConstraints[0] label", Unresolvable: true, Topology: &Topology{Key: corev1.LabelTopologyZone},
				Message: "the node has no label topology.kubernetes.io/zone, by which the pod is to be spread (topologySpreadConstraints[0])",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			test.want.Plugin, test.want.Code = PodTopologySpread, SpreadConstraint
			_, nodes := test.ask(PodTopologySpread)
			if diff := cmp.Diff(Outcome{Refusals: []Refusal{test.want}}, nodes[string(test.on)]); diff != "" {
				t.Error("(-want +got):\n" + diff)
			}
		})
	}
}

// TestDefaultConstraints: a pod without constraints has those of its profile, for the pods that its services
// and its controller select together.
func TestDefaultConstraints(t *testing.T) {
	profile := func(constraint string) *schedulerconfig.Config {
		c, err := schedulerconfig.Read([]byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{pluginConfig: [{name: PodTopologySpread, "+
			"args: {defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: "+corev1.LabelTopologyZone+", whenUnsatisfiable: "+constraint+"}]}}]}]\n"), func(string) bool { return false })
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	owned := func(pod *corev1.Pod) {
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", Controller: ptr.To(true)}}
	}
	created := func(pod *corev1.Pod) { pod.UID = "u" }
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "s"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "web"}}}
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "web"}, Spec: appsv1.ReplicaSetSpec{Selector: matchLabels("tier=a")}}
	all := &inspect.Selecting{Services: []*corev1.Service{service}, ReplicaSets: []*appsv1.ReplicaSet{set}}
	const pods, crowded = "w0@a1 app=web tier=a, w1@a2 app=web", "a1: SpreadConstraint defaultConstraints 1\na2: SpreadConstraint defaultConstraints 1"
	for name, c := range map[string]struct {
		pod    *corev1.Pod
		pods   string
		by     *inspect.Selecting
		change func(*schedulerconfig.Config) *schedulerconfig.Config
		want   string
	}{
		"of a service":               {pod: podOf("w app=web", created), pods: pods, by: all, want: crowded},
		"of a service and a set":     {pod: podOf("w app=web tier=a", owned), pods: pods, by: all, want: crowded},
		"the set selects none there": {pod: podOf("w app=web tier=a", owned), pods: "w1@a2 app=web", by: all},
		"of none":                    {pod: podOf("w app=db", created), pods: pods, by: all},
		"no labels":                  {pod: podOf("w", created), pods: pods},
		"not known":                  {pod: podOf("w app=web", created), pods: pods, want: "? defaults"},
		"of another namespace":       {pod: podOf("w app=web", created), pods: pods, by: &inspect.Selecting{Namespaces: []string{"db"}}, want: "? defaults"},
		"who will make it":           {pod: podOf("w app=web"), pods: pods, by: all, want: "? defaults"},
		"its own":                    {pod: podOf("w app=web", created, spread("zone", 3, matchLabels("app=web"))), pods: pods, by: all},
		"only a wish":                {pod: podOf("w app=web", created), pods: pods, change: func(*schedulerconfig.Config) *schedulerconfig.Config { return profile("ScheduleAnyway") }},
	} {
		config := profile("DoNotSchedule")
		if c.change != nil {
			config = c.change(config)
		}
		test := neighbourCase{nodes: threeZones, pods: podsOf(c.pods), pod: c.pod, config: inspect.Config{Scheduler: config, Selecting: c.by}, want: c.want}
		t.Run(name, func(t *testing.T) { test.run(t, PodTopologySpread) })
	}
}
