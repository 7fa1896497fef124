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

// Find adds to an explanation its conflict, the fixes that it finds, and what does not help. It does nothing unless
// the verdict is Unsatisfiable. The question must have been put to its nodes. The error is that of the context, or
// one of the allocator that is no abort.
func Find(ctx context.Context, q *whatif.Question, e *explain.Explanation) error {
	return findBy(ctx, q, e, (*search).run)
}

// FindReason is [Find] for who wants to know why the answer is no, and not what helps. Of the fixes it finds only those that tell of a
// request how much less of it can be had.
func FindReason(ctx context.Context, q *whatif.Question, e *explain.Explanation) error {
	return findBy(ctx, q, e, (*search).runForReason)
}

// findBy is Find with a way of searching.
func findBy(ctx context.Context, q *whatif.Question, e *explain.Explanation, run func(*search, context.Context) ([]explain.Fix, error)) error {
	if e.Verdict != explain.Unsatisfiable {
		return nil
	}
	nodes := nearest(q, e.Groups)
	if q.PerNode == nil {
		return findSame(ctx, q, e, nodes, run)
	}
	// What is asked for differs between nodes. The conflict is that of the node that comes nearest.
	var conflict *explain.Conflict
	var fixes []explain.Fix
	for i := range maxParts {
		part, same, rest := partOf(q, nodes)
		if len(same) == 0 {
			break
		}
		if err := findSame(ctx, part, e, same, run); err != nil {
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
	sortByActor(e.Fixes, q.Subject)
	return nil
}

// findSame is Find for a question that is the same for all of its nodes. The nodes are those that refuse, the nearest
// first.
func findSame(
	ctx context.Context, q *whatif.Question, e *explain.Explanation, nodes []whatif.RankedNode, run func(*search, context.Context) ([]explain.Fix, error),
) error {
	lists := requirement.NewLists(q)
	c, err := conflict.Nearest(ctx, lists, nodes)
	if err != nil {
		return err
	}
	s, err := newSearch(ctx, q, lists, nodes, c)
	if err != nil {
		return err
	}
	s.preemption = e.Preemption
	fixes, err := run(s, ctx)
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

// partOf returns the question as it is put to the node that comes nearest. same are the nodes to which the same
// question is put, rest the others. There are no such nodes if there is no question to the first.
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

// distinct leaves out fixes that make the same changes as one before, such as those of a term that a class has in
// two selectors.
func distinct(fixes []explain.Fix) []explain.Fix {
	seen := map[string]bool{}
	return slices.DeleteFunc(fixes, func(f explain.Fix) bool {
		key := fmt.Sprintf("%s %s %s", f.Kind, f.Node, f.Key)
		again := seen[key]
		seen[key] = true
		return again
	})
}

// FindForRefusal adds fixes to the explanation of a question that was refused, for a reason, before any node was
// asked. It does nothing unless the verdict is Unsatisfiable. Errors are those of [Find].
func FindForRefusal(ctx context.Context, q *whatif.Question, e *explain.Explanation, reason *explain.Reason) error {
	if e.Verdict != explain.Unsatisfiable {
		return nil
	}
	var err error
	e.Fixes, err = refusedFixes(ctx, q, reason)
	return err
}
