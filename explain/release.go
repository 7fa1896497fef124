package explain

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Claims that are released.

const (
	maxReleases       = 3  // sets of claims that are proposed
	maxIdleNodes      = 16 // further nodes that are looked at because of claims that nobody uses
	maxReleaseHolders = 24 // claims of which every one, and if need be every pair, is tried
)

// release finds, for each near node, the claims to release that disturb least.
func (s *search) release(ctx context.Context) error {
	var found []change
	for _, name := range s.releaseNodes() {
		b := s.q.sandboxOf(name)
		if b == nil || len(b.holders) == 0 {
			continue
		}
		if o, err := b.try(ctx, releaseEdits(b.holders)); err != nil {
			return err
		} else if o != fits {
			continue
		}
		sets, err := s.releaseOn(ctx, b)
		if err != nil {
			return err
		}
		for _, refs := range sets {
			if !slices.ContainsFunc(found, func(c change) bool { return slices.Equal(c.claims, refs) }) {
				found = append(found, s.releaseChange(refs, name))
			}
		}
	}
	slices.SortStableFunc(found, func(a, b change) int { return a.cost - b.cost })
	s.changes = append(s.changes, found[:min(len(found), maxReleases)]...)
	return nil
}

// releaseNodes are the near nodes, and some on which a claim is held that nobody uses: that is nothing that a
// node looks like to the question.
func (s *search) releaseNodes() []inspect.NodeName {
	var out []inspect.NodeName
	for _, n := range s.near {
		out = append(out, n.name)
	}
	limit := len(out) + maxIdleNodes
	for _, claim := range s.q.cluster.Snapshot().IdleHolders() {
		if len(out) == limit {
			break
		}
		name := inspect.AllocationNode(claim.Status.Allocation)
		if name == "" || slices.Contains(out, name) {
			continue
		}
		if slices.ContainsFunc(s.nodes, func(n *corev1.Node) bool { return n.Name == string(name) }) {
			out = append(out, name)
		}
	}
	return out
}

func (s *search) releaseChange(refs []inspect.ClaimRef, node inspect.NodeName) change {
	var parts []string
	for _, ref := range refs {
		parts = append(parts, ref.String())
	}
	text := "release " + shorten(parts, 3)
	switch idle := !slices.ContainsFunc(refs, func(ref inspect.ClaimRef) bool { return !s.q.cluster.Snapshot().Idle(ref) }); {
	case idle && len(refs) == 1:
		text += ", which no running pod uses"
	case idle:
		text += ", which no running pods use"
	default:
		if pods := podsUsing(s.q, refs); len(pods) > 0 {
			text += " (used by " + shorten(pods, 3) + ")"
		}
	}
	return change{
		kind: ReleaseClaim, edits: releaseEdits(refs), node: node, claims: refs,
		cost: releaseCost(s.q, refs...), key: fmt.Sprint(refs), message: text,
	}
}

func podsUsing(q *question, refs []inspect.ClaimRef) []string {
	var out []string
	for _, ref := range refs {
		for _, pod := range q.cluster.Snapshot().PodsOf(ref) {
			out = append(out, "pod "+pod.Name)
		}
	}
	return out
}

// releaseOn returns sets of claims of a node whose release helps: the cheapest of one claim, or else of two;
// and, where there are many, a set from which none can be left out.
func (s *search) releaseOn(ctx context.Context, on *sandbox) ([][]inspect.ClaimRef, error) {
	holders := slices.Clone(on.holders)
	slices.SortStableFunc(holders, func(a, b inspect.ClaimRef) int {
		return releaseCost(s.q, a) - releaseCost(s.q, b)
	})
	helps := func(refs ...inspect.ClaimRef) (bool, error) {
		o, err := on.try(ctx, releaseEdits(refs))
		return o == fits, err
	}
	var out [][]inspect.ClaimRef
	if len(holders) <= maxReleaseHolders {
		for _, ref := range holders {
			ok, err := helps(ref)
			if err != nil {
				return nil, err
			}
			if ok {
				out = append(out, []inspect.ClaimRef{ref})
			}
		}
	}
	if len(out) > 0 && s.q.cluster.Snapshot().Idle(out[0][0]) {
		return out, nil
	}
	// Without the dearest first: what is left is what disturbs least, or nearly so.
	set := slices.Clone(holders)
	for i := len(set) - 1; i >= 0; i-- {
		fewer := slices.Delete(slices.Clone(set), i, i+1)
		ok, err := helps(fewer...)
		if err != nil {
			return nil, err
		}
		if ok {
			set = fewer
		}
	}
	if len(out) == 0 && len(set) > 2 && len(holders) <= maxReleaseHolders {
		for i := range holders {
			for j := range i {
				ok, err := helps(holders[j], holders[i])
				if err != nil {
					return nil, err
				}
				if ok {
					return [][]inspect.ClaimRef{{holders[j], holders[i]}, set}, nil
				}
			}
		}
	}
	if len(set) > 0 && (len(out) == 0 || releaseCost(s.q, set...) < releaseCost(s.q, out[0]...)) {
		slices.SortFunc(set, compareRefs)
		out = append(out, set)
	}
	return out, nil
}
