package whatif

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// PodAffinityEdit drops a term of the required affinity or anti-affinity of the pod to other pods.
type PodAffinityEdit struct {
	Anti  bool
	Index int
}

// Key names the term.
func (e PodAffinityEdit) Key() string { return fmt.Sprint("pod affinity ", e.Anti, e.Index) }

// Apply notes the term, which is removed when all edits are known.
func (e PodAffinityEdit) Apply(d *Draft) {
	d.Pod()
	d.podTerms = append(d.podTerms, e)
}

// PatchPod removes the term.
func (e PodAffinityEdit) PatchPod(p *Patch) { p.podTerms = append(p.podTerms, e) }

func (e PodAffinityEdit) path() string {
	list := "podAffinity"
	if e.Anti {
		list = "podAntiAffinity"
	}
	return fmt.Sprintf("/spec/affinity/%s/requiredDuringSchedulingIgnoredDuringExecution/%d", list, e.Index)
}

// removePodTerms removes the terms of affinity that were noted, from the back so that indices stay true.
func removePodTerms(pod *corev1.Pod, terms []PodAffinityEdit) {
	for _, e := range fromTheBack(terms) {
		var list *[]corev1.PodAffinityTerm
		if e.Anti {
			list = &pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		} else {
			list = &pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		}
		*list = slices.Delete(*list, e.Index, e.Index+1)
	}
}

// fromTheBack sorts terms such that removing one does not move another that is still to be removed.
func fromTheBack(terms []PodAffinityEdit) []PodAffinityEdit {
	out := slices.Clone(terms)
	slices.SortFunc(out, func(a, b PodAffinityEdit) int { return b.Index - a.Index })
	return slices.Compact(out)
}
