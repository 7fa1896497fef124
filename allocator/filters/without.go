package filters

import (
	"slices"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Without returns the pod as it is prepared where some pods of a node have ended, and nothing else has changed.
func (p *Prepared) Without(node inspect.NodeName, pods []inspect.PodRef) *Prepared {
	n := p.node(string(node))
	if n == nil {
		return p
	}
	var stay, gone []*podInfo
	for _, pod := range n.pods {
		if slices.Contains(pods, inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}) {
			gone = append(gone, pod)
		} else {
			stay = append(stay, pod)
		}
	}
	x := *p.Index
	x.nodes = slices.Clone(x.nodes)
	x.nodes[x.position[n.Name]] = n.with(stay)
	x.pods = slices.Clone(x.pods)
	for i, pod := range x.pods {
		if pod != nil && slices.Contains(gone, pod) {
			x.pods[i] = nil
		}
	}
	x.neighbours = x.neighbours.without(gone)
	return x.Prepare(p.Pod)
}
