package scores

// fewest is how many nodes that fit the scheduler looks for at least.
const fewest = 100

// compared is how many nodes that fit the scheduler looks for at most, of those that do.
func (s *Scorer) compared(fitting int) int {
	if fitting <= fewest {
		return fitting
	}
	if s.restricted() {
		return fewest
	}
	return lookedFor(len(s.nodes), s.profile.Percentage())
}

// lookedFor is how many nodes that fit are enough, by how many there are. A percentage of 0 stands for one
// that depends on these.
func lookedFor(nodes, percentage int) int {
	if nodes < fewest {
		return nodes
	}
	if percentage == 0 {
		percentage = max(5, 50-nodes/125)
	}
	return max(fewest, nodes*percentage/100)
}

// restricted reports whether the pod may name the nodes that it can be on. Then the scheduler takes a part of
// these, not of all.
func (s *Scorer) restricted() bool {
	spec := &s.pod.Spec
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	for _, term := range spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		if len(term.MatchFields) > 0 {
			return true
		}
	}
	return false
}
