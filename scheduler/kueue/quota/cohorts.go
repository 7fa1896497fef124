package quota

import (
	"maps"
	"slices"

	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Cohorts are cohorts by name.
type Cohorts map[string]*Node

// Named is the cohort of a name, which need not exist as an object.
func (c Cohorts) Named(name string) *Node {
	if c[name] == nil {
		c[name] = newNode(name)
	}
	return c[name]
}

// CohortsOf are the cohorts of the objects, and those that they name.
func CohortsOf(objects []*kueuev1beta2.Cohort) Cohorts {
	out := Cohorts{}
	for _, c := range objects {
		n := out.Named(c.Name)
		n.setQuotas(c.Spec.ResourceGroups)
		n.weight = weight(c.Spec.FairSharing)
		if c.Spec.ParentName != "" {
			n.Parent = out.Named(string(c.Spec.ParentName))
		}
	}
	// A cohort below which or in which is a circle has no root. All of these are cut off.
	const visiting, sound, circular = 1, 2, 3
	state := map[*Node]int{}
	for _, n := range out {
		var path []*Node
		at := n
		for at != nil && state[at] == 0 {
			state[at] = visiting
			path = append(path, at)
			at = at.Parent
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
		if n.Circular = state[n] == circular; n.Circular {
			n.Parent = nil
		}
	}
	for _, name := range slices.Sorted(maps.Keys(out)) {
		if n := out[name]; n.Parent != nil {
			n.Parent.Cohorts = append(n.Parent.Cohorts, n)
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
