package filters

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	// spread is the aspect of PodTopologySpread, neighbours that of InterPodAffinity.
	spread     = aspect{node: (*generator).topology, pod: (*generator).spread}
	neighbours = aspect{cluster: (*generator).namespaces, node: (*generator).topology, pod: (*generator).podAffinity}
)

var (
	podLabels      = map[string][]string{"app": {"web", "db", "cache"}, "version": {"1", "2"}, "team": {"red"}}
	topologyKeys   = []string{corev1.LabelTopologyZone, corev1.LabelTopologyZone, corev1.LabelHostname, corev1.LabelHostname, "rack"}
	namespaces     = []string{"default", "production", "staging"}
	namespaceLabel = "stage"
)

// topology puts nodes into zones and racks, several into one, and some nowhere.
func (g *generator) topology(node *corev1.Node) {
	if g.chance(0.9) {
		node.Labels[corev1.LabelTopologyZone] = pick(g, zones...)
	}
	if g.chance(0.8) {
		node.Labels["rack"] = pick(g, "r1", "r2")
	}
	switch {
	case g.chance(0.03):
		delete(node.Labels, corev1.LabelHostname)
	case g.chance(0.03):
		node.Labels[corev1.LabelHostname] = "node-0"
	}
}

// identity gives a pod labels.
func (g *generator) identity(pod *corev1.Pod) {
	pod.Labels = map[string]string{}
	for _, key := range sorted(podLabels) {
		if g.chance(0.8) {
			pod.Labels[key] = pick(g, podLabels[key]...)
		}
	}
}

// selector selects pods. It may be nil, which selects none, or empty, which selects all.
func (g *generator) selector() *metav1.LabelSelector {
	if g.chance(0.08) {
		return nil
	}
	s := &metav1.LabelSelector{}
	if g.chance(0.7) {
		s.MatchLabels = map[string]string{"app": pick(g, podLabels["app"]...)}
	}
	if g.chance(0.25) {
		r := metav1.LabelSelectorRequirement{Key: pick(g, sorted(podLabels)...)}
		r.Operator = pick(g, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist)
		if r.Operator == metav1.LabelSelectorOpIn || r.Operator == metav1.LabelSelectorOpNotIn {
			r.Values = []string{pick(g, podLabels[r.Key]...)}
		}
		s.MatchExpressions = append(s.MatchExpressions, r)
	}
	return s
}

func (g *generator) spread(pod *corev1.Pod) {
	g.identity(pod)
	if g.chance(0.1) {
		pod.Annotations = map[string]string{olderServer: "true"}
	}
	for range 1 + g.IntN(2) {
		c := corev1.TopologySpreadConstraint{
			MaxSkew: 1 + g.Int32N(2), TopologyKey: pick(g, topologyKeys...), LabelSelector: g.selector(),
			WhenUnsatisfiable: pick(g, corev1.DoNotSchedule, corev1.DoNotSchedule, corev1.DoNotSchedule, corev1.ScheduleAnyway),
		}
		if g.chance(0.2) {
			c.MinDomains = new(1 + g.Int32N(5))
		}
		if g.chance(0.3) {
			c.MatchLabelKeys = []string{pick(g, "version", "app", "absent")}
		}
		if g.chance(0.3) {
			c.NodeAffinityPolicy = new(pick(g, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore))
		}
		if g.chance(0.3) {
			c.NodeTaintsPolicy = new(pick(g, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore))
		}
		pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, c)
	}
}

// namespaces makes most of the namespaces.
func (g *generator) namespaces() {
	for _, name := range namespaces {
		if g.chance(0.9) {
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelMetadataName: name}}}
			if g.chance(0.8) {
				ns.Labels[namespaceLabel] = pick(g, "live", "test")
			}
			g.objects.Namespaces = append(g.objects.Namespaces, ns)
		}
	}
}

func (g *generator) podAffinity(pod *corev1.Pod) {
	g.identity(pod)
	if g.chance(0.3) {
		pod.Namespace = pick(g, namespaces...)
	}
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	if g.chance(0.4) {
		pod.Spec.Affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: times(g, 2, g.podTerm)}
	}
	if g.chance(0.4) {
		pod.Spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: times(g, 2, g.podTerm)}
	}
	if g.chance(0.1) {
		pod.Spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: g.podTerm()}},
		}
	}
}

func (g *generator) podTerm() corev1.PodAffinityTerm {
	term := corev1.PodAffinityTerm{TopologyKey: pick(g, topologyKeys...), LabelSelector: g.selector()}
	if g.chance(0.25) {
		term.Namespaces = []string{pick(g, namespaces...)}
	}
	switch {
	case g.chance(0.1):
		term.NamespaceSelector = &metav1.LabelSelector{}
	case g.chance(0.2):
		term.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{namespaceLabel: pick(g, "live", "test")}}
	}
	switch {
	case g.chance(0.1):
		term.MatchLabelKeys = []string{pick(g, "version", "absent")}
	case g.chance(0.1):
		term.MismatchLabelKeys = []string{pick(g, "version", "team")}
	}
	return term
}
