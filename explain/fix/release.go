package fix

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const (
	// maxReleases is the number of sets of claims that are proposed.
	maxReleases = 3
	// maxIdleNodes is the number of further nodes that are tried because claims hold devices there that
	// nobody uses.
	maxIdleNodes = 16
	// maxReleaseHolders is the number of claims of a node up to which every one, and if need be every pair,
	// is tried.
	maxReleaseHolders = 24
)

// release proposes the sets of claims to release that disturb least, on the nodes that come nearest and on
// some with claims that nobody uses.
func (s *search) release(ctx context.Context) {
	var found []requirement.Change
	for _, name := range s.releaseNodes() {
		b := s.Q.SandboxOf(name)
		if b == nil || len(b.Releasable()) == 0 {
			continue
		}
		o, _, err := whatif.OutcomeOf(ctx, b.Draft(ctx, nil).Cluster, b.Node, s.Q.Claims)
		if s.Q.Fail(err); o == whatif.Fits {
			continue // it has the devices; what is missing there is something else that pods take
		}
		if !releaseHelps(ctx, b, b.Releasable()...) {
			continue
		}
		for _, refs := range s.releaseOn(ctx, b) {
			if !slices.ContainsFunc(found, func(c requirement.Change) bool { return slices.Equal(c.Claims, refs) }) {
				found = append(found, s.releaseChange(refs, name))
			}
		}
	}
	slices.SortStableFunc(found, func(a, b requirement.Change) int { return a.Cost - b.Cost })
	seen := map[string]bool{}
	for i := range found[:min(len(found), maxReleases)] {
		c := s.fewestReleases(ctx, found[i])
		if !seen[c.Key] {
			s.changes = append(s.changes, c)
		}
		seen[c.Key] = true
	}
}

// fewestReleases leaves out claims that need not be released, since with the others the question fits on some
// other node.
func (s *search) fewestReleases(ctx context.Context, c requirement.Change) requirement.Change {
	for i := 0; i < len(c.Claims) && len(c.Claims) > 1; {
		less := slices.Delete(slices.Clone(c.Claims), i, i+1)
		if node := s.Q.FittingWith(ctx, whatif.ReleaseEdits(less), "").First(); node != "" {
			c = s.releaseChange(less, node)
		} else {
			i++
		}
	}
	return c
}

// releaseNodes returns the nodes that come nearest, and some with claims that nobody uses. Nodes that do not
// differ for the question may differ in that.
func (s *search) releaseNodes() []inspect.NodeName {
	out := words.Each(s.Q.Near, func(n whatif.RankedNode) inspect.NodeName { return n.Name })
	limit := len(out) + maxIdleNodes
	for _, claim := range s.Q.Cluster.Snapshot().IdleHolders() {
		if len(out) == limit {
			break
		}
		name := inspect.AllocationNode(claim.Status.Allocation)
		if name == "" || slices.Contains(out, name) {
			continue
		}
		if slices.ContainsFunc(s.Q.Usable(), func(n *corev1.Node) bool { return n.Name == string(name) }) {
			out = append(out, name)
		}
	}
	return out
}

// releaseChange is the change that releases claims.
func (s *search) releaseChange(refs []inspect.ClaimRef, node inspect.NodeName) requirement.Change {
	text := "release " + words.Shorten(words.Each(refs, inspect.ClaimRef.String), 3)
	switch idle := !slices.ContainsFunc(refs, func(ref inspect.ClaimRef) bool { return !s.Q.Cluster.Snapshot().Idle(ref) }); {
	case idle && len(refs) == 1:
		text += ", which no running pod uses"
	case idle:
		text += ", which no running pods use"
	default:
		if pods := podsUsing(s.Q, refs); len(pods) > 0 {
			text += " (used by " + words.Shorten(pods, 3) + ")"
		}
	}
	return requirement.Change{
		Kind: explain.ReleaseClaim, Edits: whatif.ReleaseEdits(refs), Node: node, Claims: refs,
		Cost: requirement.ReleaseCost(s.Q, refs...), Key: fmt.Sprint(refs), Message: text,
	}
}

// podsUsing names the pods that use claims.
func podsUsing(q *whatif.Question, refs []inspect.ClaimRef) []string {
	var out []string
	for _, ref := range refs {
		for _, pod := range q.Cluster.Snapshot().PodsOf(ref) {
			out = append(out, "pod "+pod.Name)
		}
	}
	return out
}

// releaseOn returns sets of claims of a node whose release helps: all of one claim, the cheapest first, or
// else one of two claims. A set from which no claim can be left out is added if it costs less, or if no set
// of one was found.
func (s *search) releaseOn(ctx context.Context, on *whatif.Sandbox) [][]inspect.ClaimRef {
	holders := on.Releasable()
	slices.SortStableFunc(holders, func(a, b inspect.ClaimRef) int {
		return requirement.ReleaseCost(s.Q, a) - requirement.ReleaseCost(s.Q, b)
	})
	few := len(holders) <= maxReleaseHolders
	var out [][]inspect.ClaimRef
	if few {
		out = helpfulSingles(ctx, on, holders)
	}
	if len(out) > 0 && s.Q.Cluster.Snapshot().Idle(out[0][0]) {
		return out
	}
	set := helpfulSet(ctx, on, holders)
	if len(out) == 0 && len(set) > 2 && few {
		if pair := helpfulPair(ctx, on, holders); pair != nil {
			return [][]inspect.ClaimRef{pair, set}
		}
	}
	if len(set) > 0 && (len(out) == 0 || requirement.ReleaseCost(s.Q, set...) < requirement.ReleaseCost(s.Q, out[0]...)) {
		slices.SortFunc(set, whatif.CompareRefs)
		out = append(out, set)
	}
	return out
}

// releaseHelps reports whether the node of a sandbox fits once claims are released.
func releaseHelps(ctx context.Context, on *whatif.Sandbox, refs ...inspect.ClaimRef) bool {
	return on.Try(ctx, whatif.ReleaseEdits(refs)) == whatif.Fits
}

// helpfulSingles returns the claims that it helps to release, each as a set.
func helpfulSingles(ctx context.Context, on *whatif.Sandbox, holders []inspect.ClaimRef) [][]inspect.ClaimRef {
	var out [][]inspect.ClaimRef
	for _, ref := range holders {
		if releaseHelps(ctx, on, ref) {
			out = append(out, []inspect.ClaimRef{ref})
		}
	}
	return out
}

// helpfulPair returns the first two claims that it helps to release together, or nil if there are none. A
// pair comes before others whose second claim comes later.
func helpfulPair(ctx context.Context, on *whatif.Sandbox, holders []inspect.ClaimRef) []inspect.ClaimRef {
	for i := range holders {
		for j := range i {
			if releaseHelps(ctx, on, holders[j], holders[i]) {
				return []inspect.ClaimRef{holders[j], holders[i]}
			}
		}
	}
	return nil
}

// helpfulSet returns a set of claims that it helps to release, and from which none can be left out. It must
// help to release all of them. The dearest are left out first, so what remains is what disturbs least, or
// nearly so.
func helpfulSet(ctx context.Context, on *whatif.Sandbox, holders []inspect.ClaimRef) []inspect.ClaimRef {
	set := slices.Clone(holders)
	for i := len(set) - 1; i >= 0; i-- {
		if fewer := slices.Delete(slices.Clone(set), i, i+1); releaseHelps(ctx, on, fewer...) {
			set = fewer
		}
	}
	return set
}
