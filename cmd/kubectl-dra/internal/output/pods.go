package output

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// ListedPod is an item of a PodList: a pod that uses claims or extended resources, or that waits for a node.
type ListedPod struct {
	Listed
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Phase is that of the pod's status.
	Phase string `json:"phase"`
	Node  string `json:"node"`
	// Claims are the names of its claims that exist, and ExtendedResources what it asks for besides.
	Claims            []string `json:"claims"`
	ExtendedResources []string `json:"extendedResources,omitempty"`
	// Reason is what the scheduler says of a pod that waits. It is empty if that is nothing.
	Reason string `json:"reason"`
	Age    string `json:"age"`
	// Created is RFC 3339, or empty.
	Created string `json:"created,omitempty"`
}

// Pods lists the pods of a namespace, or all for "", that use claims or extended resources, or that wait for
// a node.
func Pods(s *inspect.Snapshot, namespace string) *List {
	list := NewList("PodList", "pod", podTable)
	for _, pod := range s.Objects().Pods {
		if namespace != "" && pod.Namespace != namespace {
			continue
		}
		p := listedPod(s, pod)
		waits := pod.Spec.NodeName == "" && pod.Status.Phase == corev1.PodPending
		if waits || len(pod.Spec.ResourceClaims)+len(p.Claims)+len(p.ExtendedResources) > 0 {
			list.Items = append(list.Items, p)
		}
	}
	return list
}

func listedPod(s *inspect.Snapshot, pod *corev1.Pod) *ListedPod {
	p := &ListedPod{
		Namespace: pod.Namespace, Name: pod.Name, Phase: string(pod.Status.Phase), Node: pod.Spec.NodeName, Claims: []string{},
		Age: age(pod.CreationTimestamp, s.Time()), Created: Timestamp(pod.CreationTimestamp),
		Listed: Listed{Meta{Namespace: pod.Namespace, Name: pod.Name, Labels: pod.Labels, Created: pod.CreationTimestamp}},
	}
	for i := range pod.Spec.ResourceClaims {
		if name, ok := inspect.ClaimNameFor(pod, &pod.Spec.ResourceClaims[i]); ok && name != "" {
			p.Claims = append(p.Claims, name)
		}
	}
	if status := pod.Status.ExtendedResourceClaimStatus; status != nil {
		p.Claims = append(p.Claims, status.ResourceClaimName)
	}
	for name := range resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}) {
		if inspect.IsExtendedResource(name) {
			p.ExtendedResources = append(p.ExtendedResources, string(name))
		}
	}
	slices.Sort(p.ExtendedResources)
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && pod.Spec.NodeName == "" {
			p.Reason = words.OneLine(c.Message)
		}
	}
	return p
}

var podTable = Table{
	Namespaced: true,
	Columns: []Column{
		{Header: "NAME", Spill: true}, {Header: "PHASE"}, {Header: "NODE", Rank: 1}, {Header: "CLAIMS", Cut: CutList, Rank: 3}, {Header: "EXTENDED-RESOURCES", Cut: CutList, Rank: 5},
		{Header: "AGE", Rank: 2}, {Header: "REASON", Cut: CutText, Least: 24, Rank: 4},
	},
	Row: func(item Item) []string {
		p := item.(*ListedPod)
		return []string{
			p.Name, p.Phase, OrNone(p.Node), OrNone(strings.Join(p.Claims, ",")), OrNone(strings.Join(p.ExtendedResources, ",")), p.Age, OrNone(p.Reason),
		}
	},
}
