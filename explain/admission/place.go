package admission

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/admission/config"
	"github.com/kubectl-dra/kubectl-dra/explain/admission/target"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue"
)

// maxMade is how many pods are made for workloads that have none, maxAsked of how many workloads it is asked
// whether they would hang.
const (
	maxMade  = 20_000
	maxAsked = 24
)

// Asked is an object, or a pod, with the pods that are to be placed for it.
type Asked struct {
	Object metav1.Object
	Pods   []*corev1.Pod
}

// PlaceOptions say how pods are placed that Kueue may hold back.
type PlaceOptions struct {
	plan.Options
	// Given says that what is asked about is of files: what the cluster has of these names is replaced.
	Given bool
	// Workload reports whether a workload of which there are no pods is asked about, too. It may be nil.
	Workload func(*kueuev1beta2.Workload) bool
}

// Place says what becomes of pods that are to be placed, as [plan.Place] does, once Kueue has let go of those
// that it admits: with the node labels and tolerations of their flavors, and with the pods that controllers
// then make. Those that Kueue holds back are left waiting, in its words, and where it is not known whether
// it does, they are left waiting as far as is known. Errors are those of [plan.Place].
func Place(ctx context.Context, c *scheduler.Cluster, asked []Asked, opts PlaceOptions) (*explain.Plan, error) {
	e := &entrance{ctx: ctx, c: c, opts: &opts, unseen: opts.Unseen, of: map[kueue.Ref]*entry{}, doubted: map[string][]*entry{}}
	opts.Unseen = slices.Clip(opts.Unseen)
	if !Here(c.Snapshot()) {
		for _, a := range asked {
			e.pods = append(e.pods, a.Pods...)
			e.sayQueue(a.Object)
		}
		return plan.Place(ctx, c, e.pods, opts.Options) //nolint:wrapcheck // it says what it is about
	}
	e.enter(asked)
	e.decide()
	p, err := plan.Place(ctx, c, e.pods, opts.Options)
	if err == nil && len(e.held) > 0 {
		e.admitted()
	}
	if p != nil {
		e.tell(p)
	}
	return p, err //nolint:wrapcheck // it says what it is about
}

// entrance is where pods come in: through Kueue or past it.
type entrance struct {
	ctx  context.Context //nolint:containedctx // an entrance lives as long as a question
	c    *scheduler.Cluster
	opts *PlaceOptions
	// unseen is what was not known of the pods before Kueue was asked.
	unseen []string

	of      map[kueue.Ref]*entry
	entries []*entry
	// pods are those that come in and are asked about, those that are not are among the options' others.
	pods       []*corev1.Pod
	made, asks int
	// held are those that are asked about and do not come in.
	held []heldPod
	// mayCome are those of which it is not known whether they come in, doubted others that do as far as is
	// known, by what is not known.
	mayCome []*entry
	doubted map[string][]*entry
	partial []string
}

// entry is a workload with the pods that wait for it, each of one of its pod sets.
type entry struct {
	*target.Target
	pods    []*corev1.Pod
	sets    []int
	asked   bool
	subject metav1.Object
	// why says in a sentence what is not known of whether it comes in.
	why string
}

// sayQueue says of an object that a queue has to admit it, where that is not decided.
func (e *entrance) sayQueue(object metav1.Object) {
	if of, ok := object.(*inspect.Workload); ok && of.Queue != "" {
		e.opts.Unseen = append(e.opts.Unseen, question.InQueue(of))
	}
}

// enter finds out which workloads the pods are of, and which have no pods yet.
func (e *entrance) enter(asked []Asked) {
	subjects := make([]metav1.Object, len(asked))
	for i := range asked {
		subjects[i] = asked[i].Object
	}
	f := target.NewFinder(e.c.Snapshot(), subjects, e.opts.Given)
	for _, a := range asked {
		of, ok := a.Object.(*inspect.Workload)
		if !ok {
			for _, pod := range a.Pods {
				e.add(f, pod, f.OfPod(pod), []*corev1.Pod{pod}, true)
			}
			continue
		}
		t := f.OfObject(of)
		switch {
		case t != nil && t.Made && of.Type.Kind == "Deployment": // each pod of which is a workload
			for i, pod := range a.Pods {
				own, workload := *t, *t.Workload
				workload.Name += fmt.Sprintf(" %04d", i)
				own.Workload = &workload
				e.add(f, of, &own, []*corev1.Pod{pod}, true)
			}
		case t != nil && t.Made && len(t.Workload.Spec.PodSets) == 1:
			t.Workload.Spec.PodSets[0].Count = int32(len(a.Pods)) //nolint:gosec // there are at most maxMade
			e.add(f, of, t, a.Pods, true)
		case t != nil && len(a.Pods) != int(t.Workload.Spec.PodSets[t.Set].Count): // other copies than it has
			e.sayQueue(of)
			e.pods = append(e.pods, a.Pods...)
		default:
			e.add(f, of, t, a.Pods, true)
		}
	}
	e.enterOthers()
}

// enterOthers adds what is in the cluster besides: other pods that wait, and workloads that have no pods yet.
func (e *entrance) enterOthers() {
	asked, gone := map[inspect.PodRef]bool{}, map[*kueuev1beta2.Workload]bool{}
	for _, pod := range e.pods {
		asked[inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}] = true
	}
	for _, one := range e.entries {
		gone[one.Replaces] = true
		for _, pod := range one.pods {
			asked[inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}] = true
		}
	}
	f := target.NewFinder(e.c.Snapshot(), nil, false)
	others := e.opts.Others
	e.opts.Others = nil
	for _, pod := range others {
		t := f.OfPod(pod)
		if !asked[inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}] && (t == nil || !gone[t.Workload]) {
			e.add(f, pod, t, []*corev1.Pod{pod}, false)
		}
	}
	coming := f.WithoutPods()
	for _, w := range e.c.Snapshot().Around().KueueWorkloads {
		waits := w.Status.Admission == nil && !meta.IsStatusConditionTrue(w.Status.Conditions, kueuev1beta2.WorkloadFinished)
		if (waits || slices.Contains(coming, w)) && !gone[w] && e.of[kueue.Ref{Namespace: w.Namespace, Name: w.Name}] == nil {
			e.add(f, w, &target.Target{Workload: w}, nil, e.opts.Workload != nil && e.opts.Workload(w))
		}
	}
}

// add adds pods of a target. If there is none, they pass by Kueue.
func (e *entrance) add(f *target.Finder, subject metav1.Object, t *target.Target, pods []*corev1.Pod, asked bool) {
	if t == nil {
		doubt := &explain.Explanation{}
		if f.MayBeHeld(doubt, subject); asked {
			e.opts.Unseen = words.AppendNew(e.opts.Unseen, doubt.Partial...)
		}
		e.pass(pods, asked)
		return
	}
	ref := kueue.Ref{Namespace: t.Workload.Namespace, Name: t.Workload.Name}
	one := e.of[ref]
	if one == nil {
		one = &entry{Target: t, subject: subject}
		e.of[ref], e.entries = one, append(e.entries, one)
	}
	one.asked = one.asked || asked
	for _, pod := range pods {
		one.pods, one.sets = append(one.pods, pod), append(one.sets, t.Set)
	}
}

func (e *entrance) pass(pods []*corev1.Pod, asked bool) {
	if asked {
		e.pods = append(e.pods, pods...)
	} else {
		e.opts.Others = append(e.opts.Others, pods...)
	}
}

// decide asks Kueue about all workloads, and lets in whom it admits.
func (e *entrance) decide() {
	s := e.c.Snapshot()
	objects := *s.Objects()
	objects.KueueWorkloads = slices.Clone(objects.KueueWorkloads)
	for _, one := range e.entries {
		if one.Replaces != nil {
			objects.KueueWorkloads = slices.DeleteFunc(objects.KueueWorkloads, func(w *kueuev1beta2.Workload) bool { return w == one.Replaces })
		}
		if one.Made {
			objects.KueueWorkloads = append(objects.KueueWorkloads, one.Workload)
		}
	}
	state := kueue.New(&objects, config.State(s), s.Time())
	lookup := make(map[kueue.Ref]*kueuev1beta2.Workload, len(objects.KueueWorkloads))
	for _, w := range objects.KueueWorkloads {
		lookup[kueue.Ref{Namespace: w.Namespace, Name: w.Name}] = w
	}
	asked := world{ctx: e.ctx, c: e.c, opts: Options{Given: e.opts.Given}, objects: &objects, state: state, usages: sync.OnceValue(state.Usage), lookup: lookup}
	for _, one := range e.entries {
		w := new(world)
		*w = asked
		w.target, w.subject = one.Target, one.subject
		w.judge(state.Decide(one.Workload.Namespace, one.Workload.Name), false)
		e.let(w, one)
	}
	e.sayDoubts(&asked)
}

// let lets the pods of a workload in, or says why not.
func (e *entrance) let(w *world, one *entry) {
	said, doubts := w.doubts(refused(w.d.Outcome))
	switch {
	case w.d.Outcome == kueue.Finished, w.d.Outcome == kueue.Admitted && len(one.pods) > 0:
		e.pass(one.pods, one.asked)
		return
	case w.d.Outcome == kueue.Admitted:
		doubts = nil
	case one.asked:
		e.partial = words.AppendNew(e.partial, said...)
	}
	name := e.called(w, one)
	switch {
	case w.d.Outcome == kueue.Admitted, w.d.Outcome == kueue.Fits && len(w.d.Checks) == 0:
		for _, doubt := range doubts {
			e.doubted[doubt] = append(e.doubted[doubt], one)
		}
		e.pass(e.freed(w, one), one.asked)
	case refused(w.d.Outcome) && len(doubts) == 0:
		e.hold(w, one, explain.Unsatisfiable, "Kueue does not admit it: "+w.queueSentence())
	case refused(w.d.Outcome):
		e.mayHold(w, one, "Kueue does not admit it as far as is known: "+w.queueSentence())
	case len(w.d.Checks) > 0:
		e.mayHold(w, one, fmt.Sprintf("waits for admission %s %s", words.Plural(len(w.d.Checks), "check", "checks"), words.And(w.d.Checks)))
	case w.d.Outcome == kueue.Preempts:
		text := fmt.Sprintf("%s, which is %s; what happens then was not played", w.queueSentence(), name)
		e.opts.Unseen, e.unseen = words.AppendNew(e.opts.Unseen, text), append(slices.Clip(e.unseen), text)
		e.hold(w, one, explain.Unknown, w.queueSentence()+"; what happens then was not played")
	default:
		e.mayHold(w, one, "Kueue may admit it or not: "+w.queueSentence())
	}
}

// mayHold keeps the pods of a workload out of which it is not known whether they come in.
func (e *entrance) mayHold(w *world, one *entry, why string) {
	if slices.ContainsFunc(w.d.Reasons, func(r kueue.Reason) bool { return r.Code == kueue.ConfigurationAssumed }) {
		why += " (--kueue-config FILE gives it)"
	}
	one.why, e.mayCome = why, append(e.mayCome, one)
	e.hold(w, one, explain.Unknown, why)
}

// sayDoubts says on what it depends that is not known who comes in.
func (e *entrance) sayDoubts(w *world) {
	for _, doubt := range slices.Sorted(maps.Keys(e.doubted)) {
		var names []string
		for _, one := range e.doubted[doubt] {
			if one.asked || e.overtakes(one) {
				names = append(names, e.called(w, one))
			}
		}
		if len(names) > 0 {
			e.opts.Unseen = append(e.opts.Unseen, fmt.Sprintf("whether Kueue admits %s is not certain: %s", words.Shorten(names, maxNamed), doubt))
		}
	}
	byReason, reasons := map[string][]string{}, []string{}
	for _, one := range e.mayCome {
		if e.overtakes(one) {
			byReason[one.why], reasons = append(byReason[one.why], e.called(w, one)), words.AppendNew(reasons, one.why)
		}
	}
	for _, why := range reasons {
		e.opts.Unseen = append(e.opts.Unseen, fmt.Sprintf("%s may get pods that take what others need: %s", words.Shorten(byReason[why], maxNamed), why))
	}
}

// overtakes reports whether pods of a workload may have their turn before some that are asked about, once
// Kueue lets them go: those that are there have the turn of their age, others come last.
func (e *entrance) overtakes(one *entry) bool {
	pods := one.pods
	if len(pods) == 0 {
		for _, set := range one.Workload.Spec.PodSets {
			pods = append(pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(e.c.Snapshot().Time())}, Spec: set.Template.Spec})
		}
	}
	return slices.ContainsFunc(pods, func(pod *corev1.Pod) bool {
		return slices.ContainsFunc(e.pods, func(other *corev1.Pod) bool {
			ahead := cycle.PriorityOf(nil, pod) - cycle.PriorityOf(nil, other)
			return pod.Spec.Priority == nil && pod.Spec.PriorityClassName != "" || ahead > 0 || ahead == 0 && cycle.Earlier(other, pod) >= 0
		})
	})
}

// called is what people call a workload.
func (e *entrance) called(w *world, one *entry) string {
	if one.Made {
		return cycle.SubjectOf(one.subject).FullName()
	}
	return w.called(kueue.Ref{Namespace: one.Workload.Namespace, Name: one.Workload.Name})
}

// freed are the pods of a workload that is admitted: those that wait, as they then are, or else those that
// its controller makes. All are made at once, so that any of them may be the first.
func (e *entrance) freed(w *world, one *entry) []*corev1.Pod {
	at := metav1.NewTime(w.c.Snapshot().Time().Add(time.Second))
	if len(one.pods) == 0 {
		pods, total := w.newPods(maxMade - e.made)
		if e.made += len(pods); len(pods) < total {
			e.opts.Unseen = words.AppendNew(e.opts.Unseen, fmt.Sprintf("the pods of %s are too many to be placed, and were left out", w.called(w.d.Workload)))
		}
		for _, pod := range pods {
			pod.CreationTimestamp = at
		}
		return pods
	}
	left := map[int]int{}
	for i := range w.d.PodSets {
		left[i] = int(w.d.PodSets[i].Count)
	}
	var out []*corev1.Pod
	for i, pod := range one.pods {
		if set := one.sets[i]; one.Of != nil && set < len(w.d.PodSets) { // fewer may be admitted than are asked for
			if left[set] == 0 {
				continue
			}
			left[set]--
		}
		pod = w.target.Free(pod, w.flavors(one.sets[i]))
		if pod.CreationTimestamp.IsZero() {
			pod.CreationTimestamp = at
		}
		out = append(out, pod)
	}
	return out
}

// hold keeps the pods of a workload out.
func (e *entrance) hold(w *world, one *entry, verdict explain.Verdict, message string) {
	if !one.asked {
		return
	}
	hangs, why := false, ""
	if verdict == explain.Unknown && w.d.Outcome != kueue.Preempts && e.asks < maxAsked {
		e.asks++
		if hangs, why = w.hangs(one); hangs {
			verdict, message = explain.Unsatisfiable, message+"; admitted, it would then hang: "+why
		}
	}
	pods := one.pods
	if len(pods) == 0 {
		var total int
		if pods, total = w.newPods(maxMade - e.made); len(pods) < total {
			e.held = append(e.held, heldPod{PendingPod: explain.PendingPod{
				Subject: *cmp.Or(target.Owner(one.Workload), subjectOf(w.d.Workload)), Verdict: verdict, Code: allocator.SchedulingGated,
				Message: fmt.Sprintf("its %d pods are too many to name: %s", total, message),
			}, of: one})
		}
		e.made += len(pods)
	}
	ambiguous := w.ambiguous()
	for i, pod := range pods {
		h := heldPod{PendingPod: explain.PendingPod{Subject: cycle.SubjectOf(pod), Verdict: verdict, Code: allocator.SchedulingGated, Message: message}, of: one, then: pod, ambiguous: ambiguous, hangs: hangs}
		if len(one.pods) > 0 {
			h.then = w.target.Free(pod, w.flavors(one.sets[i]))
		}
		h.then.CreationTimestamp = metav1.NewTime(w.c.Snapshot().Time().Add(2 * time.Second)) // once those that go now are there
		e.held = append(e.held, h)
	}
}

// hangs reports whether no node takes the pod of a workload once it is admitted, as it is explained, and why.
func (w *world) hangs(one *entry) (hangs bool, why string) {
	own := *one.Target
	if own.Pod == nil {
		pods, _ := w.newPods(maxMade)
		if len(pods) == 0 {
			return false, ""
		}
		own.Pod = pods[0]
	}
	of := *w
	of.target, of.opts.Question.ReasonOnly = &own, true
	then, err := of.then()
	if err != nil || w.ambiguous() {
		return false, ""
	}
	return then.Verdict == explain.Unsatisfiable || then.Verdict == explain.Invalid, then.Predicate
}

// heldPod is a pod that Kueue holds back.
type heldPod struct {
	explain.PendingPod
	of *entry
	// then is the pod once it is admitted. It is nil if the pods of the workload are too many.
	then *corev1.Pod
	// ambiguous says that Kueue may admit it with another flavor than then has, hangs that it is told already
	// that no node takes it.
	ambiguous, hangs bool
}

// admitted adds to those that are held what would become of them if Kueue let all go: whether it is quota
// alone that is in the way.
func (e *entrance) admitted() {
	opts := e.opts.Options
	opts.NoJoint, opts.NoReasons, opts.Unseen = true, true, e.unseen
	pods := slices.Clone(e.pods)
	for i := range e.held {
		if then := e.held[i].then; then != nil {
			pods = append(pods, then)
		}
	}
	p, err := plan.Place(e.ctx, e.c, pods, opts)
	if err != nil { // out of time: it is not known, and not said
		return
	}
	finds, hangs := map[explain.Subject]bool{}, map[explain.Subject]bool{}
	for i := range p.Replay.Placed {
		finds[p.Replay.Placed[i].Subject] = p.Replay.Certain
	}
	for i := range p.Replay.Pending {
		hangs[p.Replay.Pending[i].Subject] = p.Replay.Pending[i].Verdict == explain.Unsatisfiable
	}
	admitted := "; admitted, it would"
	if slices.ContainsFunc(e.held, func(h heldPod) bool { return h.of != e.held[0].of }) {
		admitted = "; admitted with all others, it would"
	}
	for i := range e.held {
		h := &e.held[i]
		if h.then == nil {
			continue
		}
		switch subject := cycle.SubjectOf(h.then); {
		case finds[subject]:
			h.Message += admitted + " find a node"
		case hangs[subject] && !h.ambiguous && !h.hangs:
			h.Message += admitted + " hang"
		}
	}
}

// tell adds to a plan who does not come in.
func (e *entrance) tell(p *explain.Plan) {
	p.Partial = append(p.Partial, e.partial...)
	if len(e.held) == 0 {
		return
	}
	next := 0
	for i := range p.Replay.Pending {
		next = max(next, p.Replay.Pending[i].Alike+1)
	}
	alike := map[string]int{}
	var never []explain.Subject // of the first workload of which it is certain
	var first *heldPod
	for i := range e.held {
		one := &e.held[i]
		held := one.PendingPod
		if _, ok := alike[held.Message]; !ok {
			alike[held.Message] = next
			next++
		}
		held.Alike = alike[held.Message]
		p.Replay.Pending = append(p.Replay.Pending, held)
		if held.Verdict == explain.Unsatisfiable && (first == nil || first.of == one.of) {
			first, never = one, append(never, held.Subject)
		}
	}
	if e.opts.NoJoint || p.Joint != nil && p.Joint.Verdict == explain.Infeasible {
		return
	}
	p.Changes = nil
	p.Joint = &explain.JointPlan{Verdict: explain.JointUnknown, Message: "whether Kueue admits them is not known"}
	if first != nil {
		names := words.Shorten(words.Each(never, explain.Subject.FullName), maxNamed)
		p.Joint = &explain.JointPlan{Verdict: explain.Infeasible, Conflict: never, Minimal: len(never) == 1, Message: "Kueue does not admit " + names}
		if first.hangs {
			p.Joint.Message = fmt.Sprintf("even admitted by Kueue, %s %s no node", names, words.Plural(len(never), "finds", "find"))
		}
	}
}
