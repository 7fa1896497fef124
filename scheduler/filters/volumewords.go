package filters

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// podWords names pods, all of them if they are few.
func podWords(pods []inspect.PodRef) string {
	const few = 3
	var names []string
	for _, pod := range pods[:min(len(pods), few)] {
		names = append(names, pod.String())
	}
	if more := len(pods) - few; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	if len(names) == 1 {
		return "pod " + names[0]
	}
	return "pods " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// termWords says which nodes a node selector selects, as "zone in (a, b), or disk exists".
func termWords(selector *corev1.NodeSelector) string {
	var terms []string
	for i := range selector.NodeSelectorTerms {
		var all []string
		for _, e := range selector.NodeSelectorTerms[i].MatchExpressions {
			all = append(all, expressionWords(&e))
		}
		for _, e := range selector.NodeSelectorTerms[i].MatchFields {
			all = append(all, expressionWords(&e))
		}
		if len(all) > 0 {
			terms = append(terms, strings.Join(all, " and "))
		}
	}
	if len(terms) == 0 {
		return "none at all"
	}
	return strings.Join(terms, ", or ")
}

func expressionWords(e *corev1.NodeSelectorRequirement) string {
	switch e.Operator {
	case corev1.NodeSelectorOpIn:
		if len(e.Values) == 1 {
			return e.Key + "=" + e.Values[0]
		}
		return e.Key + " in (" + strings.Join(e.Values, ", ") + ")"
	case corev1.NodeSelectorOpNotIn:
		return e.Key + " not in (" + strings.Join(e.Values, ", ") + ")"
	case corev1.NodeSelectorOpExists:
		return "any " + e.Key
	case corev1.NodeSelectorOpDoesNotExist:
		return "no " + e.Key
	}
	return e.Key + " " + string(e.Operator) + " " + strings.Join(e.Values, ", ")
}

// topologyWords says which nodes the topologies of a StorageClass allow.
func topologyWords(terms []corev1.TopologySelectorTerm) string {
	selector := &corev1.NodeSelector{}
	for _, term := range terms {
		var out corev1.NodeSelectorTerm
		for _, e := range term.MatchLabelExpressions {
			out.MatchExpressions = append(out.MatchExpressions, corev1.NodeSelectorRequirement{Key: e.Key, Operator: corev1.NodeSelectorOpIn, Values: e.Values})
		}
		selector.NodeSelectorTerms = append(selector.NodeSelectorTerms, out)
	}
	return termWords(selector)
}
