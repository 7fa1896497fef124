package triage

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/progress"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

const (
	// maxTrials is the number of changes that are tried on all that waits, minTrials that in any cluster, and
	// perShape that of those of one shape.
	maxTrials, minTrials, perShape = 128, 8, 4
	// maxShapesTried bounds the number of trials times that of the shapes that wait and that of the nodes.
	maxShapesTried = 2_000_000
	// maxPlacedTrial, times that of the nodes, and minInTrial are how many more pods may be placed by a
	// change. They are bounded since each makes another cluster.
	maxPlacedTrial, minInTrial = 200_000, 32
	// maxFixes is the number of fixes of a cause.
	maxFixes = 4
)

// trial is a change that helps some shape, to be tried on all that waits.
type trial struct {
	fix   explain.Fix
	shape *shape
	// of is the subject for which the fix was found.
	of explain.Subject
	// alike are others to whose own objects the change is made.
	alike []explain.Subject
	// rank is its place among the fixes of a shape: the first are the best for it.
	rank int
	// helps is the number of stuck subjects that it may help.
	helps        int
	frees, loses []explain.Subject
	tried        bool
	// cut says that it frees more, which were not counted.
	cut bool
}

// candidatesOf are the changes that are worth a trial: the first of each shape before the second ones, and of
// these those first that were found for most. cut says that there are more that are not tried.
func candidatesOf(c *scheduler.Cluster, shapes []*shape, answers map[*shape]*answer) (trials []*trial, cut bool) {
	index := map[string]*trial{}
	var all []*trial
	for n, s := range shapes {
		a := answers[s]
		if a.e == nil {
			continue
		}
		for i := range a.e.Fixes[:min(len(a.e.Fixes), perShape)] {
			f := &a.e.Fixes[i]
			if len(f.Edits) == 0 {
				continue
			}
			key := keyOf(f)
			if question.ChangesSubject(f) {
				key = fmt.Sprintf("%s %d %s", f.Kind, n, f.Key)
			}
			known, ok := index[key]
			if !ok {
				known = &trial{fix: *f, shape: s, of: a.e.Subject, rank: i}
				index[key] = known
				all = append(all, known)
			}
			known.rank, known.helps = min(known.rank, i), known.helps+len(a.members)
		}
	}
	slices.SortStableFunc(all, func(a, b *trial) int { return cmp.Or(a.rank-b.rank, b.helps-a.helps) })
	limit := max(minTrials, min(maxTrials, maxShapesTried/max(1, len(shapes)*len(c.Snapshot().Nodes()))))
	return all[:min(len(all), limit)], len(all) > limit
}

// keyOf tells changes of the cluster apart.
func keyOf(f *explain.Fix) string {
	keys := []string{string(f.Kind)}
	for _, e := range f.Edits {
		keys = append(keys, e.Key())
	}
	return strings.Join(keys, "\n")
}

// onlySubject reports whether a fix changes nothing but what the subject asks for.
func onlySubject(f *explain.Fix) bool {
	return !slices.ContainsFunc(f.Edits, func(e explain.Edit) bool { return !question.EditsSubject(e) })
}

// try makes each change by itself, schedules all that waits again, and notes who is placed then and was not
// before.
func (r *run) try(ctx context.Context, c *scheduler.Cluster, trials []*trial, opts *Options) error {
	within, step := progress.Begin(ctx, "trying changes on all that waits", len(trials))
	return allocator.Parallel(len(trials), func(i int) error {
		t := trials[i]
		after, err := r.with(within, c, t, opts)
		if err != nil {
			return err
		}
		t.tried = true
		step()
		if after == nil {
			return nil
		}
		t.cut = slices.Contains(after.outcomes, notTried)
		for j, q := range r.queue {
			before, now := r.outcomes[j] == placed, after.outcomes[j] == placed
			switch {
			case now && !before && q.asked:
				t.frees = append(t.frees, cycle.SubjectOf(q.subject))
			case before && !now && after.outcomes[j] != notTried:
				t.loses = append(t.loses, cycle.SubjectOf(q.subject))
			}
		}
		return nil
	})
}

// with schedules the queue with a change made in the cluster as it is. A change of what the subject asks for
// is made to all that ask for the same. It is nil if the change cannot be made in this way.
func (r *run) with(ctx context.Context, c *scheduler.Cluster, t *trial, opts *Options) (*run, error) {
	at := slices.IndexFunc(r.queue, func(q queued) bool { return cycle.SubjectOf(q.subject) == t.of })
	d, err := question.Decide(ctx, c, r.queue[at].subject, opts.Question)
	if err != nil || d.Question == nil {
		return nil, err
	}
	carried, snapshot := d.Question.Carry(ctx, t.fix.Edits)
	if carried == nil {
		return nil, nil
	}
	if pod := carried.Pod(); pod != nil {
		for name, value := range r.given[inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}] {
			if pod.Spec.NodeSelector[name] != value {
				return nil, nil
			}
		}
	}
	queue := r.queue
	var unlike []*corev1.Pod
	if question.ChangesSubject(&t.fix) {
		queue, snapshot, unlike = changeAll(c.Snapshot(), r.queue, t.shape, carried, snapshot)
	}
	if !onlySubject(&t.fix) {
		unlike = nil
	}
	limit := len(r.reservations) + max(minInTrial, maxPlacedTrial/max(1, len(snapshot.Nodes())))
	if opts.maxFreed > 0 {
		limit = len(r.reservations) + opts.maxFreed
	}
	return r.again(ctx, scheduler.NewCluster(snapshot, scheduler.Options{Like: c}), queue, unlike, limit, opts)
}

// changeAll changes the subjects of a shape as one of them was changed, in the snapshot after that. unlike
// are the pods that are changed, or use a claim that is.
func changeAll(
	s *inspect.Snapshot, queue []queued, of *shape, carried *whatif.Draft, after *inspect.Snapshot,
) (now []queued, changedTo *inspect.Snapshot, unlike []*corev1.Pod) {
	specs := make([]resourcev1.ResourceClaimSpec, len(carried.Claims))
	for i, claim := range carried.Claims {
		specs[i] = claim.Spec
	}
	queue = slices.Clone(queue)
	made := &shape{number: -1}
	claims, pods := map[inspect.ClaimRef]*resourcev1.ResourceClaim{}, map[inspect.PodRef]*corev1.Pod{}
	for i := range queue {
		if queue[i].shape != of {
			continue
		}
		subject, own := changed(s, queue[i].subject, specs, carried.Pod())
		queue[i].subject, queue[i].shape = subject, made
		if pod, ok := subject.(*corev1.Pod); ok {
			pods[inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}] = pod
		}
		for _, claim := range own {
			claims[inspect.RefOf(claim)] = claim
		}
	}
	for _, pod := range pods {
		unlike = append(unlike, pod)
	}
	for ref := range claims {
		for _, user := range s.PodsOf(ref) {
			if pod, ok := s.Pod(user); ok && pods[user] == nil {
				unlike = append(unlike, pod)
			}
		}
	}
	return queue, after.With(func(o *inspect.Objects) {
		for i, claim := range o.Claims {
			if other, ok := claims[inspect.RefOf(claim)]; ok {
				o.Claims[i] = other
			}
		}
		for i, pod := range o.Pods {
			if other, ok := pods[inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}]; ok {
				o.Pods[i] = other
			}
		}
	}), unlike
}

// addFixes adds the changes that free anything, and no less than they cost others, to the causes of what they
// free most of.
func (c *collection) addFixes(trials []*trial, queue []queued) {
	for _, t := range trials {
		if len(t.frees) == 0 || len(t.frees) < len(t.loses) {
			continue
		}
		key := c.mostOf(t.frees)
		if question.ChangesSubject(&t.fix) {
			if !t.freesOwn(queue) {
				continue // what it changes of the subject is of no use to it
			}
			key = c.of[t.of]
			t.forAll(queue, c.ownerOf)
		}
		if cause := c.causes[key]; cause != nil {
			cause.Fixes = append(cause.Fixes, explain.CauseFix{Fix: t.fix, Of: t.of, Alike: t.alike, Frees: t.frees, Loses: t.loses, AtLeast: t.cut})
		}
	}
	for _, cause := range c.causes {
		slices.SortStableFunc(cause.Fixes, func(a, b explain.CauseFix) int {
			return cmp.Or(boolOrder(a.Kind == explain.CreateClass, b.Kind == explain.CreateClass), b.Net()-a.Net())
		})
		cause.Fixes = cause.Fixes[:min(len(cause.Fixes), maxFixes)]
		if len(cause.Fixes) > 0 {
			f := &cause.Fixes[0]
			cause.Actor = f.Actor(f.Of)
		}
	}
}

// forAll says that the change is made for all subjects that ask for the same: in the object that makes them
// or their claims, or where each has an object of its own in each of these.
func (t *trial) forAll(queue []queued, ownerOf func(explain.Subject) string) {
	owner := ownerOf(t.of)
	var alike []explain.Subject
	for _, q := range queue {
		if own := cycle.SubjectOf(q.subject); q.shape == t.shape && own != t.of {
			if alike = append(alike, own); ownerOf(own) != owner {
				owner = ""
			}
		}
	}
	if len(alike) == 0 {
		return
	}
	changes := func(kind string) bool {
		return slices.ContainsFunc(t.fix.Changes, func(c explain.ObjectChange) bool { return c.Kind == kind })
	}
	pods := words.Count(len(alike)+1, "pod")
	if changes("ResourceClaim") || changes("Pod") {
		t.alike = alike
	}
	in, what, ok := strings.Cut(t.fix.Message, ": ")
	ok = ok && strings.HasPrefix(in, "in ")
	if t.of.Kind == "ResourceClaim" {
		in, what, ok = "in claim "+t.of.Name, t.fix.Message, true
	}
	switch {
	case ok && changes("ResourceClaim"):
		t.fix.Message = fmt.Sprintf("%s and %d alike: %s", in, len(alike), what)
	case ok && changes("ResourceClaimTemplate"):
		if owner != "" {
			pods += " of " + owner
		}
		t.fix.Message = fmt.Sprintf("%s (%s): %s", in, pods, what)
	case changes("Pod") && owner != "":
		t.fix.Message = fmt.Sprintf("in %s (%s): %s", owner, pods, t.fix.Message)
	case changes("ResourceClaim") || changes("Pod"):
		t.fix.Message += fmt.Sprintf(", and the same for %d more that %s the same", len(alike), words.Plural(len(alike), "asks for", "ask for"))
	}
}

// mostOf is the key of the cause of most subjects.
func (c *collection) mostOf(subjects []explain.Subject) string {
	count := map[string]int{}
	for _, subject := range subjects {
		count[c.of[subject]]++
	}
	return slices.MinFunc(slices.Collect(maps.Keys(count)), func(a, b string) int { return cmp.Or(count[b]-count[a], strings.Compare(a, b)) })
}

// freesOwn reports whether one of those is freed for which the change was found.
func (t *trial) freesOwn(queue []queued) bool {
	return slices.ContainsFunc(queue, func(q queued) bool { return q.shape == t.shape && slices.Contains(t.frees, cycle.SubjectOf(q.subject)) })
}
