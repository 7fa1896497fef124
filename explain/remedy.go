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
	if e.Verdict != Unsatisfiable || q.extended != nil {
		return nil // what is asked for differs between nodes, so there is no one thing to change
	}
	q.subject = e.Subject
	nodes := q.nearest(e.Groups)
	conflict, err := q.findConflict(ctx, nodes)
	if err != nil {
		return err
	}
	e.Conflict = conflict
	s, err := q.newSearch(ctx, nodes, conflict)
	if err != nil {
		return err
	}
	if e.Fixes, err = s.run(ctx); err != nil {
		return err
	}
	e.Fixes = distinct(e.Fixes)
	if e.NoHelp, err = s.noHelp(ctx); err != nil {
		return err
	}
	if q.spent > remedySteps {
		e.Basis.Remarks = append(e.Basis.Remarks, "the search for fixes was ended before it was done; there may be others")
	}
	return nil
}

// distinct leaves out fixes that read like one before: a term that a class has in two selectors, say.
func distinct(fixes []Fix) []Fix {
	seen := map[string]bool{}
	return slices.DeleteFunc(fixes, func(f Fix) bool {
		key := fmt.Sprintf("%s %s %s", f.Kind, f.Node, f.Message)
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

// nearNode is a node that refuses, with the Near of its group.
type nearNode struct {
	name inspect.NodeName
	near int
}

// nearest lists the nodes that refuse for want of devices, those first that come nearest: groups by how
// near they are, and in a group the nodes with the fewest claims. A few nodes of each group come before
// the rest, so that looking at the first ones only is looking at every group. Of nodes that look alike to the
// question only the first is listed.
func (q *question) nearest(groups []Group) []nearNode {
	groups = slices.Clone(groups)
	slices.SortStableFunc(groups, func(a, b Group) int { return cmp.Compare(b.Near, a.Near) })
	var first, rest []nearNode
	alike := q.firstAlike()
	for _, g := range groups {
		if len(g.Reasons) > 0 && g.Reasons[0].Code == allocator.NodeUnsuitable {
			continue
		}
		g.Nodes = slices.DeleteFunc(slices.Clone(g.Nodes), func(n inspect.NodeName) bool { return alike[n] != "" })
		nodes := slices.Clone(g.Nodes[:min(len(g.Nodes), maxOccupancy)])
		claims := map[inspect.NodeName]int{}
		for _, n := range nodes {
			claims[n] = q.claimsOn(n)
		}
		slices.SortStableFunc(nodes, func(a, b inspect.NodeName) int { return cmp.Compare(claims[a], claims[b]) })
		nodes = append(nodes, g.Nodes[len(nodes):]...)
		for i, n := range nodes {
			if i < perGroup {
				first = append(first, nearNode{n, g.Near})
			} else {
				rest = append(rest, nearNode{n, g.Near})
			}
		}
	}
	return append(first, rest...)
}

// firstAlike maps nodes to the first node that looks like them, which is itself not in the map.
func (q *question) firstAlike() map[inspect.NodeName]inspect.NodeName {
	out := map[inspect.NodeName]inspect.NodeName{}
	for i := range q.answers {
		nodes := q.answers[i].nodes
		for _, n := range nodes[1:] {
			out[inspect.NodeName(q.nodes[n].Name)] = inspect.NodeName(q.nodes[nodes[0]].Name)
		}
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
