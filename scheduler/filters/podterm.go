package filters

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// podTerm is a term of a required pod affinity or anti-affinity: which pods it is about, and how near is
// near.
type podTerm struct {
	topologyKey string
	pods        labels.Selector
	// namespaces are those that are named, sorted; or that of the pod, if none is named or selected.
	namespaces []string
	// chosen selects further namespaces by their labels. It is nil if the term does not, and empty if it
	// takes them all.
	chosen labels.Selector
}

// truth is whether something is so.
type truth int

const (
	no truth = iota
	unknown
	yes
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// affinityTerms are the terms of a pod's required affinity, as it says them.
func affinityTerms(pod *corev1.Pod) []corev1.PodAffinityTerm {
	if a := pod.Spec.Affinity; a != nil && a.PodAffinity != nil {
		return a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return nil
}

// antiAffinityTerms are the terms of a pod's required anti-affinity, as it says them.
func antiAffinityTerms(pod *corev1.Pod) []corev1.PodAffinityTerm {
	if a := pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		return a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return nil
}

// preferredTerms are the terms that the scheduler would only like to be met.
func preferredTerms(pod *corev1.Pod) []corev1.WeightedPodAffinityTerm {
	var out []corev1.WeightedPodAffinityTerm
	if a := pod.Spec.Affinity; a != nil && a.PodAffinity != nil {
		out = append(out, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution...)
	}
	if a := pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		out = append(out, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution...)
	}
	return out
}

// newPodTerm reads a term of a pod.
func newPodTerm(pod *corev1.Pod, raw *corev1.PodAffinityTerm) (*podTerm, error) {
	pods, err := metav1.LabelSelectorAsSelector(admitted(pod, raw))
	if err != nil {
		return nil, err
	}
	t := &podTerm{topologyKey: raw.TopologyKey, pods: pods, namespaces: raw.Namespaces}
	if raw.NamespaceSelector != nil {
		if t.chosen, err = metav1.LabelSelectorAsSelector(raw.NamespaceSelector); err != nil {
			return nil, err
		}
	} else if len(raw.Namespaces) == 0 {
		t.namespaces = []string{pod.Namespace}
	}
	if len(t.namespaces) > 1 {
		t.namespaces = slices.Compact(slices.Sorted(slices.Values(t.namespaces)))
	}
	return t, nil
}

// admitted is the selector of a term as it is once the API server has admitted the pod: it adds
// matchLabelKeys and mismatchLabelKeys to it then, and the scheduler does not look at them.
func admitted(pod *corev1.Pod, raw *corev1.PodAffinityTerm) *metav1.LabelSelector {
	if !uncreated(pod) {
		return raw.LabelSelector
	}
	selector := withLabelKeys(raw.LabelSelector, raw.MatchLabelKeys, metav1.LabelSelectorOpIn, pod.Labels)
	return withLabelKeys(selector, raw.MismatchLabelKeys, metav1.LabelSelectorOpNotIn, pod.Labels)
}

// selects reports whether a term selects a pod, if it is known whether it takes the namespace of the pod.
func (t *podTerm) selects(pod *corev1.Pod, namespace truth) truth {
	if namespace == no || !t.pods.Matches(labels.Set(pod.Labels)) {
		return no
	}
	return namespace
}

// takes reports whether a term is about pods of a namespace. The scheduler looks for the namespaces of the
// terms of the pod that it schedules among those that exist; of a pod that is there, it compares the terms
// with the labels of one namespace, which are none if it does not exist.
func (x *Index) takes(t *podTerm, namespace string, theirs bool) truth {
	switch {
	case slices.Contains(t.namespaces, namespace):
		return yes
	case t.chosen == nil:
		return no
	case t.chosen.Empty():
		return yes
	}
	if set, ok := x.namespaceLabels(namespace); ok {
		return truthOf(t.chosen.Matches(set))
	}
	named := labels.Set{corev1.LabelMetadataName: namespace} // that label every namespace has
	if x.unread(inspect.Namespaces, len(x.snapshot.Around().Namespaces)) {
		return partly(t.chosen, named)
	}
	if x.snapshot.ServerVersion() == "" {
		return truthOf(t.chosen.Matches(named)) // files leave out what says nothing
	}
	return truthOf(theirs && t.chosen.Matches(labels.Set{}))
}

// partly reports whether a selector selects something of which only some labels are known.
func partly(selector labels.Selector, known labels.Set) truth {
	requirements, _ := selector.Requirements()
	out := yes
	for i := range requirements {
		switch {
		case !known.Has(requirements[i].Key()):
			out = unknown
		case !requirements[i].Matches(known):
			return no
		}
	}
	return out
}

// namespaceLabels returns the labels of a namespace, if it is in the snapshot.
func (x *Index) namespaceLabels(name string) (labels.Set, bool) {
	all := x.snapshot.Around().Namespaces
	i, ok := slices.BinarySearchFunc(all, name, func(n *corev1.Namespace, name string) int { return strings.Compare(n.Name, name) })
	if !ok {
		return nil, false
	}
	return all[i].Labels, true
}

// inWords says which pods a term is about, after the word for them. Other namespaces than that of the pod
// itself are named.
func (t *podTerm) inWords(of *corev1.Pod) string {
	text := selectedBy(t.pods)
	switch {
	case t.chosen != nil && t.chosen.Empty():
		return text + " of any namespace"
	case t.chosen != nil && len(t.namespaces) == 0:
		return text + " of namespaces" + selectedBy(t.chosen)
	case t.chosen != nil:
		return fmt.Sprintf("%s of namespaces%s, or %s", text, selectedBy(t.chosen), strings.Join(t.namespaces, ", "))
	case len(t.namespaces) > 1:
		return text + " of namespaces " + strings.Join(t.namespaces, ", ")
	case t.namespaces[0] == of.Namespace:
		return text
	}
	return text + " of namespace " + t.namespaces[0]
}
