package filters

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// prepareNodeAffinity is the plugin NodeAffinity: the labels and the name of a node must be such as the node
// selector and the required node affinity of a pod want them.
func prepareNodeAffinity(p *Prepared) (check, Outcome) {
	terms, added := requiredTerms(p.Pod), p.profile.AddedAffinity()
	if len(p.Pod.Spec.NodeSelector) == 0 && terms == nil && added == nil {
		return nil, Outcome{}
	}
	if unknown := p.unknownNode(NodeAffinity, "whether its labels match"); len(unknown.Doubts) > 0 {
		return always(unknown), Outcome{}
	}
	c := nodeAffinity{selector: wantedLabels(p.Pod.Spec.NodeSelector), affinity: terms}
	if added != nil {
		c.added = nodeaffinity.NewLazyErrorNodeSelector(added)
	}
	if terms == nil {
		return c, Outcome{}
	}
	if contradictory(terms.NodeSelectorTerms) {
		c.affinity = nil
		return c, refuse(Refusal{
			Plugin: NodeAffinity, Code: NodeMismatch, Unresolvable: true, Key: "contradiction",
			Message: "each term of the pod's node affinity wants nodes of different names at once",
		})
	}
	c.any = nodeaffinity.NewLazyErrorNodeSelector(terms)
	return c, Outcome{}
}

// wantedLabel is a label that a node selector wants.
type wantedLabel struct {
	key, value string
	// otherwise is the refusal of a node without it. What the node has instead is missing at the end of the
	// message.
	otherwise Refusal
}

func wantedLabels(selector map[string]string) []wantedLabel {
	var out []wantedLabel
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		value := selector[key]
		out = append(out, wantedLabel{key, value, mismatch("selector "+key, 0, &corev1.NodeSelectorRequirement{
			Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value},
		}, "the node selector of the pod wants "+key+"="+value+"; ")})
	}
	return out
}

// always is a check that says the same of every node.
type always Outcome

func (c always) on(*nodeInfo) Outcome { return Outcome(c) }

// requiredTerms is the node affinity that a pod must have. It is nil if there is none.
func requiredTerms(pod *corev1.Pod) *corev1.NodeSelector {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil {
		return nil
	}
	return pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// contradictory reports whether every term names nodes that another requirement of the same term does not
// name.
func contradictory(terms []corev1.NodeSelectorTerm) bool {
	for i := range terms {
		var names []string
		restricted := false
		for _, r := range terms[i].MatchFields {
			if r.Key != metav1.ObjectNameField || r.Operator != corev1.NodeSelectorOpIn {
				continue
			}
			if restricted {
				names = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(r.Values, name) })
			} else {
				names, restricted = slices.Clone(r.Values), true
			}
		}
		if !restricted || len(names) > 0 {
			return false
		}
	}
	return len(terms) > 0
}

type nodeAffinity struct {
	selector []wantedLabel // sorted by key
	affinity *corev1.NodeSelector
	any      *nodeaffinity.LazyErrorNodeSelector // of the affinity
	// added is what the profile of kube-scheduler wants besides, or nil.
	added *nodeaffinity.LazyErrorNodeSelector
}

func (c nodeAffinity) on(n *nodeInfo) Outcome {
	var out Outcome
	for i := range c.selector {
		want := &c.selector[i]
		if value, ok := n.Labels[want.key]; !ok || value != want.value {
			out.Refusals = append(out.Refusals, want.otherwise)
			out.Refusals[len(out.Refusals)-1].Message += labelOf(n, want.key)
		}
	}
	if c.added != nil {
		if match, _ := c.added.Match(n.Node); !match {
			out.and(refuse(mismatch("added", 0, nil, "the profile of kube-scheduler wants other nodes for all its pods (addedAffinity of NodeAffinity)")))
		}
	}
	if c.affinity == nil {
		return out
	}
	if match, err := c.any.Match(n.Node); !match {
		out.and(c.unmet(n, err))
	}
	return out
}

// unmet says what of the affinity a node does not meet: every requirement of the only term, or that no term
// is met.
func (c nodeAffinity) unmet(n *nodeInfo, err error) Outcome {
	var out Outcome
	terms := c.affinity.NodeSelectorTerms
	switch {
	case err != nil:
		return refuse(mismatch("error", 0, nil, "the node affinity of the pod cannot be evaluated: "+strings.Join(strings.Fields(err.Error()), " ")))
	case len(terms) == 0:
		return refuse(mismatch("terms", 0, nil, "the pod's node affinity has no terms, which no node meets"))
	case len(terms) > 1:
		return refuse(mismatch("terms", 0, nil, fmt.Sprintf("the node meets none of the %d terms of the pod's node affinity", len(terms))))
	}
	for i := range terms[0].MatchExpressions {
		r := &terms[0].MatchExpressions[i]
		if one := (corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{*r}}); !matches(n, one) {
			out.and(refuse(mismatch(fmt.Sprint("expression ", i), i, r, "the node affinity of the pod wants "+expression(r)+"; "+labelOf(n, r.Key))))
		}
	}
	for i := range terms[0].MatchFields {
		r := &terms[0].MatchFields[i]
		if one := (corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{*r}}); !matches(n, one) {
			out.and(refuse(mismatch(fmt.Sprint("field ", i), i, r, "the node affinity of the pod wants "+expression(r))))
		}
	}
	if len(out.Refusals) == 0 { // a term without anything
		return refuse(mismatch("terms", 0, nil, "the only term of the pod's node affinity is empty, which no node meets"))
	}
	return out
}

func matches(n *nodeInfo, term corev1.NodeSelectorTerm) bool {
	match, _ := nodeaffinity.NewLazyErrorNodeSelector(&corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}}).Match(n.Node)
	return match
}

func mismatch(key string, index int, r *corev1.NodeSelectorRequirement, message string) Refusal {
	return Refusal{Plugin: NodeAffinity, Code: NodeMismatch, Unresolvable: true, Key: key, Index: index, Requirement: r, Message: message}
}

// expression is a requirement as a person would write it.
func expression(r *corev1.NodeSelectorRequirement) string {
	values := strings.Join(r.Values, ", ")
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		if len(r.Values) == 1 {
			return r.Key + "=" + values
		}
		return r.Key + " to be one of " + values
	case corev1.NodeSelectorOpNotIn:
		if len(r.Values) == 1 {
			return r.Key + " not to be " + values
		}
		return r.Key + " to be none of " + values
	case corev1.NodeSelectorOpExists:
		return "a label " + r.Key
	case corev1.NodeSelectorOpDoesNotExist:
		return "no label " + r.Key
	case corev1.NodeSelectorOpGt:
		return r.Key + " above " + values
	case corev1.NodeSelectorOpLt:
		return r.Key + " below " + values
	}
	return r.Key + " " + string(r.Operator) + " " + values
}

// labelOf says what a node has of a label.
func labelOf(n *nodeInfo, key string) string {
	if value, ok := n.Labels[key]; ok {
		return "the node has " + key + "=" + value
	}
	return "the node has no label " + key
}
