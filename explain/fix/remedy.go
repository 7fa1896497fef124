package fix

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/conflict"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Remedy adds to a "no" its conflict, and what would help.
func Remedy(ctx context.Context, q *whatif.Question, e *explain.Explanation) error {
	if e.Verdict != explain.Unsatisfiable {
		return nil
	}
	q.Subject = e.Subject
	nodes := nearest(q, e.Groups)
	if q.PerNode == nil {
		return remedyOf(ctx, q, e, nodes)
	}
	// What is asked for differs between nodes. The conflict is that of the node that comes nearest.
	var conflict *explain.Conflict
	var fixes []explain.Fix
	for i := range maxParts {
		part, near, rest := part(q, nodes)
		if len(near) == 0 {
			break
		}
		if err := remedyOf(ctx, part, e, near); err != nil {
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
func remedyOf(ctx context.Context, q *whatif.Question, e *explain.Explanation, nodes []whatif.RankedNode) error {
	lists := requirement.NewLists(q)
	c, err := conflict.Nearest(ctx, lists, nodes)
	if err != nil {
		return err
	}
	s, err := newSearch(ctx, q, lists, nodes, c)
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
	if q.Exhausted() {
		e.Basis.Remarks = append(e.Basis.Remarks, "the search for fixes was ended before it was done; there may be others")
	}
	return nil
}

// part returns the question as it is put to the node that comes nearest and to the nodes to which the same is
// put, where that differs between nodes. near are these nodes, rest the others.
func part(q *whatif.Question, nodes []whatif.RankedNode) (part *whatif.Question, near, rest []whatif.RankedNode) {
	asks := map[inspect.NodeName]*whatif.Question{}
	for i := range q.Answers {
		for _, n := range q.Answers[i].Nodes {
			if q.Answers[i].Unsuitable == nil {
				asks[inspect.NodeName(q.Nodes[n].Name)] = q.Answers[i].Q
			}
		}
	}
	if len(nodes) == 0 || asks[nodes[0].Name] == nil {
		return q, nil, nil
	}
	chosen := asks[nodes[0].Name]
	out := *chosen
	out.Subject, out.Nodes, out.Answers, out.Partial = q.Subject, nil, nil, true
	for i := range q.Answers {
		a := q.Answers[i]
		if a.Q != chosen || a.Unsuitable != nil {
			continue
		}
		at := a.Nodes
		a.Q, a.Nodes = &out, nil
		for _, n := range at {
			a.Nodes = append(a.Nodes, len(out.Nodes))
			out.Nodes = append(out.Nodes, q.Nodes[n])
		}
		out.Answers = append(out.Answers, a)
	}
	for _, n := range nodes {
		if asks[n.Name] == chosen {
			near = append(near, n)
		} else {
			rest = append(rest, n)
		}
	}
	return &out, near, rest
}

// distinct leaves out fixes that are like one before: a term that a class has in two selectors, say.
func distinct(fixes []explain.Fix) []explain.Fix {
	seen := map[string]bool{}
	return slices.DeleteFunc(fixes, func(f explain.Fix) bool {
		key := fmt.Sprintf("%s %s %s", f.Kind, f.Node, f.Key)
		again := seen[key]
		seen[key] = true
		return again
	})
}

// RemedyRefusal adds to a refusal before any node was looked at what would help.
func RemedyRefusal(ctx context.Context, q *whatif.Question, e *explain.Explanation, reason *explain.Reason) error {
	if e.Verdict != explain.Unsatisfiable {
		return nil
	}
	q.Subject = e.Subject
	var err error
	e.Fixes, err = refusedFixes(ctx, q, reason)
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
func nearest(q *whatif.Question, groups []explain.Group) []whatif.RankedNode {
	groups = slices.Clone(groups)
	slices.SortStableFunc(groups, func(a, b explain.Group) int { return cmp.Compare(b.Score, a.Score) })
	var first, rest []whatif.RankedNode
	firsts := firstAlike(q)
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
			claims[n] = claimsOn(q, n)
		}
		slices.SortStableFunc(nodes, func(a, b inspect.NodeName) int { return cmp.Compare(claims[a], claims[b]) })
		nodes = append(nodes, different[len(nodes):]...)
		for i, n := range nodes {
			if i < perGroup {
				first = append(first, whatif.RankedNode{Name: n, Score: g.Score})
			} else {
				rest = append(rest, whatif.RankedNode{Name: n, Score: g.Score})
			}
		}
	}
	return append(first, rest...)
}

// firstAlike returns the nodes that are the first of those that look like them.
func firstAlike(q *whatif.Question) map[inspect.NodeName]bool {
	out := make(map[inspect.NodeName]bool, len(q.Answers))
	for i := range q.Answers {
		out[inspect.NodeName(q.Nodes[q.Answers[i].Nodes[0]].Name)] = true
	}
	return out
}

// claimsOn counts the claims that hold devices which reach the node.
func claimsOn(q *whatif.Question, name inspect.NodeName) int {
	s := q.Cluster.Snapshot()
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
