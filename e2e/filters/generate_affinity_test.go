package filters

import (
	corev1 "k8s.io/api/core/v1"
)

// affinity is the aspect of NodeAffinity.
var affinity = aspect{node: (*generator).labels, pod: (*generator).nodeAffinity}

var (
	labelKeys   = []string{"disk", "rack", "generation", corev1.LabelTopologyZone, corev1.LabelHostname}
	labelValues = map[string][]string{
		"disk":                   {"ssd", "hdd", ""},
		"rack":                   {"r1", "r2", "r3"},
		"generation":             {"1", "2", "3", "007", "x"},
		corev1.LabelTopologyZone: {"zone-a", "zone-b", "zone-c"},
		corev1.LabelHostname:     {"node-0", "node-1", "node-2", "elsewhere"},
	}
)

func (g *generator) labels(node *corev1.Node) {
	for _, key := range labelKeys {
		if key != corev1.LabelHostname && g.chance(0.7) {
			node.Labels[key] = pick(g, labelValues[key]...)
		}
	}
}

func (g *generator) nodeAffinity(pod *corev1.Pod) {
	if g.chance(0.4) {
		key := pick(g, labelKeys...)
		pod.Spec.NodeSelector = map[string]string{key: pick(g, labelValues[key]...)}
	}
	if g.chance(0.7) {
		needed := &corev1.NodeSelector{}
		for range 1 + g.IntN(2) {
			needed.NodeSelectorTerms = append(needed.NodeSelectorTerms, g.nodeTerm())
		}
		pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: needed}}
		if g.chance(0.1) {
			pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
			pod.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.PreferredSchedulingTerm{{Weight: 1, Preference: g.nodeTerm()}}
		}
	}
}

// nodeTerm is a term, which may be empty.
func (g *generator) nodeTerm() corev1.NodeSelectorTerm {
	var term corev1.NodeSelectorTerm
	for range g.IntN(3) {
		term.MatchExpressions = append(term.MatchExpressions, g.nodeRequirement())
	}
	if g.chance(0.25) {
		for range 1 + g.IntN(2) {
			term.MatchFields = append(term.MatchFields, corev1.NodeSelectorRequirement{
				Key: "metadata.name", Operator: pick(g, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn),
				Values: []string{pick(g, "node-0", "node-1", "node-2", "nowhere")},
			})
		}
	}
	return term
}

func (g *generator) nodeRequirement() corev1.NodeSelectorRequirement {
	r := corev1.NodeSelectorRequirement{Key: pick(g, labelKeys...)}
	r.Operator = pick(g, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists,
		corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt)
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		for range 1 + g.IntN(2) {
			r.Values = append(r.Values, pick(g, labelValues[r.Key]...))
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		r.Key, r.Values = pick(g, r.Key, "generation", "generation"), []string{pick(g, "1", "2", "5", "-1")}
	}
	return r
}
