package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// remedy adds to a "no" its conflict, and what would help.
func (q *question) remedy(ctx context.Context, e *Explanation) error {
	if e.Verdict != Unsatisfiable {
		return nil
	}
	q.subject = e.Subject
	nodes := q.nearest(e.Groups)
	if q.perNode == nil {
		return q.remedyOf(ctx, e, nodes)
	}
	// What is asked for differs between nodes. The conflict is that of the node that comes nearest.
	var conflict *Conflict
	var fixes []Fix
	for i := range maxParts {
		part, near, rest := q.part(nodes)
		if len(near) == 0 {
			break
		}
		if err := part.remedyOf(ctx, e, near); err != nil {
			return err
		}
		if nodes = rest; conflict == nil {
			conflict = e.Conflict
		}
		fixes = append(fixes, e.Fixes...)
		if i > 0 || len(rest) > 0 {
			e.NoHelp = nil // it was tried for some of the nodes only
		}
	}
	e.Conflict, e.Fixes = conflict, distinct(fixes)
	return nil
}

// maxParts is the number of different questions to nodes for which fixes are looked for.
const maxParts = 3

// remedyOf is remedy for a question that is the same for all of its nodes.
func (q *question) remedyOf(ctx context.Context, e *Explanation, nodes []rankedNode) error {
	lists := newRequirementLists(q)
	c, err := lists.findConflict(ctx, nodes)
	if err != nil {
		return err
	}
	s, err := q.newSearch(ctx, lists, nodes, c)
	if err != nil {
		return err
	}
	fixes, err := s.run(ctx)
	if err != nil {
		return err
	}
	if e.Conflict, e.Fixes = nil, distinct(fixes); s.conflict != nil {
		e.Conflict = &s.conflict.Conflict
	}
	if e.NoHelp, err = s.noHelp(ctx); err != nil {
		return err
	}
	if q.exhausted() {
		e.Basis.Remarks = append(e.Basis.Remarks, "the search for fixes was ended before it was done; there may be others")
	}
	return nil
}

// part returns the question as it is put to the node that comes nearest and to the nodes to which the same is
// put, where that differs between nodes. near are these nodes, rest the others.
func (q *question) part(nodes []rankedNode) (part *question, near, rest []rankedNode) {
	asks := map[inspect.NodeName]*question{}
	for i := range q.answers {
		for _, n := range q.answers[i].nodes {
			if q.answers[i].unsuitable == nil {
				asks[inspect.NodeName(q.nodes[n].Name)] = q.answers[i].q
			}
		}
	}
	if len(nodes) == 0 || asks[nodes[0].name] == nil {
		return q, nil, nil
	}
	chosen := asks[nodes[0].name]
	out := *chosen
	out.subject, out.nodes, out.answers, out.partial = q.subject, nil, nil, true
	for i := range q.answers {
		a := q.answers[i]
		if a.q != chosen || a.unsuitable != nil {
			continue
		}
		at := a.nodes
		a.q, a.nodes = &out, nil
		for _, n := range at {
			a.nodes = append(a.nodes, len(out.nodes))
			out.nodes = append(out.nodes, q.nodes[n])
		}
		out.answers = append(out.answers, a)
	}
	for _, n := range nodes {
		if asks[n.name] == chosen {
			near = append(near, n)
		} else {
			rest = append(rest, n)
		}
	}
	return &out, near, rest
}

// distinct leaves out fixes that are like one before: a term that a class has in two selectors, say.
func distinct(fixes []Fix) []Fix {
	seen := map[string]bool{}
	return slices.DeleteFunc(fixes, func(f Fix) bool {
		key := fmt.Sprintf("%s %s %s", f.Kind, f.Node, f.Key)
		again := seen[key]
		seen[key] = true
		return again
	})
}

// remedyRefusal adds to a refusal before any node was looked at what would help.
func (q *question) remedyRefusal(ctx context.Context, e *Explanation, reason *Reason) error {
	if e.Verdict != Unsatisfiable {
		return nil
	}
	q.subject = e.Subject
	var err error
	e.Fixes, err = q.refusedFixes(ctx, reason)
	return err
}

const (
	// maxOccupancy is the number of nodes of a group whose occupancy is compared.
	maxOccupancy = 512
	// perGroup is the number of nodes that a group has among the first.
	perGroup = 3
)

// nearest lists the nodes that refuse for want of devices, those first that come nearest: groups by how
// near they are, and in a group the nodes with the fewest claims. A few nodes of each group come before
// the rest, so that looking at the first ones only is looking at every group. Of nodes that look alike to the
// question only the first is listed.
func (q *question) nearest(groups []Group) []rankedNode {
	groups = slices.Clone(groups)
	slices.SortStableFunc(groups, func(a, b Group) int { return cmp.Compare(b.Near, a.Near) })
	var first, rest []rankedNode
	firsts := q.firstAlike()
	for _, g := range groups {
		if len(g.Reasons) > 0 && g.Reasons[0].Code == allocator.NodeUnsuitable {
			continue
		}
		var different []inspect.NodeName
		for _, n := range g.Nodes {
			if firsts[n] {
				different = append(different, n)
			}
		}
		nodes := slices.Clone(different[:min(len(different), maxOccupancy)])
		claims := map[inspect.NodeName]int{}
		for _, n := range nodes {
			claims[n] = q.claimsOn(n)
		}
		slices.SortStableFunc(nodes, func(a, b inspect.NodeName) int { return cmp.Compare(claims[a], claims[b]) })
		nodes = append(nodes, different[len(nodes):]...)
		for i, n := range nodes {
			if i < perGroup {
				first = append(first, rankedNode{n, g.Near})
			} else {
				rest = append(rest, rankedNode{n, g.Near})
			}
		}
	}
	return append(first, rest...)
}

// firstAlike returns the nodes that are the first of those that look like them.
func (q *question) firstAlike() map[inspect.NodeName]bool {
	out := make(map[inspect.NodeName]bool, len(q.answers))
	for i := range q.answers {
		out[inspect.NodeName(q.nodes[q.answers[i].nodes[0]].Name)] = true
	}
	return out
}

// claimsOn counts the claims that hold devices which reach the node.
func (q *question) claimsOn(name inspect.NodeName) int {
	s := q.cluster.Snapshot()
	node, ok := s.Node(name)
	if !ok {
		return 0
	}
	pools, err := s.PoolsOn(node)
	if err != nil {
		return 0
	}
	claims := map[inspect.ClaimRef]bool{}
	for _, p := range pools {
		for _, slice := range p.Slices {
			for i := range slice.Spec.Devices {
				for _, h := range s.Holders(inspect.DeviceIDOf(slice.ResourceSlice, i)) {
					claims[h.Claim] = true
				}
			}
		}
	}
	return len(claims)
}
