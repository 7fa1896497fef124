package kueue

import (
	"maps"
	"slices"

	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// cohorts are cohorts by name.
type cohorts map[string]*node

// named is the cohort of a name, which need not exist as an object.
func (c cohorts) named(name string) *node {
	if c[name] == nil {
		c[name] = newNode(name)
	}
	return c[name]
}

// cohortsOf are the cohorts of the objects, and those that they name.
func cohortsOf(objects []*kueuev1beta2.Cohort) cohorts {
	out := cohorts{}
	for _, c := range objects {
		n := out.named(c.Name)
		n.setQuotas(c.Spec.ResourceGroups)
		n.weight = weight(c.Spec.FairSharing)
		if c.Spec.ParentName != "" {
			n.parent = out.named(string(c.Spec.ParentName))
		}
	}
	// A cohort below which or in which is a circle has no root. All of these are cut off.
	const visiting, sound, circular = 1, 2, 3
	state := map[*node]int{}
	for _, n := range out {
		var path []*node
		at := n
		for at != nil && state[at] == 0 {
			state[at] = visiting
			path = append(path, at)
			at = at.parent
		}
		verdict := sound
		if at != nil && state[at] != sound {
			verdict = circular
		}
		for _, on := range path {
			state[on] = verdict
		}
	}
	for _, n := range out {
		if n.circular = state[n] == circular; n.circular {
			n.parent = nil
		}
	}
	for _, name := range slices.Sorted(maps.Keys(out)) {
		if n := out[name]; n.parent != nil {
			n.parent.cohorts = append(n.parent.cohorts, n)
		}
	}
	return out
}

func weight(f *kueuev1beta2.FairSharing) float64 {
	if f == nil || f.Weight == nil {
		return 1
	}
	w := f.Weight.DeepCopy()
	return w.AsFloat64Slow()
}
