package headline

import (
	"fmt"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// devicesShort returns the only request of a pod, of which some nodes have too few devices. It is nil if
// there are several, or if nothing in a few words tells what it asks for.
func devicesShort(q *whatif.Question, e *explain.Explanation) *shortage {
	if q.PerNode != nil {
		return nil
	}
	s := &shortage{q: q, e: e}
	for i := range e.Groups {
		g := &e.Groups[i]
		blamed := blamedIn(g)
		if g.Unusable || blamed == nil {
			continue
		}
		if !s.sameRequest(blamed) {
			return nil
		}
		f := funnelOf(g, blamed)
		if f == nil || f.All {
			return nil
		}
		s.groups, s.funnels = append(s.groups, g), append(s.funnels, f)
	}
	if s.claim == nil || s.class == "" || !s.onlyRequest() {
		return nil
	}
	return s
}

// mostOn says which of some nodes has most of the devices, and what it has.
func (s *shortage) mostOn(nodes []inspect.NodeName) (node inspect.NodeName, has string) {
	node, has = nodes[0], "not the "+words.Plural(s.funnels[0].Needed, "device", "devices")
	most := -1
	for _, n := range nodes {
		for i, g := range s.groups {
			last := s.funnels[i].Steps[len(s.funnels[i].Steps)-1]
			apart := s.constraint() != "" && last.Name != "together" // how many can be had together is not known
			if slices.Contains(g.Nodes, n) && last.Left == last.Most && last.Left > most && (!apart || last.Left < 2) {
				most, node = last.Left, n
			}
		}
	}
	switch {
	case most == 0:
		has = "no such device" + s.free()
	case most > 0:
		has = fmt.Sprintf("only %d such %s%s", most, words.Plural(most, "device", "devices"), s.free())
	}
	return node, has
}
