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
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

var (
	nodeAffinityKind = Kind{name: explain.NodeAffinityRequired, Importance: 3, list: listNodeAffinity}
	nodeTaintKind    = Kind{name: explain.NodeTaintRequired, Importance: 7, list: listNodeTaints}
	cordonKind       = Kind{name: explain.CordonRequired, Importance: 7, list: listCordon}
	featureOfNode    = Kind{name: explain.DeclaredFeatureRequired, Importance: 7, list: listDeclaredFeatures}
	portKind         = Kind{name: explain.PortRequired, Importance: 2, list: listPorts}
)

func listNodeAffinity(_ context.Context, s *site) []Relaxable {
	counts := s.spreads()
	if len(s.refusals(filters.NodeMismatch)) == 0 && !counts {
		return nil
	}
	// A label of the node selector, and the node affinity of the pod, are given up by dropping them.
	var out []Relaxable
	add := func(path, message, actual string, edit whatif.Edit, drop string) {
		by := filters.Refusal{Plugin: filters.NodeAffinity}
		r := ofPod(explain.NodeAffinityRequired, &by, path, message, actual)
		out = append(out, dropping(r, edit, 3, CostDrop, explain.RelaxSelector, drop))
	}
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
		wanted := label + "=" + selector[label]
		add("spec.nodeSelector", "the pod wants a node with "+wanted, actual,
			whatif.NodeSelectorEdit{Label: label}, "drop "+wanted+" from the node selector")
	}
	actual := "the node does not match"
	if suppose.MatchesRequiredAffinity(s.Q.Pod, s.Node) {
		if !counts || !requiresAffinity(s.Q.Pod) {
			return out
		}
		actual = onlySuch
	}
	add("spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution",
		"the pod's node affinity wants "+affinityWords(s.Q.Pod), actual, whatif.NodeAffinityEdit{}, "drop the required node affinity")
	return out
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

// listNodeTaints lists the taints of the node that must be tolerated.
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
		kind, message := explain.TolerateTaint, "tolerate the taint "+taint.ToString()+" of nodes"
		if strings.HasPrefix(taint.Key, "node.kubernetes.io/") { // which Kubernetes sets itself
			edit = whatif.UntaintNodeEdit{Node: nodeName(s.Sandbox), Taint: taint}
			kind, message = explain.WaitFor, fmt.Sprintf(
				"wait until node %s loses its taint %s, which tells of the state of the node", s.Node.Name, taint.ToString())
		}
		r := ofPod(explain.NodeTaintRequired, &refusals[0], "spec.tolerations", "the pod does not tolerate the node's taint "+taint.ToString(), "")
		r.Taint = taint.ToString()
		out = append(out, dropping(r, edit, 4, costTolerate, kind, message))
	}
	return out
}

// listCordon lists that a node is unschedulable.
func listCordon(_ context.Context, s *site) []Relaxable {
	var out []Relaxable
	for _, r := range s.refusals(filters.Unschedulable) {
		node := "node " + s.Node.Name
		needs := ofPod(explain.CordonRequired, &r, node+" spec.unschedulable", "the node is cordoned", "")
		cordoned := dropping(needs, whatif.AroundEdit{Change: suppose.Uncordoned{Node: nodeName(s.Sandbox)}, Possible: true}, 5, CostClassOf, explain.UncordonNode, "uncordon "+node)
		cordoned.on = nodeName(s.Sandbox)
		out = append(out, cordoned)
	}
	return out
}

func listDeclaredFeatures(_ context.Context, s *site) []Relaxable {
	var out []Relaxable
	for _, r := range s.refusals(filters.DeclaredFeature) {
		out = append(out, relaxable[whatif.Edit]{
			ofPod(explain.DeclaredFeatureRequired, &r, "node "+s.Node.Name+" status.declaredFeatures", r.Message, ""),
			whatif.AroundEdit{Change: suppose.Declared{Node: nodeName(s.Sandbox), Features: strings.Split(r.Key, ",")}}, OutOfReach, CostDrop,
		})
	}
	return out
}

// listPorts lists ports of the node. They are given up by asking for none.
func listPorts(_ context.Context, s *site) []Relaxable {
	var out []Relaxable
	for _, r := range s.refusals(filters.PortInUse) {
		wants, actual := fmt.Sprintf("the pod wants port %d/%s of the node", r.Port.HostPort, r.Port.Protocol), r.Message
		if who, ok := strings.CutPrefix(r.Message, wants+", which "); ok {
			actual = who + " it"
		}
		edit := whatif.PortEdit{Port: r.Port.HostPort, Protocol: r.Port.Protocol}
		out = append(out, dropping(
			ofPod(explain.PortRequired, &r, "spec.containers[*].ports", wants, actual), edit, 2, CostValue,
			explain.ReduceRequest, fmt.Sprintf("do without port %d/%s of the node", edit.Port, edit.Protocol),
		))
	}
	return out
}
