package filters

import (
	"slices"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Preference is a term of a pod about other pods for which nodes count more, or less: one that the scheduler
// would like to be met, or one that the pod requires of the node that it is on already.
type Preference struct {
	term podTerm
	// Weight is what a pod that the term selects counts for. It is below 0 if the pod would rather not be
	// near it.
	Weight int64
	// Required says that the pod requires it. The weight is then 1, and counts as many times as the profile
	// of kube-scheduler says (hardPodAffinityWeight).
	Required bool
}

// knownPreferences are the preferences of a pod on a node once they were read.
type knownPreferences struct{ atomic.Pointer[[]Preference] }

// TopologyKey is the label of nodes by which the preference tells what is near.
func (p *Preference) TopologyKey() string { return p.term.topologyKey }

// Preferences reads what a pod would like of the pods near it. It is an error if one of the terms cannot be
// read.
func Preferences(pod *corev1.Pod) ([]Preference, error) {
	a := pod.Spec.Affinity
	if a == nil {
		return nil, nil
	}
	var out []Preference
	var err error
	if a.PodAffinity != nil {
		if out, err = appendPreferences(out, pod, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution, 1); err != nil {
			return nil, err
		}
	}
	if a.PodAntiAffinity != nil {
		return appendPreferences(out, pod, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution, -1)
	}
	return out, nil
}

func appendPreferences(to []Preference, pod *corev1.Pod, terms []corev1.WeightedPodAffinityTerm, sign int64) ([]Preference, error) {
	for i := range terms {
		t, err := newPodTerm(pod, &terms[i].PodAffinityTerm)
		if err != nil {
			return nil, err
		}
		to = append(to, Preference{term: *t, Weight: sign * int64(terms[i].Weight)})
	}
	return to, nil
}

// Liking calls a function with the preferences of each pod on a node that has some.
func (n Node) Liking(yield func(pod *corev1.Pod, preferences []Preference)) {
	memo := n.info.memo
	memo.likes.Do(func() {
		for _, pod := range n.info.pods {
			if a := pod.Spec.Affinity; a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil) && len(pod.preferences()) > 0 {
				memo.liking = append(memo.liking, pod)
			}
		}
	})
	for _, pod := range memo.liking {
		yield(pod.Pod, pod.preferences())
	}
}

// preferences are those of a pod on a node. What cannot be read counts for nothing.
func (p *podInfo) preferences() []Preference {
	if known := p.likes.Load(); known != nil {
		return *known
	}
	out, err := Preferences(p.Pod)
	if err != nil {
		out = nil
	}
	required := affinityTerms(p.Pod)
	for i := range required {
		if t, err := newPodTerm(p.Pod, &required[i]); err == nil {
			out = append(out, Preference{term: *t, Weight: 1, Required: true})
		}
	}
	p.likes.Store(&out)
	return out
}

// Selects reports whether a preference selects a pod; theirs says that it is one of a pod on a node, not of
// the pod that is to be placed. It is not known if the labels of the pod's namespace were not read.
func (x *Index) Selects(p *Preference, pod *corev1.Pod, theirs bool) (selects, known bool) {
	if !theirs && x.snapshot.Release().Modelled().Before(37, 0) && p.term.chosen != nil && p.term.chosen.Matches(labels.Set{}) {
		return p.term.selects(pod, yes) == yes, true // it goes on to compare the selector with no labels
	}
	out := p.term.selects(pod, x.takes(&p.term, pod.Namespace, theirs))
	return out == yes, out != unknown
}

// SamePreferences reports whether two lists select the same pods, by the same keys, with the same weights.
func SamePreferences(a, b []Preference) bool {
	return slices.EqualFunc(a, b, func(a, b Preference) bool {
		return a.Weight == b.Weight && a.Required == b.Required && a.term.topologyKey == b.term.topologyKey && slices.Equal(a.term.namespaces, b.term.namespaces) &&
			a.term.pods.String() == b.term.pods.String() && (a.term.chosen == nil) == (b.term.chosen == nil) &&
			(a.term.chosen == nil || a.term.chosen.String() == b.term.chosen.String())
	})
}
