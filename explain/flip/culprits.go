package flip

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/history"
)

// Change is something that changed in a cluster. If Change is nil, it is all that is no object: the release
// of the scheduler and its features, and how far objects could be read.
type Change struct{ *history.Change }

// Step is two moments of a cluster and what changed between them.
type Step struct {
	Before, After *inspect.Snapshot
	// Changes are what changed: first what is no object, then by kind and name.
	Changes []Change
}

// NewStep compares two snapshots. Errors are of objects that cannot be encoded.
func NewStep(before, after *inspect.Snapshot) (*Step, error) {
	step := &Step{Before: before, After: after}
	if !before.SameKnown(after) {
		step.Changes = []Change{{}}
	}
	found, err := history.Changes(before, after)
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the object
	}
	for i := range found {
		step.Changes = append(step.Changes, Change{&found[i]})
	}
	return step, nil
}

// with returns a snapshot in which changes are made, or undone.
func with(s *inspect.Snapshot, made []Change, known *inspect.Snapshot, undo bool) *inspect.Snapshot {
	names := map[inspect.Resource]map[string]metav1.Object{}
	for _, c := range made {
		if c.Change == nil {
			s = s.WithKnown(known)
			continue
		}
		object := c.After
		if undo {
			object = c.Before
		}
		if names[c.Kind.Resource] == nil {
			names[c.Kind.Resource] = map[string]metav1.Object{}
		}
		names[c.Kind.Resource][nameOf(c.Object())] = object
	}
	return s.With(func(o *inspect.Objects) {
		for _, k := range inspect.Kinds() {
			if changed := names[k.Resource]; changed != nil {
				replace(o, k, changed)
			}
		}
	})
}

func nameOf(o metav1.Object) string { return o.GetNamespace() + "/" + o.GetName() }

// replace puts objects in place of those of the same name. One that is nil is taken away.
func replace(o *inspect.Objects, k inspect.Kind, changed map[string]metav1.Object) {
	kept := slices.DeleteFunc(k.Objects(o), func(old metav1.Object) bool {
		_, gone := changed[nameOf(old)]
		return gone
	})
	for _, object := range changed {
		if object != nil {
			kept = append(kept, object)
		}
	}
	inspect.SetObjects(o, k, kept)
	o.Sort()
}

// made is the cluster before, with some of the changes.
func (s *Step) made(changes []Change) *inspect.Snapshot {
	return with(s.Before, changes, s.After, false)
}

// undone is the cluster after, without some of the changes.
func (s *Step) undone(changes []Change) *inspect.Snapshot {
	return with(s.After, changes, s.Before, true)
}

// Culprits are the changes by which a verdict became another one.
type Culprits struct {
	// Changes are enough: with these alone made in the cluster before, the verdict is that of after, and
	// without any one of them it is not. They are minimal in this sense; there may be other such sets. It is
	// empty if none was found within the limit.
	Changes []Change
	// Undoing says that it is also enough to undo them in the cluster after for the verdict to be that of
	// before. If not, something else that changed would be in the way as well.
	Undoing bool
}

// Culprits looks for what turned the verdict before into the one after, which are different. known are sets
// that were found for others, which are tried first. It decides at most so many times, and not at all about
// what is the only change.
func (j *Judge) Culprits(ctx context.Context, s *Step, before, after explain.Verdict, known []Culprits, limit int) (Culprits, error) {
	if len(s.Changes) == 1 {
		return Culprits{Changes: s.Changes, Undoing: true}, nil
	}
	search := &search{judge: j, step: s, want: after, left: limit}
	for _, c := range known {
		if search.minimal(ctx, c.Changes) {
			return search.conclude(ctx, c.Changes, before)
		}
	}
	return search.conclude(ctx, search.shrink(ctx, j.ranked(s.Changes)), before)
}

// ranked puts first what is most likely to be one of a small set: the subject itself, and then kinds of which
// there are few. The order of changes stays otherwise.
func (j *Judge) ranked(changes []Change) []Change {
	rank := func(c Change) int {
		switch {
		case c.Change == nil:
			return 1
		case nameOf(c.Object()) == j.subject.Namespace+"/"+j.subject.Name && c.Kind.Name == j.subject.Kind:
			return 0
		}
		if at := slices.Index(likely, c.Kind.Resource); at >= 0 {
			return 2 + at
		}
		return 2 + len(likely)
	}
	out := slices.Clone(changes)
	slices.SortStableFunc(out, func(a, b Change) int { return rank(a) - rank(b) })
	return out
}

// likely are the kinds of which single objects decide most, in this order. Others come last.
var likely = []inspect.Resource{inspect.Classes, inspect.TaintRules, inspect.Slices, inspect.Nodes, inspect.Claims, inspect.Templates, inspect.Pods}

// search is one search for culprits.
type search struct {
	judge *Judge
	step  *Step
	want  explain.Verdict
	left  int // how often may still be decided
	err   error
}

// holds reports whether the verdict is the one wanted with only these changes made. After an error nothing
// holds.
func (s *search) holds(ctx context.Context, changes []Change) bool {
	if s.err != nil {
		return false
	}
	s.left--
	var v explain.Verdict
	v, s.err = s.judge.Verdict(ctx, s.step.made(changes))
	return s.err == nil && v == s.want
}

// shrink finds a minimal set. It looks for the shortest beginning of the list that is enough, whose last one
// is one of the set, and goes on with what is before that, until the set is enough by itself.
func (s *search) shrink(ctx context.Context, changes []Change) []Change {
	var set []Change
	for rest := changes; s.left > 0; {
		if len(set) > 0 && s.holds(ctx, set) {
			return s.dropNeedless(ctx, set)
		}
		if len(rest) == 0 {
			return nil // not even all together, in this order: what is left of it does not add up
		}
		low, high := 0, len(rest) // with high of them it holds, with low it does not
		for high-low > 1 && s.left > 0 {
			middle := low + (high-low)/2
			if s.holds(ctx, append(slices.Clone(set), rest[:middle]...)) {
				high = middle
			} else {
				low = middle
			}
		}
		set, rest = append(set, rest[high-1]), rest[:high-1]
	}
	return nil
}

// dropNeedless drops what the set is enough without.
func (s *search) dropNeedless(ctx context.Context, set []Change) []Change {
	for i := 0; i < len(set) && len(set) > 1; {
		fewer := slices.Delete(slices.Clone(set), i, i+1)
		if s.holds(ctx, fewer) {
			set, i = fewer, 0
		} else {
			i++
		}
	}
	return set
}

// minimal reports whether a set is enough, and no smaller part of it.
func (s *search) minimal(ctx context.Context, set []Change) bool {
	return s.left > len(set) && s.holds(ctx, set) && len(s.dropNeedless(ctx, set)) == len(set)
}

// conclude adds whether undoing the changes is enough too.
func (s *search) conclude(ctx context.Context, found []Change, before explain.Verdict) (Culprits, error) {
	if s.err != nil || len(found) == 0 {
		return Culprits{}, s.err
	}
	v, err := s.judge.Verdict(ctx, s.step.undone(found))
	return Culprits{Changes: found, Undoing: v == before}, err
}
