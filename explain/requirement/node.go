package requirement

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"

	"github.com/go-logr/logr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

var (
	nodeAffinityKind = Kind{name: explain.NodeAffinityRequired, Importance: 3, list: listNodeAffinity}
	nodeTaintKind    = Kind{name: explain.NodeTaintRequired, Importance: 7, list: listNodeTaints}
	cordonKind       = Kind{name: explain.CordonRequired, Importance: 7, list: listCordon}
	featureOfNode    = Kind{name: explain.DeclaredFeatureRequired, Importance: 7, list: listDeclaredFeatures}
	portKind         = Kind{name: explain.PortRequired, Importance: 2, list: listPorts}
)

// nodeAffinityRequirement is a label of the node selector, or the node affinity of the pod. It is given up by
// dropping it.
type nodeAffinityRequirement struct {
	onPod
	message string
}

func listNodeAffinity(_ context.Context, s *site) []Relaxable {
	counts := s.spreads()
	if len(s.refusals(filters.NodeMismatch)) == 0 && !counts {
		return nil
	}
	r := filters.Refusal{Plugin: filters.NodeAffinity}
	var out []Relaxable
	selector := s.Q.Pod.Spec.NodeSelector
	for _, label := range slices.Sorted(maps.Keys(selector)) {
		has, ok := s.Node.Labels[label]
		matches := ok && has == selector[label]
		if matches && !counts {
			continue
		}
		actual := "the node has no such label"
		switch {
		case matches:
			actual = onlySuch
		case ok:
			actual = "here it is " + has
		}
		out = append(out, nodeAffinityRequirement{onPod{
			ofPod(explain.NodeAffinityRequired, &r, "spec.nodeSelector", fmt.Sprintf("the pod wants a node with %s=%s", label, selector[label]), actual),
			whatif.NodeSelectorEdit{Label: label}, 3, CostDrop,
		}, fmt.Sprintf("drop %s=%s from the node selector", label, selector[label])})
	}
	actual := "the node does not match"
	if whatif.MatchesRequiredAffinity(s.Q.Pod, s.Node) {
		if !counts || !requiresAffinity(s.Q.Pod) {
			return out
		}
		actual = onlySuch
	}
	return append(out, nodeAffinityRequirement{onPod{
		ofPod(explain.NodeAffinityRequired, &r, "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution",
			"the pod's node affinity wants "+affinityWords(s.Q.Pod), actual),
		whatif.NodeAffinityEdit{}, 3, CostDrop,
	}, "drop the required node affinity"})
}

// onlySuch says why a label matters that the node has.
const onlySuch = "the pods are spread over such nodes only"

// requiresAffinity reports whether a pod has a required node affinity.
func requiresAffinity(pod *corev1.Pod) bool {
	a := pod.Spec.Affinity
	return a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil
}

// affinityWords says what a required node affinity wants.
func affinityWords(pod *corev1.Pod) string {
	terms := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	var out []string
	for i := range terms {
		var parts []string
		for _, list := range [][]corev1.NodeSelectorRequirement{terms[i].MatchExpressions, terms[i].MatchFields} {
			for _, e := range list {
				part := e.Key + " " + string(e.Operator)
				if len(e.Values) > 0 {
					part += " " + strings.Join(e.Values[:min(len(e.Values), 3)], ",")
				}
				if len(e.Values) > 3 {
					part += ",…"
				}
				parts = append(parts, part)
			}
		}
		if len(parts) > 0 {
			out = append(out, strings.Join(parts, " and "))
		}
	}
	if len(out) == 0 {
		return "nothing that a node could have"
	}
	return strings.Join(out, ", or ")
}

func (r nodeAffinityRequirement) Propose(_ context.Context, c *whatif.ClusterSandbox, node inspect.NodeName) ([]Change, error) {
	return []Change{{Kind: explain.RelaxSelector, Edits: []whatif.Edit{r.edit}, Node: node, Cost: CostDrop, Key: r.edit.Key(), Message: r.message}}, nil
}

func (r nodeAffinityRequirement) Combine(context.Context, *Combination, int) (Part, error) {
	return Part{explain.RelaxSelector, r.edit.Key(), r.message}, nil
}

// nodeTaintRequirement is that a taint of the node must be tolerated.
type nodeTaintRequirement struct {
	onPod
	taint corev1.Taint
	node  inspect.NodeName
}

func listNodeTaints(_ context.Context, s *site) []Relaxable {
	refusals := s.refusals(filters.NodeTainted)
	if len(refusals) == 0 {
		return nil
	}
	var out []Relaxable
	for i := range s.Node.Spec.Taints {
		taint := s.Node.Spec.Taints[i]
		blocks := taint.Effect == corev1.TaintEffectNoSchedule || taint.Effect == corev1.TaintEffectNoExecute
		if !blocks || corev1helpers.TolerationsTolerateTaint(logr.Discard(), s.Q.Pod.Spec.Tolerations, &taint, false) {
			continue
		}
		var edit whatif.Edit = whatif.NodeTolerationEdit{Taint: taint}
		if conditionTaint(&taint) {
			edit = whatif.UntaintNodeEdit{Node: nodeName(s.Sandbox), Taint: taint}
		}
		r := ofPod(explain.NodeTaintRequired, &refusals[0], "spec.tolerations", "the pod does not tolerate the node's taint "+taint.ToString(), "")
		r.Taint = taint.ToString()
		out = append(out, nodeTaintRequirement{onPod{r, edit, 4, costTolerate}, taint, nodeName(s.Sandbox)})
	}
	return out
}

// conditionTaint reports whether Kubernetes sets a taint itself because of the state of the node.
func conditionTaint(t *corev1.Taint) bool { return strings.HasPrefix(t.Key, "node.kubernetes.io/") }

func (r nodeTaintRequirement) Propose(_ context.Context, c *whatif.ClusterSandbox, node inspect.NodeName) ([]Change, error) {
	p := r.part()
	return []Change{{Kind: p.Kind, Edits: []whatif.Edit{r.edit}, Node: node, Cost: costTolerate, Key: p.Key, Message: p.Message}}, nil
}

func (r nodeTaintRequirement) part() Part {
	if conditionTaint(&r.taint) {
		return Part{explain.WaitFor, r.edit.Key(), fmt.Sprintf("wait until node %s loses its taint %s, which tells of the state of the node", r.node, r.taint.ToString())}
	}
	return Part{explain.TolerateTaint, r.edit.Key(), "tolerate the taint " + r.taint.ToString() + " of nodes"}
}

func (r nodeTaintRequirement) Combine(context.Context, *Combination, int) (Part, error) {
	return r.part(), nil
}

// cordonRequirement is that a node is unschedulable.
type cordonRequirement struct {
	onPod
	node inspect.NodeName
}

func listCordon(_ context.Context, s *site) []Relaxable {
	var out []Relaxable
	for _, r := range s.refusals(filters.Unschedulable) {
		node := nodeName(s.Sandbox)
		out = append(out, cordonRequirement{onPod{
			ofPod(explain.CordonRequired, &r, "node "+s.Node.Name+" spec.unschedulable", "the node is cordoned", ""), whatif.UncordonEdit{Node: node}, 5, CostClassOf,
		}, node})
	}
	return out
}

func (r cordonRequirement) Propose(_ context.Context, c *whatif.ClusterSandbox, _ inspect.NodeName) ([]Change, error) {
	p := r.part()
	return []Change{{Kind: p.Kind, Edits: []whatif.Edit{r.edit}, Node: r.node, NamesNode: true, Cost: CostClassOf, Key: p.Key, Message: p.Message}}, nil
}

func (r cordonRequirement) part() Part {
	return Part{explain.UncordonNode, r.edit.Key(), "uncordon node " + string(r.node)}
}

func (r cordonRequirement) Combine(context.Context, *Combination, int) (Part, error) {
	return r.part(), nil
}

// plain is a requirement that nobody can give up.
type plain struct{ onPod }

func (r plain) Propose(context.Context, *whatif.ClusterSandbox, inspect.NodeName) ([]Change, error) {
	return nil, nil
}

func (r plain) Combine(context.Context, *Combination, int) (Part, error) { return Part{}, nil }

func listDeclaredFeatures(_ context.Context, s *site) []Relaxable {
	var out []Relaxable
	for _, r := range s.refusals(filters.DeclaredFeature) {
		out = append(out, plain{onPod{
			ofPod(explain.DeclaredFeatureRequired, &r, "node "+s.Node.Name+" status.declaredFeatures", r.Message, ""),
			whatif.DeclareFeaturesEdit{Node: nodeName(s.Sandbox), Features: strings.Split(r.Key, ",")}, OutOfReach, CostDrop,
		}})
	}
	return out
}

// portRequirement is a port of the node. It is given up by asking for none.
type portRequirement struct{ onPod }

func listPorts(_ context.Context, s *site) []Relaxable {
	var out []Relaxable
	for _, r := range s.refusals(filters.PortInUse) {
		wants, actual := fmt.Sprintf("the pod wants port %d/%s of the node", r.Port.HostPort, r.Port.Protocol), r.Message
		if who, ok := strings.CutPrefix(r.Message, wants+", which "); ok {
			actual = who + " it"
		}
		out = append(out, portRequirement{onPod{
			ofPod(explain.PortRequired, &r, "spec.containers[*].ports", wants, actual),
			whatif.PortEdit{Port: r.Port.HostPort, Protocol: r.Port.Protocol}, 2, CostValue,
		}})
	}
	return out
}

func (r portRequirement) Propose(_ context.Context, _ *whatif.ClusterSandbox, node inspect.NodeName) ([]Change, error) {
	p := r.part()
	return []Change{{Kind: p.Kind, Edits: []whatif.Edit{r.edit}, Node: node, Cost: CostValue, Key: p.Key, Message: p.Message}}, nil
}

func (r portRequirement) part() Part {
	e, _ := r.edit.(whatif.PortEdit)
	return Part{explain.ReduceRequest, r.edit.Key(), fmt.Sprintf("do without port %d/%s of the node", e.Port, e.Protocol)}
}

func (r portRequirement) Combine(context.Context, *Combination, int) (Part, error) {
	return r.part(), nil
}
