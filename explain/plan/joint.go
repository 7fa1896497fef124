package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/progress"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// The search for a placement of all is bounded by the number of questions that are put to nodes.
const (
	// maxQuestions times nodes is about a second.
	maxQuestionNodes, maxQuestions, minQuestions = 300_000, 2000, 100
	// maxExplored is the number of pods up to which all runs of the scheduler are looked at.
	maxExplored = 64
)

// tooMany says what it means that not all choices of nodes were played.
const tooMany = "which pods find room may depend on the nodes that kube-scheduler chooses; there are too many choices to try them all, so one of them was played"

// questionsFor is how many questions may be put.
func questionsFor(c *scheduler.Cluster) int {
	return max(minQuestions, min(maxQuestions, maxQuestionNodes/max(1, len(c.Snapshot().Nodes()))))
}

// certain finds out whether the scheduler places the same pods whatever nodes it chooses.
func (r *Placement) certain(ctx context.Context, base *scheduler.Cluster) error {
	progress.Say(ctx, "looking at other choices of kube-scheduler")
	queue := replay.NewQueue(ctx, base, r.Tried, cycle.Options{})
	equals := equalPods(queue)
	queue, err := r.hopeful(ctx, base, queue)
	if err != nil {
		return err
	}
	var hopeful []*corev1.Pod
	for _, m := range replay.MembersOf(queue.Entities) {
		hopeful = append(hopeful, m.Pod)
	}
	tied := queue.InAnyOrder()
	cleared := r.findCleared(base)
	same := alike(queue) // then every node is as full at the turn of the first that finds no room
	preempts, err := r.sayPreempting(ctx, base, r.Doubtful || (tied || r.Chosen) && !same || r.Retried)
	r.out.Remarks = append(r.out.Remarks, r.unseen...)
	r.out.Preempting = preempts
	switch {
	case err != nil || preempts || len(r.unseen) > 0:
		return err
	case r.Doubtful:
		return r.sayDoubt(ctx, base)
	case cleared:
		return nil
	case !tied && !r.Chosen && !r.Retried, same, r.nonePlaced(queue):
		r.out.Certain = true
	case len(hopeful) > maxExplored:
		var counted replay.Certainty
		if counted, _, err = queue.Count(ctx); counted == replay.Always {
			r.out.Certain = true
		} else {
			r.out.Remarks = append(r.out.Remarks, tooMany)
		}
	default:
		err = r.tryOthers(ctx, base, hopeful, queue, tied)
	}
	r.spareEquals(equals)
	if err == nil && r.out.Certain {
		r.sayTies(equals)
	}
	return err
}

// hopeful is a queue without the pods that never find a node, and take nothing that others need: those that
// fit on none as things are, and to which only what is left of a node matters.
func (r *Placement) hopeful(ctx context.Context, base *scheduler.Cluster, queue replay.Queue) (replay.Queue, error) {
	if len(r.waiting) == 0 || len(r.Tried) <= maxExplored || slices.ContainsFunc(queue.Entities, func(e replay.Entity) bool { return e.Need > 1 }) {
		return queue, nil
	}
	alone := replay.New(base, nil)
	known := map[string]bool{}
	var left []replay.Entity
	for _, e := range queue.Entities {
		e.Members = slices.Clone(e.Members)
		kept := e.Members[:0]
		for _, m := range e.Members {
			never, ok := known[m.Shape]
			if !ok {
				fits, sure, err := fixedNodes(ctx, base, alone, m)
				if err != nil {
					return queue, err
				}
				never = sure && len(fits) == 0
				known[m.Shape] = never && m.Shape != ""
			}
			if !never {
				kept = append(kept, m)
			}
		}
		if e.Members = kept; len(kept) > 0 {
			left = append(left, e)
		}
	}
	return replay.QueueOf(ctx, base, left), nil
}

// nonePlaced reports whether each pod was asked about the cluster as it is and found no node, so that the
// order does not matter.
func (r *Placement) nonePlaced(queue replay.Queue) bool {
	return len(r.Placed) == 0 && !r.Chosen && !r.Retried &&
		!slices.ContainsFunc(queue.Entities, func(e replay.Entity) bool { return e.Need > 1 }) &&
		!slices.ContainsFunc(r.waiting, func(w replay.Waiting) bool { return w.Fails })
}

// findCleared finds the pods that are left waiting with devices which kube-scheduler takes away from them, to
// try again on any node, and the claims that have these. That is not played. It reports whether there are
// any.
func (r *Placement) findCleared(c *scheduler.Cluster) bool {
	r.cleared, r.released = map[explain.Subject]bool{}, map[inspect.ClaimRef]bool{}
	var names []string
	for i := range r.Waiting {
		pod := r.Waiting[i].Pod
		lost := takenBack(c, pod)
		if len(lost) == 0 {
			continue
		}
		for _, ref := range lost {
			r.released[ref] = true
		}
		r.cleared[cycle.SubjectOf(pod)] = true
		names = append(names, cycle.SubjectOf(pod).FullName())
	}
	if len(names) > 0 {
		r.out.Remarks = append(r.out.Remarks, fmt.Sprintf("kube-scheduler may take their devices from %s, and place %s elsewhere, which was not played",
			words.Shorten(names, 3), words.Plural(len(names), "it", "them")))
	}
	return len(names) > 0
}

// losesDevices reports whether kube-scheduler takes devices away from a pod that fits on no node.
func losesDevices(c *scheduler.Cluster, pod *corev1.Pod) bool { return len(takenBack(c, pod)) > 0 }

// takenBack are the claims whose devices kube-scheduler takes away from a pod that fits on no node. It does
// not try a pod with scheduling gates.
func takenBack(c *scheduler.Cluster, pod *corev1.Pod) []inspect.ClaimRef {
	if len(pod.Spec.SchedulingGates) > 0 {
		return nil
	}
	var out []inspect.ClaimRef
	for i := range pod.Spec.ResourceClaims {
		name, _ := inspect.ClaimNameFor(pod, &pod.Spec.ResourceClaims[i])
		ref := inspect.ClaimRef{Namespace: pod.Namespace, Name: name}
		if claim, ok := c.Snapshot().Claim(ref); ok && claim.Status.Allocation != nil && cycle.Clears(c.Filters().Prepare(pod), claim) {
			out = append(out, ref)
		}
	}
	return out
}

// spareEquals takes back of equal pods that some are never placed, where others of them are in some run: in
// the runs that are played, those that are named first go first.
func (r *Placement) spareEquals(equals [][]explain.Subject) {
	for _, group := range equals {
		if slices.ContainsFunc(group, func(s explain.Subject) bool { return !r.never[s] }) {
			for _, subject := range group {
				delete(r.never, subject)
			}
		}
	}
}

// tryOthers plays the other choices that kube-scheduler has, and says whether the same pods are placed by all
// of them.
func (r *Placement) tryOthers(ctx context.Context, base *scheduler.Cluster, pods []*corev1.Pod, queue replay.Queue, tied bool) error {
	all, err := replay.ByScores(ctx, base, pods, r.by, replay.MaxRuns)
	switch {
	case err != nil:
		return err
	case all != nil:
		r.sayDepends(all, pods, "the order and the nodes that kube-scheduler chooses for the others", explain.Subject.FullName)
		return nil
	case tied && slices.ContainsFunc(queue.Entities, func(e replay.Entity) bool { return len(queue.Entities) > 1 || e.Need > 1 }):
		r.out.Remarks = append(r.out.Remarks, "pods were created in the same second; which of them kube-scheduler takes first is not known")
		return nil
	case slices.ContainsFunc(queue.Entities, mayRetry), slices.ContainsFunc(r.waiting, func(w replay.Waiting) bool { return w.Fails }):
		r.out.Remarks = append(r.out.Remarks, tooMany)
		return nil
	}
	queue.MaxAsks = questionsFor(base)
	if all, err = replay.Explore(ctx, queue); err == nil {
		name := func(s explain.Subject) string { return s.Name }
		r.sayDepends(all, pods, "which of the nodes that fit kube-scheduler takes for others", name)
	}
	return err
}

// sayDepends says which pods only some of the runs place, and on what that depends, or that all is certain.
// The other pods than those are placed in none.
func (r *Placement) sayDepends(all *replay.Result, pods []*corev1.Pod, on string, nameOf func(explain.Subject) string) {
	placed := map[explain.Subject]bool{}
	for i := range r.out.Placed {
		placed[r.out.Placed[i].Subject] = true
	}
	var depends, unclear []string
	r.never = map[explain.Subject]bool{}
	for _, pod := range r.Tried {
		r.never[cycle.SubjectOf(pod)] = true
	}
	for _, pod := range pods {
		subject := cycle.SubjectOf(pod)
		c := all.About(subject)
		r.never[subject] = c == replay.Never && !placed[subject]
		switch {
		case r.about != nil && !r.about[subject]:
		case c == replay.Depends, c == replay.Never && placed[subject], c == replay.Always && !placed[subject]:
			depends = append(depends, nameOf(subject))
		case c == replay.Unclear:
			unclear = append(unclear, nameOf(subject))
		}
	}
	switch {
	case len(depends) > 0:
		r.depends = true
		r.out.Remarks = append(r.out.Remarks, fmt.Sprintf(
			"whether %s %s a node depends on %s", words.Shorten(depends, 3), words.Plural(len(depends), "finds", "find"), on))
	case len(unclear) > 3:
		r.out.Remarks = append(r.out.Remarks, tooMany)
	case len(unclear) > 0:
		r.out.Remarks = append(r.out.Remarks, fmt.Sprintf(
			"not all ways were tried in which kube-scheduler may place the pods before %s", words.And(unclear)))
	default:
		r.out.Certain = true
	}
}

// mayRetry reports whether a member that was left waiting may fit once others are placed. [cycle.Explore]
// takes each only once.
func mayRetry(e replay.Entity) bool {
	return e.Need > 1 || slices.ContainsFunc(e.Members, func(m *replay.Member) bool { return m.NonLocal })
}

// equalPods are pods that differ in nothing but their names, and whose turn is the same: any of them may be
// the first.
func equalPods(queue replay.Queue) [][]explain.Subject {
	var out [][]explain.Subject
	at := map[string]int{} // of the shapes whose turn is that of the pod before
	var before *corev1.Pod
	for _, m := range replay.MembersOf(queue.Entities) {
		if before != nil && !replay.SameTurn(before, m.Pod) {
			clear(at)
		}
		before = m.Pod
		group, known := at[m.Shape]
		if m.Shape == "" || !known {
			group = len(out)
			at[m.Shape] = group
			out = append(out, nil)
		}
		out[group] = append(out[group], m.Subject)
	}
	return slices.DeleteFunc(out, func(group []explain.Subject) bool { return len(group) < 2 })
}

// sayTies says of equal pods of which only some are placed that it is certain how many are, but not which.
func (r *Placement) sayTies(equals [][]explain.Subject) {
	placed := map[explain.Subject]bool{}
	for i := range r.out.Placed {
		placed[r.out.Placed[i].Subject] = true
	}
	for _, group := range equals {
		tie := explain.Tie{Pods: group}
		for _, subject := range group {
			tie.Placed += words.Btoi(placed[subject])
		}
		if tie.Placed == 0 || tie.Placed == len(group) || r.about != nil && !r.about[group[0]] {
			continue
		}
		r.out.Certain = false
		r.out.Ties = append(r.out.Ties, tie)
		names := make([]string, len(group))
		for i := range group {
			names[i] = group[i].Name
		}
		r.out.Remarks = append(r.out.Remarks, fmt.Sprintf("%d of these %d pods %s a node; they were created in the same second, and which of them kube-scheduler takes first is not known: %s",
			tie.Placed, len(group), words.Plural(tie.Placed, "finds", "find"), words.Shorten(names, 4)))
	}
}

// sayDoubt says what is not known of the first pod of which something is not.
func (r *Placement) sayDoubt(ctx context.Context, base *scheduler.Cluster) error {
	e, err := question.PodObject(ctx, base, r.InDoubt, hypothetical)
	if err != nil {
		return fmt.Errorf("explaining what is not known of pod %s/%s: %w", r.InDoubt.Namespace, r.InDoubt.Name, err)
	}
	for _, remark := range e.Partial {
		r.out.Remarks = append(r.out.Remarks, "of pod "+r.InDoubt.Name+": "+remark)
	}
	if len(e.Partial) == 0 {
		r.out.Remarks = append(r.out.Remarks, "something that decides about pod "+r.InDoubt.Name+" is not known")
	}
	return nil
}

// alike reports whether all members are of one shape and change only what is left of their nodes, so that in
// whatever order and on whatever nodes as many find room.
func alike(queue replay.Queue) bool {
	members := replay.MembersOf(queue.Entities)
	return queue.Local && !slices.ContainsFunc(queue.Entities, func(e replay.Entity) bool { return e.Need > 1 }) &&
		!slices.ContainsFunc(members, func(m *replay.Member) bool {
			return m.Shape == "" || m.NonLocal || m.Unseen || m.Shape != members[0].Shape
		})
}

// Best looks for a placement of all pods of a replay. That there is one is never certain where more is asked
// for than is known.
func (r *Placement) Best(ctx context.Context, base *scheduler.Cluster) (*explain.JointPlan, replay.Run, error) {
	out, run, err := r.bestKnown(ctx, base)
	if err == nil && out.Verdict == explain.Infeasible && len(r.released) > 0 {
		return &explain.JointPlan{Verdict: explain.JointUnknown, Message: "kube-scheduler may take devices back from pods that wait, which was not played"}, nil, nil
	}
	if err == nil && out.Verdict == explain.Infeasible && r.out.Preempting {
		out.Message += "; that is without ending others"
	}
	if err == nil && out.Verdict != explain.Infeasible && len(r.unseen) > 0 {
		return &explain.JointPlan{Verdict: explain.JointUnknown, Message: r.unseen[0]}, nil, nil
	}
	return out, run, err
}

// bestKnown is Best, of what is known.
func (r *Placement) bestKnown(ctx context.Context, base *scheduler.Cluster) (*explain.JointPlan, replay.Run, error) {
	if plan, err := r.tooMany(ctx, base); plan != nil || err != nil {
		return plan, nil, err
	}
	switch {
	case r.Doubtful:
		return &explain.JointPlan{Verdict: explain.JointUnknown, Message: "something that decides about these pods is not known"}, nil, nil
	case len(r.waiting) == 0:
		var run replay.Run // that the scheduler need not take
		if !r.out.Certain {
			run = runOf(r.out.Placed)
		}
		return &explain.JointPlan{Verdict: explain.Feasible, Placed: r.out.Placed}, run, nil
	}
	for _, w := range r.waiting {
		if w.Fails || w.Open {
			return &explain.JointPlan{Verdict: explain.JointUnknown, Message: "kube-scheduler gives up on " + w.Pod.Name + " with an error"}, nil, nil
		}
	}
	if plan, run, err := r.packed(ctx, base); plan != nil || err != nil {
		return plan, run, err
	}
	plan, run, err := r.search(ctx, base)
	if err != nil || plan.Verdict != explain.JointUnknown {
		return plan, run, err
	}
	if proof, err := r.crowded(ctx, base); proof != nil || err != nil {
		return proof, nil, err
	}
	queue := replay.NewQueue(ctx, base, r.Tried, cycle.Options{})
	counted, text, err := queue.Count(ctx)
	if err != nil || counted != replay.Never {
		return plan, nil, err
	}
	return conflictOf([]*claimant{{pods: r.Tried}}, text), nil, nil
}

// localShapes are the pods of each shape of which some wait and that change only what is left of their nodes,
// in the order of the queue.
func (r *Placement) localShapes(ctx context.Context, base *scheduler.Cluster) [][]*corev1.Pod {
	waiting := map[string]bool{}
	for i := range r.waiting {
		waiting[r.waiting[i].Member.Shape] = true
	}
	var out [][]*corev1.Pod
	at := map[string]int{}
	for _, pod := range r.Tried {
		m := replay.PodMember(base, pod, cycle.Options{})
		group, known := at[m.Shape]
		if !known {
			if m.Shape == "" || m.NonLocal || m.Unseen || !waiting[m.Shape] || !replay.Local(ctx, base, m) {
				continue
			}
			group = len(out)
			at[m.Shape], out = group, append(out, nil)
		}
		out[group] = append(out[group], pod)
	}
	return out
}

// tooMany proves that there is no placement by the pods of one shape, more of which are to be placed than
// there is room for.
func (r *Placement) tooMany(ctx context.Context, base *scheduler.Cluster) (*explain.JointPlan, error) {
	alone := replay.New(base, nil)
	for _, pods := range r.localShapes(ctx, base) {
		room, minimal, err := roomFor(ctx, alone.Fork(), pods)
		if err != nil {
			return nil, err
		}
		if room == len(pods) {
			continue
		}
		out := &explain.JointPlan{Verdict: explain.Infeasible, Minimal: minimal, Message: fmt.Sprintf(
			"there is room for %s like %s in the whole cluster, if nothing else is placed, and %d are wanted", words.Count(room, "pod"), pods[0].Name, len(pods))}
		if room == 0 { // which need not be for lack of room
			out.Message = pods[0].Name + " finds no node even if nothing else is placed"
		}
		for _, p := range pods[:room+1] {
			out.Conflict = append(out.Conflict, cycle.SubjectOf(p))
		}
		return out, nil
	}
	return nil, nil
}

// sharesClaims reports whether pods use a claim that another one of them uses.
func sharesClaims(s *inspect.Snapshot, pods []*corev1.Pod) bool {
	seen := map[inspect.ClaimRef]bool{}
	return slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return usesSeen(seen, cycle.ClaimsFor(s, pod).Pending) })
}

// usesSeen reports whether one of some claims was seen before, and notes that all are.
func usesSeen(seen map[inspect.ClaimRef]bool, claims []*resourcev1.ResourceClaim) bool {
	before := false
	for _, claim := range claims {
		before = before || seen[inspect.RefOf(claim)]
		seen[inspect.RefOf(claim)] = true
	}
	return before
}

// roomFor is the number of pods of one shape for which there is room at most if nothing else is placed. They
// change only what is left of their nodes, so as many find room in whatever order and on whatever nodes. sure
// says that so many do.
func roomFor(ctx context.Context, alone *replay.Replay, pods []*corev1.Pod) (room int, sure bool, err error) {
	t, err := alone.Ask(ctx, pods[0])
	if err != nil {
		return 0, false, err
	}
	if len(t.Nodes) >= len(pods) && !t.MayWait && !t.Open && !t.Fails && !sharesClaims(alone.Cluster().Snapshot(), pods) {
		return len(pods), true, nil // there is a node for each
	}
	for _, pod := range pods {
		placed, w, err := alone.One(ctx, pod)
		switch {
		case err != nil:
			return 0, false, err
		case placed:
			room++
		case w.Open || w.Fails:
			return len(pods), false, nil
		default:
			return room, !alone.Doubtful, nil
		}
	}
	return room, !alone.Doubtful, nil
}

// packed plays the placement in orders and with choices of nodes that leave more room than the scheduler's
// do: those first that fit on the fewest nodes, each on the node that fewest of the others could use.
func (r *Placement) packed(ctx context.Context, base *scheduler.Cluster) (*explain.JointPlan, replay.Run, error) {
	first := replay.New(base, nil)
	fits := map[inspect.NodeName]int{}
	type candidate struct {
		pod   *corev1.Pod
		nodes int
	}
	var pods []candidate
	shapes := map[string]bool{}
	for _, pod := range r.Tried {
		t, err := first.Ask(ctx, pod)
		if err != nil {
			return nil, nil, err
		}
		pods = append(pods, candidate{pod, len(t.Nodes)})
		if shape := t.Member.Shape; shape != "" && !shapes[shape] {
			shapes[shape] = true
			for _, n := range t.Nodes {
				fits[inspect.NodeName(n.Name)]++
			}
		}
	}
	slices.SortStableFunc(pods, func(a, b candidate) int { return cmp.Compare(a.nodes, b.nodes) })
	trial := first.Fork()
	trial.Choose = func(_ *corev1.Pod, nodes []*corev1.Node) int {
		at := 0
		for i, n := range nodes {
			if fits[inspect.NodeName(n.Name)] < fits[inspect.NodeName(nodes[at].Name)] {
				at = i
			}
		}
		return at
	}
	for _, c := range pods {
		if placed, _, err := trial.One(ctx, c.pod); err != nil || !placed {
			return nil, nil, err
		}
	}
	if trial.Doubtful {
		return nil, nil, nil
	}
	return &explain.JointPlan{Verdict: explain.Feasible, Placed: trial.Placed}, runOf(trial.Placed), nil
}

// runOf is the run by which pods are placed.
func runOf(placed []explain.PlacedPod) replay.Run {
	var run replay.Run
	for i := range placed {
		run = append(run, replay.Step{Subject: placed[i].Subject, Node: placed[i].Node, Placed: true})
	}
	return run
}

// search looks at orders and nodes until all are tried, or the limit is reached.
func (r *Placement) search(ctx context.Context, base *scheduler.Cluster) (*explain.JointPlan, replay.Run, error) {
	queue := replay.NewQueue(ctx, base, r.Tried, cycle.Options{})
	queue.MaxAsks = questionsFor(base)
	members := replay.MembersOf(queue.Entities)
	if len(members) > maxExplored {
		return &explain.JointPlan{Verdict: explain.JointUnknown, Message: fmt.Sprintf("there are too many ways to place %d pods to try them all", len(members))}, nil, nil
	}
	solution, err := replay.Solve(ctx, queue, len(members))
	switch {
	case err != nil:
		return nil, nil, err
	case solution.Run != nil:
		c, reservations, err := replay.Follow(ctx, base, members, solution.Run)
		if err == nil && c == nil {
			err = errors.New("a run that places all pods cannot be played again")
		}
		out := &explain.JointPlan{Verdict: explain.Feasible}
		for _, reservation := range reservations {
			out.Placed = append(out.Placed, replay.PlacedPod(reservation.Pod, 1, reservation))
		}
		return out, solution.Run, err
	case !solution.Impossible:
		return &explain.JointPlan{Verdict: explain.JointUnknown, Message: "not all orders and nodes were tried"}, nil, nil
	}
	out := &explain.JointPlan{Verdict: explain.Infeasible, Message: "in no order, and on no choice of nodes, does kube-scheduler place all of them"}
	return out, nil, r.shrink(ctx, base, out)
}

// shrink leaves out pods as long as the others cannot be placed together. What one pod gets depends on what
// others have taken, so fewer pods may be harder to place: a pod that could not be left out is tried again
// once others are.
func (r *Placement) shrink(ctx context.Context, base *scheduler.Cluster, out *explain.JointPlan) error {
	left := r.Tried
	asks := questionsFor(base)
	for again := true; again && len(left) > 1 && asks > 0; {
		again, out.Minimal = false, true
		for i := len(left) - 1; i >= 0 && len(left) > 1 && asks > 0; i-- {
			fewer := slices.Delete(slices.Clone(left), i, i+1)
			queue := replay.NewQueue(ctx, base, fewer, cycle.Options{})
			queue.MaxAsks = asks
			solution, err := replay.Solve(ctx, queue, len(replay.MembersOf(queue.Entities)))
			if err != nil {
				return err
			}
			asks -= solution.Asks
			switch {
			case solution.Impossible:
				left, again = fewer, true
			case solution.Run == nil:
				out.Minimal = false
			}
		}
	}
	out.Minimal = asks > 0 && (out.Minimal || len(left) == 1)
	for _, pod := range left {
		out.Conflict = append(out.Conflict, cycle.SubjectOf(pod))
	}
	return nil
}

// Certain reports whether the same pods as in a replay, where pods may be put on any node that fits, are
// placed whichever nodes kube-scheduler chooses, and if not, whether it is known that others may be left
// waiting. It is asked once.
func Certain(ctx context.Context, played *replay.Replay) (certain, depends bool, err error) {
	r := &Placement{Replay: played}
	r.settle()
	err = r.certain(ctx, r.Base())
	return r.out.Certain, r.depends, err
}

// Best looks for a placement of all pods of a replay.
func Best(ctx context.Context, played *replay.Replay) (*explain.JointPlan, error) {
	r := &Placement{Replay: played}
	r.settle()
	best, _, err := r.Best(ctx, r.Base())
	return best, err
}
