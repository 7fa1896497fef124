package fix

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/conflict"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxParts is the number of different questions to nodes for which fixes are looked for.
const maxParts = 3

// Find adds to an explanation its conflict, the fixes that it finds, and what does not help. It does nothing
// unless the verdict is Unsatisfiable. The question must have been put to its nodes. The error is that of the
// context, or one of the allocator that is no abort.
func Find(ctx context.Context, q *whatif.Question, e *explain.Explanation) error {
	return findBy(ctx, q, e, (*search).run)
}

// FindReason is [Find] for who wants to know why the answer is no, and not what helps. Of the fixes it finds
// only those that tell of a request how much less of it can be had.
func FindReason(ctx context.Context, q *whatif.Question, e *explain.Explanation) error {
	return findBy(ctx, q, e, (*search).runForReason)
}

// findBy is Find with a way of searching.
func findBy(
	ctx context.Context, q *whatif.Question, e *explain.Explanation, run func(*search, context.Context) []explain.Fix,
) error {
	if e.Verdict != explain.Unsatisfiable {
		return nil
	}
	nodes := conflict.NearestNodes(q, e.Groups)
	if q.PerNode == nil {
		findSame(ctx, q, e, nodes, run)
		return q.Err()
	}
	// What is asked for differs between nodes. The conflict is that of the node that comes nearest.
	var conflict *explain.Conflict
	var fixes []explain.Fix
	for i := range maxParts {
		part, same, rest := partOf(q, nodes)
		if len(same) == 0 {
			break
		}
		findSame(ctx, part, e, same, run)
		q.Fail(part.Err())
		if nodes = rest; conflict == nil || e.Conflict != nil && e.Conflict.Sole && !conflict.Sole {
			conflict = e.Conflict
		}
		e.Fixes = everywhere(ctx, q, part, e.Fixes)
		fixes = append(fixes, e.Fixes...)
		if i > 0 || len(rest) > 0 {
			e.NoHelp = nil // it was tried for some of the nodes only
		}
	}
	e.Conflict, e.Fixes = conflict, distinct(fixes)
	sortByActor(e.Fixes, q.Subject)
	return q.Err()
}

// findSame is Find for a question that is the same for all of its nodes. The nodes are those that refuse, the
// nearest first.
func findSame(
	ctx context.Context, q *whatif.Question, e *explain.Explanation, nodes []whatif.RankedNode,
	run func(*search, context.Context) []explain.Fix,
) {
	lists := requirement.NewLists(q)
	s := newSearch(ctx, q, lists, nodes, conflict.Nearest(ctx, lists, nodes))
	s.preemption = e.Preemption
	if e.Fixes = distinct(run(s, ctx)); s.conflict != nil && len(e.Fixes) > 0 && !slices.ContainsFunc(e.Fixes, func(f explain.Fix) bool { return f.Node == s.conflict.Node }) {
		s.moveConflict(ctx, e.Fixes[0].Node)
	}
	if e.Conflict = nil; s.conflict != nil {
		e.Conflict = &s.conflict.Conflict
	}
	e.NoHelp = s.noHelp(ctx)
	if q.Exhausted() {
		e.Basis.Remarks = append(e.Basis.Remarks, "the search for fixes was ended before it was done; there may be others")
	}
}

// partOf returns the question as it is put to the node that comes nearest. same are the nodes to which the
// same question is put, rest the others. There are no such nodes if there is no question to the first.
func partOf(q *whatif.Question, nodes []whatif.RankedNode) (part *whatif.Question, same, rest []whatif.RankedNode) {
	asks := map[inspect.NodeName]*whatif.Question{}
	for i := range q.Answers {
		for _, n := range q.Answers[i].Nodes {
			if len(q.Answers[i].Unsuitable) == 0 {
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
		if a.Q != chosen || len(a.Unsuitable) > 0 {
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
			same = append(same, n)
		} else {
			rest = append(rest, n)
		}
	}
	return &out, same, rest
}

// everywhere asks all nodes about the fixes that were found for a part of them: what changes the pod or the
// cluster changes it for the others, too. In a large cluster the nodes of the part are those that count.
func everywhere(ctx context.Context, q, part *whatif.Question, fixes []explain.Fix) []explain.Fix {
	if len(q.Nodes) > whatif.MaxSwept {
		return fixes
	}
	var out []explain.Fix
	for i := range fixes {
		f := fixes[i]
		if f.Like == "" && len(f.Edits) > 0 {
			edits := make([]whatif.Edit, len(f.Edits))
			for k, e := range f.Edits {
				edits[k] = e.(whatif.Edit) //nolint:forcetypeassert // they were made of such edits
			}
			fitting := q.FittingAnew(ctx, part, edits)
			if f.Nodes = len(fitting); f.Nodes == 0 {
				continue
			}
			if endsNeedlessly(ctx, q, part, edits) {
				continue
			}
			if !slices.Contains(fitting, f.Node) {
				f.Node, f.NamesNode = fitting[0], false
			}
		}
		out = append(out, f)
	}
	return out
}

// endsNeedlessly reports whether one of the pods that edits of a part of the question end could stay.
func endsNeedlessly(ctx context.Context, q, part *whatif.Question, edits []whatif.Edit) bool {
	for _, fewer := range endingFewer(q.Cluster.Snapshot(), edits) {
		if len(q.FittingAnew(ctx, part, fewer)) > 0 {
			return true
		}
	}
	return false
}

// distinct leaves out fixes that make the same changes as one before, such as those of a term that a class
// has in two selectors. It leaves out those, too, of which a part helps.
func distinct(fixes []explain.Fix) []explain.Fix {
	seen := map[string]bool{}
	return withoutSupersets(slices.DeleteFunc(fixes, func(f explain.Fix) bool {
		key, deeds := fmt.Sprintf("%s %s %s", f.Kind, f.Node, f.Key), deeds(&f)
		again := seen[key] || deeds != "" && seen[deeds]
		seen[key], seen[deeds] = true, true
		return again
	}))
}

// FindForRefusal adds fixes to the explanation of a question that was refused, for a reason, before any node
// was asked. It does nothing unless the verdict is Unsatisfiable. Errors are those of [Find].
func FindForRefusal(ctx context.Context, q *whatif.Question, e *explain.Explanation, reason *explain.Reason) error {
	if e.Verdict == explain.Unsatisfiable {
		e.Fixes = refusedFixes(ctx, q, reason)
	}
	return q.Err()
}
