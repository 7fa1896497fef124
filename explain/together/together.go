// Package together finds what makes kube-scheduler place pods that it would not all place by itself.
//
// The scheduler takes one pod after the other and never goes back. Where that leaves a pod waiting, there may
// be another order, or other nodes and devices for those before it, by which all are placed. What makes the
// scheduler find that is proposed once the decision with it was the same in every run.
package together

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// The limits of the search: members of a queue, questions in the search for a placement and in a proof that a
// change helps.
const (
	maxPods       = 24
	maxSolveAsks  = 400
	maxVerifyAsks = 250
)

// Asks is how many questions may be put in all for the pods of a command, so that it takes about a second.
func Asks(c *scheduler.Cluster) int {
	return max(200, min(3000, 200_000/max(1, len(c.Snapshot().Nodes()))))
}

// Search is pods that are to be placed together.
type Search struct {
	c    *scheduler.Cluster
	opts cycle.Options
	// entities are in the order of the scheduler, and pods are their members.
	entities []replay.Entity
	Pods     map[explain.Subject]*corev1.Pod
	// subject is the one that was asked about.
	subject explain.Subject
	need    int
	// asks is how many questions are left, for this and other searches.
	asks *int
	// err is the first error of a decision that was tried. Nothing succeeds from then on.
	err error
}

// New is the pods of entities, of which so many are to be placed together.
func New(c *scheduler.Cluster, entities []replay.Entity, subject explain.Subject, need int, asks *int, opts cycle.Options) *Search {
	j := &Search{c: c, opts: opts, entities: entities, Pods: map[explain.Subject]*corev1.Pod{}, subject: subject, need: need, asks: asks}
	for _, m := range replay.MembersOf(entities) {
		if m.Pod != nil {
			j.Pods[m.Subject] = m.Pod
		}
	}
	return j
}

// Explain adds to an answer that is no certain yes how all can be placed together, and what makes the
// scheduler find that.
func (j *Search) Explain(ctx context.Context, e *explain.Explanation) error {
	if len(j.Pods) > maxPods || len(j.Pods) < 2 || j.opts.Node != "" {
		return nil
	}
	queue := replay.QueueOf(ctx, j.c, j.entities)
	if *j.asks <= 0 {
		return nil
	}
	queue.MaxAsks = min(maxSolveAsks, *j.asks)
	solution, err := replay.Solve(ctx, queue, j.need)
	if err != nil {
		return err
	}
	*j.asks -= solution.Asks
	fixes := e.Fixes
	e.Fixes = nil
	defer func() { e.Fixes = append(e.Fixes, fixes...) }()
	if solution.Run != nil && slices.Contains(solution.Run.Placed(), j.subject) {
		e.Joint = &explain.Joint{}
		for _, step := range solution.Run {
			if step.Placed {
				e.Joint.Placement = append(e.Joint.Placement, explain.Placement{Subject: step.Subject, Node: step.Node})
			}
		}
		return j.changes(ctx, e, solution.Run)
	}
	if solution.Impossible {
		e.Joint = &explain.Joint{Impossible: true}
	}
	j.fewerChoices(ctx, e)
	return j.err
}

// changes proposes what makes the scheduler place them as a run does.
func (j *Search) changes(ctx context.Context, e *explain.Explanation, run replay.Run) error {
	j.pinned(ctx, e, run)
	j.reordered(ctx, e, run)
	j.fewerChoices(ctx, e)
	return j.err
}

// succeeds reports whether the scheduler places all in every run.
func (j *Search) succeeds(ctx context.Context, c *scheduler.Cluster, entities []replay.Entity) bool {
	queue := replay.QueueOf(ctx, c, entities)
	if *j.asks <= 0 || j.err != nil {
		return false
	}
	queue.MaxAsks = min(maxVerifyAsks, *j.asks)
	var result *replay.Result
	if result, j.err = replay.Explore(ctx, queue); j.err != nil {
		return false
	}
	*j.asks -= result.Asks
	for i := range entities {
		if result.Met(i) != replay.Always {
			return false
		}
		for m := range entities[i].Members {
			if result.Of(i, m) != replay.Always {
				return false
			}
		}
	}
	return true
}

// with is the entities with other members in place of those of the same subject.
func (j *Search) with(c *scheduler.Cluster, pods map[explain.Subject]*corev1.Pod) []replay.Entity {
	out := slices.Clone(j.entities)
	for i := range out {
		out[i].Members = slices.Clone(out[i].Members)
		for k, m := range out[i].Members {
			pod, ok := pods[m.Subject]
			if !ok {
				pod = j.Pods[m.Subject]
			}
			out[i].Members[k] = replay.PodMember(c, pod, j.opts)
			out[i].Members[k].Class = m.Class
		}
	}
	return out
}

// pinned proposes to pin the fewest pods to the nodes of a run: one, or the first ones that do together.
func (j *Search) pinned(ctx context.Context, e *explain.Explanation, run replay.Run) {
	var together []replay.Step
	for _, step := range run {
		if pod := j.Pods[step.Subject]; !step.Placed || pod == nil || j.pin(step) == nil {
			continue
		}
		for _, steps := range [][]replay.Step{{step}, append(slices.Clip(together), step)} {
			pods := map[explain.Subject]*corev1.Pod{}
			for _, s := range steps {
				pods[s.Subject] = j.pin(s)
			}
			if j.succeeds(ctx, j.c, j.with(j.c, pods)) {
				e.Fixes = append(e.Fixes, j.pinFix(steps))
				return
			}
		}
		together = append(together, step)
	}
}

// pin is a pod that can run on the node of a step only. It is nil if the node has no label for that.
func (j *Search) pin(step replay.Step) *corev1.Pod {
	node, ok := j.c.Snapshot().Node(step.Node)
	if !ok || node.Labels[corev1.LabelHostname] == "" || j.Pods[step.Subject].Spec.NodeSelector[corev1.LabelHostname] != "" {
		return nil
	}
	pod := j.Pods[step.Subject].DeepCopy()
	if pod.Spec.NodeSelector == nil {
		pod.Spec.NodeSelector = map[string]string{}
	}
	pod.Spec.NodeSelector[corev1.LabelHostname] = node.Labels[corev1.LabelHostname]
	return pod
}

func (j *Search) pinFix(steps []replay.Step) explain.Fix {
	f := explain.Fix{Kind: explain.PinPod, Node: steps[0].Node, Nodes: 1, NamesNode: true}
	var texts []string
	var key []any
	for _, s := range steps {
		value := j.pin(s).Spec.NodeSelector[corev1.LabelHostname]
		op := explain.PatchOperation{Op: "add", Path: "/spec/nodeSelector", Value: map[string]string{corev1.LabelHostname: value}}
		if j.Pods[s.Subject].Spec.NodeSelector != nil {
			op = explain.PatchOperation{Op: "add", Path: "/spec/nodeSelector/" + strings.ReplaceAll(corev1.LabelHostname, "/", "~1"), Value: value}
		}
		f.Changes = append(f.Changes, explain.ObjectChange{
			APIVersion: "v1", Kind: "Pod", Namespace: s.Subject.Namespace, Name: s.Subject.Name, Patch: []explain.PatchOperation{op},
		})
		key = append(key, s.Subject.Name, s.Node)
		texts = append(texts, fmt.Sprintf("pod %s to node %s", s.Subject.Name, s.Node))
	}
	f.Patch = PatchOf(&f, j.subject)
	f.Key = words.Key(key...)
	f.Message = fmt.Sprintf("pin %s with a node selector (%s): kube-scheduler then places all of them", words.And(texts), corev1.LabelHostname)
	return f
}

// PatchOf is what a fix changes of a subject that is a pod.
func PatchOf(f *explain.Fix, subject explain.Subject) []explain.PatchOperation {
	for _, c := range f.Changes {
		if c.Kind == subject.Kind && c.Namespace == subject.Namespace && c.Name == subject.Name {
			return c.Patch
		}
	}
	return nil
}

// reordered proposes to create the pods in the order of a run, or those first that fit on the fewest nodes.
func (j *Search) reordered(ctx context.Context, e *explain.Explanation, run replay.Run) {
	for _, order := range [][]explain.Subject{subjectsOf(run), j.hardestFirst(ctx, run)} {
		if entities := j.inOrder(order); entities != nil && j.succeeds(ctx, j.c, entities) {
			e.Fixes = append(e.Fixes, orderFix(order))
			return
		}
	}
}

func orderFix(order []explain.Subject) explain.Fix {
	var names []string
	for _, subject := range order {
		names = append(names, subject.Name)
	}
	list := strings.Join(names, ", ")
	return explain.Fix{
		Kind: explain.ChangeOrder, Key: words.Key(list), Nodes: 1,
		Message: fmt.Sprintf("create the pods in the order %s, each at least a second after the one before: kube-scheduler then places all of them", list),
	}
}

func subjectsOf(run replay.Run) []explain.Subject {
	var out []explain.Subject
	for _, step := range run {
		out = append(out, step.Subject)
	}
	return out
}

// hardestFirst is the members of a run, those first that fit on the fewest nodes by themselves.
func (j *Search) hardestFirst(ctx context.Context, run replay.Run) []explain.Subject {
	fits := map[explain.Subject]int{}
	for _, m := range replay.MembersOf(j.entities) {
		t, err := m.Ask(ctx, j.c, nil)
		if j.err = cmp.Or(j.err, err); err != nil {
			return subjectsOf(run)
		}
		fits[m.Subject] = len(t.Options)
	}
	out := subjectsOf(run)
	slices.SortStableFunc(out, func(a, b explain.Subject) int { return cmp.Compare(fits[a], fits[b]) })
	return out
}

// inOrder is the pods in an order. It is nil if the scheduler would not take them so, since one that comes
// later is more important.
func (j *Search) inOrder(order []explain.Subject) []replay.Entity {
	var out []replay.Entity
	grouped := len(j.entities) == 1
	for i, subject := range order {
		pod := j.Pods[subject]
		if i > 0 && cycle.PriorityOf(j.c.Snapshot(), pod) > cycle.PriorityOf(j.c.Snapshot(), j.Pods[order[i-1]]) {
			return nil
		}
		m := replay.PodMember(j.c, pod, j.opts)
		m.Class = i
		if grouped && i > 0 {
			out[0].Members = append(out[0].Members, m)
			continue
		}
		out = append(out, replay.Entity{Members: []*replay.Member{m}})
	}
	if grouped {
		out[0].Need = j.entities[0].Need
	}
	return out
}

// fewerChoices proposes to do without an alternative of a claim that those need who come later.
func (j *Search) fewerChoices(ctx context.Context, e *explain.Explanation) {
	s := j.c.Snapshot()
	for _, m := range replay.MembersOf(j.entities) {
		for _, claim := range m.Claims {
			known, ok := s.Claim(inspect.RefOf(claim))
			if !ok {
				continue
			}
			if of, ok := j.writtenIn(known, m.Subject); ok && j.withoutChoice(ctx, e, of) {
				return
			}
		}
	}
}

// written is where claims are written that are still to be allocated.
type written struct {
	explain.ObjectChange // without its patch

	what, spec string // in words, and the path of the spec
	claims     []*resourcev1.ResourceClaim
}

// writtenIn says where a claim of a pod is written: in itself, or in the template of all claims that are
// still to be made from it. It is not ok for a claim that was made from a template, which nobody changes any
// more.
func (j *Search) writtenIn(claim *resourcev1.ResourceClaim, of explain.Subject) (out written, ok bool) {
	out = written{
		ObjectChange: explain.ObjectChange{APIVersion: "resource.k8s.io/v1", Kind: "ResourceClaim", Namespace: claim.Namespace, Name: claim.Name},
		what:         "claim " + claim.Name, spec: "/spec", claims: []*resourcev1.ResourceClaim{claim},
	}
	template := suppose.TemplateFor(j.Pods[of], claim.Name)
	if template == "" {
		return out, true
	}
	out.Kind, out.Name, out.what, out.spec, out.claims = "ResourceClaimTemplate", template, "template "+template, "/spec/spec", nil
	for _, m := range replay.MembersOf(j.entities) {
		for _, other := range m.Claims {
			known, ok := j.c.Snapshot().Claim(inspect.RefOf(other))
			if ok && known.Namespace == claim.Namespace && known.CreationTimestamp.IsZero() && suppose.TemplateFor(j.Pods[m.Subject], known.Name) == template {
				out.claims = append(out.claims, known)
			}
		}
	}
	return out, claim.CreationTimestamp.IsZero()
}

// withoutChoice proposes to drop the first alternatives of a request. It reports whether that helps.
func (j *Search) withoutChoice(ctx context.Context, e *explain.Explanation, of written) bool {
	for r := range of.claims[0].Spec.Devices.Requests {
		request := &of.claims[0].Spec.Devices.Requests[r]
		for drop := 1; drop < len(request.FirstAvailable); drop++ {
			var changed replay.Reservation
			for _, claim := range of.claims {
				own := claim.DeepCopy()
				own.Spec.Devices.Requests[r].FirstAvailable = own.Spec.Devices.Requests[r].FirstAvailable[drop:]
				changed.Claims = append(changed.Claims, own)
			}
			c := replay.With(j.c, &changed)
			if j.succeeds(ctx, c, j.with(c, nil)) {
				e.Fixes = append(e.Fixes, choiceFix(of, r, drop))
				return true
			}
		}
	}
	return false
}

func choiceFix(of written, r, drop int) explain.Fix {
	request := &of.claims[0].Spec.Devices.Requests[r]
	var names []string
	change := of.ObjectChange
	for i := range drop {
		names = append(names, request.FirstAvailable[i].Name)
		change.Patch = append(change.Patch, explain.PatchOperation{Op: "remove", Path: fmt.Sprintf("%s/devices/requests/%d/firstAvailable/0", of.spec, r)})
	}
	return explain.Fix{
		Kind: explain.DropChoice, Key: words.Key(of.Name, request.Name, drop), Nodes: 1, Changes: []explain.ObjectChange{change},
		Message: fmt.Sprintf("drop %s %s from request %s of %s, which others need: kube-scheduler then places all of them",
			words.Plural(drop, "the alternative", "the alternatives"), words.And(names), request.Name, of.what),
	}
}

// Propose finds what makes kube-scheduler place all pods of a queue as a run does, which it would not do
// by itself: an order, pods that are pinned to nodes, alternatives of claims that are dropped. Each was
// verified in all runs. Of very many pods there is none.
func Propose(ctx context.Context, queue replay.Queue, pods []*corev1.Pod, run replay.Run, opts cycle.Options) ([]explain.Fix, error) {
	if len(pods) > maxPods {
		return nil, nil
	}
	asks := Asks(queue.Base)
	e := &explain.Explanation{}
	err := New(queue.Base, queue.Entities, explain.Subject{}, 0, &asks, opts).changes(ctx, e, run)
	return e.Fixes, err
}
