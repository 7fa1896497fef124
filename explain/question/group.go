package question

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/explain/together"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// The scheduler takes the pods of a pod group that wait together: it places one after the other, and if fewer
// find room than the group needs, none is placed (podGroupCycle in the scheduler, with the plugin
// GangScheduling).

// groupOf returns the group of the pod in question if it depends on others of the group whether the pod is
// placed. The question is then one of the pod by itself.
func groupOf(q *whatif.Question) *filters.Group {
	if q.Pod == nil || inspect.PodGroupOf(q.Pod) == "" {
		return nil
	}
	doubts := q.Doubts()
	i := slices.IndexFunc(doubts, func(d filters.Doubt) bool { return d.OfOthers() })
	if i < 0 {
		return nil
	}
	q.Grouped = true
	return doubts[i].Group
}

// explainGroup adds to the answer for a pod by itself what the other pods of its group mean for it.
func explainGroup(ctx context.Context, q *whatif.Question, group *filters.Group, e *explain.Explanation, opts Options) error {
	if opts.grouped {
		return nil
	}
	g, err := decidedGang(ctx, q, group, opts)
	if err != nil {
		return err
	}
	result := g.result
	at := slices.IndexFunc(g.entity.Members, func(m *replay.Member) bool { return m.Subject == e.Subject })
	if at < 0 { // it is being deleted
		return nil
	}
	alone := e.Verdict
	switch outcome := &result.Outcomes[0][at]; result.Of(0, at) {
	case replay.Always:
		g.fits(e)
		return nil
	case replay.Never:
		if err := g.neverFits(ctx, e, result, outcome); err != nil {
			return err
		}
	case replay.Depends:
		g.depends(e, result, outcome)
	default:
		notAllTried(e)
	}
	if alone != explain.Allocatable && alone != explain.Allocated {
		return nil
	}
	return g.explainJointly(ctx, e)
}

// decidedGang is the group of a pod with what becomes of it in all runs. A group that was decided once is not
// decided again.
func decidedGang(ctx context.Context, q *whatif.Question, group *filters.Group, opts Options) (*gang, error) {
	name := inspect.PodRef{Namespace: q.Pod.Namespace, Name: group.Title}
	if known, ok := opts.gangs[name]; ok {
		known.pod = q.Pod
		return known, nil
	}
	g := &gang{Group: group, c: q.Cluster, pod: q.Pod, entity: replay.GangOf(q.Cluster, q.Pod, group, opts.Cycle()), opts: opts, asks: together.Asks(q.Cluster)}
	var err error
	if g.result, err = replay.Certainly(ctx, replay.QueueOf(ctx, g.c, []replay.Entity{g.entity}), podsOf(g.entity.Members), opts.Choosing); err != nil {
		return nil, err
	}
	if opts.gangs != nil {
		opts.gangs[name] = g
	}
	return g, nil
}

// explainJointly adds how the pods of the group can be placed together. That is the same for all if all are
// needed.
func (g *gang) explainJointly(ctx context.Context, e *explain.Explanation) error {
	own := &explain.Explanation{Subject: e.Subject}
	if g.together != nil && g.entity.Need == len(g.entity.Members) {
		own = g.together
	} else if err := together.New(g.c, []replay.Entity{g.entity}, e.Subject, g.entity.Need, &g.asks, g.opts.Cycle()).Explain(ctx, own); err != nil {
		return err
	}
	g.together = own
	e.Joint, e.Fixes = own.Joint, append(slices.Clone(own.Fixes), e.Fixes...)
	for i := range e.Fixes {
		if f := &e.Fixes[i]; f.Kind == explain.PinPod {
			f.Patch = together.PatchOf(f, e.Subject)
		}
	}
	return nil
}

// gang is a pod and the others of its group that wait with it.
type gang struct {
	*filters.Group
	c      *scheduler.Cluster
	pod    *corev1.Pod
	entity replay.Entity
	opts   Options
	// All else is found out once for all pods of the group.
	result *replay.Result
	// together says how they can be placed together, and asks is how many questions are left for that.
	together *explain.Explanation
	asks     int
	// missing is about the first pod that finds no room, or nil.
	missing *explain.Explanation
	// counted is the room, if it is known, and exact says that there is room for one more in no run.
	counted *int
	exact   bool
}

// name is that of the group.
func (g *gang) name() string { return inspect.PodGroupOf(g.pod) }

// fits says that the pod is placed, together with others.
func (g *gang) fits(e *explain.Explanation) {
	if e.Verdict == explain.Allocatable || e.Verdict == explain.Allocated { // what else there is against it is no matter of the group
		e.Say("%s, with the other pods that its %s needs", e.Predicate, g.Title)
	}
}

// depends says that it depends on the scheduler's choices whether the pod is placed.
func (g *gang) depends(e *explain.Explanation, result *replay.Result, outcome *replay.Outcome) {
	open(e)
	if result.Met(0) == replay.Always {
		e.Remark("%s finds room, but not for all pods of it that wait; whether for this one depends on the order in which kube-scheduler takes them and on where it puts them", g.Title)
	} else {
		e.Remark("whether its %s finds room for the %s that it needs depends on where kube-scheduler puts them", g.Title, words.Count(g.entity.Need, "pod"))
	}
	if slices.Equal(outcome.Placed, outcome.Waits) {
		e.Partial = append(e.Partial, "which of the pods that are alike and were created at the same time comes first is not known")
		return
	}
	e.Partial = append(e.Partial, fmt.Sprintf("it is placed if kube-scheduler puts %s; it is not if kube-scheduler puts %s; %s", inWords(outcome.Placed), inWords(outcome.Waits), eitherWay(outcome)))
}

// podsOf are the pods of members.
func podsOf(members []*replay.Member) []*corev1.Pod {
	out := make([]*corev1.Pod, len(members))
	for i, m := range members {
		out[i] = m.Pod
	}
	return out
}

// maxSteps is the number of steps of a run that are told.
const maxSteps = 4

// inWords tells a run.
func inWords(run replay.Run) string {
	var steps []string
	for _, s := range run {
		steps = append(steps, where(s))
	}
	return words.Shorten(steps, maxSteps)
}

// neverFits says why the pod is placed in no run.
func (g *gang) neverFits(ctx context.Context, e *explain.Explanation, result *replay.Result, outcome *replay.Outcome) error {
	if e.Verdict != explain.Allocatable && e.Verdict != explain.Allocated {
		if len(e.Fixes) > 0 {
			e.Basis.Remarks = append(e.Basis.Remarks, "what is said to help was tried for this pod by itself; whether the other pods of its "+g.Title+" then fit as well was not")
		}
		return nil
	}
	if result.Met(0) != replay.Never {
		return g.leftOver(ctx, e, outcome.Waits)
	}
	return g.tooFew(ctx, e, result.Groups[0].Waits)
}

// leftOver says that the others take the room of the pod.
func (g *gang) leftOver(ctx context.Context, e *explain.Explanation, run replay.Run) error {
	then, err := g.after(ctx, run, g.pod)
	if err != nil || then == nil {
		return err
	}
	alone, nodes := e.Verdict, e.Nodes
	notes := e.Waits
	*e = *then
	e.Waits = notes
	e.Turn = &explain.Turn{After: []explain.Subject{}, Alone: alone, AloneNodes: &nodes}
	for _, step := range run {
		if step.Placed {
			e.Turn.After = append(e.Turn.After, step.Subject)
		}
	}
	if len(e.Fixes) > 0 {
		e.Basis.Remarks = append(e.Basis.Remarks, "the other pods of its "+g.Title+" are assumed to be on one possible choice of nodes")
	}
	return nil
}

// tooFew says that not enough pods of the group find room.
func (g *gang) tooFew(ctx context.Context, e *explain.Explanation, run replay.Run) error {
	room, exact, err := g.room(ctx)
	if err != nil {
		return err
	}
	e.Verdict, e.Allocation, e.Fixes, e.NoHelp = explain.Unsatisfiable, nil, nil, nil
	e.Nodes.Allocatable, e.Groups = 0, nil
	there := "there is room for " + words.Count(room, "pod")
	switch {
	case !exact && room == 0:
		there = "that many never find it, in whatever order and on whatever nodes"
	case !exact:
		there = fmt.Sprintf("that many never find it, in whatever order and on whatever nodes; for %s there is room", words.Count(room, "pod"))
	case room == 0:
		there = "there is room for none"
	case room > 1:
		there = fmt.Sprintf("there is room for %d only", room)
	default:
		there += " only"
	}
	needed := words.Count(g.entity.Need, "pod")
	if g.Placed > 0 {
		needed = fmt.Sprintf("%d more pods", g.entity.Need)
	}
	text := fmt.Sprintf("waits for its %s, which needs room for %s at once: %s", g.Title, needed, there)
	e.Lack, e.Brief = nil, fmt.Sprintf("%s: room for %d of %d pods", g.Title, room, g.entity.Need)
	if g.missing == nil {
		if g.missing, err = g.whoMisses(ctx, run); err != nil {
			return err
		}
	}
	missing := g.missing
	if missing != nil {
		placed := slices.ContainsFunc(run, func(s replay.Step) bool { return s.Placed })
		text += "; "
		if placed {
			text += "once these are placed, "
		}
		text += fmt.Sprintf("pod %s %s", missing.Subject.Name, missing.Predicate)
		if g.sameAsAsked(missing.Subject) {
			e.Groups, e.Conflict = missing.Groups, missing.Conflict
		}
	}
	e.Say("%s", text)
	if room > 0 && g.Parts == nil {
		e.Fixes = append(e.Fixes, g.fewer(room))
	}
	return nil
}

// room is the largest number of pods of the group that find room together in every run. It is exact if one
// more do in none.
func (g *gang) room(ctx context.Context) (n int, exact bool, err error) {
	if g.counted != nil {
		return *g.counted, g.exact, nil
	}
	exact = true
	low, high := 0, g.entity.Need // room for low, not for high
	for high-low > 1 {
		entity := g.entity
		entity.Need = (low + high) / 2
		result, err := replay.Explore(ctx, replay.QueueOf(ctx, g.c, []replay.Entity{entity}))
		if err != nil {
			return 0, false, err
		}
		if result.Met(0) == replay.Always {
			low = entity.Need
			continue
		}
		high, exact = entity.Need, result.Met(0) == replay.Never
	}
	g.counted, g.exact = &low, exact
	return low, exact, nil
}

// fewer is the change of the group that lets as many pods be placed as find room.
func (g *gang) fewer(room int) explain.Fix {
	count := g.Placed + room
	version := cmp.Or(g.c.Snapshot().Health(inspect.PodGroups).Version, "scheduling.k8s.io/v1beta1")
	return explain.Fix{
		Kind: explain.ReduceMinCount, Key: words.Key(g.name(), count), Nodes: 1,
		Message: fmt.Sprintf("lower minCount of PodGroup %s from %d to %d: kube-scheduler then places %d of its %d waiting pods", g.name(), g.MinCount, count, room, len(g.entity.Members)),
		Changes: []explain.ObjectChange{{
			APIVersion: version, Kind: "PodGroup", Namespace: g.pod.Namespace, Name: g.name(),
			Patch: []explain.PatchOperation{{Op: "replace", Path: "/spec/schedulingPolicy/gang/minCount", Value: count}},
		}},
	}
}

// whoMisses explains the first pod that finds no room in a run, with the others of the run placed.
func (g *gang) whoMisses(ctx context.Context, run replay.Run) (*explain.Explanation, error) {
	for i, step := range run {
		if step.Placed {
			continue
		}
		pod, ok := g.c.Snapshot().Pod(inspect.PodRef{Namespace: step.Subject.Namespace, Name: step.Subject.Name})
		if step.Subject.Name == g.pod.Name {
			pod, ok = g.pod, true
		}
		if !ok {
			return nil, nil
		}
		return g.after(ctx, run[:i], pod)
	}
	return nil, nil
}

// sameAsAsked reports whether a member is the pod that was asked about, or like it.
func (g *gang) sameAsAsked(subject explain.Subject) bool {
	shape := map[explain.Subject]string{}
	for _, m := range g.entity.Members {
		shape[m.Subject] = m.Shape
	}
	own := cycle.SubjectOf(g.pod)
	return subject == own || shape[own] != "" && shape[subject] == shape[own]
}

// after explains a pod of the group by itself once the members are placed that were before it in a run. It is
// nil if the run cannot be made again.
func (g *gang) after(ctx context.Context, run replay.Run, pod *corev1.Pod) (*explain.Explanation, error) {
	c, reservations, err := replay.Follow(ctx, g.c, g.entity.Members, run)
	if err != nil || c == nil {
		return nil, err
	}
	opts := g.opts
	if pod.Name != g.pod.Name {
		opts.Node = ""
	}
	opts.grouped = true
	opts = opts.Supposing(reservations)
	e, _, err := podAsIs(ctx, c, pod, opts)
	return e, err
}
